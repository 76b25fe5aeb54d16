package put

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// A payload that is not in its item is in an object of the payload bucket. The order of requests
// keeps the invariant that no item is without its object:
//
//   - The object is put before the item, and again in every delivery. The bucket's lifecycle counts
//     from the object's last put, so no object is older than the last try to put its item.
//   - If the object is not proven stored, its item is not put in this delivery.
//   - If the put stops in between, or if the item is refused, an object without an item is left
//     behind. A hash of the item's key is in its name, so erasing that key deletes it too.

const (
	// uploadsAtOnce is how many payloads one call uploads at the same time.
	uploadsAtOnce = 8
	// backStep is how far the machine's clock may be set back between an upload and the put after
	// it.
	backStep = time.Minute
)

// putOffloading does what put does. It also refuses items that are too far ahead, if their payloads
// go to the payload bucket, and deletes the payloads of erased events again.
func (s *Stages) putOffloading(ctx context.Context, items []*event.Item,
	put func(context.Context, []*event.Item) ([]tables.Result, tables.Cost)) ([]tables.Result, tables.Cost) {
	if !slices.ContainsFunc(items, func(item *event.Item) bool { return len(rows.Carriers(item)) > 0 }) {
		return put(ctx, items)
	}
	now := s.Env.Now()
	results, ahead, cost := putOthers(ctx, items, func(item *event.Item) bool { return payloads.IsAhead(item, now) }, put)
	for _, i := range ahead {
		results[i] = tables.Result{Verdict: event.Poison, Refusal: payloads.TooFarAhead(items[i])}
	}
	for i, item := range items {
		s.TakeBack(ctx, item, &results[i], &cost)
	}
	return results, cost
}

// object names an object of the payload bucket.
type object struct {
	typ string
	key event.Key
	sum payloads.Sum
}

func objectOf(item *event.Item) object { return object{item.Type, item.Key, item.Payload.Sum} }

// upload is an object that is to be put, once for all copies of its event.
type upload struct {
	object
	text string
}

// upload puts the payloads of the items at these places. If together is set, it puts those of their
// parts too. It returns the places that may go on. The others have their results: Retry.
//
// An item that may no longer be written is only read, so it needs no object. But the put reads the
// clock again. If the clock was set back in between, the item may be written after all. So the
// payload of an item that became too late less than backStep ago is put too.
func (s *Stages) upload(ctx context.Context, items []*event.Item, places []int, together bool, results []tables.Result) (ready []int,
	cost tables.Cost) {
	now := s.Env.Now().Add(-backStep)
	known := map[object]bool{}
	var list []upload
	late := func(item *event.Item) bool { return plain.TooLate(item, now) }
	of := func(item *event.Item) []*event.Item {
		switch {
		case together && !late(item) && !slices.ContainsFunc(item.Parts.Items, late): // otherwise none of them is put
			return rows.Carriers(item)
		case !together && item.Payload != nil && !late(item):
			return []*event.Item{item}
		}
		return nil
	}
	for _, i := range places {
		for _, c := range of(items[i]) {
			if o := objectOf(c); !known[o] {
				known[o] = true
				list = append(list, upload{o, c.Payload.Text})
			}
		}
	}
	if len(list) == 0 {
		return places, cost
	}
	var mu sync.Mutex // guards failed
	failed := map[object]error{}
	s.Env.Each(len(list), uploadsAtOnce, func(n int) {
		if err := s.putPayload(ctx, list[n]); err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed[list[n].object] = err
		}
	})
	cost.Objects += len(list)
	for _, i := range places {
		if err := firstOf(failed, of(items[i])); err != nil {
			results[i] = tables.Result{Verdict: event.Retry, Refusal: unstored(items[i], err), Cause: err}
			continue
		}
		ready = append(ready, i)
	}
	return ready, cost
}

func firstOf(failed map[object]error, list []*event.Item) error {
	for _, c := range list {
		if err := failed[objectOf(c)]; err != nil {
			return err
		}
	}
	return nil
}

func unstored(item *event.Item, err error) *event.Refusal {
	return &event.Refusal{Verdict: event.Retry, Reason: event.PayloadUnstored, Key: item.Key,
		Detail: fmt.Sprintf("%v; it is delivered again", err)}
}

// putPayload puts one payload. It does not begin if the time is over.
func (s *Stages) putPayload(ctx context.Context, u upload) error {
	if s.Payloads == nil {
		return plain.ErrNoBucket
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Payloads.Put(ctx, s.Env, u.typ, u.key, u.sum, u.text)
}

// TakeBack deletes the payloads of an item, or of parts of it, whose keys turned out to be barred:
// these events were erased, so their data must not stay in the bucket. An earlier delivery may have
// put them too. If the deletion is not proven, the message is delivered again.
func (s *Stages) TakeBack(ctx context.Context, item *event.Item, r *tables.Result, cost *tables.Cost) {
	var list []*event.Item
	if rows.IsBarred(r) { // then no part was put
		list = rows.Carriers(item)
	}
	for n := range r.Parts {
		part := item // it was put in addition to its whole
		if item.Parts != nil {
			part = item.Parts.Items[n]
		}
		if part.Payload != nil && rows.IsBarred(&r.Parts[n]) {
			list = append(list, part)
		}
	}
	erased, why := s.erasedParts(ctx, item, r, cost)
	if why != nil {
		*r = tables.Result{Verdict: event.Retry, Refusal: why, Units: r.Units}
		return
	}
	list = append(list, erased...)
	for _, c := range list {
		err := plain.ErrNoBucket
		if s.Payloads != nil {
			cost.Objects++
			err = s.Payloads.Delete(ctx, s.Env, c.Type, c.Key, c.Payload.Sum)
		}
		if err != nil {
			*r = tables.Result{Verdict: event.Retry,
				Refusal: unstored(item, fmt.Errorf("the event was erased, and its payload is in the bucket again: %w", err)),
				Units:   r.Units, Cause: err}
			return
		}
	}
}

// erasedParts returns the parts of a refused atomic message that were erased alone. The payloads of
// all its parts were put before it was judged, and its result says nothing of each. If a key cannot
// be read, the refusal says why.
func (s *Stages) erasedParts(ctx context.Context, item *event.Item, r *tables.Result, cost *tables.Cost) (erased []*event.Item,
	why *event.Refusal) {
	if !rows.IsAtomic(item) || r.Verdict != event.Conflict && r.Verdict != event.Rejected && r.Verdict != event.Expired {
		return nil, nil
	}
	parts := slices.DeleteFunc(slices.Clone(item.Parts.Items), func(part *event.Item) bool { return part.Payload == nil })
	if len(parts) == 0 {
		return nil, nil
	}
	found, own := s.Look(ctx, parts)
	cost.Add(own)
	for n := range found {
		switch {
		case rows.IsBarred(&found[n]):
			erased = append(erased, parts[n])
		case found[n].Verdict == event.Retry:
			why := found[n].Refusal
			why.Key = item.Key
			return nil, why
		}
	}
	return erased, nil
}
