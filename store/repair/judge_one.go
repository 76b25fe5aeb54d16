package repair

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/transact"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Judge returns what [Store.Put] would answer for the item now, and the event that is stored under
// its key. It writes nothing, so an answer can be out of date as soon as it is given. The stored
// event is nil if there is none, or if what is there is not an event of Ingot's. If the item is
// stored or would be stored, its parts are judged too. If the verdict of a part is worse, the event
// that is stored under the part's key is returned. Judge also reads what the event requires, and
// the totals that have a bound for it. If what it requires is missing, or a bound refuses it, the
// answer is Rejected.
func (s *Repairer) Judge(ctx context.Context, item *event.Item) (tables.Result, *event.Item, error) {
	if payloads.IsAhead(item, s.stages.Env.Now()) {
		refusal := payloads.TooFarAhead(item)
		return tables.Result{Verdict: refusal.Verdict, Refusal: refusal}, nil, nil
	}
	atomic := rows.IsAtomic(item)
	r, stored, err := s.judgeOne(ctx, item, !atomic)
	if err == nil && r.Verdict.Written() {
		lacking, err := s.stages.Lacking(ctx, item)
		if err != nil || lacking != nil {
			return tables.Result{Verdict: event.Rejected, Refusal: lacking}, stored, err
		}
	}
	if err != nil || !rows.Yields(&r, item) {
		if err == nil && atomic && r.Verdict == event.Inserted {
			r, err = s.bounds(ctx, r, item.Key, nil, item)
		}
		return r, stored, err
	}
	var parts []tables.Result
	var unmet []*event.Item
	if r.Verdict == event.Inserted {
		unmet = append(unmet, item)
	}
	for _, part := range item.Parts.Items {
		ofPart, there, err := s.judgeOne(ctx, part, !atomic)
		if err != nil {
			return tables.Result{}, nil, err
		}
		if ofPart.Verdict == event.Inserted {
			unmet = append(unmet, part)
		}
		parts = append(parts, ofPart)
		if both := rows.Worst(r, item, parts); both.Refusal != nil && both.Refusal == ofPart.Refusal {
			stored = there
		}
	}
	r = rows.Worst(r, item, parts)
	if atomic && r.Verdict == event.Duplicate && slices.ContainsFunc(r.Parts, func(p tables.Result) bool { return p.Verdict.Written() }) {
		r.Verdict = event.Inserted // it is a Duplicate only if all of it is stored
	}
	if atomic && r.Verdict == event.Inserted {
		r, err = s.bounds(ctx, r, item.Key, nil, unmet...)
	}
	return r, stored, err
}

// JudgeInPlaceOf says whether a total would refuse these items, if the events that are stored under
// their keys were gone, with all that they add. It writes nothing.
func (s *Repairer) JudgeInPlaceOf(ctx context.Context, gone, items []*event.Item) (tables.Result, error) {
	return s.bounds(ctx, tables.Result{Verdict: event.Inserted}, items[0].Key, gone, items...)
}

// bounds returns r, or the reason why a total would refuse the transaction that puts these items of
// the event with this key. What the events in gone add is left out of the totals.
func (s *Repairer) bounds(ctx context.Context, r tables.Result, key event.Key, gone []*event.Item, items ...*event.Item) (tables.Result,
	error) {
	t := s.stages.AtomicPut(items[0], items[1:]...)
	if len(t.Bounded()) == 0 {
		return r, nil
	}
	if s.stages.Aggregates == "" {
		return tables.Result{}, fmt.Errorf("judge %s: Config.Aggregates names no table, and a bound may refuse the event", key)
	}
	for _, u := range transact.TotalMoves(t.Members) {
		if !slices.Contains(u.Nears, true) {
			continue
		}
		img, err := s.stages.Get(ctx, u.Key)
		if err != nil {
			return tables.Result{}, fmt.Errorf("total %q: %w", u.Key, awserr.Quiet(err))
		}
		switch beyond, mistyped := u.Beyond(lessOf(s.stages.Pipeline, img, u, gone)); {
		case mistyped != "":
			return tables.Result{Verdict: event.Rejected, Refusal: transact.TotalRefused(u, key, mistyped)}, nil
		case beyond != nil:
			refusal := cmp.Or(transact.Heads{}.Incomplete(ctx, s.stages.Writer, u.Def, true, &tables.Cost{}), beyond)
			refusal.Key = key
			return tables.Result{Verdict: refusal.Verdict, Refusal: refusal}, nil
		}
	}
	return r, nil
}

// lessOf returns the image of a total as it is without what these events add to it.
func lessOf(p *pipeline.Pipeline, img rows.Image, u *transact.TotalMove, gone []*event.Item) rows.Image {
	for _, item := range gone {
		list := p.Contributions(item).List
		for i := range list {
			if c := &list[i]; c.Def == u.Def && lanes.ItemKey(item.Key, c) == u.Key {
				img = transact.WithValues(img, u.Def, c.Values, event.Decimal.Sub)
			}
		}
	}
	return img
}

// judgeOne judges an item without its parts. A transaction of its own puts it if alone is set: then
// bounds may refuse it.
func (s *Repairer) judgeOne(ctx context.Context, item *event.Item, alone bool) (tables.Result, *event.Item, error) {
	if s.stages.Events == "" {
		return tables.Result{}, nil, fmt.Errorf("judge %s: Config.Events names no table", item.Key)
	}
	img, err := s.stages.ReadOne(ctx, s.stages.Events, item.Key)
	if err != nil {
		return tables.Result{}, nil, fmt.Errorf("read of %s in table %s: %w", item.Key, s.stages.Events, awserr.Quiet(err))
	}
	late := tables.TooLate(item, s.stages.Env.Now())
	if len(img) == 0 {
		if late {
			return tables.Result{Verdict: event.Expired, Refusal: plain.PastExpiry(item)}, nil, nil
		}
		if alone {
			r, err := s.bounds(ctx, tables.Result{Verdict: event.Inserted}, item.Key, nil, item)
			return r, nil, err
		}
		return tables.Result{Verdict: event.Inserted}, nil, nil
	}
	known := rows.ReadWhole(img)
	if err := known.Ahead(s.stages.Pipeline.Epoch()); err != nil {
		return tables.Result{}, nil, err
	}
	stored, err := rows.Decode(img)
	if err != nil {
		stored = nil // the verdict says that the key is taken
	}
	var r tables.Result
	judge := func() {
		if !late && s.stages.Older(known, item) {
			r = tables.Result{Verdict: event.Updated, Existing: known.Existing()}
			return
		}
		r = s.stages.JudgeStored(known, item)
	}
	if !known.Elsewhere(item) {
		judge()
	} else if err := s.stages.Fetch(ctx, known, &tables.Cost{}, judge); err != nil {
		return tables.Result{}, nil, fmt.Errorf("payload of %s: %w", item.Key, err)
	}
	return r, stored, nil
}
