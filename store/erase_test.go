package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// lies returns what is stored under a key: names and values, in order.
func (w *world) lies(key event.Key) string {
	var list []string
	for name, v := range w.stored("events", key) {
		list = append(list, name+"="+show(v))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Erasing leaves a barred key, whatever happens to the requests. Everybody who sends the event
// again meets the bar.
func TestErase(t *testing.T) {
	for name, c := range map[string]struct {
		item    string
		stored  bool
		expires bool
		again   string
	}{
		"insert":     {"order 1 1", true, true, "order 1 1, order 1 2"},
		"latest":     {"parcel 1 2", true, false, "parcel 1 1, parcel 1 2, parcel 1 3"},
		"in advance": {"order 1 1", false, false, "order 1 1"},
	} {
		for fault, f := range map[string][]fault{"no fault": nil,
			"refused": {{API: "GetItem", Before: errLost}, {API: "PutItem", Before: errLost}},
			"lost":    {{API: "GetItem", After: errLost}, {API: "PutItem", After: errLost}}} {
			for _, returns := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " ", fault, " ", returns), func(t *testing.T) {
					w := newWorld(t, func(s *setup) { s.engine.PartiQLReturnsItem = returns })
					item := w.events(c.item)[0]
					if c.stored {
						w.keep(item)
					}
					w.faults = f
					if erased, err := w.erase(item.Key); err != nil || erased != c.stored {
						t.Fatalf("%v %v", erased, err)
					}
					want := fmt.Sprintf("PK=S %s, SK=S %s", item.Key.PK, item.Key.SK)
					if c.expires {
						want += fmt.Sprintf(", expiresAt=N %d", item.ExpiresAt)
					}
					if want += ", i:barred=BOOL true"; w.lies(item.Key) != want {
						t.Errorf("%s remains, want %s", w.lies(item.Key), want)
					}
					if erased, err := w.erase(item.Key); err != nil || erased {
						t.Errorf("again: %v %v", erased, err)
					}
					again := w.events(c.again)
					others := w.events("order a 1, order b 1, order c 1, order d 1") // enough items to go as statements
					for _, items := range []events{again, append(others, again...)} {
						results, _ := w.arrive(items...)
						for _, r := range results[len(items)-len(again):] {
							if r.Verdict != event.Duplicate || r.Refusal == nil || r.Refusal.Reason != event.Barred || r.Existing != nil {
								t.Errorf("sent again: %+v %v", r, r.Refusal)
							}
						}
					}
					must.Equal(t, w.lies(item.Key), want)
				})
			}
		}
	}
}

// A late event under a barred key is also a Duplicate, and not Expired. It goes nowhere else.
func TestBarredAndPastItsTime(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 1)
	w.keep(item)
	_, err := w.erase(item.Key)
	must.Succeed(t, err)
	w.Clock.Set(w.Clock.Now().AddDate(1, 0, 0))
	if results, _ := w.arrive(item); results[0].Verdict != event.Duplicate {
		t.Errorf("%+v", results[0])
	}
}

// A scan of the items does not return the bar. A touch pass that has met the item before it was
// erased does not stamp the bar.
func TestBarIsNoItem(t *testing.T) {
	for api, n := range map[string]int{"UpdateItem": 1, "BatchExecuteStatement": 5} { // one alone, and several at once
		w := newWorld(t)
		var items events
		for i := range n {
			items = append(items, w.order(fmt.Sprint(i), 1))
		}
		w.keep(items...)
		w.start()
		later := w.with(added(2, 2), aggregate.Marks)
		must.Succeed(t, later.Start(deadline(t)))
		key := items[0].Key
		w.faults = []fault{{API: api, Run: func() {
			if _, err := w.erase(key); err != nil {
				t.Error(err)
			}
		}}}
		touched, err := repair.Of(later).Touch(deadline(t))
		if err != nil || touched.Scanned != n || touched.Touched != n-1 || strings.Contains(w.lies(key), "epoch") {
			t.Errorf("%s: %+v, %v, and %s", api, touched, err, w.lies(key))
		}
		if touched, err := repair.Of(later).Touch(deadline(t)); err != nil || touched.Scanned != n-1 {
			t.Errorf("%s: %+v, %v", api, touched, err)
		}
	}
}

// The item may change between the read and the put. The bar gets the expiry of the item that it
// replaces.
func TestEraseMeetsAnotherItem(t *testing.T) {
	for name, found := range map[string]func(w *world, item *event.Item){
		"one that expires":       func(w *world, item *event.Item) { w.keep(item) },
		"one that never expires": func(w *world, item *event.Item) { item.ExpiresAt = 0; w.keep(item) },
		"nothing":                func(*world, *event.Item) {},
	} {
		w := newWorld(t)
		first, second := w.order("1", 1), w.order("1", 1)
		second.At, second.ExpiresAt = second.At.AddDate(0, 0, 7), second.ExpiresAt+7*24*3600
		found(w, first)
		w.faults = []fault{{API: "PutItem", Run: func() { w.removes(first.Key); w.keep(second) }}}
		if erased, err := w.erase(first.Key); err != nil || !erased {
			t.Fatal(name, erased, err)
		}
		if got, want := w.lies(first.Key), fmt.Sprintf("expiresAt=N %d", second.ExpiresAt); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// An item that is not Ingot's stays. If a request is denied, Erase says so at once.
func TestEraseRefused(t *testing.T) {
	w := newWorld(t)
	key := under("NOTE#1", "-")
	w.write("events", key, nil)
	if _, err := w.erase(key); err == nil || !strings.Contains(err.Error(), "not Ingot's") ||
		strings.Contains(w.lies(key), "barred") {
		t.Errorf("%v, and %s", err, w.lies(key))
	}
	w.fails("GetItem", errDenied)
	if _, err := w.repair().Erase(context.Background(), key); err == nil || !strings.Contains(err.Error(), "not authorized") ||
		w.slept > 0 {
		t.Errorf("%v after %d waits", err, w.slept)
	}
	none := w.open(tables.Config{Aggregates: "totals"})
	_, err := repair.Of(none).Erase(context.Background(), key)
	must.Fail(t, err, "Config.Events")
}

// Only the bar itself, true, makes a key that of an erased event. Whatever else a person writes
// there is an item that Ingot does not own.
func TestWhatBarsAKey(t *testing.T) {
	for _, c := range []struct {
		is          types.AttributeValue
		whole, part string
	}{
		{&types.AttributeValueMemberBOOL{Value: true}, "Duplicate", "Inserted"},
		{&types.AttributeValueMemberBOOL{Value: false}, "Conflict", "Conflict"},
		{textValue("true"), "Conflict", "Conflict"},
		{&types.AttributeValueMemberNULL{Value: true}, "Conflict", "Conflict"},
	} {
		w := newWorld(t, carts)
		item := w.cart("a", 1)
		for key, want := range map[event.Key]string{item.Key: c.whole, item.Parts.Items[0].Key: c.part} {
			w.write("events", key, attrs{"i:barred": c.is})
			must.Equal(t, verdicts(w.putNow(w.cart("a", 1))), want, c.is, key)
			w.removes(key)
			w.removes(item.Key)
		}
	}
}
