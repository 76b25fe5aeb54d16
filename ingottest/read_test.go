package ingottest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
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

func ids(a store.Answer) string {
	var list []string
	for _, i := range a.Items {
		list = append(list, i.ID)
	}
	return strings.Join(list, " ")
}

var bothDays = store.Ask{From: "2030-01-01", To: "2030-01-03", Limit: 5}

func TestRead(t *testing.T) {
	w := New(t, Config{Pipeline: compile(t, patterned())})
	twoDays(w)
	all := w.Read("of_day", bothDays)
	if got := ids(all); len(all.Items) != 24 || !slices.IsSorted(strings.Fields(got)) || all.Next != "" || all.Read < 24 || all.Requests < 6 || all.Units < 3 {
		t.Errorf("%q, read %d with %d requests and %v units", got, all.Read, all.Requests, all.Units)
	}
	if one := w.Read("order", store.Ask{Values: map[string][]string{"id": {"o07"}}, Consistent: true}); ids(one) != "o07" {
		t.Errorf("o07 was asked for, and %q came", ids(one))
	}
	if days := w.Read("daily", store.Ask{Values: map[string][]string{"merchant": {"m1"}}}); len(days.Totals) != 2 || days.Totals[1].Values["orders"].String() != "12" {
		t.Errorf("the totals of two days are %v", days.Totals)
	}
	var b book
	func() {
		defer func() { _ = recover() }()
		w := New(&b, Config{Pipeline: compile(t, patterned())})
		w.Read("of_days", bothDays)
	}()
	if want := `of_day`; !strings.Contains(b.fatal, want) {
		t.Errorf("a pattern that does not exist: %q", b.fatal)
	}
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
			if one := w.ReadBehind("order", store.Ask{Values: map[string][]string{"id": {"o23"}}, Consistent: true}); len(one.Items) != 1 {
				t.Errorf("seed %d: a consistent read lacks what was written before it", seed)
			}
			w.Advance(5 * time.Second)
			if late := ids(w.ReadBehind("of_day", bothDays)); len(strings.Fields(late)) != 24 {
				t.Errorf("seed %d: after five seconds the answer is %q", seed, late)
			}
			return got
		}
		got := answer()
		if again := answer(); again != got {
			t.Errorf("seed %d gives %q, and then %q", seed, got, again)
		}
		if parts[got] = true; len(strings.Fields(got)) == 24 {
			whole++
		}
	}
	if whole == 10 || len(parts) < 5 {
		t.Errorf("of 10 seeds, %d gave whole answers, and %d different ones: the index does not lag", whole, len(parts))
	}
}
