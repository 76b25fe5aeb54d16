package publish_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/publish"
)

// services take every message but those with the id "refused", do not speak of those with the id
// "unnamed", and note what they get. They list what they have taken in reverse, as they may.
type services struct {
	got   []string
	urls  int
	whole error
}

func (s *services) PutEvents(_ context.Context, in *eventbridge.PutEventsInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	out := &eventbridge.PutEventsOutput{}
	for _, e := range in.Entries {
		entry := eventbridgetypes.PutEventsResultEntry{EventId: aws.String("new")}
		switch {
		case strings.Contains(*e.Detail, "unnamed"):
			continue
		case strings.Contains(*e.Detail, "refused"):
			entry = eventbridgetypes.PutEventsResultEntry{ErrorCode: aws.String("ThrottlingException"), ErrorMessage: aws.String("slow")}
		}
		out.Entries = append(out.Entries, entry)
		s.got = append(s.got, fmt.Sprint(*e.EventBusName, *e.Source, *e.DetailType, e.Time.Unix(), *e.Detail))
	}
	return out, s.whole
}

func (s *services) PublishBatch(_ context.Context, in *sns.PublishBatchInput, _ ...func(*sns.Options)) (*sns.PublishBatchOutput, error) {
	out := &sns.PublishBatchOutput{}
	for _, e := range in.PublishBatchRequestEntries {
		s.got = append(s.got, fmt.Sprint(*in.TopicArn, *e.Message, aws.ToString(e.MessageGroupId),
			aws.ToString(e.MessageDeduplicationId), *e.MessageAttributes["type"].StringValue,
			*e.MessageAttributes["source"].StringValue, *e.MessageAttributes["change"].StringValue))
		switch {
		case strings.Contains(*e.Message, "unnamed"):
		case strings.Contains(*e.Message, "refused"):
			out.Failed = append(out.Failed, snstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
		default:
			out.Successful = append([]snstypes.PublishBatchResultEntry{{Id: e.Id}}, out.Successful...)
		}
	}
	return out, s.whole
}

func (s *services) GetQueueUrl(_ context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	s.urls++
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String("url of " + *in.QueueOwnerAWSAccountId + *in.QueueName)}, s.whole
}

func (s *services) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		s.got = append(s.got, fmt.Sprint(*in.QueueUrl, *e.MessageBody, aws.ToString(e.MessageGroupId),
			aws.ToString(e.MessageDeduplicationId)))
		switch {
		case strings.Contains(*e.MessageBody, "unnamed"):
		case strings.Contains(*e.MessageBody, "refused"):
			out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
		default:
			out.Successful = append([]sqstypes.SendMessageBatchResultEntry{{Id: e.Id}}, out.Successful...)
		}
	}
	return out, s.whole
}

// Each service gets what it needs, and each of its answers is read message by message.
func TestTargets(t *testing.T) {
	const account = ":eu-west-1:111122223333:"
	for arn, c := range map[string]struct {
		make func(*services, string) publish.Target
		want string
	}{
		"arn:aws:events" + account + "event-bus/b": {func(s *services, arn string) publish.Target { return publish.Bus(s, arn) },
			"arn:aws:events" + account + "event-bus/bshoporder 7BODY"},
		"arn:aws:sns" + account + "t": {func(s *services, arn string) publish.Target { return publish.Topic(s, arn) },
			"arn:aws:sns" + account + "tBODYordershopstored"},
		"arn:aws:sns" + account + "t.fifo": {func(s *services, arn string) publish.Target { return publish.Topic(s, arn) },
			"arn:aws:sns" + account + "t.fifoBODYkeyonceordershopstored"},
		"arn:aws:sqs" + account + "q": {func(s *services, arn string) publish.Target { return publish.Queue(s, arn) },
			"url of 111122223333qBODY"},
		"arn:aws:sqs" + account + "q.fifo": {func(s *services, arn string) publish.Target { return publish.Queue(s, arn) },
			"url of 111122223333q.fifoBODYkeyonce"},
	} {
		s := &services{}
		target := c.make(s, arn)
		var list []publish.Message
		for _, body := range []string{"first", "refused", "last", "unnamed"} {
			list = append(list, publish.Message{ID: "id", Once: "once", Group: "key", Source: "shop", Type: "order", Change: "stored",
				Time: time.Unix(7, 0), Body: body})
		}
		errs := target.Send(t.Context(), list)
		if errs[0] != nil || errs[1] == nil || errs[2] != nil || errs[3] == nil {
			t.Errorf("%s: %v", arn, errs)
		}
		if want := strings.Replace(c.want, "BODY", "first", 1); len(s.got) == 0 || strings.ReplaceAll(s.got[0], " ", "") !=
			strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: it gets %q, want %q", arn, s.got, want)
		}
		s.whole = errors.New("no answer")
		for _, err := range target.Send(t.Context(), list) {
			if err == nil {
				t.Errorf("%s: a message without an answer counts as taken", arn)
			}
		}
		if s.urls > 1 {
			t.Errorf("%s: it asks for the URL of the queue %d times", arn, s.urls)
		}
	}
}

// A bus takes as much as a queue, where AWS says so, and a topic less.
func TestLargest(t *testing.T) {
	for arn, want := range map[string]int{"arn:aws:events:eu-central-1:1:event-bus/b": 1 << 20,
		"arn:aws-cn:events:cn-north-1:1:event-bus/b": 256 << 10} {
		must.Equal(t, publish.Bus(nil, arn).Largest, want, arn)
	}
	must.Equal(t, publish.Topic(nil, "arn:aws:sns:eu-central-1:1:t").Largest, 256<<10)
	must.Equal(t, publish.Queue(nil, "arn:aws:sqs:eu-central-1:1:q").Largest, 1<<20)
}
