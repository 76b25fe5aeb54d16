// Package verify computes every total again from the items of the events table, with a fold of its
// own, and compares it with what the aggregates table says. [Totals] does that. [Finish] declares a
// rebuilt aggregate complete. The demo, the simulation and the tool use this package.
//
// Verify is exact once the stream is drained and nothing writes meanwhile. Otherwise it reports
// what the stream has not delivered yet. One thing cannot be computed again: what expired events
// have added to a total that keeps it. For such a total only the fingerprint is compared. The
// fingerprint shows whether each event that is left was counted once. It does not show if somebody
// has changed n or a value by hand. Report.Partly counts such totals.
package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/lanes"
	"github.com/ingot-events/ingot/internal/tables"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// Source is where items and totals are read. A *[store.Store] is a Source.
type Source interface {
	Items(context.Context) iter.Seq2[*event.Item, error]
	Totals(context.Context) iter.Seq2[store.StoredTotal, error]
	// Head returns what the aggregates table says of a whole generation, or nil if it says nothing.
	Head(context.Context, *aggregate.Definition) (*store.Head, error)
}

// Report is the result of a comparison.
type Report struct {
	Items       int // items of Ingot's in the events table, those past their time and not yet swept included
	Totals      int // totals compared
	Partly      int // of them, those that keep what expired events added: only their fingerprint was compared
	Differences []Difference
	// Below is how many items are stamped below a generation of their type. They are missing from
	// it until a touch pass brings them in.
	Below map[*aggregate.Definition]int
	// Building are the generations that are not declared complete. They may not have counted older
	// items yet. That is not a difference. See [Finish].
	Building []*aggregate.Definition
	// Flagged are generations and totals that say of themselves that their values are not proven.
	Flagged []string
	// Odd are items that say that they are Ingot's, but cannot be understood, or from which a
	// definition cannot be computed.
	Odd []string
	// missing is the first odd item that is not in a generation.
	missing map[*aggregate.Definition]string
}

// OK reports whether nothing differs.
func (r *Report) OK() bool { return len(r.Differences) == 0 }

// Difference is one total that does not equal the sum of its items.
type Difference struct {
	Total string // name, since, by and window, for people
	Def   *aggregate.Definition
	What  string // "fp", "n", a value's name, "missing", or "head"
	Has   string // what is stored
	Wants string // what the items add up to
}

// String returns one line for people.
func (d Difference) String() string {
	if d.What == headSays {
		return fmt.Sprintf("%s: its head says that it is %s, and %s; touch them", d.Total, d.Has, d.Wants)
	}
	return fmt.Sprintf("%s: %s is %s, and its items add up to %s", d.Total, d.What, d.Has, d.Wants)
}

// headSays is the What of a generation that says it is complete while items are stamped below it.
// Old code that did not know the generation has counted them.
const headSays = "head"

// slot names one total of one generation, without its buckets.
type slot struct {
	name   string
	since  int64
	by     string // joined by #, which no escaped value holds
	window int64
}

func (s slot) String() string {
	text := fmt.Sprintf("%s since %d", s.name, s.since)
	if s.by != "" {
		text += " by " + s.by
	}
	if s.window != aggregate.NoWindow {
		text += " at " + lanes.WindowText(s.window)
	}
	return text
}

// sum is one total, as its items or its buckets add up to it.
type sum struct {
	def     *aggregate.Definition
	n       int64
	fp, fpx event.Decimal
	values  map[string]event.Decimal
	flags   []string // of its items
	flagged bool     // one of them says that its values are not proven
}

