package put

import (
	"context"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/transact"
	"github.com/ingot-events/ingot/tables"
)

// Stages puts whole messages.
type Stages struct{ *transact.Writer }

// New returns the stages over these tables. It sends no request.
func New(gens *generations.Heads, c tables.Config) *Stages {
	return &Stages{&transact.Writer{Writer: plain.New(gens.Tables, c), Generations: gens}}
}

// Put does what [github.com/ingot-events/ingot/store.Store.Put] says. Each stage takes its items
// and leaves the rest to the next one. The parts of what is stored are another batch.
func (s *Stages) Put(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	if slices.ContainsFunc(items, func(item *event.Item) bool { return len(item.Requires) > 0 }) {
		return s.putInOrder(ctx, items)
	}
	first := newBatch(items)
	s.refuseAhead(first)
	s.gate(ctx, first)
	for b := first; b != nil; b = b.next() {
		s.offload(ctx, b)
		b.cost.Add(s.PutItems(ctx, b.items, b.take(alone), b.results))
		b.cost.Add(s.PutTogether(ctx, b.items, b.left, b.results))
	}
	s.takeBack(ctx, first)
	return first.results, first.cost
}

// alone reports whether the put of an item needs no transaction. Its parts are put after it.
func alone(item *event.Item) bool { return !rows.IsAtomic(item) && item.Put == 0 }

// batch is the items of one call of Put, or their parts.
type batch struct {
	items   []*event.Item
	results []tables.Result
	cost    tables.Cost
	left    []int  // the places of items that no stage has taken
	wholes  *batch // nil: these are not parts
}

func newBatch(items []*event.Item) *batch {
	b := &batch{items: items, results: make([]tables.Result, len(items)), left: make([]int, len(items))}
	for i := range b.left {
		b.left[i] = i
	}
	return b
}

// take returns the places of the items that a stage takes.
func (b *batch) take(is func(*event.Item) bool) (taken []int) {
	var left []int
	for n, i := range b.left {
		switch {
		case is(b.items[i]) && left == nil:
			taken = b.left[: n+1 : n+1] // in most batches, one stage takes all
		case is(b.items[i]):
			taken = append(taken, i)
		default:
			left = append(left, i)
		}
	}
	b.left = left
	return taken
}

// next returns the parts of what is stored as a batch, or nil if there are none. If these are
// parts, it gives their results to the wholes, and nothing follows.
func (b *batch) next() *batch {
	if b.wholes != nil {
		b.join()
		return nil
	}
	var parts []*event.Item
	for i, item := range b.items {
		if b.putsParts(i) {
			parts = append(parts, item.Parts.Items...)
			besideStored(item, b.results[i].Existing)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	next := newBatch(parts)
	next.wholes = b
	return next
}

// besideStored lets the states of an event be put beside the stored one, if it has another digest:
// that of a time when other fields were ignored.
func besideStored(item, stored *event.Item) {
	if stored == nil || stored.Digest == item.Digest {
		return
	}
	whole := *item
	whole.Digest = stored.Digest
	for _, part := range item.Parts.Items {
		if part.Whole != nil {
			part.Whole = &whole
		}
	}
}

// putsParts reports whether the parts of an item are put after it.
func (b *batch) putsParts(i int) bool {
	return !rows.IsAtomic(b.items[i]) && rows.Yields(&b.results[i], b.items[i])
}

// join gives the results of parts to their wholes.
func (b *batch) join() {
	of, wholes := b.results, b.wholes
	for i, item := range wholes.items {
		if wholes.putsParts(i) {
			n := len(item.Parts.Items)
			wholes.results[i] = rows.Worst(wholes.results[i], item, of[:n:n])
			of = of[n:]
		}
	}
	wholes.cost.Add(b.cost)
}

// PutBeside puts a part of a stored whole that is atomic, on condition that the whole is still
// there. A whole that was removed does not come back.
func (s *Stages) PutBeside(ctx context.Context, whole, part *event.Item) tables.Result {
	b := newBatch([]*event.Item{part})
	if s.offload(ctx, b); len(b.left) == 0 {
		return b.results[0]
	}
	t := s.AtomicPut(whole, part)
	t.Beside, t.Members[0].Met, t.Members[0].Digest, t.Members[0].Size = true, true, whole.Digest, whole.Size()
	b.results[0] = t.Put(ctx)
	s.takeBack(ctx, b)
	return b.results[0]
}

// Settled returns what puts of these items, one after the other, would answer, as far as what is
// stored proves it: Duplicate, Stale, Conflict or Expired, and Rejected for a type that has not
// turned. The other results have no verdict. It reads a hundred keys with one request, and five
// payloads that differ. It writes nothing.
func (s *Stages) Settled(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	var wanted []*event.Item
	once := map[event.Key]bool{} // the keys that one item alone has
	note := func(item *event.Item) {
		_, known := once[item.Key]
		wanted, once[item.Key] = append(wanted, item), !known
	}
	for _, item := range items {
		if note(item); item.Parts != nil {
			for _, part := range item.Parts.Items {
				note(part)
			}
		}
	}
	b := newBatch(items)
	s.gate(ctx, b) // before the look: what it would find may be a copy of a row
	found, cost := s.Look(ctx, wanted)
	cost.Add(b.cost)
	results, now := b.results, s.Env.Now()
	for i, item := range items {
		own := found[0]
		found = found[1:]
		var parts []tables.Result
		if item.Parts != nil {
			parts, found = found[:len(item.Parts.Items)], found[len(item.Parts.Items):]
		}
		switch {
		case payloads.IsAhead(item, now), results[i].Verdict == event.Retry:
			results[i] = tables.Result{}
		case results[i].Verdict != 0: // its type has not turned
		case own.Verdict == 0 && tables.TooLate(item, now) && once[item.Key] && !rows.IsAtomic(item):
			results[i] = tables.Result{Verdict: event.Expired, Refusal: plain.PastExpiry(item)}
		default:
			results[i] = rows.WithParts(item, own, parts)
		}
	}
	return results, cost
}
