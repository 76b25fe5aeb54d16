package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// lists are two tables in memory. They have pages of random sizes, and break at some of them.
type lists struct {
	*rand.Rand
	breaks bool
	items  []*event.Item
	totals []tables.StoredTotal
	sides  [2]map[string][]*aggregate.Contribution // what each side of each total is made of
}

var errBreak = errors.New("it breaks")

func (l *lists) MissingParts(context.Context, []*event.Item) ([]*event.Item, float64, error) {
	return nil, 0, nil
}

func (l *lists) OrphanedParts(context.Context, []*event.Item) ([]*event.Item, float64, error) {
	return nil, 0, nil
}

func (l *lists) Head(context.Context, *aggregate.Definition) (*tables.Head, error) { return nil, nil }

func (l *lists) ItemPages(_ context.Context, of tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	return pagesOf(l, l.items, of)
}

func (l *lists) TotalPages(_ context.Context, of tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return pagesOf(l, l.totals, of)
}

func pagesOf[T any](l *lists, all []T, of tables.Segment) iter.Seq2[tables.Page[T], error] {
	of.Of = max(of.Of, 1)
	from, to := of.Number*len(all)/of.Of, (of.Number+1)*len(all)/of.Of
	if of.After.PK != "" {
		from, _ = strconv.Atoi(of.After.PK)
	}
	return func(yield func(tables.Page[T], error) bool) {
		for last := false; !last; {
			if l.breaks && l.IntN(6) == 0 {
				yield(tables.Page[T]{}, errBreak)
				return
			}
			page := tables.Page[T]{All: all[from:min(from+l.IntN(20), to)], Units: 1}
			if from += len(page.All); from < to {
				page.Next = event.Key{PK: strconv.Itoa(from), SK: "x"}
			}
			if last = from == to; !yield(page, nil) {
				return
			}
		}
	}
}

// flaky is a folder that breaks with them.
type flaky struct {
	sums.Folder
	*lists
}

func (f flaky) Write(ctx context.Context, name string, from func(io.Writer) error) error {
	if f.breaks && f.IntN(20) == 0 {
		return errBreak
	}
	return f.Folder.Write(ctx, name, from)
}

// Go and Wait make a group without concurrency.
func (l *lists) Go(do func()) { do() }
func (l *lists) Wait()        {}

// visited draws the items of visits, and what is stored of their totals: buckets of a spread that
// sometimes lack an item, and sometimes have one twice.
func visited(t *testing.T, p *pipeline.Pipeline, draw *rand.Rand) *lists {
	t.Helper()
	l := &lists{Rand: draw, sides: [2]map[string][]*aggregate.Contribution{{}, {}}}
	sites := 1 + l.IntN(60)
	for i := range l.IntN(300) {
		item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(
			`{"type":"visit","id":"%d","at":"2026-03-%02dT09:00:%02dZ","site":"s%d","ms":%d.%d,"page":"p%d","user":"u%d"}`,
			i, 1+l.IntN(3), l.IntN(60), l.IntN(sites), l.IntN(2000)-1000, l.IntN(10), l.IntN(9), l.IntN(40))})
		must.Succeed(t, err)
		l.items = append(l.items, item)
		c := &p.Contributions(item).List[0]
		key := string(appendKey(nil, c.Def.Name, c.Def.Since, c.Window, c.By))
		l.sides[wanted][key] = append(l.sides[wanted][key], c)
		for range []int{1, 1, 1, 1, 1, 1, 1, 1, 0, 2}[l.IntN(10)] {
			l.sides[stored][key] = append(l.sides[stored][key], c)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.sides[stored])) {
		for list := l.sides[stored][key]; len(list) > 0; {
			n := 1 + l.IntN(len(list))
			total := tables.StoredTotal{N: int64(n), FP: fingerprint(list[:n]), Values: map[string]event.Decimal{},
				Texts:   map[string]string{},
				Address: aggregate.Address{Name: "daily", Since: 1, By: list[0].By, Window: list[0].Window}}
			for i, v := range list[0].Def.Values {
				if text := naive(v.Op, i, list[:n]); v.Op.Textual() {
					total.Texts[v.Name] = text
				} else {
					total.Values[v.Name] = decimal(text)
				}
			}
			l.totals, list = append(l.totals, total), list[n:]
		}
	}
	l.Shuffle(len(l.totals), func(i, j int) { l.totals[i], l.totals[j] = l.totals[j], l.totals[i] })
	return l
}

func fingerprint(list []*aggregate.Contribution) (sum event.Decimal) {
	for _, c := range list {
		sum = sum.Add(event.DecimalOf(c.Term))
	}
	return sum
}

