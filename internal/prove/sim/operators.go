package sim

import (
	"context"
	"errors"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// operators are people with the tool.
type operators struct {
	*World
}

// rebuild brings old items into the newer generation while the world goes on, as a person would do
// with the tool.
func (w *operators) rebuild(c tables.Client) (complete bool) {
	plan := w.pipelineOf(2)
	s := w.storeOf(c, 2, w.Env(w.Rng.Float64, 0))
	ctx := w.Deadline(context.Background(), w.Now.Add(48*time.Hour), 0)
	var passes []tables.Pass
	for _, name := range w.rebuilt() {
		def, _ := plan.Definition(name)
		pass, err := repair.Of(s).BeginPass(ctx, def)
		if err != nil {
			return false
		}
		passes = append(passes, pass)
	}
	if _, err := repair.Of(s).Touch(ctx); err != nil {
		return false
	}
	w.wholes.putParts(2)
	if w.Calm {
		w.stream.Idle = 0
		w.Park(time.Time{}, func() bool { return w.stream.Idle >= 3 })
	}
	report, err := verify.Totals(ctx, plan, s, w.Now)
	for _, pass := range passes {
		var differences []verify.Difference
		if err == nil {
			differences, err = report.Finish(ctx, plan, s, pass, w.Now)
		}
		w.Tracef("rebuild of %s: %d differences, %v", pass.Definition, len(differences), err)
		if err != nil || len(differences) > 0 {
			return false
		}
	}
	return true
}

// rebuilt lists the generations of the second epoch that a rebuild completes.
func (w *operators) rebuilt() []string {
	if w.plan.Put > 1 {
		return []string{"status", "balance"}
	}
	return []string{"status"}
}

// othersStart starts the newer streams function in several sandboxes at once, one for each shard.
func (w *operators) othersStart() {
	for range 3 {
		w.Spawn("starter", nil, func() {
			ctx := iam.As(w.Deadline(context.Background(), w.Now.Add(functionTimeout), 0), w.roleOf("streams"))
			w.checkStart(w.storeOf(w.client(), 2, w.Env(w.Rng.Float64, 0)).Start(ctx))
		})
	}
}

// checkStart checks that a start with a correct pipeline is not refused, whatever else happens to
// it.
func (w *operators) checkStart(err error) {
	if refused := (*tables.StartError)(nil); errors.As(err, &refused) {
		w.Fail(Generation, "a start was refused for no reason: %v", err)
	}
}

// rebuildInPeace lets a rebuild run to its end, or to where its operator falls asleep, and the
// stream with it. Old code that is deployed next finds a generation that claims to be complete, and
// at first nothing that it cannot read.
func (w *operators) rebuildInPeace() bool {
	before, ended := w.byPut.asleep, false
	w.Calm = true
	defer func() { w.Calm = false }()
	w.Spawn("rebuild", nil, func() { w.rebuild(operator{w.client()}); ended = true })
	w.run(calmSteps, func() bool { return (ended || w.byPut.asleep > before) && w.quiet() })
	return w.Failure == nil
}

// finishUpgrade runs the rebuild to its end once the old code is gone. It must succeed.
func (w *operators) finishUpgrade() bool {
	if w.plan.Upgrade == 0 || w.Failure != nil {
		return w.Failure == nil
	}
	w.phase = w.plan.Phases + 2
	complete, ended := false, false
	w.Calm = true
	w.Spawn("rebuild", nil, func() { complete = w.rebuild(operator{w.client()}); ended = true })
	w.run(calmSteps, func() bool { return ended && w.quiet() })
	w.wholes.complete = complete
	if w.Failure == nil && !complete {
		w.Fail(Generation, "the rebuild of a drained world does not complete")
	}
	return w.settle(nil) && w.rest.checkDrained() && w.putBack()
}

// careless lets a person change the aggregates without raising the epoch, and start a streams
// function with that change. The start must be refused. The table already has items of that epoch,
// and the changed pipeline would never count them, or would drop them.
func (w *operators) careless(version int64) {
	def, _ := w.pipelineOf(2).Definition("status")
	s := w.starter(version)
	if head, err := s.Head(context.Background(), def); err != nil || head == nil {
		return // epoch 2 has not begun
	}
	w.Fault(unraised, "")
	if err := s.Start(context.Background()); err == nil {
		w.Fail(Generation, "a start with other aggregates and an old epoch was not refused")
	}
}

// putBack lets a person take an aggregate out and later put it back as it was. The aggregate lacks
// what came in between, so that start must be refused.
func (w *operators) putBack() bool {
	if w.plan.Upgrade == 0 {
		return true
	}
	w.Fault(backAgain, "")
	if err := w.starter(takenOut).Start(context.Background()); err != nil {
		w.Fail(Generation, "an aggregate cannot be taken out: %v", err)
	}
	if err := w.starter(asBefore).Start(context.Background()); err == nil {
		w.Fail(Generation, "an aggregate that was taken out goes on as if it had counted meanwhile")
	}
	return w.Failure == nil
}

// starter returns the store of a streams function that is about to start. It meets no faults and
// has no time to wait.
func (w *operators) starter(version int64) *store.Store {
	env := w.Env(w.Rng.Float64, 0)
	env.Sleep = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	return w.storeOf(w.ingot.Engine.DynamoDB(), version, env)
}

func (w *operators) storeOf(client tables.Client, version int64, env env.Env) *store.Store {
	return w.storeWith(client, w.pipelineOf(version), env)
}

func (w *operators) storeWith(c tables.Client, plan *pipeline.Pipeline, env env.Env) *store.Store {
	var objects tables.Objects
	if w.plan.Offload > 0 {
		switch objects = w.ingot.Engine.S3(); c.(type) {
		case client, operator, eraser: // everything that goes wrong for the tables goes wrong for the bucket
			objects = large{w.World}
		}
	}
	if blind := w.packing.blind(plan.Epoch()); blind || w.plan.NewForm && w.plan.Packed == 0 && plan.Epoch() > 1 {
		c = newForm{c, w.World, blind}
	}
	s, err := store.New(tables.Config{Client: c, Pipeline: plan, Events: eventsTable, Aggregates: totals, Objects: objects,
		PayloadBucket: payloadBucket, Counting: w.plan.Counting, OneByOne: w.plan.OneByOne, Region: "us-east-1",
		Env: env})
	if err != nil {
		w.Fail(Broken, "store: %v", err)
	}
	return s
}
