package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// carts adds a whole with rows, each of which is in one index, and with one part more.
func carts(s *setup) {
	adds(&s.Spec, `
events:
  cart: {id: "{id}", at: "{at}", key: {pk: "CART#{id}", sk: CART}, retain: 90d, ignore: [trace]}
  row:
    {part: {of: cart, each: rows, with: [id]}, id: "{id}#{n}", key: {pk: "CART#{id}", sk: "ROW#{n}"},
     indexes: {GSI1: {pk: "SKU#{sku}", sk: "{@id}"}}}
  owner: {part: {of: cart, with: [id, owner]}, id: "{id}", key: {pk: "OWNER#{owner}", sk: "{id}"}}
aggregates:
  rows: {since: 1, by: {sku: "{sku}"}, from: {row: {values: {pieces: sum pieces}}}}
`)
}

// cart returns a cart with rows of these numbers of pieces.
func (w *world) cart(id string, pieces ...int) *event.Item {
	rows := make([]string, len(pieces))
	for i, n := range pieces {
		rows[i] = fmt.Sprintf(`{"n":%d,"sku":"s","pieces":%d}`, i, n)
	}
	return w.item(`"type":"cart"`, fmt.Sprintf(`"id":%q`, id), `"owner":"o"`, `"at":"2099-03-01T10:00:00Z"`, `"rows":[`+
		strings.Join(rows, ",")+`]`)
}

// lieThere reports how many of the item and its parts are stored as they were planned.
func (w *world) lieThere(item *event.Item) (whole bool, parts int) {
	w.t.Helper()
	same := func(i *event.Item) bool {
		stored, err := w.store.Item(context.Background(), i.Key)
		return err == nil && stored != nil && stored.Digest == i.Digest
	}
	for _, p := range item.Parts.Items {
		if same(p) {
			parts++
		}
	}
	return same(item), parts
}

func TestPutParts(t *testing.T) {
	w := newWorld(t, carts)
	a, b := w.cart("a", 1, 2), w.cart("b")
	must.Equal(t, told(w.putNow(a, w.order("1", 1), b)), "Inserted (Inserted, Inserted, Inserted), Inserted, Inserted (Inserted)")
	for _, item := range []*event.Item{a, b} {
		if whole, parts := w.lieThere(item); !whole || parts != len(item.Parts.Items) {
			t.Errorf("%s: %v and %d parts", item.Key, whole, parts)
		}
	}
	must.Say(t, w.lies(a.Key), "i:parts=N 3")
	stored, err := w.store.Item(deadline(t), a.Key)
	if err != nil || stored.Parts == nil || stored.Parts.Count != 3 || stored.Size() != a.Size() {
		t.Errorf("%+v %v", stored, err)
	}
	if again, err := w.plan.Parts(stored); err != nil || len(again) != 3 || again[2].Digest != a.Parts.Items[2].Digest {
		t.Errorf("%v %v", again, err)
	}
	// A copy in the same batch and another payload. The latter leaves nothing behind.
	other := w.cart("a", 1, 3, 4)
	must.Equal(t, told(w.putNow(w.cart("a", 1, 2), other)), "Duplicate (Duplicate, Duplicate, Duplicate), Conflict digest-differs")
	if _, parts := w.lieThere(other); parts != 2 { // the owner and the row that both have
		t.Errorf("%d parts of the conflicting whole lie there", parts)
	}
}

// Whatever happens to any request of a delivery, a message is done only when all of its items are
// stored, and the next delivery stores the rest.
func TestEveryFaultOfParts(t *testing.T) {
	for _, rows := range []int{1, 2, 30} {
		for n := range 6 {
			for name, f := range map[string]fault{
				"lost before": {Before: errLost, Always: true}, "lost after": {After: errLost, Always: true},
				"throttled": {Before: errThrottled, Always: true},
			} {
				w := newWorld(t, carts)
				pieces := make([]int, rows)
				var calls atomic.Int64
				ctx := context.Background() // bounded by rounds
				w.onCall = func(string, any) error {
					if calls.Add(1) == int64(n+1) { // from here on nothing gets through
						w.mu.Lock()
						defer w.mu.Unlock()
						for _, api := range []string{"PutItem", "BatchExecuteStatement", "BatchGetItem"} {
							fault := f
							fault.API = api
							w.faults = append(w.faults, fault)
						}
					}
					return nil
				}
				results, _ := w.store.Put(ctx, events{w.cart("a", pieces...)})
				whole, parts := w.lieThere(w.cart("a", pieces...))
				switch v := results[0].Verdict; {
				case v == event.Inserted && whole && parts == rows+1:
				case v == event.Retry && (whole || parts == 0):
				default:
					t.Errorf("%d rows, %s from request %d on: %s, whole %v, %d parts", rows, name, n, v, whole, parts)
				}
				w.faults, w.onCall = nil, nil
				results, _ = w.arrive(w.cart("a", pieces...))
				whole, parts = w.lieThere(w.cart("a", pieces...))
				if !results[0].Verdict.Stored() || !whole || parts != rows+1 {
					t.Errorf("%d rows, %s from request %d on, delivered again: %v, whole %v, %d parts", rows, name, n, results[0],
						whole, parts)
				}
			}
		}
	}
}

