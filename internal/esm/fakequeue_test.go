package esm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// fakeQueue is a queue in memory. Visibility follows the test's clock. While a message of a FIFO
// group is in flight, the queue returns no other message of the group.
type fakeQueue struct {
	mu       sync.Mutex
	now      func() time.Time
	fifo     bool
	messages []*fakeMessage
	calls    map[string]int
	undelete string // the id of a message whose deletion fails
	err      error  // the error of the next receive
}

type fakeMessage struct {
	id, group, body string
	until           time.Time
	receipts        int
	gone            bool
}

func (q *fakeQueue) send(bodies ...string) {
	for _, b := range bodies {
		group, _, _ := strings.Cut(b, ":")
		q.messages = append(q.messages, &fakeMessage{id: "id-" + short(b), group: group, body: b})
	}
}

// short returns the name of a large body.
func short(body string) string { return body[:min(len(body), 6)] }

func (q *fakeQueue) left() int {
	n := 0
	for _, m := range q.messages {
		if !m.gone {
			n++
		}
	}
	return n
}

func (q *fakeQueue) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput,
	error) {
	arn := "arn:aws:sqs:eu-west-1:123456789012:q"
	if q.fifo {
		arn += ".fifo"
	}
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{"QueueArn": arn, "VisibilityTimeout": "30"}}, nil
}

func (q *fakeQueue) ReceiveMessage(_ context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput,
	error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls["ReceiveMessage"]++
	if err := q.err; err != nil {
		q.err = nil
		return nil, err
	}
	inFlight := map[string]bool{}
	for _, m := range q.messages {
		if q.fifo && !m.gone && q.now().Before(m.until) {
			inFlight[m.group] = true
		}
	}
	out := &sqs.ReceiveMessageOutput{}
	for _, m := range q.messages {
		if len(out.Messages) == int(in.MaxNumberOfMessages) {
			break
		}
		if m.gone || q.now().Before(m.until) || inFlight[m.group] {
			continue
		}
		m.until = q.now().Add(30 * time.Second)
		m.receipts++
		attributes := map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receipts)}
		if q.fifo {
			attributes["MessageGroupId"] = m.group
		}
		out.Messages = append(out.Messages, types.Message{MessageId: &m.id, ReceiptHandle: aws.String(m.id), Body: &m.body,
			Attributes: attributes})
	}
	return out, nil
}

func (q *fakeQueue) DeleteMessageBatch(_ context.Context, in *sqs.DeleteMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls["DeleteMessageBatch"]++
	out := &sqs.DeleteMessageBatchOutput{}
	seen := map[string]bool{}
	for _, e := range in.Entries {
		if seen[*e.Id] || len(in.Entries) > 10 {
			return nil, fmt.Errorf("bad batch: %d entries, id %s", len(in.Entries), *e.Id)
		}
		seen[*e.Id] = true
		if *e.ReceiptHandle == q.undelete {
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
			continue
		}
		for _, m := range q.messages {
			if m.id == *e.ReceiptHandle {
				m.gone = true
			}
		}
	}
	return out, nil
}
