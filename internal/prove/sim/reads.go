package sim

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return request(c.w, ctx, "BatchGetItem", false, func() (*dynamodb.BatchGetItemOutput, error) {
		c.w.removeBeforeRead(in.RequestItems[eventsTable].Keys)
		return c.w.partial.leaveUnread(in, c.w.readInParts)
	})
}

// removeBeforeRead lets a person remove an item that somebody has met and is about to read.
func (w *World) removeBeforeRead(keys []map[string]types.AttributeValue) {
	if w.Calm || !w.plan.People || len(keys) == 0 || !w.Chance(0.05) {
		return
	}
	pk := text(keys[w.Rng.IntN(len(keys))]["PK"])
	for _, h := range w.model.Keys {
		if h.Live != nil && h.Live.PK == pk {
			w.people.remove(h.Live)
			return
		}
	}
}

// readInParts reads some keys of a batch before others act, and some after. A batch is not a
// snapshot.
func (w *World) readInParts(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	for table, asked := range in.RequestItems { // Ingot names one table in a read
		if len(asked.Keys) < 2 || !w.partial.some(w.plan.Faults.Unread) {
			break
		}
		w.Fault(inParts, table)
		now, later := asked, asked
		now.Keys, later.Keys = divide(asked.Keys, w.partial.draw(len(asked.Keys), 0.5))
		out, err := w.dynamo.BatchGetItem(sent, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: now}})
		if err != nil || len(later.Keys) == 0 {
			return out, err
		}
		w.Pause()
		rest, err := w.dynamo.BatchGetItem(sent,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: later}})
		if err != nil {
			return nil, err
		}
		out.Responses[table] = append(out.Responses[table], rest.Responses[table]...)
		return out, nil
	}
	return w.dynamo.BatchGetItem(sent, in)
}
