package sqs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

var (
	receiveMessage = api.Op("SQS", "ReceiveMessage",
		"QueueUrl AttributeNames MaxNumberOfMessages MessageAttributeNames MessageSystemAttributeNames VisibilityTimeout WaitTimeSeconds")
	deleteMessage                = api.Op("SQS", "DeleteMessage", "QueueUrl ReceiptHandle")
	deleteMessageBatch           = api.Op("SQS", "DeleteMessageBatch", "QueueUrl Entries")
	changeMessageVisibility      = api.Op("SQS", "ChangeMessageVisibility", "QueueUrl ReceiptHandle VisibilityTimeout")
	changeMessageVisibilityBatch = api.Op("SQS", "ChangeMessageVisibilityBatch", "QueueUrl Entries")
)

// ReceiveMessage hands out up to ten messages and hides them for the visibility timeout. If a
// message was already received as often as the redrive policy allows, it goes to the dead-letter
// queue instead. If there is none, it waits as WaitTimeSeconds says, where the engine's
// configuration allows that.
func (c *Client) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput,
	error) {
	return api.Call(ctx, c.qs.core, receiveMessage, in, func(in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
		return c.qs.await(ctx, in)
	})
}

// DeleteMessage removes a message. With a handle of an earlier receive it succeeds and removes
// nothing.
func (c *Client) DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return api.Call(ctx, c.qs.core, deleteMessage, in, c.qs.delete)
}

// DeleteMessageBatch removes up to ten messages. Each may fail on its own.
func (c *Client) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	return api.Call(ctx, c.qs.core, deleteMessageBatch, in, c.qs.deleteBatch)
}

// ChangeMessageVisibility sets when a message in flight becomes visible again, counted from now. 0
// means at once.
func (c *Client) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput,
	_ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	return api.Call(ctx, c.qs.core, changeMessageVisibility, in, c.qs.changeVisibility)
}

// ChangeMessageVisibilityBatch does the same for up to ten messages. Each may fail on its own.
func (c *Client) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput,
	_ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	return api.Call(ctx, c.qs.core, changeMessageVisibilityBatch, in, c.qs.changeVisibilityBatch)
}

// await receives messages. If there are none, it waits until there may be some.
func (qs *Queues) await(ctx context.Context, in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	if in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20 {
		return nil,
			api.Error("InvalidParameterValue",
				"Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.WaitTimeSeconds)
	}
	out, more, err := qs.receive(in)
	ended := qs.core.Config.LongPolls
	if err != nil || len(out.Messages) > 0 || in.WaitTimeSeconds == 0 || ended == nil {
		return out, err
	}
	over := time.NewTimer(time.Duration(in.WaitTimeSeconds) * time.Second)
	defer over.Stop()
	for err == nil && len(out.Messages) == 0 {
		visible := time.NewTimer(more.after)
		select {
		case <-more.arrived:
		case <-visible.C:
		case <-over.C:
			ended = nil
		case <-ended:
			ended = nil
		case <-ctx.Done():
			visible.Stop()
			return nil, &smithy.CanceledError{Err: ctx.Err()}
		}
		visible.Stop()
		if ended == nil {
			return out, nil
		}
		out, more, err = qs.receive(in)
	}
	return out, err
}

// more says when there may be more messages in a queue.
type more struct {
	arrived <-chan struct{} // closed when one has arrived or may be received again
	after   time.Duration   // until the next one in flight is visible again
}

// receive receives the messages that there are now.
func (qs *Queues) receive(in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, more, error) {
	n := int(in.MaxNumberOfMessages)
	if n == 0 {
		n = 1
	}
	if n < 1 || n > maxBatch {
		return nil, more{},
			api.Error("InvalidParameterValue",
				"Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", n)
	}
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, more{}, err
	}
	hidden := q.visibility
	if in.VisibilityTimeout != 0 {
		if hidden, err = visibility(in.VisibilityTimeout); err != nil {
			return nil, more{}, err
		}
	}
	out := &sqs.ReceiveMessageOutput{}
	for _, m := range qs.take(q, n) {
		m.handle = fmt.Sprintf("%s#%d#%016x", m.id, m.receives, qs.rnd.Uint64())
		q.fly(m, qs.core.Now().Add(hidden))
		out.Messages = append(out.Messages, q.answer(m, in))
	}
	return out, q.more(qs.core.Now()), nil
}

