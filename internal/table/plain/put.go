package plain

import (
	"context"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Writer puts items without their parts, each by a condition on its own key.
type Writer struct {
	*rows.Tables
	reading  sync.Mutex       // held while a payload is read from the bucket to judge an event
	Payloads *payloads.Bucket // nil: the configuration names none
	Hot      HotKeys
}

// New returns a writer of these tables. It sends no request.
func New(t *rows.Tables, c tables.Config) *Writer {
	s := &Writer{Tables: t}
	if c.Objects != nil && c.PayloadBucket != "" {
		s.Payloads = &payloads.Bucket{Client: c.Objects, Name: c.PayloadBucket}
	}
	return s
}

// PutItems puts the items at these places, alone and not their parts, and sets their results.
func (s *Writer) PutItems(ctx context.Context, items []*event.Item, places []int, results []tables.Result) tables.Cost {
	if len(places) == 0 {
		return tables.Cost{}
	}
	p := &put{store: s, results: results, items: items, parallel: s.Parallel()}
	p.fold(places)
	_ = s.Retry(ctx, p.round) // what is not settled is Retry
	p.judgeRest()
	return p.cost
}

// put is one call of PutItems. The writes are independent of each other. One request carries
// several of them.
type put struct {
	store    *Writer
	items    []*event.Item
	writes   []*write // one for each key, in order of first appearance
	results  []tables.Result
	parallel int  // requests in flight
	looking  bool // nothing is written
	// partitions is how many partition keys the writes have.
	partitions int
	stuckSince time.Time // since when all remaining writes were refused and none has moved on; zero: one has

	mu   sync.Mutex // guards the following fields and the writes, while requests are in flight
	cost tables.Cost
	// These count the answers of the current round.
	moved    bool            // a write has come into its next state
	refusals int             // writes to ask for again: refused for capacity, or without an answer
	troubled map[string]bool // their partition keys, except those that a refusal names as too hot
}

// write is the one write of a key, for all items of the call that have this key.
type write struct {
	item   *event.Item
	copies []int // places in the call's items
	place  int   // item's own place among them
	state  state
	taken  bool          // the service has said that the key is taken, so a read that finds nothing proves nothing
	lost   bool          // a try got no answer and may still be carried out, so Expired is not proven
	known  *rows.Stored  // what is to be replaced, while replacing
	wrote  event.Verdict // Inserted or Updated if this call wrote it
	missed time.Time     // when the key was found absent and item was too late to put; zero: never
	last   rows.Answer   // why it is not settled
	units  float64
	sent   int
	alone  bool // a request with several writes was refused as invalid; another write may be the reason
	// attempted is the size, in bytes, of an item that was refused without the stored item in the
	// answer. It is 0 if there is no such item.
	attempted int
	guessed   int // the size that the last read of the stored item was charged for
}

// fold makes one write for each key, because the service refuses a request that names a key twice.
// Under insert, the first item of the batch is written. Under latest, the item with the highest
// revision is written, and the first one if several have that revision. Items that can no longer be
// written are considered only if there are no others. Copies have the same digest, but may have
// different expiries if their time comes from the envelope.
func (p *put) fold(places []int) {
	now := p.store.Env.Now()
	byKey := make(map[event.Key]*write, len(places))
	partitions := make(map[string]bool, len(places))
	for _, i := range places {
		item := p.items[i]
		w := byKey[item.Key]
		if w == nil {
			partitions[item.Key.PK] = true
			w = &write{item: item, place: i}
			if item.Whole != nil { // most states are stored, and a read costs less than a refused transaction
				w.state = reading
			}
			byKey[item.Key] = w
			p.writes = append(p.writes, w)
		}
		w.copies = append(w.copies, i)
		if instead(item, w.item, now) {
			w.item, w.place = item, i
		}
	}
	p.partitions = len(partitions)
}

// instead reports whether item is written in place of an earlier one with its key.
func instead(item, of *event.Item, now time.Time) bool {
	if late, wasLate := tables.TooLate(item, now), tables.TooLate(of, now); late != wasLate {
		return wasLate
	}
	return item.NewerThan(of)
}

func (p *put) pending() []*write {
	var work []*write
	for _, w := range p.writes {
		if !w.state.final() {
			work = append(work, w)
		}
	}
	return work
}

// round sends what every pending write needs next. It returns whether there is another round.
func (p *put) round(ctx context.Context) (rows.Answer, rows.Next) {
	p.moved, p.refusals, p.troubled = false, 0, map[string]bool{}
	requests := p.requests(p.pending())
	p.store.Env.Each(len(requests), p.parallel, func(i int) {
		if ctx.Err() == nil {
			requests[i].send(ctx, requests[i].writes)
		}
	})
	if !p.fewTroubled() {
		p.parallel = max(1, p.parallel/2)
	}
	left := p.pending()
	switch {
	case len(left) == 0 || ctx.Err() != nil || p.stuck(left):
		return rows.Answer{}, rows.Ended
	case p.refusals > 0:
		return rows.Answer{}, rows.Later
	default:
		return rows.Answer{}, rows.Again
	}
}

// request is a request of a round, for one write or several.
type request struct {
	send   func(context.Context, []*write)
	writes []*write
}

// requests returns the requests of one round. Each write gets what it needs next.
func (p *put) requests(work []*write) (requests []request) {
	now := p.store.Env.Now()
	var inserts, states, reads, compares []*write
	for _, w := range work {
		// The clock at the time of sending decides, also when a write is sent again. If it is too
		// late by then, the write is not repeated. Instead, the store reads what is there.
		if (w.state == inserting || w.state == replacing) && tables.TooLate(w.item, now) {
			w.state = reading
		}
		switch {
		case w.state == reading:
			reads = append(reads, w)
		case w.state == comparing:
			compares = append(compares, w)
		case w.state == fetching:
			requests = append(requests, request{p.fetch, []*write{w}})
		case w.item.Whole != nil:
			states = append(states, w)
		case w.state == inserting:
			inserts = append(inserts, w)
		case w.state == replacing:
			requests = append(requests, request{p.replace, []*write{w}})
		}
		if w.sent > 0 && w.last.Outcome != rows.Done && w.last.Outcome != rows.Failed {
			p.cost.Retries++
		}
		w.sent++
	}
	requests = append(append(requests, p.insertRequests(inserts)...), p.besideRequests(states)...)
	requests = append(requests, p.readRequests(reads, rows.Summary)...)
	return append(requests, p.readRequests(compares, rows.Wholes)...)
}

// note records an answer that decides nothing. Callers hold mu.
func (p *put) note(w *write, a rows.Answer) {
	w.last = a
	switch a.Outcome {
	case rows.Throttled:
		p.cost.Throttle(a.Reason, 1)
		p.cost.RefusedItem(w.item, a.Reason)
		p.refuse(w)
	case rows.Unknown, rows.Contended:
		w.lost = w.lost || a.Outcome == rows.Unknown && (w.state == inserting || w.state == replacing)
		p.refuse(w)
	case rows.Refused, rows.Invalid:
		w.state = abandoned
	}
}

// refuse counts a write that must be sent again. Callers hold mu.
func (p *put) refuse(w *write) {
	p.refusals++
	if !w.last.HotKey() {
		p.troubled[w.item.Key.PK] = true
	}
}

// to brings a write into its next state. Callers hold mu.
func (p *put) to(w *write, next state) {
	if w.state != reading { // a read says nothing about writes
		p.store.Hot.Cooled(w.item.Key)
	}
	w.state, p.moved = next, true
}

// written settles a write that this call has made: it is proven stored. Callers hold mu.
func (p *put) written(w *write, v event.Verdict) {
	w.wrote = v
	p.settle(w, &rows.Stored{Own: true, Payload: true, Typ: w.item.Type, Digest: w.item.Digest, Revision: w.item.Revision,
		Ties: &w.item.Ties, Tied: w.item.Ties,
		Data: w.item.Text(), Today: &w.item.Digest})
}

// settle judges every copy by what is proven stored, and then releases that item: memory may not
// hold the payloads of all conflicts of a batch. Callers hold mu.
func (p *put) settle(w *write, known *rows.Stored) {
	now := p.store.Env.Now()
	for _, i := range w.copies {
		item := p.items[i]
		switch {
		case i == w.place && w.wrote != 0:
			p.results[i] = tables.Result{Verdict: w.wrote}
		case p.store.Older(known, item) && !tables.TooLate(item, now):
			// Another copy was tried and not written. That says nothing about this one.
			p.results[i] = tables.Result{Verdict: event.Retry, Refusal: InPlaceOf(item), Existing: known.Existing()}
		default:
			p.results[i] = p.store.JudgeStored(known, item)
		}
		if w.lost && p.results[i].Verdict == event.Expired {
			p.results[i] = tables.Result{Verdict: event.Retry, Refusal: MayStillBe(item, ReasonLate)}
		}
	}
	w.known = nil
	p.to(w, settled)
}

// judgeRest gives a result to every item whose key is not proven to hold anything.
func (p *put) judgeRest() {
	for _, w := range p.writes {
		if w.state != settled {
			for _, i := range w.copies {
				p.results[i] = p.unproven(w, p.items[i])
			}
		}
		p.results[w.place].Units = w.units
	}
}

// InPlaceOf says that item was not tried, but another item with its key was.
func InPlaceOf(item *event.Item) *event.Refusal {
	return &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted, Key: item.Key,
		Detail: "another copy in the same batch was tried in its place and could not be written; it is delivered again"}
}

