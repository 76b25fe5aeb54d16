package ingottest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// patterned is a pipeline whose patterns read a sharded index, the table's own key and totals.
func patterned() pipeline.Spec {
	s := spec()
	e := s.Events["order.placed"]
	e.Indexes = map[string]pipeline.IndexSpec{"GSI1": {PK: "DAY#{@at | day}#{id | shard:3}", SK: "{@at | time}#{id}"}}
	s.Events["order.placed"] = e
	s.Patterns = map[string]pipeline.PatternSpec{
		"of_day": {Read: []string{"order.placed"}, Index: "GSI1"}, "order": {Read: []string{"order.placed"}}, "daily": {Total: "daily"},
	}
	return s
}

// twoDays sends 24 orders of two days, one an hour, and drains.
func twoDays(w *World) {
	for i := range 24 {
		w.Send(order(fmt.Sprintf("o%02d", i), time.Date(2030, 1, 1, 12+i, 0, 0, 0, time.UTC).Format(time.RFC3339), 10))
	}
	w.Drain()
}

func ids(a query.Answer) string {
	var list []string
	for _, i := range a.Items {
		list = append(list, i.ID)
	}
	return strings.Join(list, " ")
}

var bothDays = query.Ask{From: "2030-01-01", To: "2030-01-03", Limit: 5}

func TestRead(t *testing.T) {
	w := New(t, Config{Pipeline: compile(t, patterned())})
	twoDays(w)
	all := w.Read("of_day", bothDays)
	if got := ids(all); len(all.Items) != 24 || !slices.IsSorted(strings.Fields(got)) || all.Next != "" || all.Read < 24 ||
		all.Requests < 6 || all.Units < 3 {
		t.Errorf("%q, read %d with %d requests and %v units", got, all.Read, all.Requests, all.Units)
	}
	if one := w.Read("order", query.Ask{Values: map[string][]string{"id": {"o07"}}, Consistent: true}); ids(one) != "o07" {
		t.Errorf("o07 was asked for, and %q came", ids(one))
	}
	if days := w.Read("daily", query.Ask{Values: map[string][]string{"merchant": {"m1"}}}); len(days.Totals) != 2 ||
		days.Totals[1].Values["orders"].String() != "12" {
		t.Errorf("the totals of two days are %v", days.Totals)
	}
	var b book
	func() {
		defer func() { _ = recover() }()
		w := New(&b, Config{Pipeline: compile(t, patterned())})
		w.Read("of_days", bothDays)
	}()
	must.Say(t, b.fatal, `of_day`)
}

// TestReadBehind shows that an answer may lack the latest events while an index lags, that what
// comes is in order and comes once, and that the answer is whole five seconds later.
func TestReadBehind(t *testing.T) {
	whole, parts := 0, map[string]bool{}
	for seed := range uint64(10) {
		answer := func() string {
			w := New(t, Config{Pipeline: compile(t, patterned()), Seed: seed})
			twoDays(w)
			got := ids(w.ReadBehind("of_day", bothDays))
			if list := strings.Fields(got); !slices.IsSorted(list) || len(slices.Compact(list)) != len(strings.Fields(got)) {
				t.Errorf("seed %d: %q", seed, got)
			}
			if one := w.ReadBehind("order", query.Ask{Values: map[string][]string{"id": {"o23"}}, Consistent: true}); len(one.Items) != 1 {
				t.Errorf("seed %d: a consistent read lacks what was written before it", seed)
			}
			w.Advance(5 * time.Second)
			if late := ids(w.ReadBehind("of_day", bothDays)); len(strings.Fields(late)) != 24 {
				t.Errorf("seed %d: after five seconds the answer is %q", seed, late)
			}
			return got
		}
		got := answer()
		must.Equal(t, answer(), got, seed)
		if parts[got] = true; len(strings.Fields(got)) == 24 {
			whole++
		}
	}
	if whole == 10 || len(parts) < 5 {
		t.Errorf("of 10 seeds, %d gave whole answers, and %d different ones: the index does not lag", whole, len(parts))
	}
}

// TestReadTotalsAgainstNaiveTwin asks random questions of a pattern over totals, and compares the
// answers with what a plain tally of the events says.
func TestReadTotalsAgainstNaiveTwin(t *testing.T) {
	seed := replay.Seed(t, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := spec()
	s.Aggregates = map[string]pipeline.AggregateSpec{"daily": {Since: 1, By: map[string]string{"shop": "{merchant | lower}"}, Window: day,
		Spread: 1 + rng.IntN(3),
		From:   map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"orders": "count", "cents": "sum cents"}}}}}
	s.Patterns = map[string]pipeline.PatternSpec{"daily": {Total: "daily", As: map[string][]string{"shop": {"merchant"}}}}
	w := New(t, Config{Pipeline: compile(t, s), Seed: seed})
	type sum struct{ orders, cents int }
	tally := map[string]*sum{} // by shop and day
	shops := []string{"m1", "M1", "m#2", "50%", "é"}
	begin := must.Time("2030-01-01T00:00:00Z")
	for i := range 60 {
		shop, at, cents := shops[rng.IntN(len(shops))], begin.Add(time.Duration(rng.IntN(5*24))*time.Hour), rng.IntN(100)
		w.Send(fmt.Sprintf(`{"type":"order.placed","merchant":%q,"id":"o%d","at":%q,"cents":%d}`, shop, i, at.Format(time.RFC3339), cents))
		key := strings.ToLower(shop) + " " + at.Format(time.DateOnly)
		if tally[key] == nil {
			tally[key] = &sum{}
		}
		tally[key].orders, tally[key].cents = tally[key].orders+1, tally[key].cents+cents
	}
	w.Drain()
	found := 0
	for range 40 {
		ask, asked := query.Ask{Values: map[string][]string{}}, map[string]bool{}
		for range 1 + rng.IntN(3) {
			shop := shops[rng.IntN(len(shops))]
			ask.Values["shop"] = append(ask.Values["shop"], shop)
			asked[strings.ToLower(shop)] = true
		}
		from := begin.Add(time.Duration(rng.IntN(3)) * day)
		to := from.Add(time.Duration(1+rng.IntN(3)) * day)
		if rng.IntN(4) > 0 {
			ask.From, ask.To = from.Format(time.RFC3339), to.Format(time.RFC3339)
		} else {
			from, to = begin, begin.Add(100*day)
		}
		var want, got []string
		for key, sum := range tally {
			shop, on, _ := strings.Cut(key, " ")
			if at, _ := time.Parse(time.DateOnly, on); asked[shop] && !at.Before(from) && at.Before(to) {
				want = append(want, fmt.Sprint(key, " ", sum.orders, " ", sum.cents))
			}
		}
		for _, total := range w.Read("daily", ask).Totals {
			got = append(got, fmt.Sprint(total.By["shop"], " ", total.Window.Format(time.DateOnly), " ", total.Values["orders"], " ",
				total.Values["cents"]))
		}
		slices.Sort(want)
		slices.Sort(got)
		if found += len(got); !slices.Equal(got, want) {
			t.Errorf("seed %d: %+v:\ngot  %q\nwant %q", seed, ask, got, want)
		}
	}
	if found < 40 {
		t.Errorf("seed %d: 40 questions found %d totals: the test has lost its force", seed, found)
	}
}
