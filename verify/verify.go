// Package verify adds up every total again from the items of the events table, with code of its
// own, and compares the result with the aggregates table. [Totals] does that. [Run] does the same
// with more options: the number of segments to read in parallel, the rate, the memory, and a folder
// from which an interrupted run continues. [Segment], [Merge] and [Collect] are the units of [Run],
// for tables that outgrow one machine. [Finish] declares a rebuilt aggregate complete. The demo,
// the simulation and the tool use this package.
//
// The result is exact if the stream is drained and nothing writes in the meantime. Otherwise the
// differences include what the stream has not delivered yet; [Twice] tells the two apart. One thing
// cannot be computed again: what expired events have added to a total that keeps it. For such a
// total only the fingerprint is compared. The fingerprint shows whether each event that is left was
// counted once. It does not show if somebody has changed n or a value by hand. [Report.Partly]
// counts such totals. A total that an expiry does not close is compared as a whole until its events
// may have expired. After that, verify only sees if its n is too low: [Report.Expired].
package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Source is where items and totals are read. [SourceOf] makes one of a store.
type Source interface {
	ItemPages(context.Context, tables.Segment) iter.Seq2[tables.Page[*event.Item], error]
	TotalPages(context.Context, tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error]
	// Head returns what the aggregates table says of a whole generation, or nil if it says nothing.
	Head(context.Context, *aggregate.Definition) (*tables.Head, error)
	// MissingParts and OrphanedParts are those of a [repair.Repairer].
	MissingParts(context.Context, []*event.Item) (missing []*event.Item, units float64, err error)
	OrphanedParts(context.Context, []*event.Item) (orphans []*event.Item, units float64, err error)
}

// SourceOf returns the tables of a store as a [Source].
func SourceOf(st *store.Store) Source {
	return struct {
		*store.Store
		*repair.Repairer
	}{st, repair.Of(st)}
}

// Totals compares all totals of the pipeline's generations with the items. Totals that have expired
// at now may be gone already, so they are not compared. If the pipeline declares a generation
// differently from its head, or groups by another secret, that is an error and not a difference.
// [Run] does the same with more options.
func Totals(ctx context.Context, p *pipeline.Pipeline, st *store.Store, now time.Time) (*Report, error) {
	return Run(ctx, Config{Pipeline: p, Source: SourceOf(st), Config: sums.Config{Env: env.Env{Now: func() time.Time { return now }}}})
}

