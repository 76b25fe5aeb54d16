package verify_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

const day = 24 * time.Hour

func orders() pipeline.Spec {
	all := map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents",
		"largest": "max cents", "least": "min cents"}}}
	sums := map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}
	return pipeline.Spec{
		Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}, Retain: 90 * day},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"by_merchant": {Since: 1, By: map[string]string{"merchant": "{merchant}"}, From: all, Spread: 3},
			"daily":       {Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: day, Retain: 100 * day, From: sums},
			"live":        {Since: 1, OnExpire: "subtract", From: sums},
		},
	}
}

var epoch = must.Time("2099-03-01T12:00:00Z")

// attrs is an item, or a part of one, as a request has it.
type attrs = map[string]types.AttributeValue

// world is a pair of tables, and a streams function behind its mapping.
type world struct {
	*testworld.World
	t       testing.TB
	plan    *pipeline.Pipeline
	store   *store.Store
	streams *handler.Streams
	mapping *esm.Stream
}

func newWorld(t testing.TB) *world { return newWorldOf(t, orders()) }

func newWorldOf(t testing.TB, spec pipeline.Spec) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	w.World, err = testworld.New(context.Background(), testworld.Config{Start: epoch, Engine: embedded.Config{Behind: embedded.Oldest}})
	must.Succeed(t, err)
	w.deploy(spec)
	// The mapping lives longer than any one version of the function.
	invoke := func(ctx context.Context, payload []byte) ([]byte, error) {
		return lambda.NewHandler(w.streams.Handle).Invoke(ctx, payload)
	}
	w.mapping, err = w.MapStream(esm.StreamConfig{BatchSize: 7, Window: w.Window(), Function: esm.Function{Handler: invoke}})
	must.Succeed(t, err)
	return w
}

// open is a store of one version of the file.
func (w *world) open(spec pipeline.Spec, options ...pipeline.Option) (*pipeline.Pipeline, *store.Store) {
	w.t.Helper()
	p, err := pipeline.New(spec, options...)
	must.Succeed(w.t, err)
	s, err := w.Store(p)
	must.Succeed(w.t, err)
	return p, s
}

// deploy starts the streams function with a version of the file.
func (w *world) deploy(spec pipeline.Spec, options ...pipeline.Option) {
	w.t.Helper()
	w.plan, w.store = w.open(spec, options...)
	w.streams = w.Streams(w.store)
	must.Succeed(w.t, w.streams.Start(context.Background()))
}

// put stores an order with the present version of the file.
func (w *world) put(id int, merchant string, cents int) {
	w.t.Helper()
	w.putBy(w.plan, w.store, id, merchant, cents)
}

// putBy stores an order with one version of the file.
func (w *world) putBy(p *pipeline.Pipeline, s *store.Store, id int, merchant string, cents int) {
	w.t.Helper()
	w.inserted(p, s, fmt.Sprintf(`{"type":"order","id":"%d","merchant":%q,"cents":%d,"at":%q}`, id, merchant, cents,
		w.Clock.Now().Add(-time.Hour).Format(time.RFC3339)))
}

// inserted stores an event with one version of the file.
func (w *world) inserted(p *pipeline.Pipeline, s *store.Store, body string) *event.Item {
	w.t.Helper()
	item, err := p.Plan(envelope.Message{Body: body})
	must.Succeed(w.t, err)
	if results, _ := s.Put(context.Background(), []*event.Item{item}); results[0].Verdict != event.Inserted {
		w.t.Fatalf("%+v", results[0])
	}
	return item
}

// drain lets the stream catch up.
func (w *world) drain() {
	w.t.Helper()
	for idle := 0; idle < 2; idle++ {
		for {
			p, err := w.mapping.Poll(context.Background())
			must.Succeed(w.t, err)
			if p.Failed > 0 {
				w.t.Fatalf("a batch failed: %+v", p)
			}
			if p.Idle() {
				break
			}
			idle = 0
		}
		w.Clock.Pass(2 * time.Minute)
	}
}