// putsUnder reports whether a PutItem is about this sort key.
func putsUnder(in any, sk string) bool {
	return rows.TextOf(in.(*dynamodb.PutItemInput).Item["SK"]) == sk
}

// The worst item decides about the message, and says why.
func TestVerdictOfAMessage(t *testing.T) {
	lone := func(item *event.Item) events { // a part that came by some other way
		other := *item
		other.Digest[0]++
		other.Data = strings.Replace(other.Data, `"pieces":`, `"pieces":1`, 1)
		return events{&other}
	}
	for name, c := range map[string]struct {
		before func(w *world)
		want   string
		parts  string
		key    string // of the refusal
	}{
		"an older function stored the whole alone": {func(w *world) {
			alone := *w.cart("a", 1, 2)
			alone.Parts = nil
			w.keep(&alone)
		}, "Duplicate", "Inserted Inserted Inserted", ""},
		"one part is there": {func(w *world) { w.keep(w.cart("a", 1, 2).Parts.Items[1]) }, "Inserted", "Inserted Duplicate Inserted", ""},
		"the key of one part holds something else": {func(w *world) {
			w.arrive(lone(w.cart("a", 1, 2).Parts.Items[1])...)
		}, "Conflict", "Inserted Conflict Inserted", "CART#a / ROW#0"},
		"throttled for ever": {func(w *world) {
			w.keep(w.cart("a", 1, 2).Parts.Items[0])
			w.faults = append(w.faults, fault{API: "PutItem", Before: errThrottled, Always: true, Applies: func(in any) bool {
				return putsUnder(in, "ROW#1")
			}})
		}, "Retry", "Duplicate Inserted Retry", "CART#a / ROW#1"},
		"conflict and retry": {func(w *world) {
			w.arrive(lone(w.cart("a", 1, 2).Parts.Items[1])...)
			w.faults = append(w.faults, fault{API: "PutItem", Before: errThrottled, Always: true, Applies: func(in any) bool {
				return putsUnder(in, "ROW#1")
			}})
		}, "Retry", "Inserted Conflict Retry", "CART#a / ROW#1"},
		"the whole was erased": {func(w *world) {
			w.keep(w.cart("a", 1, 2))
			_, err := w.erase(w.cart("a").Key)
			must.Succeed(t, err)
		}, "Duplicate", "", "CART#a / CART"},
		"a part was erased": {func(w *world) {
			w.keep(w.cart("a", 1, 2))
			_, err := w.erase(w.cart("a", 1).Parts.Items[1].Key)
			must.Succeed(t, err)
		}, "Duplicate", "Duplicate Duplicate Duplicate", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, carts)
			c.before(w)
			results, _ := w.store.Put(context.Background(), events{w.cart("a", 1, 2)}) // bounded by rounds
			r := results[0]
			if r.Verdict.String() != c.want || verdicts(r.Parts) != c.parts {
				t.Errorf("%s of %q, want %s of %q", r.Verdict, verdicts(r.Parts), c.want, c.parts)
			}
			if key := ""; r.Refusal != nil && r.Refusal.Key.String() != c.key || r.Refusal == nil && c.key != key {
				t.Errorf("%v about %v, want %s", r.Refusal, r.Refusal.Key, c.key)
			}
			w.faults = nil
			if c.want == "Retry" {
				return
			}
			judged, _, err := w.repair().Judge(deadline(t), w.cart("a", 1, 2))
			if want := strings.Replace(c.want, "Inserted", "Duplicate", 1); err != nil || judged.Verdict.String() != want {
				t.Errorf("judged now: %v, %v, want %s", judged, err, want)
			}
		})
	}
}

