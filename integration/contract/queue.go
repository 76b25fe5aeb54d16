package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/stack"
)

// queue is a fresh queue.
type queue struct {
	testing.TB
	h   *Harness
	url string
}

// newQueue makes a queue with a name of its own.
func newQueue(t testing.TB, h *Harness, q stack.Queue) *queue {
	t.Helper()
	if q.Name = h.Name(t); q.FIFO {
		q.Name += ".fifo"
	}
	url, err := q.Create(ctx, h.SQS)
	held(t, err)
	return &queue{TB: t, h: h, url: url}
}

func (q *queue) attribute(name types.QueueAttributeName) string {
	q.Helper()
	out, err := q.h.SQS.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{name}})
	held(q, err)
	return out.Attributes[string(name)]
}

func (q *queue) send(entries ...types.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	return q.h.SQS.SendMessageBatch(ctx,
		&sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: append([]types.SendMessageBatchRequestEntry{}, entries...)})
}

func entry(id, body string) types.SendMessageBatchRequestEntry {
	return types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body}
}

// receive asks for messages once, as the queue mapping does.
func (q *queue) receive(max int32) []types.Message {
	q.Helper()
	out, err := q.h.SQS.ReceiveMessage(ctx,
		&sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: max, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}})
	held(q, err)
	return out.Messages
}

// take waits for n messages.
func (q *queue) take(n int) []types.Message {
	q.Helper()
	var all []types.Message
	q.h.Until(q, fmt.Sprint(n, " messages"), func() bool {
		all = append(all, q.receive(10)...)
		return len(all) >= n
	})
	return all
}

func (q *queue) delete(handles ...*string) *sqs.DeleteMessageBatchOutput {
	q.Helper()
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.url}
	for i, handle := range handles {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), ReceiptHandle: handle})
	}
	out, err := q.h.SQS.DeleteMessageBatch(ctx, in)
	held(q, err)
	return out
}

// letters asserts which entries of a batch failed, and with which code.
func (q *queue) letters(out *sqs.SendMessageBatchOutput, err error, sent []string, failed map[string]string) {
	q.Helper()
	held(q, err)
	var ok []string
	for _, e := range out.Successful {
		ok = append(ok, aws.ToString(e.Id))
		if aws.ToString(e.MessageId) == "" || aws.ToString(e.MD5OfMessageBody) == "" {
			q.Errorf("entry %s: no message id or digest", aws.ToString(e.Id))
		}
	}
	slices.Sort(ok)
	if !slices.Equal(ok, sent) {
		q.Errorf("sent %v, want %v", ok, sent)
	}
	codes := map[string]string{}
	for _, e := range out.Failed {
		codes[aws.ToString(e.Id)] = aws.ToString(e.Code)
		if want := pick(q, q.h, "whose fault a refused letter is", true, false); e.SenderFault != want {
			q.Errorf("entry %s, %s: SenderFault is %v, want %v", aws.ToString(e.Id), aws.ToString(e.Code), e.SenderFault, want)
		}
	}
	if !maps.Equal(codes, failed) {
		q.Errorf("failed %v, want %v", codes, failed)
	}
}

