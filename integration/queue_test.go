package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
)

func (w *world) createQueue(q stack.Queue) string {
	w.Helper()
	if q.Name = name(w); q.FIFO {
		q.Name += ".fifo"
	}
	url, err := q.Create(ctx, w.sqs)
	must.Succeed(w, err)
	return url
}

func (w *world) attribute(url string, which types.QueueAttributeName) string {
	w.Helper()
	out, err := w.sqs.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{which}})
	must.Succeed(w, err)
	return out.Attributes[string(which)]
}

func (w *world) arn(url string) string { return w.attribute(url, types.QueueAttributeNameQueueArn) }

// send puts bodies into the queue, ten at a time.
func (w *world) send(bodies ...string) {
	w.Helper()
	for len(bodies) > 0 {
		n := min(10, len(bodies))
		in := &sqs.SendMessageBatchInput{QueueUrl: &w.queue}
		for i, body := range bodies[:n] {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String(body),
				MessageAttributes: map[string]types.MessageAttributeValue{"trace": {DataType: aws.String("String"),
					StringValue: aws.String(fmt.Sprint("trace of ", len(body)))}}})
		}
		out, err := w.sqs.SendMessageBatch(ctx, in)
		if err != nil || len(out.Failed) > 0 {
			w.Fatalf("send: %v, %d refused", err, len(out.Failed))
		}
		bodies = bodies[n:]
	}
}

// consume runs the queue mapping until the queue has neither waiting messages nor any in flight.
func (w *world) consume() {
	w.Helper()
	q, err := esm.NewQueue(ctx, esm.QueueConfig{Client: w.sqs, URL: w.queue, BatchSize: 100, ReportBatchItemFailures: true,
		Function: w.function(w.receive)})
	must.Succeed(w, err)
	w.until("queue empty", func() bool {
		p, err := q.Poll(ctx)
		must.Succeed(w, err)
		left, err := stack.Depth(ctx, w.sqs, w.queue)
		must.Succeed(w, err)
		return p.Idle() && left == 0
	})
}

var errCrashed = errors.New("the function was killed after it had done its work")

// receive calls the ingest function. What goes back to the queue becomes visible at once, not after
// the visibility timeout.
func (w *world) receive(ctx context.Context, payload []byte) ([]byte, error) {
	answer, err := lambda.NewHandler(w.ingest.Handle).Invoke(ctx, payload)
	if w.crash {
		w.crash, answer, err = false, nil, errCrashed
	}
	var e events.SQSEvent
	if bad := json.Unmarshal(payload, &e); bad != nil {
		w.Fatal(bad)
	}
	back := map[string]bool{}
	if err == nil {
		var response events.SQSEventResponse
		if bad := json.Unmarshal(answer, &response); bad != nil {
			w.Fatalf("answer %s: %v", answer, bad)
		}
		for _, f := range response.BatchItemFailures {
			back[f.ItemIdentifier] = true
		}
	}
	for _, m := range e.Records {
		if err == nil && !back[m.MessageId] {
			continue
		}
		if _, bad := w.sqs.ChangeMessageVisibility(ctx,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &w.queue, ReceiptHandle: aws.String(m.ReceiptHandle),
				VisibilityTimeout: 0}); bad != nil {
			w.Fatal(bad)
		}
	}
	return answer, err
}

// take empties a queue and returns its messages by body.
func (w *world) take(url string) map[string]types.Message {
	w.Helper()
	all := map[string]types.Message{}
	for {
		out, err := w.sqs.ReceiveMessage(ctx,
			&sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
				MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}})
		must.Succeed(w, err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			if _, twice := all[aws.ToString(m.Body)]; twice {
				w.Errorf("twice in the queue: %s", aws.ToString(m.Body))
			}
			all[aws.ToString(m.Body)] = m
		}
	}
}

// note returns what Ingot's attribute of a message in quarantine says.
func (w *world) note(m types.Message) (verdict, reason string) {
	w.Helper()
	var note struct{ Verdict, Reason string }
	if err := json.Unmarshal([]byte(aws.ToString(m.MessageAttributes["ingot"].StringValue)), &note); err != nil {
		w.Errorf("the ingot attribute of %q: %v", aws.ToString(m.Body), err)
	}
	return note.Verdict, note.Reason
}
