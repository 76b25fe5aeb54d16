package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

type mail struct {
	*testing.T
	clock *clock
	sqs   *embedded.SQS
}

func newMail(t *testing.T) *mail {
	c := &clock{must.Time("2030-01-02T03:04:05Z")}
	return &mail{t, c, embedded.New(embedded.Config{Now: c.now, Seed: 3}).SQS()}
}

func (m *mail) queue(name string, attributes map[string]string) *string {
	m.Helper()
	out, err := m.sqs.CreateQueue(background, &sqs.CreateQueueInput{QueueName: aws.String(name), Attributes: attributes})
	held(m, err)
	return out.QueueUrl
}

func (m *mail) arn(url *string) string { return m.attribute(url, "QueueArn") }

func (m *mail) attribute(url *string, name types.QueueAttributeName) string {
	m.Helper()
	out, err := m.sqs.GetQueueAttributes(background,
		&sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	held(m, err)
	return out.Attributes[string(name)]
}

func (m *mail) send(url *string, body, group string) string {
	m.Helper()
	in := &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String(body)}
	if group != "" {
		in.MessageGroupId = aws.String(group)
	}
	out, err := m.sqs.SendMessage(background, in)
	held(m, err)
	return *out.MessageId
}

func (m *mail) receive(url *string) []types.Message {
	m.Helper()
	out, err := m.sqs.ReceiveMessage(background, &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"}})
	held(m, err)
	return out.Messages
}

func (m *mail) delete(url *string, msg types.Message) {
	m.Helper()
	_, err := m.sqs.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: msg.ReceiptHandle})
	held(m, err)
}

func bodies(messages []types.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, *m.Body)
	}
	return strings.Join(out, " ")
}

func expectCode(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestVisibility(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", map[string]string{"VisibilityTimeout": "60"})
	id := m.send(q, "one", "")
	sent := fmt.Sprint(m.clock.at.UnixMilli())
	m.clock.advance(time.Second)
	first := m.receive(q)
	if bodies(first) != "one" || *first[0].MessageId != id || first[0].Attributes["ApproximateReceiveCount"] != "1" ||
		first[0].Attributes["SentTimestamp"] != sent {
		t.Fatalf("first receive: %+v", first)
	}
	must.Equal(t, *first[0].MD5OfBody, "f97c5d29941bfb1b2fdab0874906ab82")
	if visible, hidden := m.attribute(q, "ApproximateNumberOfMessages"), m.attribute(q,
		"ApproximateNumberOfMessagesNotVisible"); visible != "0" || hidden != "1" {
		t.Errorf("visible %s, in flight %s", visible, hidden)
	}
	m.clock.advance(59 * time.Second)
	if got := m.receive(q); len(got) != 0 {
		t.Errorf("visible a second early: %v", bodies(got))
	}
	m.clock.advance(time.Second)
	second := m.receive(q)
	if bodies(second) != "one" || second[0].Attributes["ApproximateReceiveCount"] != "2" ||
		*second[0].ReceiptHandle == *first[0].ReceiptHandle ||
		second[0].Attributes["ApproximateFirstReceiveTimestamp"] != first[0].Attributes["ApproximateFirstReceiveTimestamp"] {
		t.Fatalf("second receive: %+v", second)
	}
	m.delete(q, first[0]) // an old handle: succeeds, removes nothing
	must.Equal(t, m.attribute(q, "ApproximateNumberOfMessagesNotVisible"), "1")
	m.delete(q, second[0])
	m.delete(q, second[0]) // again: no error
	must.Equal(t, m.attribute(q, "ApproximateNumberOfMessagesNotVisible"), "0")
}

// A message stays hidden for at most 12 hours, no matter how often that is extended. If it is
// received again, it has 12 hours again.
func TestVisibilityEndsAfterTwelveHours(t *testing.T) {
	m := newMail(t)
	q := m.queue("q", nil)
	m.send(q, "a", "")
	extend := func(handle *string, seconds int32) error {
		_, err := m.sqs.ChangeMessageVisibility(background, &sqs.ChangeMessageVisibilityInput{QueueUrl: q, ReceiptHandle: handle,
			VisibilityTimeout: seconds})
		return err
	}
	receive := func() *string {
		out, err := m.sqs.ReceiveMessage(background, &sqs.ReceiveMessageInput{QueueUrl: q, VisibilityTimeout: 3600})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("%v %v", out, err)
		}
		return out.Messages[0].ReceiptHandle
	}
	for range 2 {
		handle := receive()
		if err := extend(handle, 43_200); err != nil {
			t.Error(err)
		}
		m.clock.advance(time.Hour)
		if err := extend(handle, 43_200-3600); err != nil {
			t.Error(err)
		}
		var api smithy.APIError
		if err := extend(handle, 43_200-3599); !errors.As(err, &api) || api.ErrorCode() != "InvalidParameterValue" ||
			!strings.Contains(err.Error(), "beyond the limit [43200 seconds]") {
			t.Errorf("%v", err)
		}
		m.clock.advance(11 * time.Hour)
	}
}

