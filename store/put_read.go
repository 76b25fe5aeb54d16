package store

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

// maxKeys is the service's limit of keys for one BatchGetItem.
const maxKeys = 100

// view says how much of a stored item is read.
type view uint8

const (
	// summary is everything except the payload. It is enough to judge a copy of the stored item,
	// and it takes little memory however large the items are.
	summary view = iota
	// wholes is the summary and the payload, which shows whether there is a conflict.
	wholes
	// owners also has the id and the time, from which the parts of an event are made.
	owners
)

// keys returns how many items one request reads. The service takes maxKeys. Fewer items are read
// with their payloads, so that the answers stay within what one request may hold: four answers of
// 16 MB are more than a small function has.
func (v view) keys() int {
	if v == summary {
		return maxKeys
	}
	return maxRequestBytes / event.MaxItem
}

// request asks what is stored under keys. It reads consistently, because a miss in an eventually
// consistent read would look like absence.
func (v view) request() types.KeysAndAttributes {
	request := types.KeysAndAttributes{
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String("PK, SK, #t, #d, #r, #e, #s, #i, #b"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt", "#s": "epoch", "#i": "i:revision", "#b": barredAttribute},
	}
	if v != summary {
		*request.ProjectionExpression += ", #p, #o"
		request.ExpressionAttributeNames["#p"], request.ExpressionAttributeNames["#o"] = "data", itemform.Payload
	}
	if v == owners {
		*request.ProjectionExpression += ", #n, #a"
		request.ExpressionAttributeNames["#n"], request.ExpressionAttributeNames["#a"] = "id", "at"
	}
	return request
}

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
