package sim

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return request(c.w, ctx, "BatchGetItem", false, func() (*dynamodb.BatchGetItemOutput, error) {
		c.w.removeBeforeRead(in.RequestItems[eventsTable].Keys)
		return c.w.withholdKeys(in, func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
			return c.w.dynamo.BatchGetItem(sent, in)
		})
	})
}

// removeBeforeRead is a person who removes an item that somebody has met and is about to read.
func (w *World) removeBeforeRead(keys []map[string]types.AttributeValue) {
	if w.calm || !w.plan.People || len(keys) == 0 || !w.chance(0.05) {
		return
	}
	pk := text(keys[w.rng.IntN(len(keys))]["PK"])
	for _, h := range w.model.keys {
		if h.live != nil && h.live.pk == pk {
			w.remove(h.live)
			return
		}
	}
}

// withholdKeys leaves some keys of a read unprocessed, inside a successful answer.
func (w *World) withholdKeys(in *dynamodb.BatchGetItemInput, read func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error)) (*dynamodb.BatchGetItemOutput, error) {
	asked, ok := in.RequestItems[eventsTable]
	if w.calm || !ok || !w.chance(w.plan.Faults.Statements) {
		return read(in)
	}
	w.fault(refused, "keys of a read")
	some, rest := asked, asked
	some.Keys, rest.Keys = nil, nil
	for _, key := range asked.Keys {
		if w.chance(0.3) {
			rest.Keys = append(rest.Keys, key)
		} else {
			some.Keys = append(some.Keys, key)
		}
	}
	out := &dynamodb.BatchGetItemOutput{}
	if len(some.Keys) > 0 {
		var err error
		if out, err = read(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{eventsTable: some}}); err != nil {
			return nil, err
		}
	}
	if len(rest.Keys) > 0 {
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{eventsTable: rest}
	}
	return out, nil
}