func TestChangeVisibility(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", nil)
	m.send(q, "one", "")
	got := m.receive(q)
	change := func(seconds int32) error {
		_, err := m.sqs.ChangeMessageVisibility(background,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: q, ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: seconds})
		return err
	}
	held(t, change(600))
	m.clock.advance(599 * time.Second)
	if again := m.receive(q); len(again) != 0 {
		t.Error("visible before the changed time")
	}
	held(t, change(0))
	var notInFlight *types.MessageNotInflight
	if err := change(0); !errors.As(err, &notInFlight) {
		t.Errorf("not in flight: %v", err)
	}
	m.delete(q, got[0]) // visible again, but its handle is still the latest
	if again := m.receive(q); len(again) != 0 {
		t.Error("deleted message received")
	}
	if err := change(50_000); err == nil {
		t.Error("50,000 seconds are allowed")
	}
}

func TestDeadLetterQueue(t *testing.T) {
	m := newMail(t)
	dlq := m.queue("dlq", nil)
	q := m.queue("in",
		map[string]string{"VisibilityTimeout": "10", "RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"2"}`,
			m.arn(dlq))})
	id := m.send(q, "bad", "")
	sent := fmt.Sprint(m.clock.at.UnixMilli())
	for range 2 {
		if got := m.receive(q); bodies(got) != "bad" {
			t.Fatalf("received %q", bodies(got))
		}
		m.clock.advance(10 * time.Second)
	}
	must.Equal(t, m.attribute(dlq, "ApproximateNumberOfMessages"), "0")
	m.send(q, "good", "")
	if got := m.receive(q); bodies(got) != "good" {
		t.Errorf("third receive: %q", bodies(got))
	}
	dead := m.receive(dlq)
	if bodies(dead) != "bad" || *dead[0].MessageId != id || dead[0].Attributes["DeadLetterQueueSourceArn"] != m.arn(q) ||
		dead[0].Attributes["SentTimestamp"] != sent || dead[0].Attributes["ApproximateReceiveCount"] != "3" {
		t.Errorf("dead letter: %+v", dead)
	}
	m.clock.advance(30 * time.Second)
	if _, err := m.sqs.StartMessageMoveTask(background, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(m.arn(dlq))}); err != nil {
		t.Fatal(err)
	}
	back := m.receive(q)
	for _, got := range back {
		if *got.Body == "bad" && (*got.MessageId == id || got.Attributes["ApproximateReceiveCount"] != "1" ||
			got.Attributes["SentTimestamp"] == sent) {
			t.Errorf("moved back: %+v; want a new id, time and count", got)
		}
	}
	if bodies(back) != "bad good" || m.attribute(dlq, "ApproximateNumberOfMessages") != "0" {
		t.Errorf("after the move: %q", bodies(back))
	}
	_, err := m.sqs.StartMessageMoveTask(background, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(m.arn(q))})
	expectCode(t, err, "InvalidParameterValue")
}