// Totals compares all totals of the pipeline's generations with the items. now decides which totals
// are past their own expiry. They may be gone, so they are not compared. It is an error, and not a
// difference, if the pipeline declares a generation otherwise than its head, or groups by another
// secret.
func Totals(ctx context.Context, p *pipeline.Pipeline, from Source, now time.Time) (*Report, error) {
	r := &Report{Below: map[*aggregate.Definition]int{}, missing: map[*aggregate.Definition]string{}}
	if err := mistaken(ctx, p, from); err != nil {
		return nil, err
	}
	wants, err := r.recompute(ctx, p, from)
	if err != nil {
		return nil, err
	}
	has, err := gather(ctx, p, from)
	if err != nil {
		return nil, err
	}
	// Read anew, after the items: what was written below a generation meanwhile is said on its head.
	for _, def := range p.Definitions() {
		head, err := from.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		if head == nil {
			continue
		}
		if head.Building {
			r.Building = append(r.Building, def)
		}
		for _, flag := range head.Flags() {
			r.Flagged = append(r.Flagged, def.String()+", all totals: "+flag)
		}
		if below := r.Below[def]; below > 0 && !head.Building {
			r.Differences = append(r.Differences, Difference{def.String() + ", all totals", def, headSays, "complete", fmt.Sprintf("%d items are stamped below it", below)})
		}
	}
	r.compare(wants, has, now)
	return r, nil
}