// naive computes a value from all contributions at once.
func naive(op aggregate.Op, value int, list []*aggregate.Contribution) string {
	var all []aggregate.Amount
	var sum event.Decimal
	buckets, sketch := aggregate.Buckets{}, aggregate.Sketch{}
	for _, c := range list {
		a := c.Values[value]
		all, sum = append(all, a), sum.Add(a.Number)
		if op == aggregate.Histogram && buckets.Add(a.Text, 1) != nil || op == aggregate.Distinct && sketch.Merge(a.Text) != nil {
			panic(a.Text)
		}
	}
	slices.SortFunc(all, func(a, b aggregate.Amount) int { return cmp.Or(a.Number.Cmp(b.Number), cmp.Compare(a.Text, b.Text)) })
	first, last := all[0], all[len(all)-1]
	return map[aggregate.Op]string{aggregate.Count: sum.String(), aggregate.Sum: sum.String(), aggregate.Min: first.Number.String(),
		aggregate.Max: last.Number.String(), aggregate.Oldest: first.Text, aggregate.Newest: last.Text,
		aggregate.Histogram: buckets.Text(), aggregate.Distinct: sketch.Text()}[op]
}

// twin says what differs. It computes each total from all that belongs to it at once.
func (l *lists) twin() (list []string) {
	for key, wants := range l.sides[wanted] {
		differ := func(what, has, wants string) {
			if has != wants {
				list = append(list, fmt.Sprintf("%s %s: %q, %q", key, what, has, wants))
			}
		}
		has := l.sides[stored][key]
		if len(has) == 0 {
			differ("missing", "nothing", fmt.Sprint("n ", len(wants)))
			continue
		}
		differ("fp", fingerprint(has).String(), fingerprint(wants).String())
		differ("n", fmt.Sprint(len(has)), fmt.Sprint(len(wants)))
		for i, v := range wants[0].Def.Values {
			differ(v.Name, shown(v.Op, naive(v.Op, i, has)), shown(v.Op, naive(v.Op, i, wants)))
		}
	}
	slices.Sort(list)
	return list
}

// TestAgainstANaiveTwin verifies random tables with random limits of memory, in one process or in
// many, which break off, go on, and repeat each other's segments.
func TestAgainstANaiveTwin(t *testing.T) {
	p, at := visits(t), must.Time("2026-03-03T12:00:00Z")
	number := slow.Number(15, 40)
	found, seeds := 0, replay.Seeds(t, 1, number)
	for _, seed := range seeds {
		l := visited(t, p, rand.New(rand.NewPCG(seed, 0)))
		c := Config{Pipeline: p, Source: l, Config: sums.Config{Segments: 1 + l.IntN(4), Buckets: 1 + l.IntN(6),
			Memory: 3000 + l.IntN(100_000), Env: env.Env{Now: func() time.Time { at = at.Add(20 * time.Second); return at },
				Rand: l.Float64, Group: func() env.Group { return l }}}}
		if l.IntN(10) == 0 {
			c.Memory = 1
		}
		r, err := l.verified(c, flaky{sums.Dir(t.TempDir()), l})
		if err != nil {
			t.Fatalf("%v; %s", err, replay.Command(t, seed))
		}
		var got []string
		for _, d := range r.Differences {
			got = append(got, fmt.Sprintf("%s %s: %q, %q", d.slot, d.What, d.Has, d.Wants))
		}
		slices.Sort(got)
		want := l.twin()
		if found += len(want); !slices.Equal(got, want) || r.Items != len(l.items) || r.Totals != len(l.sides[wanted]) ||
			r.More != (More{}) {
			t.Errorf("%+v\nwant of %d items and %d totals\n%q\n%s", r, len(l.items), len(l.sides[wanted]), want, replay.Command(t, seed))
		}
	}
	if len(seeds) > 1 && found < 25*number {
		t.Errorf("only %d differences in all tables", found)
	}
}

// verified verifies in one process, in one that breaks off and goes on, or in many.
func (l *lists) verified(c Config, work sums.Folder) (*Report, error) {
	ctx, way := context.Background(), l.IntN(4)
	if way == 0 {
		return Run(ctx, c)
	}
	c.Work, l.breaks = work, true
	for way == 1 {
		if r, err := Run(ctx, c); !errors.Is(err, errBreak) {
			return r, err
		}
	}
	for range 2 * c.Segments { // in any order, again, and in two processes of which the slower one writes its manifest last
		segment := l.IntN(c.Segments)
		slower := c
		slower.Progress = func(sums.Progress) { _, _ = Segment(ctx, c, segment) }
		_, _ = Segment(ctx, []Config{c, c, slower}[l.IntN(3)], segment)
	}
	l.breaks = false
	for segment := range c.Segments {
		if _, err := Segment(ctx, c, segment); err != nil {
			return nil, err
		}
	}
	for i := range 2 * c.Buckets { // each of them twice
		if _, err := Merge(ctx, c, i/2); err != nil {
			return nil, err
		}
	}
	return Collect(ctx, c)
}
