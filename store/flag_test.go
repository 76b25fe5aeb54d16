package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// A head is written once, however many batches of however many functions flag it. Each function
// reads it once in five minutes. A function that starts when the flag is there reads nothing more.
func TestHeadIsFlaggedOnce(t *testing.T) {
	w := newWorld(t)
	w.start()
	defs := w.plan.Definitions()
	var h heads
	h.watch(w)
	flag := func(s *store.Store, n int) tables.Cost {
		t.Helper()
		cost, err := s.Inside().Heads.Flag(deadline(t), defs, epoch, fmt.Sprint("reason ", n))
		must.Succeed(t, err)
		return cost
	}
	for n := range 20 { // functions
		s := w.with(same, aggregate.Marks)
		for batch := range 10 {
			if cost := flag(s, n); batch > 0 && cost.Requests > 0 {
				t.Fatalf("function %d, batch %d: %+v", n, batch, cost)
			} else if batch == 0 && n > 0 && (cost.Requests != len(defs) || cost.WriteUnits > 0) {
				t.Fatalf("function %d: %+v", n, cost)
			}
		}
	}
	must.Equal(t, h.writes, len(defs))
	for _, d := range defs {
		must.Equal(t, head(t, w.store, d).Flag, "2099-03-01T12:00:00Z reason 0", d)
	}
	started := w.with(same, aggregate.Marks)
	must.Succeed(t, started.Start(deadline(t)))
	if cost := flag(started, 0); cost.Requests > 0 {
		t.Errorf("after a start that has seen the flags: %+v", cost)
	}
	w.Clock.Pass(5*time.Minute + 1)
	if cost := flag(started, 0); cost.Requests != len(defs) || cost.WriteUnits > 0 {
		t.Errorf("five minutes later: %+v", cost)
	}
}

// The store does not rely for long on what it remembers of a flag. If a person removes a flag, it
// comes back. A start that finds heads without flags relies on nothing from before.
func TestFlagComesBack(t *testing.T) {
	w := newWorld(t)
	w.start()
	def, _ := w.plan.Definition("live")
	takeOff := func() { w.Alter(t, "totals", itemKey(lanes.HeadKey(def)), "REMOVE flag", nil) }
	flagged := func(when string, want bool) {
		t.Helper()
		_, err := w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, "odd")
		must.Succeed(t, err)
		must.Equal(t, head(t, w.store, def).Flag != "", want, when)
	}
	flagged("at first", true)
	takeOff()
	flagged("at once", false)
	w.Clock.Pass(-time.Hour)
	flagged("by a clock that was set back", true)
	takeOff()
	w.Clock.Pass(time.Hour + 6*time.Minute)
	flagged("minutes later", true)
	takeOff()
	w.start()
	flagged("after a start", true)
}

// A flag is remembered only after it is proven on the head. If a request fails or is refused, the
// next batch makes it again.
func TestFlagThatFails(t *testing.T) {
	for name, faults := range map[string][]fault{
		"read":              {{API: "GetItem", Before: errDenied}},
		"write":             {{API: "UpdateItem", Before: errDenied}},
		"write, throttled":  {{API: "UpdateItem", Before: errThrottled}, {API: "UpdateItem", Before: errDenied}},
		"write, lost first": {{API: "UpdateItem", After: errLost}, {API: "UpdateItem", Before: errDenied}},
	} {
		w := newWorld(t)
		w.start()
		def, _ := w.plan.Definition("live")
		w.faults = faults
		if _, err := w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, "odd"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if len(w.faults) > 0 {
			t.Errorf("%s: %d faults never came about", name, len(w.faults))
		}
		if _, err := w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, "odd"); err != nil ||
			head(t, w.store, def).Flag == "" {
			t.Errorf("%s: not flagged by the next batch: %v", name, err)
		}
	}
}