func TestFIFO(t *testing.T) {
	m := newMail(t)
	q := m.queue("in.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "10"})
	for i := range 3 {
		m.send(q, fmt.Sprint("a", i), "a")
		m.send(q, fmt.Sprint("b", i), "b")
	}
	again := m.send(q, "a0", "a")
	first := m.receive(q)
	if bodies(first) != "a0 a1 a2 b0 b1 b2" || *first[0].MessageId != again {
		t.Fatalf("received %q", bodies(first))
	}
	for i := range first[:5] {
		if first[i].Attributes["SequenceNumber"] == "" || len(first[i].Attributes["SequenceNumber"]) != 20 ||
			first[i].Attributes["MessageDeduplicationId"] == "" {
			t.Errorf("attributes %v", first[i].Attributes)
		}
	}
	m.delete(q, first[0])
	for _, msg := range first[3:] {
		m.delete(q, msg)
	}
	m.send(q, "b3", "b")
	m.send(q, "a3", "a")
	if got := m.receive(q); bodies(got) != "b3" { // group a has a1 and a2 in flight
		t.Errorf("received %q, want b3", bodies(got))
	}
	m.clock.advance(10 * time.Second)
	if got := m.receive(q); bodies(got) != "a1 a2 a3 b3" {
		t.Errorf("received %q, want the groups in order from where they stopped", bodies(got))
	}
	_, err := m.sqs.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: q, ReceiptHandle: first[1].ReceiptHandle})
	if err != nil {
		t.Errorf("an old handle: %v", err)
	}
	_, err = m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: aws.String("x")})
	expectCode(t, err, "MissingParameter")
	m.clock.advance(5 * time.Minute)
	if id := m.send(q, "a0", "a"); id == again {
		t.Error("deduplicated after five minutes")
	}
}

