package contract

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/store"
)

// DynamoDB is what the store asks, and what a test needs to set a table up; *dynamodb.Client has it.
type DynamoDB interface {
	store.Client
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DeleteTable(context.Context, *dynamodb.DeleteTableInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// SQS is what a queue mapping and quarantine ask, and what a test needs to set a queue up; *sqs.Client has it.
type SQS interface {
	esm.QueueClient
	handler.Sender
	CreateQueue(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

// S3 is what the archive asks, and what a test needs to look into it; *s3.Client has it.
type S3 interface {
	handler.Uploader
	CreateBucket(context.Context, *s3.CreateBucketInput, ...func(*s3.Options)) (*s3.CreateBucketOutput, error)
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// Harness is one backend.
type Harness struct {
	// Backend is its name in test names and in Differences: embedded, localstack, …
	Backend  string
	DynamoDB DynamoDB
	Streams  esm.StreamClient
	SQS      SQS // nil: the backend has no queues
	S3       S3  // nil: the backend has no buckets
	// Name makes a name that no other test uses, for a table, a queue or a bucket.
	Name func(testing.TB) string
	// Pass lets a little time go by, for tests that wait for something: a moment of the backend's own clock.
	Pass func()

	cases []*Case // what ran, in order
	area  *area   // which is running
}

// patience is how long a test waits for what happens by itself.
const patience = 60 * time.Second

// Until waits until done reports true.
func (h *Harness) Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); h.Pass() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
