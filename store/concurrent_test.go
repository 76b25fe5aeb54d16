package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// Many callers use one Store at once, as when several Lambda invocations share a process. Run this
// test with -race.
func TestOneStoreManyCallers(t *testing.T) {
	eachWay(t, func(t *testing.T, way aggregate.Counting) {
		w := newWorld(t, counting(way), func(s *setup) {
			s.tables.Env = env.Env{Now: func() time.Time {
				return epoch
			}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
		})
		w.start()
		var group sync.WaitGroup
		const callers, each = 8, 20
		for c := range callers {
			items := make(events, each)
			for i := range items {
				items[i] = w.order(fmt.Sprint(c*each+i), c*each+i)
			}
			batch := w.from(way, fmt.Sprint("shard-", c), 1, items...)
			group.Go(func() {
				if results, _ := w.arrive(items...); strings.Count(verdicts(results), "Inserted") != each {
					t.Errorf("caller %d: %s", c, verdicts(results))
				}
			})
			group.Go(func() {
				if a := w.store.Apply(deadline(t), batch, noQuarantine(t)); !a.Unproven.IsZero() {
					t.Errorf("caller %d: %v", c, a.Err)
				}
			})
			group.Go(func() {
				if _, err := w.query().Total(deadline(t), "live", nil, epoch, epoch); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		report, err := verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now())
		if err != nil || !report.OK() || report.Items != callers*each {
			t.Errorf("%+v %v", report, err)
		}
		w.expect("by_merchant", "orders 160, largest 159, least 0")
	})
}

// Several writers put events of a few keys, with every fault that a request can have. Each goes on
// until it has an answer that says that it is done. Then the table shows who was right.
func TestWritersRace(t *testing.T) {
	for _, seed := range replay.Seeds(t, 0, 60) {
		writersRace(t, seed)
		if t.Failed() {
			t.Fatal("replay with " + replay.Command(t, seed))
		}
	}
}

func writersRace(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	var late []func() (any, error)
	var w *world
	var other *store.Store
	nested, armed := false, false
	w = newWorld(t, func(s *setup) {
		whole := s.engine.Intercept
		s.engine.PartiQLReturnsItem = seed%2 == 0
		s.engine.Intercept = func(ctx context.Context, api string, in any, call func() (any, error)) (any, error) {
			if !armed {
				return call()
			}
			switch x := r.Float64(); {
			case x < 0.05:
				return nil, errThrottled
			case x < 0.10:
				_, _ = call()
				return nil, errLost
			case x < 0.15 && api != "BatchGetItem":
				late = append(late, call)
				return nil, errLost
			case x < 0.20 && len(late) > 0:
				_, _ = late[0]()
				late = late[1:]
			case x < 0.5 && !nested:
				// Another writer comes between this request and the one before it.
				nested = true
				other.Put(ctx, events{w.parcel(fmt.Sprint(r.IntN(3)), r.IntN(6)), w.order(fmt.Sprint(r.IntN(3)), r.IntN(2))})
				nested = false
			}
			return whole(ctx, api, in, call)
		}
		s.tables.Env.Group = func() env.Group { return inline{} }
	})
	other = w.open(tables.Config{Events: "events",
		Env: env.Env{Now: w.Clock.Now, Rand: r.Float64,
			Group: func() env.Group { return inline{} }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}})
	armed = true
	inserted := map[event.Key]int{}
	type judged struct {
		item    *event.Item
		verdict event.Verdict
	}
	var all []judged
	for range 8 {
		var items events
		for range 1 + r.IntN(12) {
			id := fmt.Sprint(r.IntN(6))
			if r.IntN(2) == 0 {
				items = append(items, w.parcel(id, r.IntN(6)))
			} else {
				items = append(items, w.order(id, r.IntN(2)))
			}
		}
		for tries := 0; len(items) > 0; tries++ {
			if tries > 50 {
				t.Fatal("no end of retries")
			}
			results, _ := w.arrive(items...)
			var again events
			for i, result := range results {
				switch result.Verdict {
				case event.Retry:
					again = append(again, items[i])
					continue
				case event.Inserted:
					inserted[items[i].Key]++
				}
				all = append(all, judged{items[i], result.Verdict})
			}
			items = again
		}
	}
	for _, request := range late { // the last stragglers arrive
		_, _ = request()
	}
	armed = false
	lies := map[event.Key]*event.Item{}
	for item, err := range other.Items(context.Background()) {
		must.Succeed(t, err)
		lies[item.Key] = item
	}
	for key, n := range inserted {
		if n > 1 {
			t.Errorf("%s was Inserted %d times", key, n)
		}
	}
	for _, j := range all {
		stored := lies[j.item.Key]
		if stored == nil {
			t.Errorf("%s: %s, and nothing is stored", j.item.Key, j.verdict)
			continue
		}
		equal := stored.Digest == j.item.Digest
		if j.item.Revision == nil {
			if want := j.verdict == event.Inserted || j.verdict == event.Duplicate; equal != want {
				t.Errorf("%s: %s, and the stored item is equal: %v", j.item.Key, j.verdict, equal)
			}
			continue
		}
		if stored.Revision.Cmp(*j.item.Revision) < 0 || j.verdict == event.Stale && equal || !j.verdict.Stored() {
			t.Errorf("%s: revision %s is %s, and revision %s is stored", j.item.Key, j.item.Revision, j.verdict, stored.Revision)
		}
	}
}

// The cost of a batch on the side of the aggregates depends on how many aggregate items it touches.
func TestCostsByAggregatesTouched(t *testing.T) {
	for _, way := range bothWays {
		for _, m := range []int{1, 3, 10} {
			w := newWorld(t, counting(way))
			var items events
			for i := range 30 {
				items = append(items, w.orderOf(fmt.Sprint("m", i%m), fmt.Sprint(i), 5))
			}
			for time := range 2 {
				meter := w.meter()
				a := w.apply(w.batch(way, 1, items...))
				used := meter()
				writes := used.WriteUnits()
				if way == aggregate.Marks && (used.Requests["UpdateItem"] != int64(2*m+1) || used.TotalRequests() != int64(2*m+1) ||
					writes != float64(2*m+1)) {
					t.Errorf("%d merchants, time %d: %v, %v write units, want %d", m, time+1, used.Requests, writes, 2*m+1)
				}
				if way == aggregate.Receipts && (used.Requests["TransactWriteItems"] != 1 || used.TotalRequests() != 1 ||
					writes < 2*(30+float64(2*m+1))) {
					t.Errorf("%d merchants, time %d: %v, %v write units", m, time+1, used.Requests, writes)
				}
				if a.Cost.WriteUnits != writes || a.Cost.Requests != int(used.TotalRequests()) {
					t.Errorf("own accounts say %+v, the engine %v in %d requests", a.Cost, writes, used.TotalRequests())
				}
			}
		}
	}
}
