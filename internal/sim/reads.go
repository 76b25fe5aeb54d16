package sim

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return request(c.w, ctx, "BatchGetItem", false, func() (*dynamodb.BatchGetItemOutput, error) {
		c.w.removeBeforeRead(in.RequestItems[eventsTable].Keys)
		return c.w.leaveUnread(in, func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
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
