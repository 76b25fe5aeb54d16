package store

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// readRequests splits reads over requests.
func (p *put) readRequests(ctx context.Context, work []*write, v view) (requests []func()) {
	for chunk := range slices.Chunk(work, v.keys()) {
		requests = append(requests, func() { p.read(ctx, chunk, v) })
	}
	return requests
}

// read asks what is stored under the keys.
func (p *put) read(ctx context.Context, chunk []*write, v view) {
	request := v.request()
	byKey := make(map[event.Key]*write, len(chunk))
	for _, w := range chunk {
		request.Keys = append(request.Keys, keyImage(w.item.Key))
		byKey[w.item.Key] = w
	}
	out, err := p.store.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{p.store.events: request},
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	if err != nil {
		for _, w := range chunk {
			p.note(w, classify(err))
		}
		return
	}
	for _, img := range out.Responses[p.store.events] {
		w := byKey[keyOf(img)]
		if w == nil {
			continue
		}
		delete(byKey, w.item.Key)
		if v == wholes && ctx.Err() != nil {
			return // comparing large payloads may take longer than the time that is left
		}
		known := readPart(img, v == wholes)
		known.size = known.wholeSize(img, w.item)
		p.chargeRead(w, known.size)
		p.meet(w, known)
	}
	for _, key := range out.UnprocessedKeys[p.store.events].Keys {
		if w := byKey[keyOf(key)]; w != nil {
			delete(byKey, w.item.Key)
			p.note(w, answer{outcome: throttled, reason: "UnprocessedKeys"})
		}
	}
	for _, w := range chunk {
		if byKey[w.item.Key] != nil {
			p.cost.read(0)
			p.miss(w)
		}
	}
}

// chargeRead counts a read. If an item is read twice, the second read knows its size better and
// corrects the cost of the first. Callers hold mu.
func (p *put) chargeRead(w *write, size int) {
	if w.state == comparing && w.guessed > 0 {
		p.cost.ReadUnits += readUnits(size) - readUnits(w.guessed)
	}
	p.cost.read(size)
	w.guessed = size
}

// miss takes the answer that nothing is stored. If an earlier answer said that something was
// stored, this proves nothing, because the item may have been removed in between. If it is too late
// to put the item, it proves that the item is Expired. Callers hold mu.
func (p *put) miss(w *write) {
	if w.taken || w.state == comparing {
		w.last = answer{outcome: unknown, err: errors.New("the item was there before and gone when it was read")}
		p.to(w, abandoned)
		return
	}
	w.missed = p.store.env.Now()
	p.to(w, absent)
}

// meet takes the stored item that holds the key. Callers hold mu.
func (p *put) meet(w *write, known *stored) {
	epoch := p.store.pipeline.Epoch()
	if err := known.ahead(epoch); err != nil {
		w.last = answer{outcome: unknown, err: err}
		p.to(w, abandoned)
		return
	}
	unlike := func(i int) bool { return known.unlike(p.items[i]) }
	elsewhere := func(i int) bool { return known.elsewhere(p.items[i]) }
	switch {
	case !known.payload && known.stamp > epoch:
		p.to(w, comparing)
		return
	case !p.looking && p.store.older(known, w.item) && !tooLate(w.item, p.store.env.Now()):
		w.known, known.data = known, ""
		p.to(w, replacing)
	case !known.payload && slices.ContainsFunc(w.copies, unlike):
		p.to(w, comparing)
		return
	case slices.ContainsFunc(w.copies, elsewhere):
		w.known = known
		p.to(w, fetching)
	default:
		p.settle(w, known)
	}
	p.settleRefusal(w, known.size)
}
