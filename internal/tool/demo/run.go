// Package demo runs the whole pipeline in one process: a producer, the queue, both functions, the
// tables, the stream and time to live. They run on the embedded engine with one clock and with
// seeded trouble at every seam. Then the demo proves that nothing was lost and nothing was counted
// twice. [Run] runs it and returns a [Summary].
package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// Config says what to run.
type Config struct {
	Data     Data
	Plan     *pipeline.Pipeline
	Seed     uint64
	Counting aggregate.Counting
	// Repeat is how many times the data is sent. 0 means once.
	Repeat int
	// Calm turns all trouble off. It shows what the events cost without trouble.
	Calm bool
	// Skip, if not nil, leaves out the lines that cannot be sent, and is called with them before
	// anything is sent. If it is nil, or if no other line is left, they are the error of [Run].
	Skip func(*LinesError)
	// Tell, if not nil, gets what a person should know about the data before anything is sent.
	Tell func(string)
	// Progress, if not nil, is called with how far the run is.
	Progress func(show.Step)
	// Tamper changes tables without Ingot before they are checked. It is for tests of the checks.
	Tamper func(context.Context, *embedded.Engine) error
}

// ErrNoEvents is the error for data without events.
var ErrNoEvents = errors.New("there is no event in it; give it at least one line")

// run is one run of the demo.
type run struct {
	Config
	world    *world
	producer *producer
	rivals   rivals // found before the run
	copies   copier // makes copies of events for Repeat
	list     *naive // plain sums over the producer's list, for data without a tally
	summary  Summary
	planned  []*event.Item // used instead of list until the end, if bounds decide what is stored
	items    int           // how many items the events make; more than the events if some have parts
	refused  int           // events of planned that are not stored, because a bound refused them
	expires  int64         // the latest expiry of any event, in epoch seconds; 0 if none expires
	first    time.Time
}