// mistaken refuses definitions and secrets other than those of the totals, before both tables are
// read for nothing.
func mistaken(ctx context.Context, p *pipeline.Pipeline, from Source) error {
	var all []error
	for _, def := range p.Definitions() {
		head, err := from.Head(ctx, def)
		if err != nil {
			return err
		}
		if head != nil {
			all = append(all, head.Check(def))
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("verify: refused, because what differs would be no damage:\n%w", err)
	}
	return nil
}

// recompute folds what every item contributes, and counts the items that are stamped below a
// generation of their type.
func (r *Report) recompute(ctx context.Context, p *pipeline.Pipeline, from Source) (map[slot]*sum, error) {
	wants := map[slot]*sum{}
	for item, err := range from.Items(ctx) {
		if odd := (*store.OddItem)(nil); errors.As(err, &odd) {
			r.odd(odd.Error(), p.Definitions()...)
			continue
		} else if err != nil {
			return nil, err
		}
		r.Items++
		contributions := p.Contributions(item)
		for _, failed := range contributions.Failed {
			r.odd(fmt.Sprintf("item %s adds nothing to %s: %v", item.Key, failed.Def, failed.Err), failed.Def)
		}
		for _, def := range contributions.Behind {
			r.Below[def]++
		}
		for i := range contributions.List {
			add(wants, &contributions.List[i])
		}
	}
	slices.Sort(r.Odd)
	return wants, nil
}

// odd notes an item that is missing from some generations.
func (r *Report) odd(what string, missing ...*aggregate.Definition) {
	r.Odd = append(r.Odd, what)
	for _, def := range missing {
		if r.missing[def] == "" {
			r.missing[def] = what
		}
	}
}

func add(wants map[slot]*sum, c *aggregate.Contribution) {
	at := slot{c.Def.Name, c.Def.Since, strings.Join(c.By, "#"), c.Window}
	s := wants[at]
	if s == nil {
		s = &sum{def: c.Def, values: map[string]event.Decimal{}}
		wants[at] = s
	}
	s.n++
	s.fp = s.fp.Add(event.DecimalOf(c.Term))
	for i, v := range c.Values {
		if v.Set {
			s.fold(c.Def.Values[i], v.Number)
		}
	}
}

func (s *sum) fold(v aggregate.Value, n event.Decimal) {
	old, had := s.values[v.Name]
	switch {
	case v.Op.Additive():
		s.values[v.Name] = old.Add(n)
	case !had, v.Op == aggregate.Min && n.Cmp(old) < 0, v.Op == aggregate.Max && n.Cmp(old) > 0:
		s.values[v.Name] = n
	}
}

// gather adds up the buckets of every stored total of this pipeline's generations.
func gather(ctx context.Context, p *pipeline.Pipeline, from Source) (map[slot]*sum, error) {
	has := map[slot]*sum{}
	for total, err := range from.Totals(ctx) {
		if err != nil {
			return nil, err
		}
		a := total.Address
		def, ok := p.Definition(a.Name)
		if !ok || def.Since != a.Since {
			continue
		}
		at := slot{a.Name, a.Since, strings.Join(a.By, "#"), a.Window}
		s := has[at]
		if s == nil {
			s = &sum{def: def, values: map[string]event.Decimal{}}
			has[at] = s
		}
		s.n += total.N
		s.fp, s.fpx = s.fp.Add(total.FP), s.fpx.Add(total.FPX)
		for _, flag := range []string{total.Flag, total.Large} {
			if flag != "" {
				s.flags = append(s.flags, flag)
			}
		}
		s.flagged = s.flagged || total.Flag != ""
		for _, v := range def.Values {
			if n, ok := total.Values[v.Name]; ok {
				s.fold(v, n)
			}
		}
	}
	return has, nil
}

func (r *Report) compare(wants, has map[slot]*sum, now time.Time) {
	slots := make([]slot, 0, len(wants)+len(has))
	for at := range has {
		slots = append(slots, at)
	}
	for at := range wants {
		if has[at] == nil {
			slots = append(slots, at)
		}
	}
	slices.SortFunc(slots, func(a, b slot) int { return strings.Compare(a.String(), b.String()) })
	for _, at := range slots {
		stored, want := has[at], wants[at]
		if def := either(stored, want).def; lanes.Expiry(def, at.window) != 0 && now.Unix() >= lanes.Expiry(def, at.window) {
			continue
		}
		r.Totals++
		if stored == nil {
			r.Differences = append(r.Differences, Difference{at.String(), want.def, "missing", "nothing", fmt.Sprintf("n %d", want.n)})
			continue
		}
		for _, flag := range stored.flags {
			r.Flagged = append(r.Flagged, at.String()+": "+flag)
		}
		if want == nil {
			want = &sum{def: stored.def}
		}
		r.compareOne(at, stored, want)
	}
}

func either(a, b *sum) *sum {
	if a != nil {
		return a
	}
	return b
}

// compareOne always compares the fingerprint of what is live. It compares n and the values if every
// item that was counted is still there, or was subtracted when it left.
func (r *Report) compareOne(at slot, stored, want *sum) {
	differ := func(what, has, wants string) {
		r.Differences = append(r.Differences, Difference{at.String(), stored.def, what, has, wants})
	}
	if live := stored.fp.Sub(stored.fpx); live.Cmp(want.fp) != 0 {
		differ("fp", live.String(), want.fp.String())
	}
	if !stored.fpx.IsZero() { // some of its events have expired
		r.Partly++ // n and the values are more than the items left add up to, by what nobody knows any more
		return
	}
	if stored.n != want.n {
		differ("n", fmt.Sprint(stored.n), fmt.Sprint(want.n))
	}
	for _, v := range stored.def.Values {
		if !v.Op.Additive() && (stored.flagged || want.n == 0) {
			continue // outlived by its items, and says so
		}
		a, b := stored.values[v.Name], want.values[v.Name]
		if a.Cmp(b) != 0 {
			differ(v.Name, a.String(), b.String())
		}
	}
}

// Finish declares a generation complete after a touch pass, if three things are true: no item is
// stamped below it, verify finds no difference in it, and behind of its head is still what
// [store.Store.BeginPass] returned before the pass. It returns the differences that prevent this.
// If it returns no difference and no error, the generation is complete. Items that cannot be
// understood, or from which the generation cannot be computed, do not prevent it. Finish then flags
// the head for the first of them, and [Totals] names them as Odd.
func Finish(ctx context.Context, p *pipeline.Pipeline, st *store.Store, def *aggregate.Definition, behind int64, now time.Time) ([]Difference, error) {
	own, ok := p.Definition(def.Name)
	if !ok || lanes.ID(own) != lanes.ID(def) {
		return nil, fmt.Errorf("finish %s: the pipeline does not declare it", def)
	}
	def = own
	report, err := Totals(ctx, p, st, now)
	if err != nil {
		return nil, err
	}
	if below := report.Below[def]; below > 0 {
		return nil, fmt.Errorf("finish %s: %d items are still stamped below it; run the touch pass again", def, below)
	}
	standing := slices.DeleteFunc(report.Differences, func(d Difference) bool { return d.Def != def })
	if len(standing) > 0 {
		return standing, nil
	}
	if why := report.missing[def]; why != "" {
		if _, err := tables.Of(st).Flag(ctx, []*aggregate.Definition{def}, now, "an item is not in it: "+why); err != nil {
			return nil, fmt.Errorf("finish %s: %w", def, err)
		}
	}
	return nil, tables.Of(st).ClearBuilding(ctx, def, behind)
}
