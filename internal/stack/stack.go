package stack

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/embedded"
)

// Names and settings of the resources, as template.yaml has them where it matters.
const (
	Events     = "events"
	Aggregates = "totals"
	Bucket     = "archive"

	FunctionTimeout = 30 * time.Second
	Visibility      = 6 * FunctionTimeout
	MaxReceives     = 10
	Window          = time.Minute // tumbling; only a window tells the streams function its shard
)

// twoWeeks in seconds is the longest that SQS keeps a message.
const twoWeeks = "1209600"

// Stack is the resources of one deployment.
type Stack struct {
	Engine *embedded.Engine

	StreamARN string // of the events table
	// URLs of the queues.
	Queue, Quarantine, DeadLetters string
}

// Config says what differs between deployments.
type Config struct {
	Indexes []string // of the events table
	FIFO    bool     // the events come through a FIFO queue
}

// New makes all resources on an engine that has none of them.
func New(ctx context.Context, e *embedded.Engine, c Config) (*Stack, error) {
	s := &Stack{Engine: e}
	var err error
	if s.StreamARN, err = EventsTable(ctx, e, Events, c.Indexes); err != nil {
		return nil, fmt.Errorf("creating the events table: %w", err)
	}
	if err := AggregatesTable(ctx, e, Aggregates); err != nil {
		return nil, fmt.Errorf("creating the aggregates table: %w", err)
	}
	if err := s.queues(ctx, c.FIFO); err != nil {
		return nil, fmt.Errorf("creating queues: %w", err)
	}
	if _, err := e.S3().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(Bucket)}); err != nil {
		return nil, fmt.Errorf("creating the bucket: %w", err)
	}
	return s, nil
}

// queues: the dead-letter queue is of the same kind as the queue, as SQS asks; quarantine is always a standard
// queue, since its letters carry no group.
func (s *Stack) queues(ctx context.Context, fifo bool) (err error) {
	if s.Quarantine, err = s.queue(ctx, "quarantine", false, map[string]string{"MessageRetentionPeriod": twoWeeks}); err != nil {
		return err
	}
	if s.DeadLetters, err = s.queue(ctx, "dead-letters", fifo, map[string]string{"MessageRetentionPeriod": twoWeeks}); err != nil {
		return err
	}
	arn, err := s.attribute(ctx, s.DeadLetters, types.QueueAttributeNameQueueArn)
	if err != nil {
		return err
	}
	s.Queue, err = s.queue(ctx, "events", fifo, map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(Visibility / time.Second)),
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, arn, MaxReceives),
	})
	return err
}

func (s *Stack) queue(ctx context.Context, name string, fifo bool, attributes map[string]string) (url string, err error) {
	if fifo {
		name += ".fifo"
		attributes["FifoQueue"] = "true"
	}
	out, err := s.Engine.SQS().CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

func (s *Stack) attribute(ctx context.Context, url string, name types.QueueAttributeName) (string, error) {
	out, err := s.Engine.SQS().GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		return "", err
	}
	return out.Attributes[string(name)], nil
}

// Depth is how many messages a queue holds, in flight or not.
func (s *Stack) Depth(ctx context.Context, url string) (int, error) {
	total := 0
	for _, name := range []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible} {
		text, err := s.attribute(ctx, url, name)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// Objects are the names of all that the archive holds, in byte order.
func (s *Stack) Objects(ctx context.Context) ([]string, error) {
	var names []string
	in := &s3.ListObjectsV2Input{Bucket: aws.String(Bucket)}
	for {
		out, err := s.Engine.S3().ListObjectsV2(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, o := range out.Contents {
			names = append(names, aws.ToString(o.Key))
		}
		if in.ContinuationToken = out.NextContinuationToken; in.ContinuationToken == nil {
			return names, nil
		}
	}
}