// Run runs the demo. An error means that the run could not be finished. The findings of the checks
// are in the [Summary].
func Run(ctx context.Context, c Config) (*Summary, error) {
	r := &run{Config: c}
	r.setDefaults()
	defer r.Progress(show.Step{})
	if r.Data.Events == 0 {
		if err := r.survey(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.produce(ctx); err != nil {
		return nil, err
	}
	if r.world == nil {
		return nil, fmt.Errorf("%s: %w", r.Data.from(), ErrNoEvents)
	}
	if err := r.judge(ctx); err != nil {
		return nil, err
	}
	r.summary.Same = r.summary.OK()
	return &r.summary, nil
}

func (r *run) setDefaults() {
	if r.Repeat = max(1, r.Repeat); r.Repeat > 1 {
		r.copies = newCopier(r.Plan)
	}
	if r.Plan.Batches() != nil || r.Plan.Drops() {
		lines := r.Data.Lines
		r.Data.Lines = func() iter.Seq2[Line, error] { return apart(lines(), r.Plan) }
	}
	if r.Progress == nil {
		r.Progress = func(show.Step) {}
	}
	if r.Data.Alter == nil {
		r.Data.Alter = addMember
	}
	if r.Data.Resend == nil {
		r.Data.Resend = func(body string, _ *rand.Rand) string { return body }
	}
}

// produce sends every event. When it returns, everything is processed.
func (r *run) produce(ctx context.Context) error {
	events := 0
	for copied := range r.Repeat {
		for line, err := range r.Data.Lines() {
			if err == nil {
				err = r.one(ctx, copied, line)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil && line.Number == 0 {
				return err // the data as a whole cannot be read
			}
			if err != nil {
				return r.wrong(line, err)
			}
			if events++; events%100 == 0 {
				r.Progress(show.Step{Phase: "sending events through trouble", Done: events, Total: r.Data.Events * r.Repeat})
			}
		}
	}
	if r.world == nil {
		return nil
	}
	r.summary.Data = DataPart{Name: r.Data.Name, About: r.Data.About, Events: events, Copies: r.Repeat,
		From: r.first.Format(time.RFC3339), To: r.producer.newest.Format(time.RFC3339)}
	r.Progress(show.Step{Phase: "sending events through trouble", Done: events, Total: events})
	return r.producer.finish(ctx)
}

// plan plans a line, or copy number copied of it. m becomes the copy. If the pipeline accepts the
// line but not the copy, the error blames the copying.
func (r *run) plan(m *envelope.Message, copied int) (*event.Item, error) {
	item, err := r.Plan.Plan(*m)
	if err != nil || copied == 0 {
		return item, err
	}
	if m.Body, err = r.copies.copy(*m, item.Type, copied); err != nil {
		return nil, err
	}
	copy, err := r.Plan.Plan(*m)
	if err != nil {
		return nil,
			&repeatError{fmt.Sprintf("a copy has ~k appended to field %s and is k weeks later, and the pipeline does not take that (%v)",
				r.copies[item.Type].id, err)}
	}
	return copy, nil
}

// wrong returns the error about a line. What a refusal quotes of it may be personal.
func (r *run) wrong(line Line, err error) *LineError {
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		shown := *refusal
		shown.Detail = show.PersonalOf(r.Plan).Detail(refusal.Reason, refusal.Detail)
		err = &shown
	}
	return &LineError{r.Data.from(), line.Number, err}
}

// one sends one event. It adds the event to the tally first, before any trouble can happen to it.
func (r *run) one(ctx context.Context, copied int, line Line) error {
	m := line.Message
	item, err := r.plan(&m, copied)
	if err != nil {
		return err
	}
	if r.world == nil {
		if r.world, err = newWorld(ctx, r.Config, item.At); err != nil {
			return err
		}
		r.producer = &producer{world: r.world, data: &r.Data, die: source(r.Seed, forProducer)}
		r.first, r.list = item.At, newNaive(r.Plan)
	}
	if r.Data.Tally != nil {
		if err := r.Data.Tally.Add(m.Body); err != nil {
			return err
		}
	} else if len(r.world.bounds.defs) > 0 {
		r.planned = append(r.planned, item)
	} else {
		r.list.message(m)
	}
	for _, one := range item.All() {
		r.items++
		r.expires = max(r.expires, one.ExpiresAt)
	}
	return r.producer.add(ctx, m, item)
}

// judge fills the summary.
func (r *run) judge(ctx context.Context) error {
	w, s := r.world, &r.summary
	s.Summary, s.Seed, s.Counting = SummaryVersion, r.Seed, r.Counting.String()
	s.Cost = w.cost(s.Data.Events)
	if r.Tamper != nil {
		if err := r.Tamper(ctx, w.Engine); err != nil {
			return err
		}
	}
	r.Progress(show.Step{Phase: "checking", Done: 0, Total: 0})
	if err := r.settle(ctx); err != nil {
		return err
	}
	var err error
	if s.Kept, err = w.kept(ctx); err != nil {
		return err
	}
	totals, err := w.readTotals(ctx)
	if err != nil {
		return err
	}
	s.Totals = w.list(totals)
	verified, flags, err := w.verified(ctx)
	if err != nil {
		return err
	}
	s.Flags = flags
	s.Checks = []Check{verified}
	if r.Data.Tally != nil {
		s.Checks = append(s.Checks, w.tallied(totals, r.Data.Tally))
	} else {
		s.Checks = append(s.Checks, w.listed(totals, r.list, s.Data.Events, r.refused, r.items, s.Kept.Items))
	}
	s.Checks = append(s.Checks, w.accounts(s.Data.Events, r.items, s.Kept, r.Data.Distinct))
	if r.rivals.count > 0 {
		s.Checks = append(s.Checks, r.rivals.check(s.Data.Events))
	}
	if len(w.bounds.defs) > 0 {
		s.Checks = append(s.Checks, w.bounds.check())
	}
	if w.plan.UsesOffload() {
		payloads, err := w.payloads(ctx)
		if err != nil {
			return err
		}
		s.Checks = append(s.Checks, payloads)
	}
	s.Deliveries = w.ledger.messagePart()
	if r.expires != 0 {
		if err := r.expire(ctx, totals); err != nil {
			return err
		}
	}
	s.Changes, s.Trouble = w.ledger.changePart(), w.ledger.list()
	return nil
}

// expire moves the clock past the expiry of every event, and lets time to live remove the items.
func (r *run) expire(ctx context.Context, before map[slot]*stored) error {
	w := r.world
	const phase = "letting everything expire"
	r.Progress(show.Step{Phase: phase, Done: 0, Total: 0})
	w.Clock.Reach(time.Unix(r.expires, 0).UTC().Add(time.Hour))
	e := &Expiry{Clock: w.Clock.Now().Format(time.RFC3339)}
	left, err := w.items(ctx)
	if err != nil {
		return err
	}
	if err := w.sweep(ctx, func(swept int) { r.Progress(show.Step{Phase: phase, Done: min(swept, left), Total: left}) }); err != nil {
		return err
	}
	now, err := w.items(ctx)
	if err != nil {
		return err
	}
	e.Swept = left - now
	if e.Archived, e.Objects, err = w.archived(ctx); err != nil {
		return err
	}
	after, err := w.readTotals(ctx)
	if err != nil {
		return err
	}
	kept, fallen := w.aged(before, after)
	archive := Check{Name: "archive", About: "every item swept is in the archive", Compared: e.Swept, Differences: []string{}}
	if e.Archived != e.Swept {
		archive.Differences = append(archive.Differences, fmt.Sprintf("%d items were swept and %d are in the archive", e.Swept,
			e.Archived))
	}
	verified, flags, err := w.verified(ctx)
	if err != nil {
		return err
	}
	e.Flags = flags
	e.Checks = []Check{kept, fallen, archive, verified}
	for _, t := range w.plan.Describe().Spec.Events {
		if t.Retain == 0 { // items of this type are kept for ever and still count
			e.Checks = []Check{kept, archive, verified}
		}
	}
	r.summary.Expiry = e
	return nil
}

func verdictCounts(n [len(event.Verdicts) + 1]int) map[string]int {
	counts := map[string]int{}
	for _, v := range event.Verdicts {
		if n[v] > 0 {
			counts[v.String()] = n[v]
		}
	}
	return counts
}
