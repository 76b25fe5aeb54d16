package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
)

// ExpiryMargin is how long before its expiry an event is no longer written: longer than clock skew and any
// request in flight, so that no put can land after TTL has swept the same key and be counted twice.
const ExpiryMargin = time.Hour

// Result is what became of one item.
type Result struct {
	Verdict event.Verdict
	// Refusal says why, for Conflict, Expired, Poison and Retry; nil for what is proven stored.
	Refusal *event.Refusal
	// Existing is the stored item where it was read and is not this one; nil otherwise.
	Existing *event.Item
	// Units are the write units that this item cost.
	Units float64
}

// Put writes each item on condition that its key is free (or, for items with a revision, that its revision
// is newer than the stored one), and returns a result for each, in order. Items may share keys.
//
// Inserted, Updated, Duplicate and Stale are proofs: the service has said that the item, or an equal or
// newer one, is stored. All that is not proven by the time ctx ends is Retry.
func (s *Store) Put(ctx context.Context, items []*event.Item) ([]Result, Cost) {
	p := &put{store: s, results: make([]Result, len(items)), items: items, parallel: s.concurrency}
	p.fold()
	for round := 0; ; round++ {
		work := p.pending()
		if len(work) == 0 || ctx.Err() != nil {
			break
		}
		if p.troubled && !s.backoff(ctx, round) {
			break
		}
		p.round(ctx, work)
	}
	p.judgeAll()
	return p.results, p.cost
}

// put is one call of Put. The writes are independent of each other; requests carry several of them.
type put struct {
	store    *Store
	items    []*event.Item
	writes   []*write // one for each key, in order of first appearance
	results  []Result
	parallel int // requests in flight

	mu       sync.Mutex // guards what follows, while requests are in flight
	cost     Cost
	troubled bool // a request of this round was refused for capacity or went unanswered
}

// state is what a write needs next.
type state uint8

const (
	inserting state = iota // put it if the key is free
	reading                // the key is taken, or it is too late to put: what is stored?
	replacing              // latest: the stored revision is older; replace exactly that one
	settled                // proven one way or the other
	abandoned              // asking again cannot help now
)

// write is the one write of a key, for all items of the call that have this key.
type write struct {
	item   *event.Item
	copies []int // places in the call's items; one of them is item's
	state  state
	taken  bool          // the service has said that the key is taken, so absence is no proof
	known  *stored       // what is proven stored under the key, once settled
	wrote  event.Verdict // Inserted or Updated if this call wrote it
	absent time.Time     // when it was answered and absent, and item too late to put; zero: never
	last   answer        // why it is not settled
	units  float64
	sent   int
	alone  bool // a request of several was refused as it is; it may not be this one's fault
	// attempted is the size of an item whose refusal did not bring the stored one, in bytes; 0: there is none.
	attempted int
}

// fold makes one write of each key: a request must not name a key twice, or the service refuses it whole.
// insert: the first in event order; latest: the highest revision, ties the first; either way of those that may still
// be written, if there are any. Copies have one digest and yet not one expiry where the envelope says their time.
func (p *put) fold() {
	now := p.store.env.Now()
	byKey := make(map[event.Key]*write, len(p.items))
	for i, item := range p.items {
		w := byKey[item.Key]
		if w == nil {
			w = &write{item: item}
			byKey[item.Key] = w
			p.writes = append(p.writes, w)
		}
		w.copies = append(w.copies, i)
		if instead(item, w.item, now) {
			w.item = item
		}
	}
}

// instead reports whether item is written in place of an earlier one with its key.
func instead(item, of *event.Item, now time.Time) bool {
	if late, wasLate := tooLate(item, now), tooLate(of, now); late != wasLate {
		return wasLate
	}
	return item.Revision != nil && of.Revision != nil && item.Revision.Cmp(*of.Revision) > 0
}

func (p *put) pending() []*write {
	var work []*write
	for _, w := range p.writes {
		if w.state < settled {
			work = append(work, w)
		}
	}
	return work
}