// take picks up to n messages. It removes those that have expired, and moves those that were
// received too often.
func (qs *Queues) take(q *queue, n int) []*message {
	now := qs.core.Now()
	var out []*message
	for len(out) < n {
		dropped := 0
		batch := q.candidates(n - len(out))
		for _, m := range batch {
			dlq := qs.byARN[q.redrive.target]
			switch {
			case q.expired(m, now):
				q.drop(m)
				dropped++
			case dlq != nil && m.receives >= q.redrive.maximum:
				q.drop(m)
				dropped++
				qs.bury(m, q, dlq)
			default:
				m.receives++
				m.received = now
				if m.firstReceived.IsZero() {
					m.firstReceived = now
				}
				q.keep(m)
				out = append(out, m)
			}
		}
		if len(batch) == 0 || (q.fifo && (dropped == 0 || len(out) > 0)) {
			break // the candidates of a FIFO queue stay in their groups, so the next round would find them again
		}
	}
	return out
}

// bury moves a message to a dead-letter queue. The message keeps its id. A FIFO queue restarts its
// clock.
func (qs *Queues) bury(m *message, from, dlq *queue) {
	m.source = from.arn
	if dlq.fifo {
		m.sent = qs.core.Now()
	}
	dlq.add(m)
}

func visibility(s int32) (time.Duration, error) {
	if s < 0 || s > 43_200 {
		return 0,
			api.Error("InvalidParameterValue",
				"Value %d for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200.", s)
	}
	return time.Duration(s) * time.Second, nil
}

func (q *queue) answer(m *message, in *sqs.ReceiveMessageInput) types.Message {
	out := types.Message{
		MessageId: aws.String(m.id), Body: aws.String(m.body), MD5OfBody: aws.String(m.bodyMD5), ReceiptHandle: aws.String(m.handle),
	}
	for name, a := range m.attributes {
		if wanted(in.MessageAttributeNames, name) {
			if out.MessageAttributes == nil {
				out.MessageAttributes = map[string]types.MessageAttributeValue{}
			}
			out.MessageAttributes[name] = a
		}
	}
	if digest := attributesMD5(out.MessageAttributes); digest != "" {
		out.MD5OfMessageAttributes = aws.String(digest)
	}
	asked := map[string]bool{}
	//lint:ignore SA1019 the service still answers to the old name
	for _, name := range in.AttributeNames {
		asked[string(name)] = true
	}
	for _, name := range in.MessageSystemAttributeNames {
		asked[string(name)] = true
	}
	if len(asked) > 0 {
		out.Attributes = q.systemAttributes(m)
		maps.DeleteFunc(out.Attributes, func(name, _ string) bool { return !asked["All"] && !asked[name] })
	}
	return out
}

// wanted reports whether the patterns ask for name. A pattern is a name, All, .* or prefix.*
func wanted(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, ".*")
		return p == "All" || p == name || (wild && (prefix == "" || strings.HasPrefix(name, prefix+".") || name == prefix))
	})
}

func (q *queue) systemAttributes(m *message) map[string]string {
	out := map[string]string{
		"SenderId":                         "AIDAEMBEDDEDENGINE00",
		"SentTimestamp":                    millis(m.sent),
		"ApproximateReceiveCount":          strconv.Itoa(m.receives),
		"ApproximateFirstReceiveTimestamp": millis(m.firstReceived),
	}
	if m.group != "" {
		out["MessageGroupId"] = m.group
	}
	if m.source != "" {
		out["DeadLetterQueueSourceArn"] = m.source
	}
	if q.fifo {
		out["MessageDeduplicationId"] = m.dedupID
		out["SequenceNumber"] = *q.sequenceText(m.sequence)
	}
	return out
}

// byHandle finds a message by its receipt handle. It returns nil for a message that is gone or that
// was received again since.
func (q *queue) byHandle(handle *string) (*message, error) {
	parts := strings.Split(aws.ToString(handle), "#")
	if len(parts) != 3 || len(parts[0]) != idLength || len(parts[2]) != 16 {
		return nil,
			&types.ReceiptHandleIsInvalid{Message: aws.String(fmt.Sprintf("The input receipt handle %q is not a valid receipt handle.",
				aws.ToString(handle)))}
	}
	m := q.messages[parts[0]]
	if m == nil || m.handle != *handle {
		return nil, nil
	}
	return m, nil
}

func (q *queue) remove(handle *string) error {
	m, err := q.byHandle(handle)
	if err != nil || m == nil {
		return err
	}
	if !m.inFlight() {
		if q.fifo {
			return api.Error("InvalidParameterValue",
				"Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.", *handle)
		}
		q.unready(m)
	}
	q.drop(m)
	return nil
}

// unready takes a message out of the backlog. Its visibility timeout had run out, but nobody has
// received it since.
func (q *queue) unready(m *message) {
	if i := slices.Index(q.ready.messages[q.ready.head:], m); i >= 0 {
		q.ready.messages = slices.Delete(q.ready.messages, q.ready.head+i, q.ready.head+i+1)
	}
}

func (qs *Queues) delete(in *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	return &sqs.DeleteMessageOutput{}, q.remove(in.ReceiptHandle)
}
