package verify_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// lagFunc is a lag that a test makes up.
type lagFunc func() (time.Time, error)

func (f lagFunc) Counted(context.Context) (time.Time, error) { return f() }

func looks(t *testing.T, w *world, lag lagFunc) *verify.Looks {
	t.Helper()
	return looksAt(t, w, verify.SourceOf(w.store), lag)
}

func looksAt(t *testing.T, w *world, from verify.Source, lag lagFunc) *verify.Looks {
	t.Helper()
	c := verify.Config{Pipeline: w.plan, Source: from, Config: sums.Config{Env: w.Clock.Env(func() float64 { return 0.5 })}}
	l, err := verify.Twice(context.Background(), c, lag, time.Minute)
	must.Succeed(t, err)
	return l
}

// One event is under way at each look: the values differ by the same at both, the fingerprints do
// not.
func TestTwiceWhileEventsFlow(t *testing.T) {
	w := filled(t)
	w.put(100, "a", 5)
	l := looks(t, w, func() (time.Time, error) {
		w.drain()
		w.put(101, "a", 5)
		return w.Clock.Now(), nil
	})
	if len(l.Damaged) > 0 || len(l.Undecided) == 0 || l.OK() || l.Unsure != "" {
		t.Errorf("%+v", l)
	}
}

// halfway is a source that calls a function each time a table has been read to its end.
type halfway struct {
	verify.Source
	read func()
}

func (h halfway) ItemPages(ctx context.Context, of tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	return then(h.Source.ItemPages(ctx, of), h.read)
}

func (h halfway) TotalPages(ctx context.Context, of tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return then(h.Source.TotalPages(ctx, of), h.read)
}

// then calls a function after the last page.
func then[T any](pages iter.Seq2[tables.Page[T], error], end func()) iter.Seq2[tables.Page[T], error] {
	return func(yield func(tables.Page[T], error) bool) {
		for page, err := range pages {
			if !yield(page, err) {
				return
			}
		}
		end()
	}
}

// One event is being inserted at the first look, and a person removes it while the second look
// reads. The total never was wrong.
func TestTwiceWhileAnEventComesAndGoes(t *testing.T) {
	w := filled(t)
	w.put(100, "a", 5)
	key := order(100)
	tables := 0
	from := halfway{verify.SourceOf(w.store), func() {
		if tables++; tables == 3 {
			w.remove("events", key)
			w.drain()
		}
	}}
	l := looksAt(t, w, from, w.drained)
	if tables != 4 || len(l.Damaged) > 0 || len(l.Undecided) == 0 {
		t.Errorf("%d tables read: %+v", tables, l)
	}
}

// Each kind of damage is called damage at the second look, whatever else is under way.
func TestTwiceFindsDamage(t *testing.T) {
	for name, damage := range map[string]func(w *world){
		"a value":         adds("daily", "revenue", "1"),
		"n":               adds("daily", "n", "1"),
		"the fingerprint": adds("daily", "fp", "1"),
		"a total gone":    func(w *world) { w.remove("totals", w.key("daily", 0)) },
		"a value as text": func(w *world) {
			w.alter(w.key("daily", 0), "SET revenue = :v", rows.Text("much"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			damage(w)
			l := looks(t, w, w.drained)
			if len(l.Damaged) != 1 || l.Damaged[0].Def.Name != "daily" || l.Unsure != "" || l.OK() {
				t.Errorf("%+v", l)
			}
		})
	}
}

// A total that was equal at either look is proven.
func TestTwiceProvesWhatIsEqualOnce(t *testing.T) {
	w := filled(t)
	w.put(100, "a", 5)
	l := looks(t, w, w.drained)
	if !l.OK() || l.First.OK() || l.Second == nil || !l.Second.OK() {
		t.Errorf("%+v", l)
	}
	w = filled(t)
	l = looks(t, w, func() (time.Time, error) { t.Error("there is nothing to look at twice"); return time.Time{}, nil })
	if !l.OK() || l.Second != nil {
		t.Errorf("%+v", l)
	}
}

// Without a lag that can be read and is short, nothing is called damaged.
func TestTwiceWithoutALag(t *testing.T) {
	for words, lag := range map[string]func(w *world) (time.Time, error){
		"nobody can tell how far the streams function is: it is switched off": func(*world) (time.Time, error) {
			return time.Time{}, errors.New("it is switched off")
		},
		"after 1m0s, the streams function has not yet counted everything": func(*world) (time.Time, error) { return epoch, nil },
	} {
		w := filled(t)
		w.Clock.Pass(time.Hour)
		w.add("live", "fp", "1")
		l := looks(t, w, func() (time.Time, error) { return lag(w) })
		if len(l.Damaged) > 0 || len(l.Undecided) != 1 || !strings.HasPrefix(l.Unsure, words) {
			t.Errorf("%+v", l)
		}
	}
}

// The looks of many processes have names, so that a look of which it is not known when it began is
// never taken for one that began late enough.
func TestLooksOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		damage bool
		lag    func(w *world) (time.Time, error)
		looks  string
	}{
		"equal":     {false, func(*world) (time.Time, error) { return time.Time{}, nil }, "[first]"},
		"different": {true, (*world).drained, "[first second]"},
		"no lag":    {true, func(*world) (time.Time, error) { return time.Time{}, errors.New("off") }, "[first unsure]"},
	} {
		w := filled(t)
		if c.damage {
			w.add("live", "fp", "1")
		}
		var named []string
		l, err := verify.TwiceBy(t.Context(), w.Env, lagFunc(func() (time.Time, error) { return c.lag(w) }), time.Minute,
			func(ctx context.Context, look string) (*verify.Report, error) {
				named = append(named, look)
				return verify.Run(ctx, verify.Config{Pipeline: w.plan, Source: verify.SourceOf(w.store), Looks: true})
			})
		if err != nil || fmt.Sprint(named) != c.looks || l.OK() != !c.damage {
			t.Errorf("%s: looks %v, %+v, %v", name, named, l, err)
		}
		for _, look := range named {
			if !slices.Contains(verify.TwiceLooks, look) {
				t.Errorf("nobody knows look %s", look)
			}
		}
	}
}
