package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

func counting(c aggregate.Counting) option {
	return func(s *setup) { s.tables.Counting = c }
}

var bothWays = []aggregate.Counting{aggregate.Marks, aggregate.Receipts}

// eachWay runs a test under marks and under receipts.
func eachWay(t *testing.T, test func(t *testing.T, c aggregate.Counting)) {
	for _, c := range bothWays {
		t.Run(c.String(), func(t *testing.T) { test(t, c) })
	}
}

func (w *world) apply(b *lanes.Batch) count.Applied {
	w.t.Helper()
	a := w.store.Apply(deadline(w.t), b, noQuarantine(w.t))
	if !a.Unproven.IsZero() {
		w.t.Fatalf("unproven from %s: %v", a.Unproven, a.Err)
	}
	return a
}

// expect fails unless the only total of an aggregate has the values of a text, such as "orders 3,
// revenue 47", and no flag.
func (w *world) expect(name, values string) {
	w.t.Helper()
	by := []string{"merchant", "m"}
	if name == "live" {
		by = nil
	}
	got := w.total(name, by...)
	for _, one := range strings.Split(values, ", ") {
		value, want, _ := strings.Cut(one, " ")
		must.Equal(w.t, got.Values[value].String(), want, name)
	}
	if len(got.Flags) > 0 {
		w.t.Errorf("%s is flagged: %v", name, got.Flags)
	}
}

// A batch is delivered again whole, in parts and with more records. Each change is counted once.
func TestRedeliveredBatches(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		items := w.events("order 1 5, order 2 40, order 3 7, order 4 1")
		w.apply(w.batch(c, 1, items[:3]...))
		if a := w.apply(w.batch(c, 1, items[:3]...)); a.Updates != 0 || a.Dropped == 0 {
			t.Errorf("the same batch again: %d updates, %d steps dropped", a.Updates, a.Dropped)
		}
		w.apply(w.batch(c, 2, items[1:2]...))
		w.apply(w.batch(c, 1, items...)) // the tail of a batch with other bounds is not counted yet
		w.expect("by_merchant", "orders 4, revenue 53, largest 40, least 1")
		w.expect("daily", "orders 4, revenue 53")
		w.expect("live", "orders 4, revenue 53")
	})
}

// Every write of an aggregate fails in two ways. Neither loses a change or counts it twice.
func TestFaultsOfAggregateWrites(t *testing.T) {
	for _, c := range bothWays {
		api := map[aggregate.Counting]string{aggregate.Marks: "UpdateItem", aggregate.Receipts: "TransactWriteItems"}[c]
		conflict := cancelledAt(5, "TransactionConflict", 1)
		for name, f := range map[string]fault{
			"refused":     {API: api, Before: errThrottled},
			"no answer":   {API: api, Before: errLost},
			"lost answer": {API: api, After: errLost},
			"conflict":    {API: api, Before: conflict},
		} {
			t.Run(c.String()+" "+name, func(t *testing.T) {
				w := newWorld(t, counting(c))
				w.faults = []fault{f, f, f}
				w.apply(w.batch(c, 1, w.events("order 1 5, order 2 40")...))
				w.faults = []fault{f, f, f}
				w.apply(w.batch(c, 3, w.order("3", 2)))
				w.expect("by_merchant", "orders 3, revenue 47, largest 40, least 2")
				w.expect("live", "orders 3, revenue 47")
			})
		}
	}
}

