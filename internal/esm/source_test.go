package esm

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// source is a queue of the engine, by the test's clock. The body of a message says its id.
type source struct {
	*embedded.SQS
	t      *testing.T
	engine *embedded.Engine
	url    string
	fifo   bool
	err    error // of the next receive
	stuck  bool  // the first message of a deletion stays
}

func newSource(t *testing.T, now func() time.Time, fifo bool) *source {
	t.Helper()
	q := &source{t: t, fifo: fifo}
	q.engine = embedded.New(embedded.Config{Now: now, Intercept: q.intercept})
	q.SQS = q.engine.SQS()
	name := "q"
	if fifo {
		name += ".fifo"
	}
	var err error
	q.url, err = stack.Queue{Name: name, FIFO: fifo}.Create(t.Context(), q.SQS)
	must.Succeed(t, err)
	return q
}

func (q *source) intercept(_ context.Context, _ string, input any, call func() (any, error)) (any, error) {
	switch in := input.(type) {
	case *sqs.DeleteMessageBatchInput:
		if q.stuck {
			in.Entries[0].ReceiptHandle = aws.String("of no message")
		}
	case *sqs.ReceiveMessageInput:
		if q.err != nil {
			err := q.err
			q.err = nil
			return nil, err
		}
	}
	out, err := call()
	if received, is := out.(*sqs.ReceiveMessageOutput); is && err == nil {
		for i, m := range received.Messages {
			received.Messages[i].MessageId = aws.String("id-" + short(*m.Body))
		}
	}
	return out, err
}

// send sends messages. The body of one for a FIFO queue begins with its group.
func (q *source) send(bodies ...string) {
	q.t.Helper()
	for _, body := range bodies {
		in := &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body}
		if q.fifo {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(body[:1]), aws.String(body[:3])
		}
		_, err := q.SendMessage(q.t.Context(), in)
		must.Succeed(q.t, err)
	}
}

// short returns the name of a large body.
func short(body string) string { return body[:min(len(body), 6)] }

func (q *source) left() int {
	q.t.Helper()
	n, err := stack.Depth(q.t.Context(), q.SQS, q.url)
	must.Succeed(q.t, err)
	return n
}
