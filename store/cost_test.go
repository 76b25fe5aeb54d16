package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// The store's own accounts must agree with what the engine meters.
func TestCostsOfAggregates(t *testing.T) {
	type want struct {
		requests map[string]int64
		writes   float64
	}
	for _, c := range bothWays {
		w := newWorld(t, counting(c))
		items := w.orders(0, 30)
		steps := map[aggregate.Counting][]want{
			aggregate.Marks: {
				{map[string]int64{"UpdateItem": 3}, 3}, // three aggregates, one write unit each, however many changes
				{map[string]int64{"UpdateItem": 3}, 3}, // redelivered: each meets a failed condition
			},
			aggregate.Receipts: {
				{map[string]int64{"TransactWriteItems": 1}, 2 * (30 + 1 + 1 + 4)}, // the spread aggregate is four items
				{map[string]int64{"TransactWriteItems": 1}, 2 * (30 + 1 + 1 + 4)},
			},
		}[c]
		for n, want := range steps {
			meter := w.meter()
			a := w.apply(w.batch(c, 1, items...))
			used := meter()
			if fmt.Sprint(used.Requests) != fmt.Sprint(want.requests) || used.WriteUnits() != want.writes {
				t.Errorf("%s, time %d: %v, %v write units, want %v, %v", c, n+1, used.Requests, used.WriteUnits(), want.requests,
					want.writes)
			}
			must.Equal(t, a.Cost.WriteUnits, used.WriteUnits(), c, n+1)
		}
	}
}

// An aggregate item is paid for by the started kilobyte, and its by values are in its key. With
// 1,500 bytes of them the item costs two units. This holds whether it is new, exists already, or
// stops a batch that is delivered again.
func TestCostsOfLargeAggregates(t *testing.T) {
	for _, c := range bothWays {
		w := newWorld(t, counting(c))
		item := func(id string, cents int) *event.Item {
			return w.orderOf(strings.Repeat("m", 1500), id, cents)
		}
		batches := []*lanes.Batch{w.batch(c, 1, item("1", 5)), w.batch(c, 1, item("1", 5)), w.batch(c, 2, item("2", 4), item("3", 6))}
		for n, want := range map[aggregate.Counting][]float64{
			aggregate.Marks:    {2 + 2 + 1, 2 + 2 + 1, 2 + 2 + 1},
			aggregate.Receipts: {2 * (1 + 2 + 2 + 1), 2 * (1 + 2 + 2 + 1), 2 * (2 + 2 + 2 + 1)},
		}[c] {
			meter := w.meter()
			a := w.apply(batches[n])
			if used := meter().WriteUnits(); used != want || a.Cost.WriteUnits != used {
				t.Errorf("%s, batch %d: %v write units, and own accounts say %v; want %v", c, n+1, used, a.Cost.WriteUnits, want)
			}
		}
	}
}

// The known cost of a transaction includes a flag that was seen on an item, even if the update does
// not write the flag.
func TestCostOfFlaggedAggregate(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	w.apply(w.batch(aggregate.Receipts, 1, w.order("1", 5)))
	key := itemKey(under("A#by_merchant#1#0#m", "-"))
	w.Alter(t, "totals", key, "SET flag = :v", textValue(strings.Repeat("f", 1024)))
	w.Alter(t, "totals", key, "SET largest = :v", numberValue("9"))
	w.apply(w.batch(aggregate.Receipts, 2, w.order("2", 7))) // its guess of the maximum is wrong, and the answer brings the item
	meter := w.meter()
	a := w.apply(w.batch(aggregate.Receipts, 3, w.order("3", 8)))
	if used := meter().WriteUnits(); used != 2*(1+2+1+1) || a.Cost.WriteUnits != used {
		t.Errorf("%v write units, and own accounts say %v", used, a.Cost.WriteUnits)
	}
}