func TestFIFODeadLetters(t *testing.T) {
	m := newMail(t)
	dlq := m.queue("dlq.fifo", map[string]string{"FifoQueue": "true"})
	q := m.queue("in.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "10",
		"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":1}`, m.arn(dlq))})
	m.send(q, "a0", "a")
	m.receive(q)
	m.clock.advance(10 * time.Second)
	m.send(q, "a1", "a")
	if got := m.receive(q); bodies(got) != "a1" {
		t.Errorf("received %q", bodies(got))
	}
	if got := m.receive(dlq); bodies(got) != "a0" || got[0].Attributes["MessageGroupId"] != "a" {
		t.Errorf("dead letters %v", got)
	}
}

// TestAttributes expects the digests that SQS itself makes of these attributes. They are from the
// tests of other clients, which recorded them.
func TestAttributes(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", nil)
	send := func(a map[string]types.MessageAttributeValue) (*sqs.SendMessageOutput, error) {
		return m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: aws.String("derp"), MessageAttributes: a})
	}
	stamp := map[string]types.MessageAttributeValue{"timestamp": {DataType: aws.String("Number"), StringValue: aws.String("1493147359900")}}
	out, err := send(stamp)
	if err != nil || *out.MD5OfMessageAttributes != "235c5c510d26fb653d073faed50ae77c" {
		t.Errorf("digest %v, %v", aws.ToString(out.MD5OfMessageAttributes), err)
	}
	labelled := map[string]types.MessageAttributeValue{"timestamp": {DataType: aws.String("Number.java.lang.Long"),
		StringValue: aws.String("1493147359900")}}
	if out, err = send(labelled); err != nil || *out.MD5OfMessageAttributes != "2e2e4876d8e0bd6b8c2c8f556831c349" {
		t.Errorf("digest %v, %v", aws.ToString(out.MD5OfMessageAttributes), err)
	}
	many := map[string]types.MessageAttributeValue{}
	for i := range 11 {
		many[fmt.Sprint("a", i)] = types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: []byte{byte(i)}}
	}
	_, err = send(many)
	expectCode(t, err, "InvalidParameterValue")
	delete(many, "a10")
	if _, err := send(many); err != nil {
		t.Errorf("ten attributes: %v", err)
	}
	got, err := m.sqs.ReceiveMessage(background, &sqs.ReceiveMessageInput{QueueUrl: q})
	if err != nil || got.Messages[0].MessageAttributes != nil || got.Messages[0].Attributes != nil ||
		got.Messages[0].MD5OfMessageAttributes != nil {
		t.Errorf("attributes nobody asked for: %+v", got.Messages[0])
	}
	rest := m.receive(q)
	if len(rest) != 2 || len(rest[1].MessageAttributes) != 10 || rest[1].MessageAttributes["a3"].BinaryValue[0] != 3 {
		t.Errorf("received %+v", rest)
	}
}

// What else the service refuses of messages and batches is in the contract.
func TestMessageLimits(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", nil)
	for body, code := range map[string]string{strings.Repeat("x", 1<<20+1): "InvalidParameterValue", "": "MissingParameter",
		"a\x00b": "InvalidMessageContents"} {
		_, err := m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: &body})
		expectCode(t, err, code)
	}
	for _, id := range []string{"", "é"} {
		_, err := m.sqs.SendMessageBatch(background, &sqs.SendMessageBatchInput{QueueUrl: q,
			Entries: []types.SendMessageBatchRequestEntry{{Id: &id, MessageBody: aws.String("x")}}})
		expectCode(t, err, "AWS.SimpleQueueService.InvalidBatchEntryId")
	}
}

func TestInvalidAttributes(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", nil)
	send := func(name, kind string) error {
		_, err := m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: aws.String("x"),
			MessageAttributes: map[string]types.MessageAttributeValue{name: {DataType: &kind, StringValue: aws.String("1")}}})
		return err
	}
	for _, name := range []string{"", "AWS.x", "aws.trace", "Amazon.x", "amazon.", "a b", ".a", "a.", "a..b", "é", "a/b",
		strings.Repeat("x", 257)} {
		expectCode(t, send(name, "String"), "InvalidParameterValue")
	}
	for _, kind := range []string{"", "Text", "string", "String." + strings.Repeat("x", 250)} {
		expectCode(t, send("a", kind), "InvalidParameterValue")
	}
	_, err := m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: aws.String("x"),
		MessageAttributes: map[string]types.MessageAttributeValue{"a": {DataType: aws.String("String"),
			StringValue: aws.String("a\x00b")}}})
	expectCode(t, err, "InvalidParameterValue")
	for _, handle := range []string{"", "x", "a#b#c", strings.Repeat("x", 36) + "#1#2"} {
		_, err := m.sqs.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: q, ReceiptHandle: &handle})
		expectCode(t, err, "ReceiptHandleIsInvalid")
	}
	_, err = m.sqs.CreateQueue(background,
		&sqs.CreateQueueInput{QueueName: aws.String("in"), Attributes: map[string]string{"FifoQueue": "false"}})
	expectCode(t, err, "InvalidAttributeName")
	for _, name := range []string{"AWS", "AWS_x", "Amazonas", "a.b-c_D9", strings.Repeat("x", 256)} {
		if err := send(name, "Number.int"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", "a b", "é", strings.Repeat("x", 129)} {
		_, err := m.sqs.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q, MessageBody: aws.String("x"), MessageGroupId: &id})
		expectCode(t, err, "InvalidParameterValue")
	}
}

func TestListQueues(t *testing.T) {
	m := newMail(t)
	want := []string{}
	for _, name := range []string{"b", "a2", "a1", "c"} {
		m.queue(name, nil)
	}
	list := func(in sqs.ListQueuesInput) ([]string, *string) {
		out, err := m.sqs.ListQueues(background, &in)
		held(t, err)
		names := []string{}
		for _, url := range out.QueueUrls {
			names = append(names, url[strings.LastIndexByte(url, '/')+1:])
		}
		return names, out.NextToken
	}
	if got, _ := list(sqs.ListQueuesInput{QueueNamePrefix: aws.String("none")}); !slices.Equal(got, want) {
		t.Errorf("%v, want none", got)
	}
	if got, next := list(sqs.ListQueuesInput{}); !slices.Equal(got, []string{"a1", "a2", "b", "c"}) || next != nil {
		t.Errorf("all: %v, %v", got, next)
	}
	if got, next := list(sqs.ListQueuesInput{QueueNamePrefix: aws.String("a"), MaxResults: aws.Int32(2)}); !slices.Equal(got,
		[]string{"a1", "a2"}) || next != nil {
		t.Errorf("those with a: %v, %v", got, next)
	}
	got, next := list(sqs.ListQueuesInput{MaxResults: aws.Int32(3)})
	rest, last := list(sqs.ListQueuesInput{MaxResults: aws.Int32(3), NextToken: next})
	if !slices.Equal(append(got, rest...), []string{"a1", "a2", "b", "c"}) || len(got) != 3 || last != nil {
		t.Errorf("two pages: %v, %v, %v", got, rest, last)
	}
	for _, in := range []sqs.ListQueuesInput{{MaxResults: aws.Int32(0)}, {MaxResults: aws.Int32(1001)}, {NextToken: aws.String("a1")}} {
		_, err := m.sqs.ListQueues(background, &in)
		expectCode(t, err, "InvalidParameterValue")
	}
}

// TestLongPoll waits in a bubble, where time passes when nothing else happens.
func TestLongPoll(t *testing.T) {
	for name, c := range map[string]struct {
		fifo bool
		meet func(m *mail, url *string, stop func(), leave context.CancelFunc) // what happens after 3 s
		want string
		at   time.Duration
		err  bool
	}{
		"nothing comes": {at: 20 * time.Second},
		"a message comes": {meet: func(m *mail, url *string, _ func(), _ context.CancelFunc) {
			m.send(url, "new", "")
		}, want: "new", at: 3 * time.Second},
		"the client is gone": {meet: func(_ *mail, _ *string, _ func(), leave context.CancelFunc) {
			leave()
		}, at: 3 * time.Second, err: true},
		"the engine is ended": {meet: func(_ *mail, _ *string, stop func(), _ context.CancelFunc) { stop() }, at: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				m := &mail{t, nil, embedded.New(embedded.Config{LongPolls: ended}).SQS()}
				url := m.queue("in", nil)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				began := time.Now()
				if c.meet != nil {
					time.AfterFunc(3*time.Second, func() { c.meet(m, url, func() { close(ended) }, leave) })
				}
				out, err := m.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 20})
				if (err != nil) != c.err || time.Since(began) != c.at {
					t.Fatalf("it ended after %v with %v, want %v", time.Since(began), err, c.at)
				}
				if err == nil && bodies(out.Messages) != c.want {
					t.Errorf("received %q, want %q", bodies(out.Messages), c.want)
				}
			})
		})
	}
}

// TestLongPollOfWhatIsInFlight waits for messages that somebody else has received.
func TestLongPollOfWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mail{t, nil, embedded.New(embedded.Config{LongPolls: make(chan struct{})}).SQS()}
		url := m.queue("in.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "7"})
		wait := func() (string, time.Duration) {
			t.Helper()
			began := time.Now()
			out, err := m.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 20})
			held(t, err)
			return bodies(out.Messages), time.Since(began)
		}
		m.send(url, "first", "g")
		m.send(url, "second", "g")
		take := func() *string {
			t.Helper()
			out, err := m.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url})
			if err != nil || bodies(out.Messages) != "first" {
				t.Fatalf("%q, %v", bodies(out.Messages), err)
			}
			return out.Messages[0].ReceiptHandle
		}
		take()
		if got, after := wait(); got != "first" || after != 7*time.Second {
			t.Errorf("when it is visible again: %q after %v", got, after)
		}
		time.Sleep(7 * time.Second)
		handle := take()
		time.AfterFunc(2*time.Second, func() {
			if _, err := m.sqs.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: handle}); err != nil {
				t.Error(err)
			}
		})
		if got, after := wait(); got != "second" || after != 2*time.Second {
			t.Errorf("when its group is free: %q after %v", got, after)
		}
	})
}

func TestQueueAttributes(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", map[string]string{"VisibilityTimeout": "60"})
	if same := m.queue("in", map[string]string{"VisibilityTimeout": "60"}); *same != *q {
		t.Errorf("made again: %s", *same)
	}
	create := func(name string, attributes map[string]string) error {
		_, err := m.sqs.CreateQueue(background, &sqs.CreateQueueInput{QueueName: aws.String(name), Attributes: attributes})
		return err
	}
	expectCode(t, create("in", map[string]string{"VisibilityTimeout": "61"}), "QueueAlreadyExists")
	expectCode(t, create("x", map[string]string{"VisibilityTimeout": "43201"}), "InvalidAttributeValue")
	expectCode(t, create("x.fifo", nil), "InvalidParameterValue")
	expectCode(t, create("x", map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"nosuch","maxReceiveCount":1}`}),
		"InvalidParameterValue")
	expectUnsupported(t, create("x", map[string]string{"DelaySeconds": "1"}),
		"embedded: CreateQueue: attribute DelaySeconds is not supported")
	found, err := m.sqs.GetQueueUrl(background, &sqs.GetQueueUrlInput{QueueName: aws.String("in")})
	if err != nil || *found.QueueUrl != *q {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestRetention(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", map[string]string{"MessageRetentionPeriod": "60"})
	m.send(q, "old", "")
	m.clock.advance(time.Minute)
	m.send(q, "new", "")
	if got := m.receive(q); bodies(got) != "new" {
		t.Errorf("received %q", bodies(got))
	}
}

func TestReceiptBatches(t *testing.T) {
	m := newMail(t)
	q := m.queue("in", nil)
	for i := range 3 {
		m.send(q, fmt.Sprint(i), "")
	}
	got := m.receive(q)
	var changes []types.ChangeMessageVisibilityBatchRequestEntry
	var deletes []types.DeleteMessageBatchRequestEntry
	for i, msg := range got {
		id := aws.String(fmt.Sprint(i))
		changes = append(changes, types.ChangeMessageVisibilityBatchRequestEntry{Id: id, ReceiptHandle: msg.ReceiptHandle})
		deletes = append(deletes, types.DeleteMessageBatchRequestEntry{Id: id, ReceiptHandle: msg.ReceiptHandle})
	}
	changes = append(changes, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String("bad"), ReceiptHandle: aws.String("nonsense")})
	changed, err := m.sqs.ChangeMessageVisibilityBatch(background, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: q, Entries: changes})
	if err != nil || len(changed.Successful) != 3 || len(changed.Failed) != 1 || *changed.Failed[0].Code != "ReceiptHandleIsInvalid" {
		t.Errorf("changed %+v, %v", changed, err)
	}
	if again := m.receive(q); bodies(again) != "0 1 2" {
		t.Errorf("received %q", bodies(again))
	}
	deleted, err := m.sqs.DeleteMessageBatch(background, &sqs.DeleteMessageBatchInput{QueueUrl: q, Entries: deletes})
	if err != nil || len(deleted.Successful) != 3 || m.attribute(q, "ApproximateNumberOfMessagesNotVisible") != "3" {
		t.Errorf("old handles: %+v, %v", deleted, err)
	}
}