// A report names the lowest sequence number of what stays unproven, and a later delivery completes
// it. Under marks, one total has counted the batch by then, and the others have not. Nothing ties
// their writes together: each total knows for itself what of the larger batch it has counted.
func TestUnproven(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		batch := w.batch(c, 7, w.events("order 1 5, order 2 40")...)
		api := map[aggregate.Counting]string{aggregate.Marks: "UpdateItem", aggregate.Receipts: "TransactWriteItems"}[c]
		w.faults = []fault{{API: api, Always: true, Before: errLost, Applies: func(in any) bool {
			u, one := in.(*dynamodb.UpdateItemInput)
			return !one || show(u.Key["PK"]) != "S A#by_merchant#1#0#m"
		}}}
		a := w.store.Apply(context.Background(), batch, noQuarantine(t))
		if a.Unproven.Compare(w.sequence(7)) != 0 || !errors.Is(a.Err, errLost) || (a.Updates == 1) != (c == aggregate.Marks) {
			t.Fatalf("unproven from %s (%v), want from 7; %d updates", a.Unproven, a.Err, a.Updates)
		}
		w.faults = nil
		w.apply(w.batch(c, 7, w.events("order 1 5, order 2 40, order 3 2")...))
		for _, name := range []string{"by_merchant", "daily", "live"} {
			w.expect(name, "orders 3, revenue 47")
		}
	})
}

// No update may pass a mark that is not proven. A zombie writes the first half of a batch late.
func TestZombieWritesLate(t *testing.T) {
	w := newWorld(t)
	zombie := w.batch(aggregate.Marks, 1, w.order("1", 5))
	w.counts(1, w.events("order 1 5, order 2 6")...)
	w.apply(zombie)
	w.expect("by_merchant", "orders 2, revenue 11")
}

// change makes the change that a person or time to live makes to an item.
func (w *world) change(sequence int64, kind event.ChangeKind, expired bool, old, new *event.Item) *lanes.Batch {
	w.t.Helper()
	c := w.insert(sequence, old)
	c.Kind, c.Expired, c.Old, c.New = kind, expired, old, new
	var before, after []aggregate.Contribution
	if old != nil {
		before = w.plan.Contributions(old).List
	}
	if new != nil {
		after = w.plan.Contributions(new).List
	}
	b := lanes.NewBatch(w.store.Inside().Heads.Counting(), lane)
	b.Add(c, before, after)
	return b
}

func TestExpiryAndRemoval(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		items := w.events("order 1 5, order 2 40, order 3 7")
		w.apply(w.batch(c, 1, items...))
		for range 2 { // delivered twice
			w.apply(w.change(4, event.Remove, true, items[0], nil))
			w.apply(w.change(5, event.Remove, false, items[1], nil))
		}
		w.expect("daily", "orders 2, revenue 12") // kept, because only the person's removal counts
		w.expect("live", "orders 1, revenue 7")
		daily, live := w.total("daily", "merchant", "m"), w.total("live")
		term := func(name string, item *event.Item) event.Decimal {
			for _, c := range w.plan.Contributions(item).List {
				if c.Def.Name == name {
					return event.DecimalOf(c.Term)
				}
			}
			t.Fatal("no contribution to", name)
			return event.Decimal{}
		}
		if want := term("daily", items[0]).Add(term("daily", items[2])); daily.FP.Cmp(want) != 0 ||
			daily.FPX.Cmp(term("daily", items[0])) != 0 || daily.N != 2 {
			t.Errorf("kept total: n %d, fp %s, expired part %s", daily.N, daily.FP, daily.FPX)
		}
		if live.FP.Cmp(term("live", items[2])) != 0 || !live.FPX.IsZero() || live.N != 1 {
			t.Errorf("live total: n %d, fp %s, expired part %s", live.N, live.FP, live.FPX)
		}
		// A person's removal cannot be taken out of largest and least, and the total says so.
		if flags := w.total("by_merchant", "merchant", "m").Flags; len(flags) != 1 ||
			!strings.Contains(flags[0], "largest, least") && !strings.Contains(flags[0], "least") {
			t.Errorf("flags %v", flags)
		}
	})
}

// INSERT and REMOVE of one item come through different lanes, and so go to different buckets. The
// total still adds up.
func TestRemoveThroughAnotherLane(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 5)
	w.counts(1, item)
	other := lane
	other.ShardID = "shardId-other"
	for lanes.LaneIDOf(other).Bucket(4) == lanes.LaneIDOf(lane).Bucket(4) {
		other.ShardID += "x"
	}
	c := w.insert(9, item)
	c.Kind, c.Old, c.New, c.Lane = event.Remove, item, nil, other
	b := lanes.NewBatch(aggregate.Marks, other)
	b.Add(c, w.plan.Contributions(item).List, nil)
	w.apply(b)
	if got := w.total("daily", "merchant", "m"); got.N != 0 || !got.FP.IsZero() || !got.Values["revenue"].IsZero() {
		t.Errorf("n %d, fp %s, revenue %s after removal", got.N, got.FP, got.Values["revenue"])
	}
}

