package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

// An expiry writes nothing to the totals of a day whose events live for 90 days. Until an hour
// before the first of them may expire, verify sees everything. After that it sees a total that
// counts too few, and nothing else.
func TestUnclosed(t *testing.T) {
	for name, c := range map[string]struct {
		after      time.Duration // of the start of the window
		expression string
		by         string
		what       string // what: the difference; empty: it is not seen
		expired    int
	}{
		"untouched":                        {90*day - time.Hour - time.Second, "", "", "", 0},
		"a total that counts twice":        {90*day - time.Hour - time.Second, "ADD fp :v", "1", "fp", 0},
		"a total that counts twice, later": {90*day - time.Hour, "ADD fp :v", "1", "", 3},
		"a total that counts too few":      {90*day - time.Hour, "SET n = :v", "0", "n", 3},
		"a total that is gone":             {90*day - time.Hour, "", "gone", "missing", 3 - 1},
		"a flag":                           {90*day - time.Hour, "SET flag = :v", "", "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			key := w.key("daily", 0)
			switch {
			case c.by == "gone":
				w.remove("totals", key)
			case c.by != "":
				w.alter(key, c.expression, number(c.by))
			case c.expression != "":
				w.alter(key, c.expression, rows.Text("odd"))
			}
			w.Clock.Pass(epoch.Truncate(day).Add(c.after).Sub(w.Clock.Now()))
			r := w.verify()
			must.Equal(t, whats(r), c.what)
			must.Equal(t, r.Expired, c.expired, "totals by n")
			must.Equal(t, len(r.Flagged) == 1, c.expression == "SET flag = :v", r.Flagged)
		})
	}
}

// Events that expire move no write to a total that is not closed, and what they added stays.
func TestExpiryWritesNothingToAnUnclosedTotal(t *testing.T) {
	w := filled(t)
	key := w.key("daily", 0)
	before := w.read(key)
	w.swept(91 * day)
	w.same(key, before)
	must.Equal(t, w.ok().Items, 0)
}

// same fails unless a total counts what it counted before.
func (w *world) same(key, before attrs) {
	w.t.Helper()
	after := w.read(key)
	for _, name := range []string{"n", "fp", "fpx", "orders", "revenue"} {
		must.Equal(w.t, rows.NumberOf(before[name]), rows.NumberOf(after[name]), after, before)
	}
}

// lives returns the file in which orders live so long.
func lives(retain time.Duration, was ...pipeline.WasSpec) pipeline.Spec {
	spec := orders()
	one := spec.Events["order"]
	one.Retain, one.Was = retain, was
	spec.Events["order"] = one
	return spec
}

// An event that a person lets expire early closes its totals, because verify still compares them.
func TestEarlyExpiryCloses(t *testing.T) {
	w := filled(t)
	w.Alter(t, "events", order(1), "SET expiresAt = :v", number(fmt.Sprint(w.Clock.Now().Unix()-60)))
	w.swept(0)
	if r := w.verify(); !r.OK() || r.Expired != 0 || r.Partly != 2 { // of the day, and of the merchant for ever
		t.Errorf("%+v", r)
	}
}

// leaves fails unless mending leaves one total of a day as it is, because of what has expired.
func (w *world) leaves(lag lagFunc) {
	w.t.Helper()
	mended, why := w.mend(w.store, lag, w.definition("daily"))
	must.Equal(w.t, mended, 0)
	must.Equal(w.t, len(why), 1)
	must.Say(w.t, strings.Join(why, ""), "holds events that have expired")
}

// A flagged total that may hold expired events is not mended with what is left of them.
func TestUnclosedIsNotMended(t *testing.T) {
	w := filled(t)
	key := w.key("daily", 0)
	w.alter(key, "SET flag = :v", rows.Text("odd"))
	w.remove("events", order(1))
	w.Clock.Pass(90 * day)
	before := w.read(key)
	w.leaves(noLag)
	w.same(key, before)
}

// Mending may take long. What expires meanwhile has left the total, too.
func TestUnclosedWhileItIsMended(t *testing.T) {
	w := filled(t)
	key := w.key("daily", 0)
	w.alter(key, "ADD fp :v", number("1"))
	w.Clock.Pass(epoch.Truncate(day).Add(90*day - 2*time.Hour).Sub(w.Clock.Now()))
	before := w.read(key)
	w.leaves(func() (time.Time, error) { w.Clock.Pass(3 * time.Hour); return w.Clock.Now(), nil })
	w.same(key, before)
}

// A later file with a shorter retain does not close the totals of a generation that began unclosed.
func TestShorterRetainClosesNothing(t *testing.T) {
	w := filled(t)
	w.deploy(lives(2 * day))
	before := w.read(w.key("daily", 0))
	w.swept(91 * day)
	w.same(w.key("daily", 0), before)
}

// What has left a total follows from its head, if a file made retain shorter for a while and the
// next one does not say so. Verify calls nothing damaged, and mending leaves the total as it is.
func TestShorterRetainRolledBack(t *testing.T) {
	for name, after := range map[string]time.Duration{"before any has expired": time.Hour, "once some have": 31 * day} {
		w := newWorldOf(t, lives(90*day))
		for i, retain := range []time.Duration{90 * day, 30 * day, 90 * day} {
			w.swept(time.Duration(i/2) * after)
			w.deploy(lives(retain))
			for n := range 2 {
				w.put(2*i+n, "a", 10)
			}
			w.drain()
		}
		w.swept(35*day - after)
		def := w.definition("daily")
		must.Equal(t, w.head(def).Retains["order"], 30*day, name)
		before := w.read(w.key("daily", 0))
		if r := w.verify(); !r.OK() || r.Items != 4 {
			t.Errorf("%s: %+v", name, r)
		}
		w.flag("daily")
		if mended, why := w.mend(w.store, noLag, def); mended != 0 {
			t.Errorf("%s: %d mended, %q", name, mended, why)
		}
		w.same(w.key("daily", 0), before)
	}
}

// Whether a generation is closed is decided when it begins. A later file changes nothing, whether
// events live longer under it or shorter.
func TestUnclosedForGood(t *testing.T) {
	for retain, unclosed := range map[time.Duration]bool{8 * day: true, 8*day - time.Second: false, 90 * day: true, 0: true} {
		lives := func(retain time.Duration, was ...pipeline.WasSpec) pipeline.Spec {
			spec := lives(retain, was...)
			if retain == 0 {
				daily := spec.Aggregates["daily"]
				daily.Retain = 0
				spec.Aggregates["daily"] = daily
			}
			return spec
		}
		w := newWorldOf(t, lives(retain))
		for _, file := range []pipeline.Spec{lives(retain), lives(2 * day),
			lives(90*day, pipeline.WasSpec{Retain: 2 * day, Before: epoch.Add(day)})} {
			if retain == 0 {
				file = lives(retain)
			}
			w.deploy(file)
			def := w.definition("daily")
			must.Equal(t, w.head(def).Unclosed, unclosed, retain)
		}
	}
	// A type that lived for less once keeps a new generation closed.
	w := newWorldOf(t, lives(orders().Events["order"].Retain, pipeline.WasSpec{Retain: 2 * day, Before: epoch}))
	def := w.definition("daily")
	if w.head(def).Unclosed {
		t.Error("was is ignored")
	}
}
