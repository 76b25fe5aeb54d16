package chain

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/prove/sim/strand"
)

var (
	errLost   = errors.New("read: connection reset by peer")
	throttled = &types.ProvisionedThroughputExceededException{Message: aws.String("throughput exceeded")}
)

// request lets other tasks go first, and decides what becomes of a request.
func request[O any](w *world, ctx context.Context, write bool, call func() (O, error)) (O, error) {
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
	case p < 0.02 && w.Current.Of != nil: // the process dies, before the request or after it
		if w.chance(0.5) {
			call()
		}
		w.Current.Of.crashed = true
		panic(strand.Killed{})
	case p < 0.06:
		return none, throttled
	case p < 0.12:
		call()
		return none, errLost
	case p < 0.16 && write: // it is carried out long after its sender has given it up
		w.late++
		w.Spawn("late", nil, func() { w.Sleep(time.Duration(w.rng.IntN(300)) * time.Second); call(); w.late-- })
		return none, errLost
	case p < 0.19:
		return none, errLost
	}
	return call()
}

// sent is the context of a request on its way: it may arrive after its sender has stopped waiting.
var sent = context.Background()

// client is DynamoDB of one of the two Ingots.
type client struct {
	w      *world
	engine *embedded.DynamoDB
}

func (c client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.PutItemOutput, error) { return c.engine.PutItem(sent, in) })
}

func (c client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.GetItemOutput, error) { return c.engine.GetItem(sent, in) })
}

func (c client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.UpdateItemOutput, error) { return c.engine.UpdateItem(sent, in) })
}

func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.BatchGetItemOutput, error) { return c.engine.BatchGetItem(sent, in) })
}

func (c client) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.BatchExecuteStatementOutput, error) {
		return c.engine.BatchExecuteStatement(sent, in)
	})
}

func (c client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return request(c.w, ctx, true, func() (*dynamodb.TransactWriteItemsOutput, error) { return c.engine.TransactWriteItems(sent, in) })
}

func (c client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return request(c.w, ctx, false, func() (*dynamodb.QueryOutput, error) { return c.engine.Query(sent, in) })
}

// Scan answers with short pages.
func (c client) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	page := *in
	page.Limit = aws.Int32(int32(1 + c.w.rng.IntN(5)))
	return request(c.w, ctx, false, func() (*dynamodb.ScanOutput, error) { return c.engine.Scan(sent, &page) })
}

// queue is the FIFO queue between the two Ingots. It takes some messages of a request and refuses
// others.
type queue struct{ w *world }

func (q queue) GetQueueUrl(ctx context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return request(q.w, ctx, false, func() (*sqs.GetQueueUrlOutput, error) { return &sqs.GetQueueUrlOutput{QueueUrl: in.QueueName}, nil })
}

func (q queue) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	w := q.w
	return request(w, ctx, true, func() (*sqs.SendMessageBatchOutput, error) {
		out := &sqs.SendMessageBatchOutput{}
		for _, e := range in.Entries {
			if w.refuses(*e.MessageDeduplicationId, *e.MessageGroupId) {
				out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("ServiceUnavailable")})
				continue
			}
			w.take(message{*e.MessageDeduplicationId, *e.MessageGroupId, *e.MessageBody})
			out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: e.Id})
		}
		return out, nil
	})
}