// crates is a declaration of items that are replaced, grow, and move within an index.
func crates(s *setup) {
	adds(&s.Spec, `
events:
  crate:
    {id: "{id}", at: "{at}", key: {pk: "CRATE#{id}", sk: "-"}, retain: 90d, mode: latest, revision: rev number,
     indexes: {GSI1: {pk: "DEPOT#{depot}", sk: "{@id}"}}}
`)
}

// crate returns a crate's item in a depot, with a note of the given number of bytes. Without a
// depot it is in no index.
func (w *world) crate(id string, rev int, depot string, note int) *event.Item {
	members := []string{`"type":"crate"`, fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"rev":%d`, rev), `"at":"2099-03-01T10:00:00Z"`,
		fmt.Sprintf(`"note":%q`, strings.Repeat("n", note))}
	if depot != "" {
		members = append(members, fmt.Sprintf(`"depot":%q`, depot))
	}
	return w.item(members...)
}

// The costs include replacements on an index, images of other sizes, and refusals by larger images.
// The items go as single puts, and as statements. The refusal of a statement brings no item, even
// from a table that would give it.
func TestCostsOfSizesAndIndexes(t *testing.T) {
	far := strings.Repeat("d", 1500) // in the payload and in the index key, which judging does not read
	for _, many := range []bool{false, true} {
		for _, returns := range []bool{false, true} {
			t.Run(fmt.Sprintf("many=%v image=%v", many, returns), func(t *testing.T) {
				w := newWorld(t, crates, func(s *setup) { s.engine.PartiQLReturnsItem = returns })
				for n, c := range []struct {
					name          string
					item          *event.Item
					writes, reads float64 // units of the item; reads if no image comes back
					unseen        float64 // what its accounts lack for a refused insert: an item whose payload is not read
				}{
					{"into an index", w.crate("1", 1, "a", 0), 1 + 1, 0, 0},
					{"in its place", w.crate("1", 2, "a", 0), 1 + 1 + 1, 1, 0}, // the refused insert, the table, the index
					{"moved", w.crate("1", 3, "b", 0), 1 + 1 + 2, 1, 0},
					{"out of the index", w.crate("1", 4, "", 0), 1 + 1 + 1, 1, 0},
					{"and in again", w.crate("1", 5, "b", 0), 1 + 1 + 1, 1, 0},
					{"grown", w.crate("1", 6, "b", 3000), 4 + 4 + 4, 1, 0},
					{"shrunk", w.crate("1", 7, "b", 0), 4 + 4 + 4, 1, 3},
					{"grown and moved", w.crate("1", 8, "c", 3000), 4 + 4 + (1 + 4), 1, 0},
					{"stale, smaller", w.crate("1", 2, "a", 0), 4, 1, 3},
					{"conflict, smaller", w.crate("1", 8, "c", 10), 4, 2, 0},
					{"conflict, larger", w.crate("1", 8, "c", 5000), 6, 2, 0},
					{"shrunk and moved", w.crate("1", 9, "d", 0), 4 + 4 + (4 + 1), 1, 3},
					{"far away", w.crate("2", 1, far, 1300), 5 + 5, 0, 0},
					{"and again", w.crate("2", 1, far, 1300), 5, 2, 0}, // judging reads less than 1 KB of it, but 5 units are charged
					{"an order of 3 KB", w.order("1", 1, `"note":"`+strings.Repeat("n", 3000)+`"`), 4, 0, 0},
					{"another, smaller", w.order("1", 2), 4, 2, 0},
				} {
					items := events{c.item}
					writes, reads, unseen := c.writes, 0.0, 0.0
					if many {
						for i := range 9 {
							items, writes = append(items, w.order(fmt.Sprint("filler-", n, "-", i), i)), writes+1
						}
					}
					if many {
						reads, unseen = c.reads, c.unseen
					}
					meter := w.meter()
					results, cost := w.arrive(items...)
					used := meter()
					units := 0.0
					for _, r := range results {
						units += r.Units
					}
					if used.WriteUnits() != writes || used.ReadUnits() != reads {
						t.Errorf("%s: %v write and %v read units, want %v and %v", c.name, used.WriteUnits(), used.ReadUnits(),
							writes, reads)
					}
					if int64(cost.Requests) != used.TotalRequests() || cost.WriteUnits != used.WriteUnits()-unseen ||
						cost.ReadUnits != used.ReadUnits() || units != cost.WriteUnits {
						t.Errorf("%s: own accounts say %+v and %v units of the items, the engine %v, %v and %v units", c.name, cost, units,
							used.Requests, used.WriteUnits(), used.ReadUnits())
					}
				}
			})
		}
	}
}

// A replacement that loses its race pays for the item that won, if that is the larger one.
func TestCostOfALostRace(t *testing.T) {
	for _, note := range []int{0, 3000} {
		w, raced := newWorld(t, crates), embedded.Usage{}
		replaces := func(in any) bool {
			return strings.Contains(aws.ToString(in.(*dynamodb.PutItemInput).ConditionExpression), ":seen")
		}
		w.faults = []fault{{API: "PutItem", Applies: replaces, Run: func() {
			meter := w.meter()
			w.open(tables.Config{Events: "events", Env: env.Env{Now: w.Clock.Now}}).
				Put(deadline(t), events{w.crate("1", 2, "b", note)})
			raced = meter()
		}}}
		w.keep(w.crate("1", 1, "a", 0))
		meter := w.meter()
		results, cost := w.arrive(w.crate("1", 3, "c", 1000))
		used := meter()
		if verdicts(results) != "Updated" || cost.WriteUnits != used.WriteUnits()-raced.WriteUnits() || raced.WriteUnits() == 0 {
			t.Errorf("note of %d: %s, own accounts say %v write units, the engine %v less the other writer's %v", note, verdicts(results),
				cost.WriteUnits, used.WriteUnits(), raced.WriteUnits())
		}
	}
}

// The update of a head is charged for the whole head, with its definition. The update of a head
// that is gone costs one unit.
func TestCostOfHeads(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		values := map[string]string{}
		for i := range 40 {
			values[fmt.Sprintf("v%d", i)] = "sum " + strings.Repeat("p", 200)
		}
		s.Aggregates["wide"] = pipeline.AggregateSpec{Since: 1, From: map[string]pipeline.FromSpec{"order": {Values: values}}}
	})
	w.start()
	def := func(name string) *aggregate.Definition { d, _ := w.plan.Definition(name); return d }
	gone := *def("live")
	gone.Since = 7
	defs := []*aggregate.Definition{def("wide"), def("live"), &gone}
	behind := func() (tables.Cost, error) { return w.sandbox(0).Inside().Heads.MarkBehind(deadline(t), defs) }
	for _, c := range []struct {
		name     string
		update   func() (tables.Cost, error)
		requests int
		least    float64 // write units
	}{
		{"behind", behind, 1 + 3 + 2, 9 + 1 + 1 + 2},
		{"behind again", behind, 1 + 1, 1}, // for the head that is gone
		{"flag", func() (tables.Cost, error) {
			return w.store.Inside().Heads.Flag(deadline(t), defs, epoch, strings.Repeat("because ", 300))
		}, 3 + 2, 9 + 1}, // each is read, and written unless it is gone
		{"flagged again", func() (tables.Cost, error) {
			return w.store.Inside().Heads.Flag(deadline(t), defs, epoch, "another")
		}, 1, 0}, // for the one that is gone
		{"flagged by another", func() (tables.Cost, error) {
			return w.sandbox(0).Inside().Heads.Flag(deadline(t), defs, epoch, "another")
		}, 3, 0},
	} {
		name := c.name
		meter := w.meter()
		cost, err := c.update()
		used := meter()
		if err != nil || cost.WriteUnits != used.WriteUnits() || cost.ReadUnits != used.ReadUnits() || cost.WriteUnits < c.least ||
			cost.Requests != c.requests {
			t.Errorf("%s: own accounts say %+v, the engine %v write units: %v", name, cost, used.WriteUnits(), err)
		}
	}
}
