package verify_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/verify"
)

// A total is compared up to the second before its own expiry; from then on time to live may have
// removed it.
func TestTotalsAreComparedUntilTheyExpire(t *testing.T) {
	w := filled(t)
	w.remove("totals", w.key("daily", 0))
	def := w.definition("daily")
	expiry := time.Unix(lanes.Expiry(def, lanes.WindowStart(def, epoch)), 0)
	for now, want := range map[time.Time]int{expiry.Add(-time.Second): 1, expiry: 0} {
		r, err := verify.Totals(context.Background(), w.plan, w.store, now)
		must.Succeed(t, err)
		must.Equal(t, len(r.Differences), want, now.UTC(), r.Differences)
	}
}

// A generation that says it is building may lack items. Its head is not a difference.
func TestBuildingIsNoDifference(t *testing.T) {
	w := filled(t)
	w.deploy(withAgain())
	def := w.definition("again")
	if r := w.verify(); !r.OK() || r.Below[def] != 40 || !w.head(def).Building {
		t.Errorf("%d items below, differences %v", r.Below[def], r.Differences)
	}
}

// What is wrong in another generation does not keep one from being complete.
func TestFinishLooksAtItsOwnGeneration(t *testing.T) {
	w := filled(t)
	w.deploy(withAgain())
	def := w.definition("again")
	pass := w.begin(def)
	w.touch()
	w.add("live", "revenue", "1")
	if r := w.verify(); len(r.Differences) != 1 || r.Differences[0].Def.Name != "live" {
		t.Fatalf("differences %v", r.Differences)
	}
	w.finished(pass)
	must.Equal(t, w.head(def).Building, false)
}

// The items that cannot be understood are listed in order, not as the table keeps them.
func TestOddItemsAreInOrder(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.odd(fmt.Sprintf("ODD#%02d", i), nil)
	}
	if r := w.verify(); len(r.Unreadable) != 20 || !slices.IsSorted(r.Unreadable) {
		t.Errorf("%d: %v", len(r.Unreadable), r.Unreadable)
	}
}
