package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// many returns so many reservations of one thing each.
func (w *world) many(n int, sku string) (items events) {
	for i := range n {
		items = append(items, w.goods("reserved", fmt.Sprint(i), sku, 1))
	}
	return items
}

func tally(results []tables.Result) map[event.Verdict]int {
	n := map[event.Verdict]int{}
	for _, r := range results {
		n[r.Verdict]++
	}
	return n
}

// building says on the head of an aggregate whether older events are missing in its totals.
func (w *world) building(name string, is bool) {
	w.t.Helper()
	head := w.stored("totals", under("G#"+name+"#1", "-"))
	head["building"] = &types.AttributeValueMemberBOOL{Value: is}
	w.put("totals", head)
}

// A thousand messages that cannot be stored, all for the same reason, take a hundred requests
// together and not several each.
func TestAThousandForOneTotal(t *testing.T) {
	type verdicts = map[event.Verdict]int
	for name, c := range map[string]struct {
		before func(w *world)
		also   func(w *world) events
		want   verdicts
	}{
		"there was never any": {want: verdicts{event.Rejected: 1000}},
		"all are gone": {before: func(w *world) { w.puts("received in a 1, reserved out a 1") },
			want: verdicts{event.Rejected: 1000}},
		"50 are left": {before: func(w *world) { w.puts("received in a 50") },
			want: verdicts{event.Inserted: 50, event.Rejected: 950}},
		"some come in": {also: func(w *world) events {
			return w.events("received 1 a 30, received 2 a 40, reserved all a 80")
		}, want: verdicts{event.Inserted: 72, event.Rejected: 931}},
		"some are stored, and others in conflict": {before: func(w *world) {
			w.puts("received in a 30, received b b 9")
			w.putNow(w.goods("reserved", "7", "a", 1, `"note":1`), w.goods("reserved", "8", "b", 1))
			w.putNow(w.many(500, "a")[470:]...)
		}, want: verdicts{event.Duplicate: 29, event.Conflict: 2, event.Rejected: 969}},
		"it is built": {before: func(w *world) {
			w.putNow(append(w.many(10, "a"), w.events("received in a 10")...)...)
			w.building("stock", true)
			w.Clock.Pass(6 * time.Minute) // until the head is read again
		}, want: verdicts{event.Duplicate: 10, event.Retry: 990}},
		"it is too late": {before: func(w *world) {
			w.putNow(append(w.many(10, "a"), w.events("received in a 10")...)...)
			w.Clock.Pass(100 * 24 * time.Hour)
		}, want: verdicts{event.Duplicate: 10, event.Expired: 990}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, stocked, quick)
			w.start()
			if c.before != nil {
				c.before(w)
			}
			items := w.many(1000, "a")
			if c.also != nil {
				items = append(items, c.also(w)...)
			}
			meter := w.meter()
			results, cost := w.arrive(items...)
			used := meter()
			if got := tally(results); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
			for i, r := range results {
				if r.Refusal != nil && (r.Refusal.Key != items[i].Key || r.Refusal.Verdict != r.Verdict) {
					t.Fatalf("%s: %v", items[i].Key, r.Refusal)
				}
			}
			if used.TotalRequests() > 100 || int64(cost.Requests) != used.TotalRequests() || cost.WriteUnits != used.WriteUnits() {
				t.Errorf("%v, %v write units; own accounts say %+v", used.Requests, used.WriteUnits(), cost)
			}
			w.agree(name)
		})
	}
}

// Of messages that a total refuses together, those that it has room for are stored: in their order,
// and whatever another total of theirs says.
func TestRoomForSome(t *testing.T) {
	w := newWorld(t, stocked, quick, func(s *setup) {
		adds(&s.Spec, `
events: {moved: {id: "{id}", at: "{at}", key: {pk: "MOVED#{id}", sk: X}}}
aggregates:
  room:
    {since: 1, by: {place: "{place}"}, movedBy: put, atLeast: {left: -3},
     from: {moved: {values: {left: sum -quantity}}}}
`)
		s.Aggregates["stock"].From["moved"] = pipeline.FromSpec{Values: map[string]string{"available": "sum -quantity"}}
	})
	w.start()
	moved := func(id, sku, place string, quantity int) *event.Item {
		return w.goods("moved", id, sku, quantity, fmt.Sprintf(`"place":%q`, place))
	}
	w.puts("received 1 a 5, received 2 b 5")
	// Those that take from one total go first.
	results := w.judges("Rejected Inserted Rejected Rejected Rejected Rejected Inserted Inserted Inserted Inserted",
		w.goods("reserved", "1", "a", 9), // more than there is
		w.goods("reserved", "2", "a", 2),
		moved("3", "a", "x", 3), // more than is left after the others
		moved("4", "b", "x", 3),
		moved("5", "a", "x", 1), // nothing is left at x
		moved("6", "a", "y", 1), // nothing is left of a
		w.goods("reserved", "7", "a", 2),
		w.goods("reserved", "8", "b", 2), // and so nothing is left of b
		w.goods("reserved", "9", "a", 1),
		w.goods("reserved", "10", "b", 1),
	)
	for i, want := range map[int]string{
		0: `stock of sku="a": available is 0, and with this event it would be -9, which is below its floor of 0`,
		3: `stock of sku="b": available is 2, and with this event it would be -1, which is below its floor of 0`,
	} {
		if r := results[i].Refusal; r == nil || r.Detail != want {
			t.Errorf("%d: %v", i, r)
		}
	}
	w.puts("received 3 a 5, received 4 b 5")
	results = w.judges("Inserted Rejected Inserted Rejected Rejected", moved("11", "a", "x", 3), moved("12", "b", "x", 2),
		moved("13", "b", "y", 2), moved("14", "a", "y", 2), moved("15", "c", "z", 4))
	const want = `room of place="x": left is -3, and with this event it would be -5, which is below its floor of -3`
	if r := results[1].Refusal; r == nil || r.Detail != want {
		t.Errorf("%v", r)
	}
	w.agree("in the end")
}

