package sim

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// client is DynamoDB as an invocation reaches it: through the scheduler and its faults.
type client struct {
	*stage.Client
	w *World
}

func (w *World) client() client {
	return client{&stage.Client{World: &w.World, DB: disturbed{w.dynamo}, Answered: w.byPut.answered}, w}
}

// disturbed is DynamoDB with what may happen inside a request that is carried out.
type disturbed struct{ recorder }

func (d disturbed) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if *in.TableName == eventsTable && d.w.heat.isHot(text(in.Item["PK"])) {
		return nil, stage.Throttled
	}
	return d.recorder.PutItem(ctx, in)
}

func (d disturbed) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if pk := text(in.Key["PK"]); strings.HasPrefix(pk, "G#") && d.w.Happens(d.w.plan.Faults.Hot) {
		d.w.Fault(hot, pk)
		return nil, stage.Throttled
	}
	return d.recorder.UpdateItem(ctx, in)
}

func (d disturbed) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	w, p := d.w, d.w.plan.Faults.Unread
	w.people.removeBeforeRead(in.RequestItems[eventsTable].Keys)
	return w.LeaveUnread(in, p, func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
		return w.ReadInParts(in, p, func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
			return d.recorder.BatchGetItem(ctx, in)
		})
	})
}

func (d disturbed) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	f := &d.w.plan.Faults
	return d.w.FailStatements(in, f.Statements, f.Codes, func() (*dynamodb.BatchExecuteStatementOutput, error) {
		return d.w.heat.coolStatements(in, func() (*dynamodb.BatchExecuteStatementOutput, error) {
			return d.recorder.BatchExecuteStatement(ctx, in)
		})
	})
}

func (d disturbed) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	d.w.claims.goneBeforeCheck(in)
	d.w.states.goneBeforePut(in)
	if hot := d.w.heat.coolTransaction(in); hot != nil {
		return nil, hot
	}
	return d.w.Cancel(in, d.w.plan.Faults.Cancel, func() (*dynamodb.TransactWriteItemsOutput, error) {
		return d.recorder.TransactWriteItems(ctx, in)
	})
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
	if s.w.strays.state() == "Disabled" {
		return &sqs.ReceiveMessageOutput{}, nil
	}
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
