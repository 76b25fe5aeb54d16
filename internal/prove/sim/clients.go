package sim

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// sent is the context of a request on its way. A request that was sent may still arrive after its
// sender has stopped waiting.
var sent = context.Background()

// client is DynamoDB as an invocation reaches it: through the scheduler and its faults.
type client struct{ w *World }

func (c client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := request(c.w, ctx, "PutItem", true, func() (*dynamodb.PutItemOutput, error) {
		if *in.TableName == eventsTable && c.w.heat.isHot(text(in.Item["PK"])) {
			return nil, throttled
		}
		return c.w.dynamo.PutItem(sent, in)
	})
	c.w.byPut.noteUnanswered(err, in.Item)
	return out, err
}

func (c client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return request(c.w, ctx, "GetItem", false, func() (*dynamodb.GetItemOutput, error) { return c.w.dynamo.GetItem(sent, in) })
}

func (c client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	return request(c.w, ctx, "UpdateItem", true, func() (*dynamodb.UpdateItemOutput, error) {
		if pk := text(in.Key["PK"]); strings.HasPrefix(pk, "G#") && c.w.partial.some(c.w.plan.Faults.Hot) {
			c.w.Fault(hot, pk)
			return nil, throttled
		}
		return c.w.dynamo.UpdateItem(sent, in)
	})
}

func (c client) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	out, err := request(c.w, ctx, "BatchExecuteStatement", true, func() (*dynamodb.BatchExecuteStatementOutput, error) {
		return c.w.partial.failStatements(in, func() (*dynamodb.BatchExecuteStatementOutput, error) {
			return c.w.heat.coolStatements(in, func() (*dynamodb.BatchExecuteStatementOutput, error) {
				return c.w.dynamo.BatchExecuteStatement(sent, in)
			})
		})
	})
	for _, s := range in.Statements {
		c.w.byPut.noteUnanswered(err, itemInserted(s))
	}
	return out, err
}

func (c client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := request(c.w, ctx, "TransactWriteItems", true, func() (*dynamodb.TransactWriteItemsOutput, error) {
		c.w.claims.goneBeforeCheck(in)
		if hot := c.w.heat.coolTransaction(in); hot != nil {
			return nil, hot
		}
		return c.w.partial.cancel(in, func() (*dynamodb.TransactWriteItemsOutput, error) { return c.w.dynamo.TransactWriteItems(sent, in) })
	})
	c.w.byPut.noteUnanswered(err, itemsPut(in)...)
	return out, err
}

func (c client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return request(c.w, ctx, "Query", false, func() (*dynamodb.QueryOutput, error) { return c.w.dynamo.Query(sent, in) })
}

func (c client) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return request(c.w, ctx, "Scan", false, func() (*dynamodb.ScanOutput, error) { return c.w.dynamo.Scan(sent, in) })
}

// operator is DynamoDB as a person's machine reaches it. The machine may fall asleep just before it
// writes to a head, which it does when a pass begins and when a generation is declared complete. By
// the time it wakes, others have written more.
type operator struct{ client }

func (o operator) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	w := o.w
	if strings.HasPrefix(text(in.Key["PK"]), "G#") && w.phase < w.plan.Phases && w.Chance(0.5) {
		w.Fault(asleep, "")
		asleepIn := w.phase
		w.byPut.asleep++
		w.Park(time.Time{}, func() bool { return w.phase > asleepIn })
		w.byPut.asleep--
		w.Sleep(time.Duration(w.Rng.IntN(300)) * time.Second)
	}
	if *in.TableName == eventsTable {
		w.erasures.eraseBeforeTouch(in.Key)
	}
	return o.client.UpdateItem(ctx, in)
}

func (o operator) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	for _, s := range in.Statements {
		if strings.HasPrefix(*s.Statement, "UPDATE") { // … SET "epoch" = ? WHERE PK = ? AND SK = ?
			o.w.erasures.eraseBeforeTouch(map[string]types.AttributeValue{"PK": s.Parameters[1], "SK": s.Parameters[2]})
		}
	}
	return o.client.BatchExecuteStatement(ctx, in, options...)
}

// source is the queue as a mapping reaches it. It remembers what was received, and checks what is
// deleted.
type source struct{ w *World }

func (s source) GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput,
	_ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return s.w.ingot.Engine.SQS().GetQueueAttributes(ctx, in)
}

func (s source) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput,
	error) {
	out, err := s.w.ingot.Engine.SQS().ReceiveMessage(ctx, in)
	if err == nil {
		for _, m := range out.Messages {
			s.w.received[*m.ReceiptHandle] = *m.Body
		}
	}
	return out, err
}

func (s source) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	for _, entry := range in.Entries {
		s.w.acknowledged(s.w.received[*entry.ReceiptHandle])
		delete(s.w.received, *entry.ReceiptHandle)
	}
	return s.w.ingot.Engine.SQS().DeleteMessageBatch(ctx, in)
}