// Run compares all totals with the items in this process. It reads every segment of both tables
// into sums: what is stored of each total, and what the items add to it. It reads all totals before
// the first item. It then merges the sums of all segments and compares both sides. Memory stays
// near Config.Memory, whatever the number of totals.
//
// With Config.Work, Run continues where an earlier call with the same folder stopped. After it has
// compared everything, the folder can be used for the next pass.
func Run(ctx context.Context, c Config) (*Report, error) {
	p, err := newPass(c)
	if err != nil {
		return nil, err
	}
	if err := p.readHeads(ctx); err != nil {
		return nil, err
	}
	result, err := p.all.Run(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.report(ctx, result)
	if err != nil {
		return nil, err
	}
	return r, p.all.Clear(ctx, result)
}

// report puts together what the segments have seen, what the comparisons have found, and what the
// heads say.
func (p *pass) report(ctx context.Context, result *sums.Result[seen, found]) (*Report, error) {
	r := newReport()
	for _, found := range result.Found {
		if err := r.found(p.Pipeline, found); err != nil {
			return nil, err
		}
	}
	var all seen
	for _, s := range result.Seen {
		all.add(s)
	}
	r.seen(p.Pipeline, &all)
	for _, def := range p.Pipeline.Definitions() {
		head, err := p.Source.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		if head != nil {
			r.head(def, head, all.Below[lanes.ID(def)])
		}
	}
	r.sort()
	return r, nil
}

// Ops implements [sums.Job].
func (p *pass) Ops(key string) ([]aggregate.Op, error) {
	t, err := parseKey(p.Pipeline, key)
	return p.ops[t.def], err
}

// Compare implements [sums.Job].
func (p *pass) Compare(f *found, one *sums.Pair) error {
	t, err := parseKey(p.Pipeline, one.Key)
	if err != nil {
		return err
	}
	head := p.heads[t.def]
	doubtful := f.compare(t, one, p.Env.Now(), p.uncovered(head, t))
	if doubtful && p.pick != nil {
		p.pick(one.Key, t, head)
	}
	return nil
}

// Merge adds up what all segments hold of one hash bucket, compares the totals in it, and keeps the
// result in Config.Work for [Collect]. All segments must have been read to their end. bucket is
// below Config.Buckets. The report is about this bucket alone: it does not count items, and says
// nothing about heads.
func Merge(ctx context.Context, c Config, bucket int) (*Report, error) {
	p, err := newPass(c)
	if err != nil {
		return nil, err
	}
	if err := p.readHeads(ctx); err != nil {
		return nil, err
	}
	found, err := p.all.Merge(ctx, bucket)
	if err != nil {
		return nil, err
	}
	r := newReport()
	return r, r.found(p.Pipeline, found)
}

// Collect puts together the findings of all segments and all merges, and reads the heads. It
// returns the report that [Run] would return. The folder cannot be used for another pass before
// [Clear].
func Collect(ctx context.Context, c Config) (*Report, error) {
	p, err := newPass(c)
	if err != nil {
		return nil, err
	}
	result, err := p.all.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return p.report(ctx, result)
}

// Done reads which units of work are done in Config.Work.
func Done(ctx context.Context, c Config) (sums.Done, error) {
	p, err := newPass(c)
	if err != nil {
		return sums.Done{}, err
	}
	return p.all.Done(ctx)
}

// Clear empties the manifests and removes the results of a pass whose report is known, so that
// Config.Work can be used for the next one. The sums, which are many, are ignored from then on, as
// is what a worker of the pass still writes. They stay until something else removes them, such as a
// lifecycle rule of the bucket.
func Clear(ctx context.Context, c Config) error {
	p, err := newPass(c)
	if err != nil {
		return err
	}
	return p.all.Clear(ctx, nil)
}

// readHeads reads whose totals are not closed. It refuses definitions and secrets that differ from
// those of the totals, so that the tables are not read for nothing.
func (p *pass) readHeads(ctx context.Context) error {
	var all []error
	p.heads = map[*aggregate.Definition]*tables.Head{}
	for _, def := range p.Pipeline.Definitions() {
		head, err := p.Source.Head(ctx, def)
		if err != nil {
			return err
		}
		if head != nil {
			p.heads[def] = head
			all = append(all, head.Check(def))
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("verify: refused, because a difference would not mean damage:\n%w", err)
	}
	return nil
}

// uncovered reports whether the total may hold events that have expired without closing it. The
// items that are left then do not add up to it. head is that of its generation, or nil if there is
// none.
func (c *Config) uncovered(head *tables.Head, t total) bool {
	if head == nil || !head.Unclosed {
		return false
	}
	shortest, declared := c.Pipeline.ShortestRetain(t.def, t.start()), c.Pipeline.Retains(t.def, time.Time{})
	for eventType, ever := range head.Retains { // a file that does not say so cannot say until when, either
		if lifetime.Shorter(ever, declared[eventType]) && lifetime.Shorter(ever, shortest) {
			shortest = ever
		}
	}
	return lanes.Uncovered(t.window, shortest, c.Env.Now().Unix())
}

// Finish declares a generation complete after a touch pass, if three things are true: no item is
// stamped below it, verify finds no difference in it, and nothing was let in below it since
// [repair.Repairer.BeginPass]. It returns the differences that prevent this.
// If it returns no difference and no error, the generation is complete. Items that cannot be
// understood, or from which the generation cannot be computed, do not prevent it. Finish then flags
// the head for the first of them, and [Totals] names them as Unreadable.
func Finish(ctx context.Context, p *pipeline.Pipeline, st *store.Store, pass tables.Pass, now time.Time) ([]Difference, error) {
	report, err := Totals(ctx, p, st, now)
	if err != nil {
		return nil, err
	}
	return report.Finish(ctx, p, st, pass, now)
}

// Finish is the function [Finish] with what a verification has found already. So one verification
// may complete several generations. It must have begun after the touch pass, and it must have read
// everything itself instead of continuing an earlier call.
func (r *Report) Finish(ctx context.Context, p *pipeline.Pipeline, st *store.Store, pass tables.Pass, now time.Time) ([]Difference, error) {
	def := pass.Definition
	own, ok := p.Definition(def.Name)
	if !ok || lanes.ID(own) != lanes.ID(def) {
		return nil, fmt.Errorf("finish %s: the pipeline does not declare it", def)
	}
	def = own
	if below := r.Below[def]; below > 0 {
		return nil, fmt.Errorf("finish %s: %d items are still stamped below it; run the touch pass again", def, below)
	}
	standing := slices.DeleteFunc(slices.Clone(r.Differences), func(d Difference) bool { return d.Def != def })
	if len(standing) > 0 {
		return standing, nil
	}
	if n := r.differing[def]; n > 0 { // the differences of other generations fill the list
		return nil, fmt.Errorf("finish %s: it has %d differences; mend those of the other aggregates first", def, n)
	}
	if why := r.missing[def]; why != "" {
		if _, err := repair.Of(st).Flag(ctx, []*aggregate.Definition{def}, now, "an item is not in it: "+why); err != nil {
			return nil, fmt.Errorf("finish %s: %w", def, err)
		}
	}
	return nil, repair.Of(st).ClearBuilding(ctx, def, pass.Behind)
}