// swept lets time pass and what has expired by then go.
func (w *world) swept(after time.Duration) {
	w.t.Helper()
	w.Clock.Pass(after)
	w.Engine.SweepExpired()
	w.drain()
}

// definition returns what the present version of the file declares of an aggregate, or nil.
func (w *world) definition(name string) *aggregate.Definition {
	def, _ := w.plan.Definition(name)
	return def
}

// touched touches all items.
func (w *world) touched() repair.Touched {
	w.t.Helper()
	touched, err := repair.Of(w.store).Touch(context.Background())
	must.Succeed(w.t, err)
	return touched
}

// touch touches all items, and lets the stream bring them.
func (w *world) touch() {
	w.t.Helper()
	w.touched()
	w.drain()
}

// gone removes an order by hand, and lets the stream tell it.
func (w *world) gone(id int) {
	w.t.Helper()
	w.remove("events", order(id))
	w.drain()
}

// finished fails unless a pass is finished, with no difference.
func (w *world) finished(pass tables.Pass) {
	w.t.Helper()
	standing, err := finish(w, pass)
	must.Succeed(w.t, err)
	must.Equal(w.t, len(standing), 0, standing)
}

// ok returns the report, in which nothing may differ.
func (w *world) ok() *verify.Report {
	w.t.Helper()
	r := w.verify()
	must.Equal(w.t, r.OK(), true, r.Differences)
	return r
}

// whats returns what differs, in order.
func whats(r *verify.Report) string {
	var list []string
	for _, d := range r.Differences {
		list = append(list, d.What)
	}
	return strings.Join(list, " ")
}

func (w *world) verify() *verify.Report {
	w.t.Helper()
	report, err := verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now())
	must.Succeed(w.t, err)
	return report
}

func (w *world) key(def string, n int) attrs {
	w.t.Helper()
	for total, err := range w.store.Totals(context.Background()) {
		must.Succeed(w.t, err)
		if total.Address.Name != def {
			continue
		}
		if n--; n < 0 {
			return w.keyOf(total.Address)
		}
	}
	w.t.Fatalf("no such total of %s", def)
	return nil
}

func (w *world) keyOf(a aggregate.Address) attrs {
	return itemKey(lanes.Key(w.definition(a.Name), a.Bucket, a.By, a.Window))
}

// alter changes a total by hand.
func (w *world) alter(key attrs, expression string, value types.AttributeValue) {
	w.t.Helper()
	w.Alter(w.t, "totals", key, expression, value)
}

// add adds to an attribute of the first total of an aggregate by hand.
func (w *world) add(def, name, by string) {
	w.t.Helper()
	w.alter(w.key(def, 0), "ADD "+name+" :v", number(by))
}

// flag flags the first total of an aggregate by hand.
func (w *world) flag(def string) {
	w.t.Helper()
	w.alter(w.key(def, 0), "SET flag = :v", rows.Text("odd"))
}

// adds makes a function that adds to the first total of an aggregate.
func adds(def, name, by string) func(*world) { return func(w *world) { w.add(def, name, by) } }

func (w *world) remove(table string, key attrs) {
	w.t.Helper()
	w.Delete(w.t, table, key)
}

var itemKey, number = rows.KeyImage, rows.Number

func (w *world) head(d *aggregate.Definition) *tables.Head {
	w.t.Helper()
	h, err := w.store.Head(context.Background(), d)
	if err != nil || h == nil {
		w.t.Fatalf("head of %s: %v %v", d, h, err)
	}
	return h
}

// odd inserts an item of type order that Ingot did not write.
func (w *world) odd(pk string, more attrs) {
	item := itemKey(event.Key{PK: pk, SK: "x"})
	item["type"] = rows.Text("order")
	maps.Copy(item, more)
	w.Put(w.t, "events", item)
}
