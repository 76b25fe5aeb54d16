package plain

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// readRequests splits reads over requests.
func (p *put) readRequests(work []*write, v rows.View) (requests []request) {
	for chunk := range slices.Chunk(work, v.Keys()) {
		requests = append(requests, request{func(ctx context.Context, chunk []*write) { p.read(ctx, chunk, v) }, chunk})
	}
	return requests
}

// read asks what is stored under the keys.
func (p *put) read(ctx context.Context, chunk []*write, v rows.View) {
	request := v.Request()
	byKey := make(map[event.Key]*write, len(chunk))
	for _, w := range chunk {
		request.Keys = append(request.Keys, rows.KeyImage(w.item.Key))
		byKey[w.item.Key] = w
	}
	out, err := p.store.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{p.store.Events: request},
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	if err != nil {
		for _, w := range chunk {
			p.note(w, rows.Classify(err))
		}
		return
	}
	for _, img := range out.Responses[p.store.Events] {
		w := byKey[rows.KeyOf(img)]
		if w == nil {
			continue
		}
		delete(byKey, w.item.Key)
		if v == rows.Wholes && ctx.Err() != nil {
			return // comparing large payloads may take longer than the time that is left
		}
		known := rows.ReadPart(img, v == rows.Wholes)
		known.Size = known.WholeSize(img, w.item)
		p.chargeRead(w, known.Size)
		p.meet(w, known)
	}
	for _, key := range out.UnprocessedKeys[p.store.Events].Keys {
		if w := byKey[rows.KeyOf(key)]; w != nil {
			delete(byKey, w.item.Key)
			p.note(w, rows.Answer{Outcome: rows.Throttled, Reason: "UnprocessedKeys"})
		}
	}
	for _, w := range chunk {
		if byKey[w.item.Key] != nil {
			p.cost.Read(0)
			p.miss(w)
		}
	}
}

// chargeRead counts a read. If an item is read twice, the second read knows its size better and
// corrects the cost of the first. Callers hold mu.
func (p *put) chargeRead(w *write, size int) {
	if w.state == comparing && w.guessed > 0 {
		p.cost.ReadUnits += itemform.ReadUnits(size) - itemform.ReadUnits(w.guessed)
	}
	p.cost.Read(size)
	w.guessed = size
}

// miss takes the answer that nothing is stored. If an earlier answer said that something was
// stored, this proves nothing, because the item may have been removed in between. If it is too late
// to put the item, it proves that the item is Expired, unless a try may still store it. A state is
// read before it is put, and may go at any time with its whole. Callers hold mu.
func (p *put) miss(w *write) {
	if w.item.Whole != nil && !p.looking && !tables.TooLate(w.item, p.store.Env.Now()) {
		p.to(w, inserting)
		return
	}
	if w.taken || w.state == comparing {
		w.last = rows.Answer{Outcome: rows.Unknown, Err: errors.New("the item was there before and gone when it was read")}
		p.to(w, abandoned)
		return
	}
	w.missed = p.store.Env.Now()
	p.to(w, absent)
}

// reclaim takes the answer that a migration has left a tombstone under the key. The put goes alone
// then, because the condition of a statement cannot say that such a key is free. Callers hold mu.
func (p *put) reclaim(w *write) {
	w.taken = false
	if p.looking || tables.TooLate(w.item, p.store.Env.Now()) {
		p.miss(w)
		return
	}
	w.alone = true
	p.to(w, inserting)
}

// meet takes the stored item that holds the key. Callers hold mu.
func (p *put) meet(w *write, known *rows.Stored) {
	epoch := p.store.Pipeline.Epoch()
	if err := known.Ahead(epoch); err != nil {
		w.last = rows.Answer{Outcome: rows.Unknown, Err: err}
		p.to(w, abandoned)
		return
	}
	unlike := func(i int) bool { return known.Unlike(p.items[i]) }
	elsewhere := func(i int) bool { return known.Elsewhere(p.items[i]) }
	switch {
	case known.Tombstone && p.store.Pipeline.Migration(w.item.Type) != "":
		p.reclaim(w)
		return
	case !known.Payload && known.Stamp > epoch:
		p.to(w, comparing)
		return
	case !p.looking && p.store.Older(known, w.item) && !tables.TooLate(w.item, p.store.Env.Now()):
		w.known, known.Data = known, ""
		p.to(w, replacing)
	case !known.Payload && slices.ContainsFunc(w.copies, unlike):
		p.to(w, comparing)
		return
	case slices.ContainsFunc(w.copies, elsewhere):
		w.known = known
		p.to(w, fetching)
	default:
		p.settle(w, known)
	}
	p.settleRefusal(w, known.Size)
}