// A late subtraction creates a swept total again, as one that is expired from the start. It is
// written, but no reader sees it.
func TestRecreatedTotalIsBornExpired(t *testing.T) {
	w := newWorld(t)
	w.start()
	item := w.order("1", 5)
	w.Clock.Set(epoch.AddDate(1, 0, 0))
	w.apply(w.change(1, event.Remove, false, item, nil))
	totals, err := w.query().Total(context.Background(), "daily", map[string]string{"merchant": "m"}, epoch.AddDate(0, -1, 0),
		epoch.AddDate(0, 1, 0))
	if err != nil || len(totals) != 0 {
		t.Errorf("a total past its time is shown: %v %v", totals, err)
	}
	written := 0
	for _, c := range w.plan.Contributions(item).List {
		if c.Def.Name != "daily" {
			continue
		}
		written++
		img := w.stored("totals", lanes.Key(c.Def, lanes.LaneIDOf(lane).Bucket(c.Def.Spread), c.By, c.Window))
		if show(img["n"]) != "N -1" || show(img["revenue"]) != "N -5" {
			t.Errorf("n %s and revenue %s lie there, want -1 and -5", show(img["n"]), show(img["revenue"]))
		}
		end := must.Time("2099-03-02T00:00:00Z").Add(100 * 24 * time.Hour) // the end of the window, and then retain
		if got := show(img["expiresAt"]); got != fmt.Sprint("N ", end.Unix()) || !end.Before(w.Clock.Now()) {
			t.Errorf("it expires at %s, want %d, which is past", got, end.Unix())
		}
	}
	must.Equal(t, written, 1)
}

func TestMarksArePruned(t *testing.T) {
	w := newWorld(t)
	deliver := func(shard string, sequence int64) {
		w.apply(w.from(aggregate.Marks, shard, sequence, w.order(fmt.Sprintf("%s-%d", shard, sequence), 1)))
	}
	for i := range 6 {
		deliver(fmt.Sprint("old-", i), 100)
	}
	w.Clock.Set(epoch.Add(72 * time.Hour))
	deliver("new", 1)
	deliver("new", 2)
	if got := w.marks(); got != 7 {
		t.Fatalf("%d marks 72 hours later, want all 7: a replayed shard would count twice", got)
	}
	w.Clock.Set(epoch.Add(72*time.Hour + time.Second))
	deliver("new", 3)
	must.Equal(t, w.marks(), 1)
	w.expect("live", "orders 9")
	// If a mark has moved since it was seen, it is not pruned, and the update goes through without
	// that.
	deliver("late", 50)
	w.Clock.Pass(80 * time.Hour)
	other := w.open(tables.Config{})
	b := w.from(aggregate.Marks, "late", 51, w.order("late-51", 1))
	if a := other.Apply(deadline(t), b, noQuarantine(t)); !a.Unproven.IsZero() {
		t.Fatal(a.Err)
	}
	deliver("new", 4)
	deliver("late", 51)
	w.expect("live", "orders 12")
}

// Extremes are compared with those of a naive twin, over many small batches and two stores that
// remember different things.
func TestExtremes(t *testing.T) {
	for _, way := range bothWays {
		w := newWorld(t, counting(way))
		second := w.open(tables.Config{Counting: way,
			Env: env.Env{Now: w.Clock.Now}})
		rng := rand.New(rand.NewPCG(3, 3))
		largest, least := -1<<31, 1<<31
		for i := range 200 {
			cents := rng.IntN(1000) - 500 + i
			largest, least = max(largest, cents), min(least, cents)
			s := []*store.Store{w.store, second}[rng.IntN(2)]
			if a := s.Apply(deadline(t), w.batch(way, int64(i+1), w.order(fmt.Sprint(i), cents)),
				noQuarantine(t)); !a.Unproven.IsZero() {
				t.Fatal(a.Err)
			}
			w.expect("by_merchant", fmt.Sprintf("largest %d, least %d, orders %d", largest, least, i+1))
		}
	}
}