// A head that a person deletes just before it is flagged stays deleted. A head of nothing but a
// flag would stand in the way of the next start.
func TestFlagMakesNoHead(t *testing.T) {
	w := newWorld(t)
	w.start()
	def := w.plan.Definitions()[0]
	w.faults = []fault{{API: "UpdateItem", Run: func() { w.removesFrom("totals", lanes.HeadKey(def)) }}}
	cost, err := w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, "odd")
	if err != nil || cost.WriteUnits != 1 || len(w.faults) > 0 {
		t.Errorf("%v, %+v, %d faults left", err, cost, len(w.faults))
	}
	if img := w.stored("totals", lanes.HeadKey(def)); len(img) > 0 {
		t.Errorf("the flag has made a head: %v", img)
	}
}

// The flag of a head that was accepted is still told, and the head can be flagged again.
func TestAcceptedHead(t *testing.T) {
	w := newWorld(t)
	w.start()
	def := w.plan.Definitions()[0]
	flag := func(reason string) *tables.Head {
		t.Helper()
		_, err := w.sandbox(1).Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, reason)
		must.Succeed(t, err)
		return head(t, w.store, def)
	}
	w.fails("UpdateItem", errDenied)
	if is, err := w.repair().Accept(deadline(t), lanes.HeadKey(def), "odd", "jo"); is || err == nil {
		t.Errorf("without the right: %t, %v", is, err)
	}
	w.faults = []fault{{API: "UpdateItem"}, {API: "UpdateItem", Before: errThrottled}}
	if is, err := w.repair().Accept(deadline(t), lanes.HeadKey(def), flag("odd").Flag, "jo"); !is || err != nil ||
		len(w.faults) > 0 {
		t.Errorf("%t, %v", is, err)
	}
	accepted := "2099-03-01T12:00:00Z by jo: 2099-03-01T12:00:00Z odd"
	if h := head(t, w.store, def); h.Flag != "" || h.Accepted != accepted || fmt.Sprint(h.Flags()) != "[accepted "+accepted+"]" {
		t.Errorf("%+v", h)
	}
	if h := flag("odd again"); h.Flag != "2099-03-01T12:00:00Z odd again" || h.Accepted != accepted || len(h.Flags()) != 2 {
		t.Errorf("%+v", h)
	}
	w.faults = []fault{{API: "UpdateItem", After: errLost}}
	if is, err := w.repair().Accept(deadline(t), lanes.HeadKey(def), "2099-03-01T12:00:00Z odd again", "al"); is || err != nil {
		t.Errorf("after a lost answer: %t, %v", is, err) // the flag is not there any more
	}
	if h := head(t, w.store, def); h.Flag != "" || !strings.HasPrefix(h.Accepted, "2099-03-01T12:00:00Z by al: ") {
		t.Errorf("%+v", h)
	}
}

// A flag that another function has written stays, and one that a person has taken away comes back
// with the next reason for it. A function that remembers the total otherwise finds that out, also
// where its totals go as statements.
func TestFlagOfATotalComesBack(t *testing.T) {
	for name, few := range map[string]int{"statements": 1, "one by one": -1} {
		w := newWorld(t, oneByOne(few))
		items := w.perMerchant(3, 1)
		w.counts(1, append(items, w.perMerchant(3, 10)...)...)
		key := func(i int) event.Key { return under(fmt.Sprintf("A#by_merchant#1#0#m%d", i), "-") }
		first := textValue("the first reason")
		for i := range 3 {
			img := w.stored("totals", key(i))
			img["flag"] = first
			w.put("totals", img)
		}
		for n, removed := range []events{items, w.perMerchant(3, 10)} {
			b := lanes.NewBatch(aggregate.Marks, lane)
			for i, item := range removed {
				w.take(b, int64(100+10*n+i), item, false)
			}
			w.apply(b)
			for i := range 3 {
				img := w.stored("totals", key(i))
				if img["flag"] == nil || reflect.DeepEqual(img["flag"], first) != (n == 0) {
					t.Errorf("%s, removal %d: the flag of m%d is %v", name, n+1, i, img["flag"])
				}
				delete(img, "flag")
				w.put("totals", img)
			}
		}
	}
}
