package store

import (
	"context"
	"errors"

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
		p.charge(w, putUnits(&item))
	case failed:
		p.charge(w, float64(event.WriteUnits(item.Size())))
		w.known, w.last = nil, a
		w.state, w.taken = reading, true
		var condition *types.ConditionalCheckFailedException
		if errors.As(err, &condition) {
			p.meet(w, condition.Item)
		}
	default:
		p.note(w, a)
	}
}
