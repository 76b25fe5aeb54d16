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

// refuseAhead refuses items that are too far ahead, if their payloads go to the payload bucket.
func (s *Stages) refuseAhead(b *batch) {
	now := s.Env.Now()
	for _, i := range b.take(func(item *event.Item) bool { return payloads.IsAhead(item, now) }) {
		b.results[i] = tables.Result{Verdict: event.Poison, Refusal: payloads.TooFarAhead(b.items[i])}
	}
}

// takeBack deletes the payloads of erased events again.
func (s *Stages) takeBack(ctx context.Context, b *batch) {
	for i, item := range b.items {
		if len(rows.Carriers(item)) > 0 {
			s.takeBackOf(ctx, item, &b.results[i], &b.cost)
		}
	}
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

// offload puts the payloads of a batch. An item whose payload is not proven stored is Retry. If the
// item is atomic, the payloads of its parts are put too.
//
// An item that may no longer be written is only read, so it needs no object. But the put reads the
// clock again. If the clock was set back in between, the item may be written after all. So the
// payload of an item that became too late less than backStep ago is put too.
func (s *Stages) offload(ctx context.Context, b *batch) {
	now := s.Env.Now().Add(-backStep)
	known := map[object]bool{}
	var list []upload
	for _, i := range b.left {
		for _, c := range offloaded(b.items[i], now) {
			if o := objectOf(c); !known[o] {
				known[o] = true
				list = append(list, upload{o, c.Payload.Text})
			}
		}
	}
	if len(list) == 0 {
		return
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
	b.cost.Objects += len(list)
	var ready []int
	for _, i := range b.left {
		if err := firstOf(failed, offloaded(b.items[i], now)); err != nil {
			b.results[i] = tables.Result{Verdict: event.Retry, Refusal: unstored(b.items[i], err), Cause: err}
			continue
		}
		ready = append(ready, i)
	}
	b.left = ready
}

// offloaded returns the items whose payloads are put before the put of an item at a time.
func offloaded(item *event.Item, at time.Time) []*event.Item {
	late := func(item *event.Item) bool { return tables.TooLate(item, at) }
	switch {
	case late(item):
		return nil
	case rows.IsAtomic(item):
		if slices.ContainsFunc(item.Parts.Items, late) { // then none of them is put
			return nil
		}
		return rows.Carriers(item)
	case item.Payload != nil:
		return []*event.Item{item}
	}
	return nil
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

// takeBackOf deletes the payloads of an item, or of parts of it, whose keys turned out to be
// barred: these events were erased, so their data must not stay in the bucket. An earlier delivery
// may have put them too. If the deletion is not proven, the message is delivered again.
func (s *Stages) takeBackOf(ctx context.Context, item *event.Item, r *tables.Result, cost *tables.Cost) {
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
