package publish

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// Target is where a publication goes.
type Target struct {
	ARN string
	// Largest is the size of the largest message, and of the largest request, in bytes.
	Largest int
	// Send sends up to ten messages in one request. It returns an error for each message that is
	// not proven taken.
	Send func(context.Context, []Message) []error
}

// entries is how many messages a request may have. It is the same for all three services.
const entries = 10

// These are limits of the services for a message and for a request. SQS takes 1 MiB (API reference,
// SendMessageBatch), and so does EventBridge (User Guide, "Amazon EventBridge quotas", since 2026).
// SNS takes more than 256 KiB only if a topic says so (developer guide, "Large message payloads").
const (
	largest        = 1 << 20
	largestOnTopic = 256 << 10
)

// largestOnBus is for the bus with this ARN. That the partitions of China and of governments take
// more than the old limit is not said.
func largestOnBus(arn string) int {
	if strings.HasPrefix(arn, "arn:aws:") {
		return largest
	}
	return largestOnTopic
}

// EventBridge is what a bus needs. A *eventbridge.Client is one.
type EventBridge interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Bus returns the bus with this ARN as a target. The CloudEvent is the detail, and its type the
// detail-type.
func Bus(client EventBridge, arn string) Target {
	return Target{arn, largestOnBus(arn), func(ctx context.Context, list []Message) []error {
		in := &eventbridge.PutEventsInput{}
		for i := range list {
			m := &list[i]
			in.Entries = append(in.Entries, eventbridgetypes.PutEventsRequestEntry{EventBusName: &arn, Detail: &m.Body, DetailType: &m.Type,
				Source: &m.Source, Time: &m.Time})
		}
		out, err := client.PutEvents(ctx, in)
		if err != nil {
			return all(list, err)
		}
		errs := all(list, errUnnamed)
		for i, entry := range out.Entries[:min(len(list), len(out.Entries))] {
			if errs[i] = nil; aws.ToString(entry.EventId) == "" {
				errs[i] = refusal(entry.ErrorCode, entry.ErrorMessage)
			}
		}
		return errs
	}}
}

// SNS is what a topic needs. A *sns.Client is one.
type SNS interface {
	PublishBatch(context.Context, *sns.PublishBatchInput, ...func(*sns.Options)) (*sns.PublishBatchOutput, error)
}

// Topic returns the topic with this ARN as a target. Its filters can use the attributes type,
// source and change. A FIFO topic gets one group for each key.
func Topic(client SNS, arn string) Target {
	return Target{arn, largestOnTopic, func(ctx context.Context, list []Message) []error {
		in := &sns.PublishBatchInput{TopicArn: &arn}
		for i := range list {
			m := &list[i]
			text := func(value string) snstypes.MessageAttributeValue {
				return snstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
			}
			entry := snstypes.PublishBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), Message: &m.Body,
				MessageAttributes: map[string]snstypes.MessageAttributeValue{"type": text(m.Type), "source": text(m.Source),
					"change": text(m.Change)}}
			if fifo(arn) {
				entry.MessageGroupId, entry.MessageDeduplicationId = &m.Group, &m.Once
			}
			in.PublishBatchRequestEntries = append(in.PublishBatchRequestEntries, entry)
		}
		out, err := client.PublishBatch(ctx, in)
		if err != nil {
			return all(list, err)
		}
		errs := all(list, errUnnamed)
		for _, done := range out.Successful {
			set(errs, done.Id, nil)
		}
		for _, failed := range out.Failed {
			set(errs, failed.Id, refusal(failed.Code, failed.Message))
		}
		return errs
	}}
}

// SQS is what a queue needs. A *sqs.Client is one.
type SQS interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// Queue returns the queue with this ARN as a target. A FIFO queue gets one group for each key.
func Queue(client SQS, arn string) Target {
	var mu sync.Mutex
	var url *string
	find := func(ctx context.Context) (*string, error) {
		mu.Lock()
		known := url
		mu.Unlock()
		if known != nil {
			return known, nil
		}
		parts := strings.Split(arn, ":")
		out, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &parts[5], QueueOwnerAWSAccountId: &parts[4]})
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		url = out.QueueUrl
		return url, nil
	}
	return Target{arn, largest, func(ctx context.Context, list []Message) []error {
		to, err := find(ctx)
		if err != nil {
			return all(list, err)
		}
		in := &sqs.SendMessageBatchInput{QueueUrl: to}
		for i := range list {
			m := &list[i]
			entry := sqstypes.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &m.Body}
			if fifo(arn) {
				entry.MessageGroupId, entry.MessageDeduplicationId = &m.Group, &m.Once
			}
			in.Entries = append(in.Entries, entry)
		}
		out, err := client.SendMessageBatch(ctx, in)
		if err != nil {
			return all(list, err)
		}
		errs := all(list, errUnnamed)
		for _, done := range out.Successful {
			set(errs, done.Id, nil)
		}
		for _, failed := range out.Failed {
			set(errs, failed.Id, refusal(failed.Code, failed.Message))
		}
		return errs
	}}
}

func fifo(arn string) bool { return strings.HasSuffix(arn, ".fifo") }

var errUnnamed = errors.New("the answer does not name it")

func refusal(code, message *string) error {
	return &smithy.GenericAPIError{Code: aws.ToString(code), Message: aws.ToString(message)}
}

func all(list []Message, err error) []error {
	errs := make([]error, len(list))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// set notes what became of the message with this id, if it is one of them.
func set(errs []error, id *string, err error) {
	if i, bad := strconv.Atoi(aws.ToString(id)); bad == nil && i >= 0 && i < len(errs) {
		errs[i] = err
	}
}
