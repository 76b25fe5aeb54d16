package plain

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// replace puts a newer revision over exactly the one that was read (optimistic locking). If another
// write was faster, the item that won comes back and is judged. The same happens if the item was
// read without its payload, and the payload is not text. What comes back then has its payload. If
// that can be read, the next try replaces it, whatever its form. If the answer is lost, the next
// try meets its own revision and digest.
func (p *put) replace(ctx context.Context, one []*write) {
	w := one[0]
	item, request := p.store.Replacement(w.known, w.item)
	// What it costs depends on the replaced item's size and places, which are not all known.
	request.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := p.store.Client.PutItem(ctx, request, rows.Once)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	a := rows.Classify(err)
	switch a.Outcome {
	case rows.Done:
		units := replaceUnits(w.known, item)
		if out.ConsumedCapacity != nil && out.ConsumedCapacity.CapacityUnits != nil {
			units = *out.ConsumedCapacity.CapacityUnits
		}
		p.charge(w, units)
		p.written(w, event.Updated)
	case rows.Failed:
		p.taken(w, a, rows.RefusedBy(err), item.Size())
	default:
		p.note(w, a)
	}
}

// Replacement returns the item that replaces the one that was read, and the request.
func (s *Writer) Replacement(seen *rows.Stored, by *event.Item) (*event.Item, *dynamodb.PutItemInput) {
	item := *by
	// The item gets the later of the two expiries, so that a replacement never makes the key expire
	// earlier than promised.
	if item.ExpiresAt != 0 && (seen.ExpiresAt == 0 || seen.ExpiresAt > item.ExpiresAt) {
		item.ExpiresAt = seen.ExpiresAt
	}
	request := &dynamodb.PutItemInput{
		TableName:                &s.Events,
		Item:                     rows.Encode(&item),
		ConditionExpression:      aws.String("#r = :seen AND #d = :digest"),
		ExpressionAttributeNames: map[string]string{"#r": "revision", "#d": "digest"},
		ExpressionAttributeValues: rows.Image{
			":seen":   rows.Number(seen.Revision.String()),
			":digest": rows.Binary(seen.Digest[:]),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if item.Ties != "" {
		seen.SameTies(request)
	}
	if !seen.Payload {
		request.ConditionExpression = aws.String(*request.ConditionExpression + " AND #p >= :text")
		request.ExpressionAttributeNames["#p"] = "data"
		request.ExpressionAttributeValues[":text"] = rows.Text("\t") // every JSON text sorts after it; other types do not compare with it
	}
	return &item, request
}

// replaceUnits returns what it costs to put item over the stored one. The table charges for the
// larger of the two. An index also charges for the larger one if the item keeps its place there. It
// charges for both if the item moves. If the item enters or leaves the index, the index charges for
// one item.
func replaceUnits(old *rows.Stored, item *event.Item) float64 {
	was, is := itemform.WriteUnits(old.Size), itemform.WriteUnits(item.Size())
	places := make(map[string]event.Key, len(item.Indexes))
	for _, index := range old.Places(item) {
		places[index.Name] = index.Key
	}
	units := max(was, is)
	for _, index := range item.Indexes {
		switch place, there := places[index.Name]; {
		case !there:
			units += is
		case place == index.Key:
			units += max(was, is)
		default:
			units += was + is
		}
		delete(places, index.Name)
	}
	return float64(units + was*len(places))
}