// MayStillBe says that a message cannot be refused for a reason, because a try may still store it.
func MayStillBe(item *event.Item, reason string) *event.Refusal {
	return &event.Refusal{Verdict: event.Retry, Reason: event.Unproven, Key: item.Key,
		Detail: "a try of this delivery got no answer and may still be carried out, and now " + reason + "; it is delivered again"}
}

// ReasonLate is a reason for [MayStillBe].
const ReasonLate = "it is too late to put the event"

// PastExpiry says why an item that is not stored can no longer be stored.
func PastExpiry(item *event.Item) *event.Refusal {
	return &event.Refusal{Verdict: event.Expired, Reason: event.PastExpiry, Key: item.Key,
		Detail: "it expires at " + time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339) +
			" and is not stored; an event is stored only until ten minutes before it expires"}
}

// Unattempted returns the refusal of an item that nothing was sent for before the time was over.
func Unattempted() *event.Refusal {
	return &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted,
		Detail: "there was no time left to write it; it is delivered again"}
}

// unproven returns the result of an item whose key is not proven to hold anything. If another copy
// was too late, or was refused for good, that decides nothing about this one. Each copy is judged
// by its own expiry, digest and size.
func (p *put) unproven(w *write, item *event.Item) tables.Result {
	same := item.Digest == w.item.Digest
	var r *event.Refusal
	switch {
	case w.state == absent && !tables.TooLate(item, w.missed):
		r = InPlaceOf(item)
	case w.state == absent && w.lost:
		r = MayStillBe(item, ReasonLate)
	case w.state == absent:
		r = PastExpiry(item)
	case w.last.Outcome == rows.Invalid && same && item.Size() > event.MaxItem:
		r = event.Poisoned(event.ItemTooLarge, awserr.Detail(w.last.Err))
	case w.sent == 0:
		r = Unattempted()
	default:
		r = w.last.Retry()
	}
	refusal := *r
	refusal.Key = item.Key
	return tables.Result{Verdict: refusal.Verdict, Refusal: &refusal, Cause: w.last.Err}
}
