package stack

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// These are names and settings of the resources. The settings that matter to Ingot are the same in
// template.yaml.
const (
	Events     = "events"
	Aggregates = "totals"
	Bucket     = "archive"
	Payloads   = "payloads" // only a stack that offloads payloads has this bucket

	FunctionTimeout = 30 * time.Second
	Visibility      = 6 * FunctionTimeout
	MaxReceives     = 10
	Window          = time.Minute // a tumbling window; an event names its shard only if there is a window
)

// longestKeep is the longest time for which SQS keeps a message.
const longestKeep = 14 * 24 * time.Hour

// Stack holds the resources of one deployment.
type Stack struct {
	Engine *embedded.Engine

	StreamARN string // of the events table
	// These are the URLs of the queues.
	Queue, Quarantine, DeadLetters string
}

// Config holds the settings that differ between deployments.
type Config struct {
	Indexes  []string      // of the events table
	FIFO     bool          // the events come through a FIFO queue
	Receives int           // how often a message is received before it is a dead letter; 0: MaxReceives
	Keep     time.Duration // how long the queue keeps a message; 0: four days, the default of SQS
	Offload  bool          // the pipeline offloads payloads
	// Watched says that the aggregates table has a stream too, and that nothing expires there.
	Watched bool
}

// New creates all resources on an engine. None of them may exist there.
func New(ctx context.Context, e *embedded.Engine, c Config) (*Stack, error) {
	s := &Stack{Engine: e}
	var err error
	if s.StreamARN, err = EventsTable(Events, c.Indexes...).Create(ctx, e.DynamoDB()); err != nil {
		return nil, fmt.Errorf("creating the events table: %w", err)
	}
	aggregates := AggregatesTable(Aggregates)
	aggregates.Stream, aggregates.Expires = c.Watched, !c.Watched
	if _, err := aggregates.Create(ctx, e.DynamoDB()); err != nil {
		return nil, fmt.Errorf("creating the aggregates table: %w", err)
	}
	if err := s.queues(ctx, c); err != nil {
		return nil, fmt.Errorf("creating queues: %w", err)
	}
	if err := CreateArchive(ctx, e.S3(), Bucket); err != nil {
		return nil, fmt.Errorf("creating the bucket: %w", err)
	}
	if c.Offload {
		if err := CreatePayloads(ctx, e.S3()); err != nil {
			return nil, fmt.Errorf("creating the payload bucket: %w", err)
		}
	}
	return s, nil
}

// queues creates the three queues. The dead-letter queue is of the same kind as the queue, as SQS
// requires. The quarantine queue is always a standard queue, because its letters have no group.
func (s *Stack) queues(ctx context.Context, c Config) (err error) {
	client, suffix := s.Engine.SQS(), ""
	if c.FIFO {
		suffix = ".fifo"
	}
	if s.Quarantine, err = (Queue{Name: "quarantine", Keep: longestKeep}).Create(ctx, client); err != nil {
		return err
	}
	if s.DeadLetters, err = (Queue{Name: "dead-letters" + suffix, FIFO: c.FIFO, Keep: longestKeep}).Create(ctx, client); err != nil {
		return err
	}
	s.Queue, err = Queue{Name: "events" + suffix, FIFO: c.FIFO, Visibility: Visibility, Keep: c.Keep,
		DeadLetters: s.DeadLetters, MaxReceives: cmp.Or(c.Receives, MaxReceives)}.Create(ctx, client)
	return err
}

// Depth returns how many messages a queue of the stack holds, including those in flight.
func (s *Stack) Depth(ctx context.Context, url string) (int, error) {
	return Depth(ctx, s.Engine.SQS(), url)
}

// Depth returns how many messages a queue holds, including those in flight.
func Depth(ctx context.Context, client Queues, url string) (int, error) {
	total := 0
	for _, name := range []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible} {
		text, err := attribute(ctx, client, url, name)
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

// Redrive moves the dead letters back into the queue.
func (s *Stack) Redrive(ctx context.Context) error {
	arn, err := attribute(ctx, s.Engine.SQS(), s.DeadLetters, types.QueueAttributeNameQueueArn)
	if err == nil {
		_, err = s.Engine.SQS().StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
	}
	return err
}

// Objects returns the names of everything in the archive, in byte order.
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
