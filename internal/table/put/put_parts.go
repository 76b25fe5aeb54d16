package put

import (
	"context"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/generations"
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

// Put does what [Store.Put] says.
func (s *Stages) Put(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	return s.putOffloading(ctx, items, s.putAll)
}

func (s *Stages) putAll(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	results, atomic, cost := putOthers(ctx, items, rows.IsAtomic, s.putInTurn)
	if len(atomic) == 0 {
		return results, cost
	}
	atomic, uploaded := s.upload(ctx, items, atomic, true, results)
	cost.Add(uploaded)
	var plain, moving []int
	for _, i := range atomic {
		if rows.MovesTotals(items[i]) {
			moving = append(moving, i)
		} else {
			plain = append(plain, i)
		}
	}
	cost.Add(s.PutAtomic(ctx, items, plain, results))
	cost.Add(s.PutMoved(ctx, items, moving, results))
	return results, cost
}

// putOthers puts the items that are not special, and returns the places of those that are. The
// caller must still find their results.
func putOthers(ctx context.Context, items []*event.Item, special func(*event.Item) bool,
	put func(context.Context, []*event.Item) ([]tables.Result, tables.Cost)) (results []tables.Result, left []int, cost tables.Cost) {
	if !slices.ContainsFunc(items, special) {
		results, cost = put(ctx, items)
		return results, nil, cost
	}
	var places []int
	for i, item := range items {
		if special(item) {
			left = append(left, i)
		} else {
			places = append(places, i)
		}
	}
	results = make([]tables.Result, len(items))
	return results, left, putAt(ctx, items, places, results, put)
}

// putAt puts the items at these places, and sets their results.
func putAt(ctx context.Context, items []*event.Item, places []int, results []tables.Result,
	put func(context.Context, []*event.Item) ([]tables.Result, tables.Cost)) tables.Cost {
	some := make([]*event.Item, len(places))
	for n, i := range places {
		some[n] = items[i]
	}
	of, cost := put(ctx, some)
	for n, i := range places {
		results[i] = of[n]
	}
	return cost
}

// putInTurn puts items, and after them the parts of those that are stored.
func (s *Stages) putInTurn(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	results, cost := s.PutAlone(ctx, items)
	var parts []*event.Item
	for i, item := range items {
		if rows.Yields(&results[i], item) {
			parts = append(parts, item.Parts.Items...)
		}
	}
	if len(parts) == 0 {
		return results, cost
	}
	ofParts, more := s.PutAlone(ctx, parts)
	cost.Add(more)
	for i, item := range items {
		if rows.Yields(&results[i], item) {
			n := len(item.Parts.Items)
			results[i] = rows.Worst(results[i], ofParts[:n:n])
			ofParts = ofParts[n:]
		}
	}
	return results, cost
}

// PutAlone puts items without their parts. Those that move totals are put in transactions with
// them.
func (s *Stages) PutAlone(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	if !slices.ContainsFunc(items, func(item *event.Item) bool { return item.Payload != nil }) {
		return s.putUploaded(ctx, items)
	}
	results, places := make([]tables.Result, len(items)), make([]int, len(items))
	for i := range places {
		places[i] = i
	}
	places, cost := s.upload(ctx, items, places, false, results)
	cost.Add(putAt(ctx, items, places, results, s.putUploaded))
	return results, cost
}

// putUploaded puts items whose payloads are already where they belong.
func (s *Stages) putUploaded(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	results, moving, cost := putOthers(ctx, items, func(item *event.Item) bool { return item.Put != 0 }, s.PutItems)
	if len(moving) == 0 {
		return results, cost
	}
	cost.Add(s.PutMoved(ctx, items, moving, results))
	return results, cost
}

// PutBeside puts a part of a stored whole that is atomic, on condition that the whole is still
// there. A whole that was removed does not come back.
func (s *Stages) PutBeside(ctx context.Context, whole, part *event.Item) tables.Result {
	result := make([]tables.Result, 1)
	if ready, _ := s.upload(ctx, []*event.Item{part}, []int{0}, false, result); len(ready) == 0 {
		return result[0]
	}
	t := s.AtomicPut(whole, part)
	t.Beside, t.Members[0].Met, t.Members[0].Digest, t.Members[0].Size = true, true, whole.Digest, whole.Size()
	return t.Put(ctx)
}
