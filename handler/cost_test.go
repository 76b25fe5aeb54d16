package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Five thousand new events come in batches of a thousand, with some duplicates among them. As the
// engine counts, each costs a write unit and less than a twentieth of a request. A duplicate in the
// batch of its original costs nothing. A duplicate in a later batch costs its failed condition and
// a share of one read.
func TestIngestCosts(t *testing.T) {
	const batches, inBatch, later = 5, 3, 3
	w := newWorld(t)
	before := w.Engine.Usage()
	for b := range batches {
		var bodies []string
		for i := range 1000 {
			bodies = append(bodies, order(fmt.Sprint(b*1000+i), i))
		}
		for i := range inBatch {
			bodies = append(bodies, bodies[i*100])
		}
		for i := range later {
			if b > 0 {
				bodies = append(bodies, order(fmt.Sprint((b-1)*1000+i), i))
			}
		}
		must.Equal(t, w.receive(messages(bodies...)), failures())
	}
	used := w.Engine.Usage().Sub(before)
	const met = later * (batches - 1)
	if used.WriteUnits() != batches*1000+met || used.ReadUnits() != met {
		t.Errorf("%v write and %v read units for %d new events and %d duplicates of earlier batches", used.WriteUnits(), used.ReadUnits(),
			batches*1000, met)
	}
	requests := int64(0)
	for _, n := range used.Requests {
		requests += n
	}
	// A batch has 40 requests of statements, one more for the duplicates, and one that reads them.
	if want := int64(40*batches + 2*(batches-1)); requests != want || float64(requests) > 0.05*batches*1000 {
		t.Errorf("%d requests, want %d: %v", requests, want, used.Requests)
	}
}

// merchants returns a pipeline with one aggregate, which has one item for each merchant.
func merchants(s *setup) {
	s.load = loaded(`
ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: ORDER}, retain: 90d}
aggregates:
  merchants: {since: 1, by: {merchant: "{merchant}"}, from: {order: {values: {orders: count, revenue: sum cents}}}}
`)
}

// changesOf returns stream batches of n inserts, in hundreds, from twenty merchants in turn.
func (w *world) changesOf(n int) []map[string]any {
	var all []map[string]any
	for start := 0; start < n; start += 100 {
		var records []map[string]any
		for i := start; i < start+100; i++ {
			records = append(records, insert(i+1, w.image(order(fmt.Sprint(i), i, fmt.Sprintf(`"merchant":"m%d"`, i%20)))))
		}
		all = append(all, batch(records...))
	}
	return all
}

// A hundred changes of twenty aggregates are twenty writes of a unit each. That is a fifth of a
// unit for each change.
func TestStreamsCosts(t *testing.T) {
	w := newWorld(t, merchants).started()
	input := w.changesOf(500)
	before := w.Engine.Usage()
	for _, e := range input {
		w.expect(e, done)
	}
	used := w.Engine.Usage().Sub(before)
	must.Equal(t, fmt.Sprint(used.WriteUnits(), used.ReadUnits(), used.Requests), "100 0 map[UpdateItem:100]") // 0.2 for each change
}

// agreeable is a table that says yes at once, so that only Ingot's own part is measured.
type agreeable struct{ tables.Client }

func (agreeable) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput,
	...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{}, nil
}

func (agreeable) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
	...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func (agreeable) BatchExecuteStatement(_ context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(in.Statements))}, nil
}

func (agreeable) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, nil
}

// agreeing returns a store over such a table.
func (w *world) agreeing() *store.Store {
	w.t.Helper()
	s, err := store.New(tables.Config{Client: agreeable{}, Pipeline: w.plan, Events: "events", Aggregates: "totals"})
	must.Succeed(w.t, err)
	return s
}

// From the message to the statement and back, an event costs so many allocations. Planning it takes
// 14 of them. Those of the SDK are added.
func TestIngestAllocations(t *testing.T) {
	w := newWorld(t, merchants)
	in := w.Ingest(w.agreeing())
	in.OnResult = func(_ context.Context, o handler.Outcome) {
		must.Equal(t, o.Verdict, event.Inserted)
	}
	var bodies []string
	pad := fmt.Sprintf(`"merchant":"m","note":%q`, strings.Repeat("x", 300))
	for i := range 1000 {
		bodies = append(bodies, order(fmt.Sprint(i), i, pad))
	}
	e := messages(bodies...)
	got := testing.AllocsPerRun(5, func() {
		if _, err := in.Handle(context.Background(), e); err != nil {
			t.Error(err)
		}
	}) / 1000
	t.Logf("%.1f allocations an event", got)
	if got > 26 {
		t.Errorf("%.1f allocations an event", got)
	}
}

// The same holds for a change, from the batch's JSON to the updates of its aggregates.
func TestStreamsAllocations(t *testing.T) {
	w := newWorld(t, merchants)
	s := w.Streams(w.agreeing())
	s.OnBatch = func(_ context.Context, r handler.StreamsReport) {
		if r.Updates != 20 || r.Unproven {
			t.Errorf("%+v", r)
		}
	}
	payload := marshal(t, w.changesOf(100)[0])
	got := testing.AllocsPerRun(5, func() {
		if _, err := s.Handle(context.Background(), payload); err != nil {
			t.Error(err)
		}
	}) / 100
	t.Logf("%.1f allocations a change", got)
	if got > 49 {
		t.Errorf("%.1f allocations a change", got)
	}
}