func letters(t *testing.T, h *Harness) {
	h.run(t, "what a mapping asks first", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{Visibility: 77 * time.Second})
		out, err := h.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q.url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout}})
		if err != nil || len(out.Attributes) != 2 || out.Attributes["VisibilityTimeout"] != "77" ||
			!strings.HasPrefix(out.Attributes["QueueArn"], "arn:aws:sqs:") {
			t.Errorf("attributes %v, %v", out.Attributes, err)
		}
	})
	h.run(t, "a message comes as it was sent", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		e := entry("0", "{\"text\":\"tab\t, newline\n, ü, \U0001F600, \\u0000\"}")
		e.MessageAttributes = map[string]types.MessageAttributeValue{
			"ingot":  {DataType: aws.String("String"), StringValue: aws.String(`{"reason":"x"}`)},
			"count":  {DataType: aws.String("Number"), StringValue: aws.String("7")},
			"cipher": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255, 10}}}
		sent, err := q.send(e)
		q.letters(sent, err, []string{"0"}, map[string]string{})
		got := q.take(1)[0]
		if aws.ToString(got.Body) != *e.MessageBody || aws.ToString(got.MessageId) != aws.ToString(sent.Successful[0].MessageId) {
			t.Errorf("body %q, id %s", aws.ToString(got.Body), aws.ToString(got.MessageId))
		}
		if aws.ToString(got.MD5OfBody) != aws.ToString(sent.Successful[0].MD5OfMessageBody) ||
			aws.ToString(got.MD5OfMessageAttributes) != aws.ToString(sent.Successful[0].MD5OfMessageAttributes) {
			t.Error("the digests of send and receive differ")
		}
		for name, want := range e.MessageAttributes {
			is := got.MessageAttributes[name]
			if aws.ToString(is.DataType) != *want.DataType || aws.ToString(is.StringValue) != aws.ToString(want.StringValue) ||
				!slices.Equal(is.BinaryValue, want.BinaryValue) {
				t.Errorf("attribute %s: %v", name, is)
			}
		}
		if len(got.MessageAttributes) != 3 || got.Attributes["ApproximateReceiveCount"] != "1" ||
			len(got.Attributes["SentTimestamp"]) != 13 {
			t.Errorf("%d attributes; %v", len(got.MessageAttributes), got.Attributes)
		}
	})
	h.run(t, "what is in flight is hidden, and comes back", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{Visibility: 10 * time.Minute})
		q.sent("0", "1")
		got := q.take(2)
		if more := q.receive(10); len(more) != 0 {
			t.Fatalf("%d messages although all are in flight", len(more))
		}
		if _, err := h.SQS.ChangeMessageVisibility(ctx,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &q.url, ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0}); err != nil {
			t.Fatal(err)
		}
		again := q.take(1)[0]
		if aws.ToString(again.MessageId) != aws.ToString(got[0].MessageId) || again.Attributes["ApproximateReceiveCount"] != "2" {
			t.Errorf("message %s, received %s times", aws.ToString(again.MessageId), again.Attributes["ApproximateReceiveCount"])
		}
		out := q.delete(again.ReceiptHandle, got[1].ReceiptHandle)
		if len(out.Successful) != 2 || len(out.Failed) != 0 {
			t.Errorf("deleted %d, failed %d", len(out.Successful), len(out.Failed))
		}
		// Deleting the same message a second time succeeds.
		if out := q.delete(again.ReceiptHandle); len(out.Failed) != 0 {
			t.Errorf("deleting again: %v", *out.Failed[0].Code)
		}
		if n := q.attribute(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible); n != "0" {
			t.Errorf("%s still in flight", n)
		}
	})
	h.run(t, "a receive brings at most as many as asked for", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		q.sent("0", "1", "2", "3")
		if got := q.receive(3); len(got) == 0 || len(got) > 3 {
			t.Errorf("%d messages", len(got))
		}
		_, err := h.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: 11})
		refused(t, err, "InvalidParameterValue")
	})
	h.run(t, "each message of a batch has its own result", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		odd := entry("bell", "ring \a")
		out, err := q.send(entry("fine", "x"), odd)
		q.letters(out, err, []string{"fine"}, map[string]string{"bell": "InvalidMessageContents"})
		if got := q.take(1); len(got) != 1 || aws.ToString(got[0].Body) != "x" {
			t.Errorf("%d messages", len(got))
		}
	})
	h.run(t, "an invalid batch", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		_, err := q.send()
		refused(t, err, "AWS.SimpleQueueService.EmptyBatchRequest")
		var eleven []types.SendMessageBatchRequestEntry
		for i := range 11 {
			eleven = append(eleven, entry(fmt.Sprint(i), "x"))
		}
		_, err = q.send(eleven...)
		refused(t, err, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
		_, err = q.send(entry("0", "x"), entry("0", "y"))
		refused(t, err, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct")
		for _, id := range []string{"a b", "a.b", strings.Repeat("x", 81)} {
			_, err = q.send(entry(id, "x"))
			refused(t, err, "AWS.SimpleQueueService.InvalidBatchEntryId")
		}
		large := strings.Repeat("x", 1<<19)
		_, err = q.send(entry("0", large), entry("1", large), entry("2", "x"))
		refused(t, err, "AWS.SimpleQueueService.BatchRequestTooLong")
		if got := q.receive(10); len(got) != 0 {
			t.Errorf("%d messages were sent all the same", len(got))
		}
	})
	h.run(t, "an attribute with a reserved name", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		for _, name := range []string{"AWS.x", "aws.x", "Amazon.x", ".a", "a.", "a b"} {
			_, err := h.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: aws.String("x"),
				MessageAttributes: map[string]types.MessageAttributeValue{name: {DataType: aws.String("String"),
					StringValue: aws.String("x")}}})
			refused(t, err, "InvalidParameterValue")
		}
		if got := q.receive(10); len(got) != 0 {
			t.Errorf("%d messages were sent all the same", len(got))
		}
	})
	h.run(t, "the largest message", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		out, err := q.send(entry("0", strings.Repeat("x", 1<<20)))
		q.letters(out, err, []string{"0"}, map[string]string{})
		if got := q.take(1)[0]; len(aws.ToString(got.Body)) != 1<<20 {
			t.Errorf("%d bytes", len(aws.ToString(got.Body)))
		}
	})
	h.run(t, "a queue that is not there", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		q.url += "-gone"
		_, err := q.send(entry("0", "x"))
		refused(t, err, "AWS.SimpleQueueService.NonExistentQueue")
		_, err = h.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url})
		refused(t, err, "AWS.SimpleQueueService.NonExistentQueue")
		_, err = h.SQS.GetQueueAttributes(ctx,
			&sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
		refused(t, err, "AWS.SimpleQueueService.NonExistentQueue")
	})
	h.run(t, "a queue that is there with other attributes", func(t *testing.T) {
		name := h.Name(t)
		for i, want := range []string{"", "", "QueueAlreadyExists"} {
			_, err := stack.Queue{Name: name, Visibility: time.Duration(30+i/2) * time.Second}.Create(ctx, h.SQS)
			refused(t, err, want)
		}
	})
	h.run(t, "an invalid handle", func(t *testing.T) {
		q := newQueue(t, h, stack.Queue{})
		out := q.delete(aws.String("not a handle"))
		if len(out.Successful) != 0 || len(out.Failed) != 1 || aws.ToString(out.Failed[0].Code) != "ReceiptHandleIsInvalid" {
			t.Errorf("got %v", out)
		}
	})
}

// sent sends bodies. The queue must accept all of them.
func (q *queue) sent(bodies ...string) {
	q.Helper()
	var entries []types.SendMessageBatchRequestEntry
	for _, body := range bodies {
		entries = append(entries, entry(body, body))
	}
	out, err := q.send(entries...)
	q.letters(out, err, bodies, map[string]string{})
}