// A whole that is past its time is not stored, and neither are its parts. If it is stored, parts
// that are missing are Expired.
func TestExpiredParts(t *testing.T) {
	w := newWorld(t, carts)
	alone := *w.cart("b", 1)
	alone.Parts = nil
	w.keep(&alone)
	w.Clock.Set(time.Unix(alone.ExpiresAt, 0).Add(-tables.ExpiryMargin))
	must.Equal(t, told(w.putNow(w.cart("a", 1), w.cart("b", 1))),
		"Expired past-expiry, Expired past-expiry (Expired past-expiry, Expired past-expiry)")
}

// A message of n parts costs one unit for each item, and one more for each index. Whole and parts
// go in requests of their own.
func TestCostOfParts(t *testing.T) {
	for _, c := range []struct {
		rows         int // and one part more: 1, 10 and 99 parts
		fresh, again string
		reads        float64 // when it is redelivered
	}{
		{0, "PutItem:2", "PutItem:2", 0}, // one for the whole, and one for the part
		{9, "BatchExecuteStatement:1 PutItem:1", "BatchExecuteStatement:1 BatchGetItem:1 PutItem:1", 10},
		{98, "BatchExecuteStatement:4 PutItem:1", "BatchExecuteStatement:4 BatchGetItem:1 PutItem:1", 99},
	} {
		w := newWorld(t, carts)
		pieces := make([]int, c.rows)
		whole := float64(itemform.WriteUnits(w.cart("a", pieces...).Size()))
		other := append(make([]int, max(0, c.rows-1)), 7)
		for _, step := range []struct {
			name          string
			item          *event.Item
			requests      string
			writes, reads float64
		}{
			{"new", w.cart("a", pieces...), c.fresh, whole + 1 + 2*float64(c.rows), 0},
			{"redelivered", w.cart("a", pieces...), c.again, whole + 1 + float64(c.rows), c.reads},
			{"conflicting", w.cart("a", other...), "PutItem:1", whole, 0},
		} {
			meter := w.meter()
			_, cost := w.arrive(step.item)
			used := meter()
			want := fmt.Sprintf("map[%s], %v written, %v read", step.requests, step.writes, step.reads)
			must.Equal(t, charges(used), want, c.rows, step.name)
			w.accounted(cost, used, c.rows, step.name)
		}
	}
}

// The id of a part was changed, so that two stored parts have one id today. It is still known which
// part is missing, and erasing the whole erases both.
func TestErasePartsWithOneID(t *testing.T) {
	w := newWorld(t, carts)
	item := w.cart("a", 1, 2)
	later := w.changed(ofType("row", func(e *pipeline.EventSpec) { e.ID = "{id}" }))
	w.keep(without(item, func(i int) bool { return item.Parts.Items[i].Key.SK != "ROW#1" }))
	stored, err := later.Item(deadline(t), item.Key)
	must.Succeed(t, err)
	if missing, _, err := repair.Of(later).MissingParts(deadline(t), events{stored}); err != nil || len(missing) != 1 ||
		missing[0].Key.SK != "ROW#1" {
		t.Errorf("%v are missing, %v", missing, err)
	}
	w.judges("Duplicate", item) // and the row is put
	if erased, err := repair.Of(later).Erase(deadline(t), item.Key); err != nil || !erased {
		t.Fatal(erased, err)
	}
	for _, part := range item.Parts.Items {
		if !strings.Contains(w.lies(part.Key), "i:barred=BOOL true") {
			t.Errorf("%s remains as %s", part.Key, w.lies(part.Key))
		}
	}
}

// Erasing a whole erases its parts, also if the first try stops in between. The message puts none
// of them again.
func TestEraseParts(t *testing.T) {
	for n := range 8 {
		w := newWorld(t, carts)
		item := w.cart("a", 1, 2)
		w.keep(item)
		var calls atomic.Int64
		ctx := context.Background() // bounded by rounds
		w.onCall = func(string, any) error {
			if n > 0 && calls.Add(1) > int64(n) {
				return errThrottled
			}
			return nil
		}
		if _, err := w.repair().Erase(ctx, item.Key); (err == nil) != (n == 0) {
			t.Errorf("after %d requests: %v", n, err)
		}
		w.onCall = nil
		must.Succeed(t, errorOf(w.erase(item.Key)))
		w.arrive(w.cart("a", 1, 2))
		for _, i := range append(item.Parts.Items, item) {
			if lies := w.lies(i.Key); !strings.Contains(lies, "i:barred") {
				t.Errorf("stopped after %d requests and erased again: %s", n, lies)
			}
		}
	}
	w := newWorld(t, carts) // one that was stored before there were parts
	w.keep(w.order("1", 1))
	if erased, err := w.erase(w.order("1", 1).Key); err != nil || !erased {
		t.Error(erased, err)
	}
}