// round sends one request's worth of work for every pending write, each by what it needs next.
func (p *put) round(ctx context.Context, work []*write) {
	p.troubled = false
	now := p.store.env.Now()
	var requests []func()
	var inserts, reads []*write
	for _, w := range work {
		// By the clock at sending, also before a re-send: an answer lost an hour ago is asked about, not repeated.
		if w.state != reading && tooLate(w.item, now) {
			w.state = reading
		}
		switch w.state {
		case inserting:
			inserts = append(inserts, w)
		case reading:
			reads = append(reads, w)
		case replacing:
			requests = append(requests, func() { p.replace(ctx, w) })
		}
		if w.sent > 0 && w.last.outcome != done && w.last.outcome != failed {
			p.cost.Retries++
		}
		w.sent++
	}
	requests = append(requests, p.insertRequests(ctx, inserts)...)
	for chunk := range slices.Chunk(reads, maxReads) {
		requests = append(requests, func() { p.read(ctx, chunk) })
	}
	p.store.env.Each(len(requests), p.parallel, func(i int) {
		if ctx.Err() == nil {
			requests[i]()
		}
	})
	if p.troubled {
		p.parallel = max(1, p.parallel/2)
	}
}

// tooLate reports whether the item may no longer be written.
func tooLate(item *event.Item, now time.Time) bool {
	return item.ExpiresAt != 0 && now.Unix() >= item.ExpiresAt-int64(ExpiryMargin/time.Second)
}

// note records an answer that settles nothing. Callers hold mu.
func (p *put) note(w *write, a answer) {
	w.last = a
	switch a.outcome {
	case throttled:
		p.troubled = true
		p.cost.throttle(a.reason, 1)
	case unknown, contended:
		p.troubled = true
	case refused, invalid:
		w.state = abandoned
	}
}

// settleWritten records that this call's own write is proven stored. Callers hold mu.
func (w *write) settleWritten(v event.Verdict) {
	w.state, w.wrote = settled, v
	w.known = &stored{typ: w.item.Type, digest: w.item.Digest, revision: w.item.Revision, data: w.item.Data, today: &w.item.Digest}
}

// judgeAll gives every item its result.
func (p *put) judgeAll() {
	now := p.store.env.Now()
	for _, w := range p.writes {
		first := true
		for _, i := range w.copies {
			item := p.items[i]
			switch {
			case w.state != settled || w.known == nil:
				p.results[i] = p.unproven(w, item)
			case first && w.wrote != 0 && item == w.item:
				p.results[i] = Result{Verdict: w.wrote}
			case w.known.older(item) && !tooLate(item, now):
				// Another copy was tried, in vain; that says nothing of this one.
				p.results[i] = Result{Verdict: event.Retry, Refusal: inPlaceOf(item)}
			default:
				p.results[i] = p.store.judge(w.known, item)
			}
			if item == w.item && first {
				p.results[i].Units, first = w.units, false
			}
		}
	}
}

// inPlaceOf says that item was not tried, but another with its key.
func inPlaceOf(item *event.Item) *event.Refusal {
	return &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted, Key: item.Key,
		Detail: "another copy in the same batch was tried in its place and could not be written; it is delivered again"}
}

// unproven is the result of an item under whose key nothing is proven stored. That another copy was too late, or was
// refused for what it is, is no verdict on this one: each is judged by its own expiry, digest and size.
func (p *put) unproven(w *write, item *event.Item) Result {
	same := item.Digest == w.item.Digest
	var r *event.Refusal
	switch {
	case !w.absent.IsZero() && !tooLate(item, w.absent):
		r = inPlaceOf(item)
	case !w.absent.IsZero():
		r = &event.Refusal{Verdict: event.Expired, Reason: event.PastExpiry,
			Detail: "it expires at " + time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339) + " and is not stored; an event is taken until an hour before that"}
	case w.last.outcome == invalid && same && item.Size() > event.MaxItem:
		r = event.Poisoned(event.ItemTooLarge, w.last.err.Error())
	case w.sent == 0:
		r = &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted, Detail: "there was no time left to write it; it is delivered again"}
	default:
		r = w.last.retry()
	}
	refusal := *r
	refusal.Key = item.Key
	return Result{Verdict: refusal.Verdict, Refusal: &refusal}
}