// If the table will never take an update, the update is quarantined first. Then it is flagged, and
// counts as processed.
func TestRefusedUpdate(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		item := w.order("1", 5)
		key := under("A#live#1#0", "-")
		w.write("totals", key, attrs{"revenue": textValue("not a number")})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		unwilling := func(context.Context, *lanes.Update, error) error {
			cancel()
			return errLost
		}
		if a := w.store.Apply(ctx, w.batch(c, 1, item), unwilling); a.Unproven.IsZero() {
			t.Fatal("the update counts as processed, and quarantine did not take it")
		}
		var refused []string
		a := w.store.Apply(deadline(t), w.batch(c, 1, item), keeping(&refused))
		if !a.Unproven.IsZero() || len(refused) != 1 || refused[0] != key.String() || a.Refused != 1 {
			t.Fatalf("unproven %s (%v), refused %v", a.Unproven, a.Err, refused)
		}
		if flags := w.total("live").Flags; len(flags) != 1 || !strings.Contains(flags[0], "refused") {
			t.Errorf("flags %v", flags)
		}
		w.expect("by_merchant", "orders 1")
		if a := w.store.Apply(deadline(t), w.batch(c, 1, item), noQuarantine(t)); !a.Unproven.IsZero() || a.Updates != 0 {
			t.Errorf("delivered again: %+v", a)
		}
	})
}

// A full aggregate item that does not take even a flag blocks nothing. The head of its generation
// carries the flag, and the other aggregates count.
func TestFullItem(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		w.start()
		key := under("A#live#1#0", "-")
		const filled = 400<<10 - len("PK"+"A#live#1#0"+"SK"+"-"+"x")
		w.write("totals", key, attrs{"x": textValue(strings.Repeat("x", filled))})
		var refused []string
		quarantine := keeping(&refused)
		// If the head cannot be written, nothing may count as processed.
		denied := fault{API: "UpdateItem", Before: errDenied}
		if c == aggregate.Receipts { // under receipts, only heads are written by UpdateItem
			w.faults = []fault{denied}
			if a := w.store.Apply(deadline(t), w.batch(c, 1, w.order("1", 5)), quarantine); a.Unproven.IsZero() {
				t.Fatal("the update counts as processed, and nothing says that it was refused")
			}
			if totals, err := w.query().Total(context.Background(), "by_merchant", map[string]string{"merchant": "m"},
				time.Time{},
				time.Time{}); err != nil || len(totals) != 0 {
				t.Fatalf("counted in part: %v, %v", totals, err)
			}
		}
		refused = nil
		a := w.store.Apply(deadline(t), w.batch(c, 1, w.order("1", 5)), quarantine)
		if !a.Unproven.IsZero() || a.Refused != 1 || len(refused) != 1 || refused[0] != key.String() {
			t.Fatalf("unproven %s (%v), %d refused, %v", a.Unproven, a.Err, a.Refused, refused)
		}
		def, _ := w.plan.Definition("live")
		if head, err := w.store.Head(context.Background(), def); err != nil || head == nil ||
			!strings.Contains(head.Flag, "takes no more updates") {
			t.Errorf("head %+v, %v", head, err)
		}
		w.expect("by_merchant", "orders 1")
	})
}

// A batch that holds more than one transaction is cut, and each part is exact.
func TestManyReceipts(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	var items events
	for i := range 250 {
		items = append(items, w.order(fmt.Sprint(i), 1))
	}
	w.faults = []fault{{API: "TransactWriteItems", After: errLost}, {API: "TransactWriteItems", Before: errLost}}
	w.apply(w.batch(aggregate.Receipts, 1, items...))
	w.expect("live", "orders 250, revenue 250")
}

