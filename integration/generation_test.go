package integration

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/verify"
)

// TestNewAggregate adds an aggregate to a table that has items. The aggregate counts new items at
// once, and says that it is building. The touch pass brings in the old items through the stream.
func TestNewAggregate(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) { newAggregate(newWorld(t, b, aggregate.Marks)) })
}

func newAggregate(w *world) {
	mapping := w.mapping(w.backend.streams)
	for i := range 20 {
		w.send(order("m0", fmt.Sprint("old", i), 5, began))
	}
	w.consume()
	w.drain(mapping, 20)

	next := shop()
	customers := pipeline.AggregateSpec{Since: 1, By: map[string]string{"customer": "{customer}"}, From: map[string]pipeline.FromSpec{
		"order": {Values: map[string]string{"orders": "count"}}}}
	next.Aggregates["customers"] = customers
	must.Fail(w, startError(w, next), "epoch to 2")
	next.Epoch, customers.Since = 2, 2
	next.Aggregates["customers"] = customers
	w.deploy(next)
	mapping = w.mapping(w.backend.streams) // the mapping calls the function that is deployed now
	def, _ := w.plan.Definition("customers")
	head, err := w.store.Head(ctx, def)
	if err != nil || head == nil || !head.Building {
		w.Fatalf("head %+v, %v", head, err)
	}
	for i := range 5 {
		w.send(order("m0", fmt.Sprint("new", i), 5, began))
	}
	w.consume()
	w.counted.Behind = 0
	touched, err := repair.Of(w.store).Touch(ctx)
	if err != nil || touched.Touched != 20 || touched.Scanned != 25 {
		w.Fatalf("touched %+v, %v", touched, err)
	}
	w.drain(mapping, 20+5+20)
	if w.verdicts[event.Inserted] != 25 {
		w.Errorf("verdicts %v", w.verdicts)
	}
	// The records from before the deployment came again with their old epoch, so the head says that
	// it is behind.
	if head, err = w.store.Head(ctx, def); err != nil || head.Behind == 0 || w.counted.Behind != 20 {
		w.Errorf("behind %d, reports %d; %v", head.Behind, w.counted.Behind, err)
	}
	pass, err := repair.Of(w.store).BeginPass(ctx, def)
	must.Succeed(w, err)
	differences, err := verify.Finish(ctx, w.plan, w.store, pass, w.now())
	if err != nil || len(differences) != 0 {
		w.Fatalf("%v, %v", differences, err)
	}
	if head, err = w.store.Head(ctx, def); err != nil || head.Building {
		w.Errorf("still building: %+v, %v", head, err)
	}
	if err := startError(w, shop()); err != nil {
		w.Errorf("an older pipeline.yaml does not start: %v", err)
	}
}

// startError tries to start a streams function with another pipeline.
func startError(w *world, spec pipeline.Spec) error {
	w.Helper()
	plan, err := pipeline.New(spec)
	if err != nil {
		return err
	}
	other, err := w.storeOf(plan)
	if err != nil {
		return err
	}
	return other.Start(ctx)
}
