package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/stack"
)

// handBack makes a message visible at once, as a message of a failed batch is after its visibility
// timeout.
func (q *queue) handBack(m types.Message) {
	q.Helper()
	if _, err := q.h.SQS.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle,
		VisibilityTimeout: 0}); err != nil {
		q.Fatal(err)
	}
}

func redrives(t *testing.T, h *Harness) {
	h.run(t, "a message received too often goes to the dead-letter queue", func(t *testing.T) {
		dead := newQueue(t, h, stack.Queue{})
		q := newQueue(t, h, stack.Queue{Visibility: 10 * time.Minute, DeadLetters: dead.url, MaxReceives: 2})
		e := entry("0", "body")
		e.MessageAttributes = map[string]types.MessageAttributeValue{"trace": {DataType: aws.String("String"),
			StringValue: aws.String("t1")}}
		out, err := q.send(e)
		q.letters(out, err, []string{"0"}, map[string]string{})
		var id string
		for i := range 2 {
			got := q.take(1)[0]
			id = aws.ToString(got.MessageId)
			if count := got.Attributes["ApproximateReceiveCount"]; count != fmt.Sprint(i+1) {
				t.Errorf("receive %d says it is number %s", i+1, count)
			}
			q.handBack(got)
		}
		var letter types.Message
		h.Until(t, "dead letter", func() bool { // the message moves when it would be received a third time
			if got := q.receive(10); len(got) != 0 {
				t.Fatalf("received a third time: %v", got[0].Attributes)
			}
			if got := dead.receive(10); len(got) == 1 {
				letter = got[0]
			}
			return letter.MessageId != nil
		})
		if aws.ToString(letter.Body) != "body" || aws.ToString(letter.MessageId) != id ||
			aws.ToString(letter.MessageAttributes["trace"].StringValue) != "t1" {
			t.Errorf("letter %s %q %v", aws.ToString(letter.MessageId), aws.ToString(letter.Body), letter.MessageAttributes)
		}
		if got := letter.Attributes["DeadLetterQueueSourceArn"]; got != q.attribute(types.QueueAttributeNameQueueArn) {
			t.Errorf("it names its source as %q, want %s", got, q.attribute(types.QueueAttributeNameQueueArn))
		}
	})
	h.run(t, "a FIFO group waits for its first message", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{FIFO: true, Visibility: 10 * time.Minute})
		var entries []types.SendMessageBatchRequestEntry
		for i, group := range []string{"a", "b", "a", "a"} {
			e := entry(fmt.Sprint(i), fmt.Sprint(group, i))
			e.MessageGroupId, e.MessageDeduplicationId = aws.String(group), aws.String(fmt.Sprint(i))
			entries = append(entries, e)
		}
		for range 2 { // the second time, all ids are known
			out, err := q.send(entries...)
			q.letters(out, err, []string{"0", "1", "2", "3"}, map[string]string{})
		}
		first := q.take(1)[0]
		if got := aws.ToString(first.Body); got != "a0" && got != "b1" || first.Attributes["MessageGroupId"] != got[:1] {
			t.Fatalf("first message %q of group %q", got, first.Attributes["MessageGroupId"])
		}
	})
	h.run(t, "a FIFO group comes in order, one receive after the other", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{FIFO: true, ByContent: true, Visibility: 10 * time.Minute})
		for i := range 3 {
			if _, err := h.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: aws.String(fmt.Sprint(i)),
				MessageGroupId: aws.String("a")}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			got := q.receive(1)
			if len(got) != 1 || aws.ToString(got[0].Body) != fmt.Sprint(i) {
				t.Fatalf("receive %d: %v", i, got)
			}
			if more := q.receive(1); len(more) != 0 {
				t.Errorf("message %s while %d is in flight", aws.ToString(more[0].Body), i)
			}
			q.delete(got[0].ReceiptHandle)
		}
	})
}
