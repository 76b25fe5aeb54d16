package moving

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// odds are how many requests meet what.
var odds = stage.Odds{Dies: 0.01, Throttled: 0.04, Unanswered: 0.05, Late: 0.06, Lost: 0.02}

// client is DynamoDB with two tables that move.
type client struct {
	*stage.Client
	w *world
}

func (w *world) client() client {
	return client{&stage.Client{World: &w.World, DB: w.engine.DynamoDB(), Late: w.longLate, Page: 3}, w}
}

// longLate draws how long a write is on its way after its sender has given it up.
func (w *world) longLate() time.Duration {
	return time.Duration(w.Rng.IntN([]int{60, 600}[w.Rng.IntN(2)])) * time.Second
}

// shortLate draws it for a write of the old table that may delete: a row that is deleted leaves no
// mark, so a turn waits until such requests are over.
func (w *world) shortLate() time.Duration { return min(w.longLate(), 9*time.Second) }

// takeLong lets the answer of some requests take long.
func (w *world) takeLong(_ context.Context, fate stage.Fate) error {
	if w.Calm || fate.After != nil {
		return nil
	}
	w.Pause()
	if w.Chance(w.slow) {
		w.Sleep(time.Duration(5+w.Rng.IntN(40)) * time.Second)
	}
	return nil
}

// late draws it for a write of a table.
func (c client) late(old bool) func() time.Duration {
	if old {
		return c.w.shortLate
	}
	return c.w.longLate
}

func (c client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return stage.Request(c.World, ctx, "UpdateItem", true, c.late(*in.TableName == oldTable), func() (*dynamodb.UpdateItemOutput, error) {
		return c.DB.UpdateItem(c.World.Sent(), in)
	})
}

func (c client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	del := in.TransactItems[0].Delete
	late := c.late(del != nil && *del.TableName == oldTable)
	return stage.Request(c.World, ctx, "TransactWriteItems", true, late, func() (*dynamodb.TransactWriteItemsOutput, error) {
		return c.DB.TransactWriteItems(c.World.Sent(), in)
	})
}

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := c.Client.BatchGetItem(ctx, in, options...)
	if _, empty := in.RequestItems[c.w.anew]; empty && err == nil {
		out = &dynamodb.BatchGetItemOutput{}
	}
	c.w.stand(c.w.stalls / 4)
	return out, err
}

// Scan answers with a page.
func (c client) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out, err := c.Client.Scan(ctx, in, options...)
	if *in.TableName == c.w.anew && err == nil {
		out = &dynamodb.ScanOutput{}
	}
	c.w.stand(c.w.stalls)
	return out, err
}

// stand lets some processes stand still with an answer in their hands.
func (w *world) stand(many float64) {
	if w.Current != nil && !w.Calm && w.Chance(many) {
		w.SleepUpTo([]int{300, 7200}[w.Rng.IntN(2)])
	}
}
