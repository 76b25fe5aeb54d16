package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// replace puts a newer revision over exactly the one that was read (optimistic locking). If another
// write was faster, the item that won comes back and is judged. The same happens if the stored
// payload is not text. An item that was read without its payload may have such a payload. If the
// answer is lost, the next try meets its own revision and digest.
func (p *put) replace(ctx context.Context, w *write) {
	seen := w.known
	item := *w.item
	// The item gets the later of the two expiries, so that a replacement never makes the key expire
	// earlier than promised.
	if item.ExpiresAt != 0 && (seen.expiresAt == 0 || seen.expiresAt > item.ExpiresAt) {
		item.ExpiresAt = seen.expiresAt
	}
	request := &dynamodb.PutItemInput{
		TableName:                &p.store.events,
		Item:                     encode(&item),
		ConditionExpression:      aws.String("#r = :seen AND #d = :digest AND #p >= :text"),
		ExpressionAttributeNames: map[string]string{"#r": "revision", "#d": "digest", "#p": "data"},
		ExpressionAttributeValues: image{
			":seen":   number(seen.revision.String()),
			":digest": binary(seen.digest[:]),
			":text":   text("\t"), // every JSON text sorts after it; other types do not compare with it
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		// What it costs depends on the replaced item's size and places, which are not all known.
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if item.Ties != "" {
		seen.sameTies(request)
	}
	out, err := p.store.client.PutItem(ctx, request)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	a := classify(err)
	switch a.outcome {
	case done:
		units := replaceUnits(seen, &item)
		if out.ConsumedCapacity != nil && out.ConsumedCapacity.CapacityUnits != nil {
			units = *out.ConsumedCapacity.CapacityUnits
		}
		p.charge(w, units)
		p.written(w, event.Updated)
	case failed:
		p.taken(w, a, refusedBy(err), item.Size())
	default:
		p.note(w, a)
	}
}

// sameTies adds to the condition of a replacement that the ties beside the revision are still those
// that were read.
func (s *stored) sameTies(in *dynamodb.PutItemInput) {
	in.ExpressionAttributeNames["#i"] = "i:revision"
	if s.tied == "" {
		in.ConditionExpression = aws.String(*in.ConditionExpression + " AND attribute_not_exists(#i)")
		return
	}
	in.ConditionExpression = aws.String(*in.ConditionExpression + " AND #i = :ties")
	in.ExpressionAttributeValues[":ties"] = text(s.tied)
}