// refusal returns a fault: the transaction is cancelled, and these are the codes of its operations.
// The last one brings the total.
func (w *world) refusal(total event.Key, codes ...string) error {
	reasons := make([]types.CancellationReason, len(codes))
	for i, code := range codes {
		reasons[i].Code = aws.String(code)
	}
	reasons[len(codes)-1].Item = w.stored("totals", total)
	return &types.TransactionCanceledException{CancellationReasons: reasons}
}

var stockOfA = under("A#stock#1#0#a", "-")

// Nothing is rejected before what comes in is tried, even if the item of what comes in is throttled
// for a while.
func TestThrottledGoodsComeInFirst(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 0 a 1, reserved 0 a 1")
	w.faults = testFaults(w.refusal(stockOfA, "ThrottlingError", "None", "None", "ConditionalCheckFailed"))
	w.says("reserved 1 a 1, reserved 2 a 1, received 1 a 2", "Inserted Inserted Inserted")
	w.agree("in the end")
}

// testFaults refuses transactions, one after the other.
func testFaults(errs ...error) (list []fault) {
	for _, err := range errs {
		list = append(list, fault{API: "TransactWriteItems", Before: err})
	}
	return list
}

// If a try of many messages got no answer, it may still be carried out. So a floor that refuses the
// next one proves nothing, and none of them is Rejected.
func TestLateTryOfMany(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 0 a 3")
	arrives := w.late(3)
	items := w.many(3, "a")
	w.judges("Retry Retry Retry", items...)
	w.puts("received 1 a 3")
	arrives()
	w.judges("Duplicate Duplicate Duplicate", items...)
	w.agree("delivered again")
}

// A refusal may not name every item in the way. So the items are read before a message is rejected,
// and what is stored is judged by that.
func TestRefusalNamesTheTotalAlone(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	items := w.many(3, "a")
	w.putNow(w.goods("received", "0", "a", 1), items[1])
	w.faults = testFaults(w.refusal(stockOfA, "None", "None", "None", "ConditionalCheckFailed"))
	must.Equal(t, verdicts(w.putNow(items...)), "Rejected Duplicate Rejected")

	// Parts of two transfers are stored alone. The transfers are sent again without them.
	one, other := w.transfer("1", "x", "z", 1), w.transfer("2", "x", "z", 1)
	slip := func(of *event.Item) *event.Item {
		return of.Parts.Items[slices.IndexFunc(of.Parts.Items, func(part *event.Item) bool { return part.Type == "slip" })]
	}
	if got := verdicts(w.putNow(slip(one), slip(other))); got != "Inserted Inserted" {
		t.Fatal(got)
	}
	low := under("A#balances#1#0", "-")
	w.write("totals", low, attrs{"balance": numberValue("-200")})
	refused := testworld.Cancelled(10)
	refused.CancellationReasons[8] = types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Item: w.stored("totals", low)}
	w.faults = testFaults(refused)
	var sent []string
	w.onCall = refusing(func(items []types.TransactWriteItem) error {
		checks := 0
		for _, one := range items {
			if one.ConditionCheck != nil {
				checks++
			}
		}
		sent = append(sent, fmt.Sprintf("%d puts and %d checks", puts(items), checks))
		return nil
	})
	must.Equal(t, told(w.putNow(one, other)), "Rejected below-floor, Rejected below-floor")
	must.Equal(t, fmt.Sprint(sent), "[8 puts and 0 checks 3 puts and 1 checks 3 puts and 1 checks]")
}

// If the refusal brings no total, and the total cannot be read, that does not mean that it is
// empty.
func TestTotalIsNotReadForARoom(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 0 a 5, reserved x a 1") // the head was read
	w.faults = append(testFaults(cancelledAt(3, "ConditionalCheckFailed", 2)),
		fault{API: "GetItem", Before: &types.ResourceNotFoundException{}})
	w.judges("Inserted Inserted", w.many(2, "a")...)
	if len(w.faults) > 0 {
		t.Errorf("%v", w.faults)
	}
}
