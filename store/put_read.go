package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// maxReads is the service's limit of keys for one BatchGetItem.
const maxReads = 100

// read asks what is stored under the keys: consistently, because an eventually consistent miss would read as
// absence. What judging needs is projected; the payload is part of it, for a digest under today's rules.
func (p *put) read(ctx context.Context, chunk []*write) {
	request := types.KeysAndAttributes{
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String("PK, SK, #t, #d, #r, #e, #p"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt", "#p": "data"},
	}
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
		p.meet(w, img, false)
		p.cost.read(w.known.size)
		p.settleRefusal(w)
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
			p.missed(w)
		}
	}
}

// missed takes the answer that nothing is stored. After a put that found the key taken this proves nothing:
// the item may have been swept in between. Where it was too late to put, it proves the item Expired.
// Callers hold mu.
func (p *put) missed(w *write) {
	if w.taken {
		w.last = answer{outcome: unknown, err: errors.New("the item was there when it was put and gone when it was read")}
		w.state = abandoned
		return
	}
	w.state, w.absent = settled, p.store.env.Now()
}

// meet takes the stored item that holds the key, whole or what of it judging needs. Callers hold mu.
func (p *put) meet(w *write, img image, whole bool) {
	if len(img) == 0 {
		return // the service gave no image; the write goes on reading
	}
	w.known, w.state = readStored(img), settled
	if whole {
		w.known.size, w.known.img = imageSize(img), img
	} else {
		w.known.size = w.known.wholeSize(img, w.item)
	}
	late := tooLate(w.item, p.store.env.Now())
	if w.known.older(w.item) && !late {
		w.state = replacing
	}
}