// A refusal for permissions ends the update at once. It does not matter which call met it: the
// write, or the read of an item that a failed condition did not bring.
func TestCredentialsRefused(t *testing.T) {
	bare := &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
	cancelled := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("None")},
		{Code: aws.String("ConditionalCheckFailed")}, {Code: aws.String("TransactionConflict")}, {Code: aws.String("TransactionConflict")}}}
	for name, tt := range map[string]struct {
		counting aggregate.Counting
		faults   []fault // each happens ten times
		calls    int
	}{
		"write":       {aggregate.Marks, []fault{{API: "UpdateItem", Before: errDenied}}, 3}, // one for each aggregate
		"read":        {aggregate.Marks, []fault{{API: "UpdateItem", Before: bare}, {API: "GetItem", Before: errDenied}}, 6},
		"transaction": {aggregate.Receipts, []fault{{API: "TransactWriteItems", Before: errDenied}}, 1},
		"read, in transaction": {aggregate.Receipts,
			[]fault{{API: "TransactWriteItems", Before: cancelled}, {API: "GetItem", Before: errDenied}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, counting(tt.counting))
			for range 10 {
				w.faults = append(w.faults, tt.faults...)
			}
			waiting := len(w.faults)
			a := w.store.Apply(deadline(t), w.batch(tt.counting, 1, w.order("1", 1)), noQuarantine(t))
			if a.Unproven.IsZero() || w.slept > 0 || !errors.Is(a.Err, errDenied) {
				t.Errorf("unproven %s after %d waits, %v: asking again cannot help", a.Unproven, w.slept, a.Err)
			}
			if calls := waiting - len(w.faults); calls != tt.calls {
				t.Errorf("%d calls, want %d", calls, tt.calls)
			}
		})
	}
}

// The mark of a full item does not move, so a request that lingers can still be done once there is
// room. It counts what it always meant, once, under a flag that stays. Its own mark then keeps out
// everything that is delivered again.
func TestLingeringUpdateOfFullItem(t *testing.T) {
	var lingering *dynamodb.UpdateItemInput
	w := newWorld(t)
	w.onCall = func(_ string, in any) error {
		if u, ok := in.(*dynamodb.UpdateItemInput); ok && rows.TextOf(u.Key["PK"]) == "A#live#1#0" && lingering == nil {
			lingering = u
			return errLost
		}
		return nil
	}
	w.start()
	key := under("A#live#1#0", "-")
	const filled = 400<<10 - len("PK"+"A#live#1#0"+"SK"+"-"+"x")
	w.write("totals", key, attrs{"x": textValue(strings.Repeat("x", filled))})
	var refused []string
	deliver := func(first int64, items ...*event.Item) {
		t.Helper()
		a := w.store.Apply(deadline(t), w.batch(aggregate.Marks, first, items...), func(_ context.Context, u *lanes.Update,
			_ error) error {
			for _, s := range u.Steps {
				refused = append(refused, s.Sequence.String()[20:])
			}
			return nil
		})
		if !a.Unproven.IsZero() {
			t.Fatal(a.Err)
		}
	}
	items := w.events("order 1 5, order 2 40, order 3 7, order 4 100")
	deliver(1, items[:2]...)
	deliver(3, items[2]) // refused again, and quarantined with its own steps alone
	must.Equal(t, strings.Join(refused, " "), "1 2 3")
	w.Alter(t, "totals", itemKey(key), "REMOVE x", nil)
	_, err := w.Engine.DynamoDB().UpdateItem(context.Background(), lingering)
	must.Succeed(t, err)
	deliver(1, items[:2]...)
	deliver(4, items[3])
	if _, err := w.Engine.DynamoDB().UpdateItem(context.Background(), lingering); err == nil {
		t.Error("the request was done twice")
	}
	got := w.total("live")
	if got.N != 3 || got.Values["revenue"].String() != "145" || len(got.Flags) != 1 ||
		!strings.Contains(got.Flags[0], "takes no more updates") {
		t.Errorf("%+v", got)
	}
	w.expect("by_merchant", "orders 4, revenue 152")
}
