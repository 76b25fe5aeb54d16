package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// replace puts a newer revision over exactly the one that was read: optimistic locking. A lost race comes
// back with the item that won, which is judged anew. If the answer is lost, the next try meets its own
// revision and digest.
func (p *put) replace(ctx context.Context, w *write) {
	seen := w.known
	item := *w.item
	// The later of both expiries, so that no replacement lets the key lapse earlier than it was promised.
	if item.ExpiresAt != 0 && (seen.expiresAt == 0 || seen.expiresAt > item.ExpiresAt) {
		item.ExpiresAt = seen.expiresAt
	}
	_, err := p.store.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                &p.store.events,
		Item:                     encode(&item),
		ConditionExpression:      aws.String("#r = :seen AND #d = :digest"),
		ExpressionAttributeNames: map[string]string{"#r": "revision", "#d": "digest"},
		ExpressionAttributeValues: image{
			":seen":   number(seen.revision.String()),
			":digest": binary(seen.digest[:]),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	a := classify(err)
	switch a.outcome {
	case done:
		w.settleWritten(event.Updated)
		p.charge(w, replaceUnits(seen, &item))
	case failed:
		w.known, w.last = nil, a
		w.state, w.taken = reading, true
		img := refusedBy(err)
		p.chargeRefusal(w, item.Size(), img)
		p.meet(w, img, true)
	default:
		p.note(w, a)
	}
}
