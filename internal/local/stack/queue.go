package stack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Queues is a client that can create queues: the engine's, or the SDK's.
type Queues interface {
	CreateQueue(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Queue describes a queue to create. A zero field means the default of SQS.
type Queue struct {
	Name        string // the name of a FIFO queue ends in .fifo
	FIFO        bool
	ByContent   bool // content-based deduplication: two messages with the same body count as one
	Visibility  time.Duration
	Keep        time.Duration // how long messages are kept, at most 14 days
	DeadLetters string        // URL of the queue that gets messages that were received MaxReceives times
	MaxReceives int
}

// Create creates the queue and returns its URL.
func (q Queue) Create(ctx context.Context, client Queues) (url string, err error) {
	in := &sqs.CreateQueueInput{QueueName: &q.Name, Attributes: map[string]string{}}
	seconds := func(name types.QueueAttributeName, d time.Duration) {
		if d > 0 {
			in.Attributes[string(name)] = strconv.Itoa(int(d / time.Second))
		}
	}
	seconds(types.QueueAttributeNameVisibilityTimeout, q.Visibility)
	seconds(types.QueueAttributeNameMessageRetentionPeriod, q.Keep)
	if q.FIFO {
		in.Attributes["FifoQueue"] = "true"
	}
	if q.ByContent {
		in.Attributes["ContentBasedDeduplication"] = "true"
	}
	if q.DeadLetters != "" {
		arn, err := attribute(ctx, client, q.DeadLetters, types.QueueAttributeNameQueueArn)
		if err != nil {
			return "", err
		}
		in.Attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, arn, q.MaxReceives)
	}
	out, err := client.CreateQueue(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

func attribute(ctx context.Context, client Queues, url string, name types.QueueAttributeName) (string, error) {
	out, err := client.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		return "", err
	}
	return out.Attributes[string(name)], nil
}

// Buckets is a client that can create buckets: the engine's, or the SDK's.
type Buckets interface {
	CreateBucket(context.Context, *s3.CreateBucketInput, ...func(*s3.Options)) (*s3.CreateBucketOutput, error)
}

// CreatePayloads creates the payload bucket if it does not exist.
func CreatePayloads(ctx context.Context, client Buckets) error {
	err := CreateArchive(ctx, client, Payloads)
	if mine := (*s3types.BucketAlreadyOwnedByYou)(nil); errors.As(err, &mine) {
		return nil
	}
	return err
}

// CreateArchive creates the bucket for expired events.
func CreateArchive(ctx context.Context, client Buckets, name string) error {
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	return err
}
