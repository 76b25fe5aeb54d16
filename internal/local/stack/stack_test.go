package stack

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// TestNew shows that New creates all resources, and that the functions can work with them.
func TestNew(t *testing.T) {
	ctx := context.Background()
	for _, fifo := range []bool{false, true} {
		e := embedded.New(embedded.Config{Now: func() time.Time { return time.Unix(1_500_000_000, 0) }})
		s, err := New(ctx, e, Config{Indexes: []string{"GSI1", "GSI7"}, FIFO: fifo})
		must.Succeed(t, err)
		events, err := e.DynamoDB().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(Events)})
		if err != nil || len(events.Table.GlobalSecondaryIndexes) != 2 || aws.ToString(events.Table.LatestStreamArn) != s.StreamARN ||
			s.StreamARN == "" {
			t.Errorf("events table: %+v, %v", events, err)
		}
		for _, name := range []string{Events, Aggregates} {
			ttl, err := e.DynamoDB().DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
			if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "expiresAt" {
				t.Errorf("%s: %+v, %v", name, ttl, err)
			}
		}
		in := &sqs.SendMessageInput{QueueUrl: &s.Queue, MessageBody: aws.String("{}")}
		if fifo {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String("g"), aws.String("1")
		}
		_, err = e.SQS().SendMessage(ctx, in)
		must.Succeed(t, err)
		for url, want := range map[string]int{s.Queue: 1, s.Quarantine: 0, s.DeadLetters: 0} {
			if n, err := s.Depth(ctx, url); err != nil || n != want {
				t.Errorf("%s holds %d, want %d (%v)", url, n, want, err)
			}
		}
		_, err = e.SQS().ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &s.Queue})
		must.Succeed(t, err)
		if n, err := s.Depth(ctx, s.Queue); err != nil || n != 1 {
			t.Errorf("a message in flight is not counted: %d, %v", n, err)
		}
		_, err = e.S3().PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: aws.String("k")})
		must.Succeed(t, err)
		if names, err := s.Objects(ctx); err != nil || len(names) != 1 || names[0] != "k" {
			t.Errorf("the archive holds %q, %v", names, err)
		}
		if _, err := New(ctx, e, Config{}); err == nil {
			t.Error("made a second time")
		}
	}
}
