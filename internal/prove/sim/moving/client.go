package moving

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/strand"
)

var (
	errLost   = errors.New("read: connection reset by peer")
	throttled = &types.ProvisionedThroughputExceededException{Message: aws.String("throughput exceeded")}
)

// client is DynamoDB as the code under test reaches it: through the scheduler and its faults.
type client struct{ w *world }

// request lets other tasks go first, and decides what becomes of a request.
func request[O any](w *world, ctx context.Context, write bool, call func() (O, error)) (O, error) {
	return sendTo(w, ctx, write, false, call)
}

func sendTo[O any](w *world, ctx context.Context, write, back bool, call func() (O, error)) (O, error) {
	var none O
	if w.Current == nil { // the world is being built
		return call()
	}
	w.Now = w.Now.Add(time.Duration(1+w.rng.IntN(20)) * time.Millisecond)
	w.Pause()
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if w.calm {
		return call()
	}
	switch p := w.rng.Float64(); {
	case p < 0.01 && w.Current.Of != nil: // the process dies, before the request or after it
		if w.chance(0.5) {
			call()
		}
		w.Current.Of.crashed = true
		panic(strand.Killed{})
	case p < 0.05:
		return none, throttled
	case p < 0.10:
		call()
		return none, errLost
	case p < 0.16 && write: // it is applied long after its sender has given it up
		wait := time.Duration(w.rng.IntN([]int{60, 600}[w.rng.IntN(2)])) * time.Second
		if back { // a row that is deleted leaves no mark, so a turn waits until such requests are over
			wait = min(wait, 9*time.Second)
		}
		w.late++
		w.Spawn("late", nil, func() { w.Sleep(wait); call(); w.late-- })
		return none, errLost
	case p < 0.18:
		return none, errLost
	}
	out, err := call()
	w.Pause()
	if w.chance(w.slow) {
		w.Sleep(time.Duration(5+w.rng.IntN(40)) * time.Second) // its answer takes long
	}
	return out, err
}

func (c client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.PutItemOutput, error) { return c.w.engine.DynamoDB().PutItem(sent, in) })
}

func (c client) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.DeleteItemOutput, error) { return c.w.engine.DynamoDB().DeleteItem(sent, in) })
}

func (c client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.GetItemOutput, error) { return c.w.engine.DynamoDB().GetItem(sent, in) })
}

func (c client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return sendTo(c.w, ctx, true, *in.TableName == oldTable, func() (*dynamodb.UpdateItemOutput, error) {
		return c.w.engine.DynamoDB().UpdateItem(sent, in)
	})
}

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.BatchGetItemOutput, error) {
		if _, empty := in.RequestItems[c.w.anew]; empty {
			return &dynamodb.BatchGetItemOutput{}, nil
		}
		return c.w.engine.DynamoDB().BatchGetItem(sent, in)
	})
}

func (c client) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.BatchExecuteStatementOutput, error) {
		return c.w.engine.DynamoDB().BatchExecuteStatement(sent, in)
	})
}

func (c client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	del := in.TransactItems[0].Delete
	return sendTo(c.w, ctx, true, del != nil && *del.TableName == oldTable, func() (*dynamodb.TransactWriteItemsOutput, error) {
		return c.w.engine.DynamoDB().TransactWriteItems(sent, in)
	})
}

func (c client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.QueryOutput, error) { return c.w.engine.DynamoDB().Query(sent, in) })
}

// Scan answers with short pages.
func (c client) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	page := *in
	page.Limit = aws.Int32(int32(1 + c.w.rng.IntN(3)))
	out, err := request(c.w, ctx, false, func() (*dynamodb.ScanOutput, error) {
		if *in.TableName == c.w.anew {
			return &dynamodb.ScanOutput{}, nil
		}
		return c.w.engine.DynamoDB().Scan(sent, &page)
	})
	if c.w.Current != nil && !c.w.calm && c.w.chance(c.w.stalls) { // the process stands still with a page in its hands
		longest := []int{300, 7200}[c.w.rng.IntN(2)]
		c.w.Sleep(time.Duration(c.w.rng.IntN(longest)) * time.Second)
	}
	return out, err
}

// sent is the context of a request on its way: it may arrive after its sender has stopped waiting.
var sent = context.Background()
