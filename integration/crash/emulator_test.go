package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// open finds a DynamoDB, or skips the test.
func open(t *testing.T) *endpoint.Endpoint {
	t.Helper()
	if testing.Short() && !endpoint.Required() {
		t.Skip("short: no processes are killed; run without -short")
	}
	e, err := find(t.Context())
	endpoint.Need(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

// find opens the endpoint that is named, otherwise Dynoxide, otherwise LocalStack.
func find(ctx context.Context) (*endpoint.Endpoint, error) {
	if os.Getenv(endpoint.URLVariable) != "" {
		return endpoint.Open(ctx, os.Getenv)
	}
	e, first := endpoint.Dynoxide(ctx)
	var missing *endpoint.Missing
	if !errors.As(first, &missing) {
		return e, first
	}
	e, err := endpoint.Open(ctx, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%v; %w", first, err)
	}
	return e, nil
}

// createTable makes a table. If the table has a stream, it returns the ARN of the stream.
func createTable(t *testing.T, db *dynamodb.Client, table stack.Table) (streamARN string) {
	t.Helper()
	streamARN, err := table.Create(t.Context(), db)
	must.Succeed(t, err)
	t.Cleanup(func() { // the endpoint may not be ours
		_, _ = db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table.Name}, func(o *dynamodb.Options) {
			o.RetryMaxAttempts = 1
		})
	})
	return streamARN
}

// numbered gives sequence numbers 21 digits, which is the least that those of the service have.
// Dynoxide counts from 1. The order is that of the emulator.
type numbered struct{ esm.StreamClient }

const digits = 21

func (n numbered) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := n.StreamClient.GetRecords(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	for i := range out.Records {
		if number := out.Records[i].Dynamodb.SequenceNumber; len(aws.ToString(number)) < digits {
			*number = "1" + strings.Repeat("0", digits-1-len(*number)) + *number
		}
	}
	return out, nil
}

func (n numbered) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput,
	options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	if number := aws.ToString(in.SequenceNumber); len(number) == digits && number[0] == '1' {
		if short, err := strconv.ParseInt(number[1:], 10, 64); err == nil {
			copied := *in
			copied.SequenceNumber = aws.String(strconv.FormatInt(short, 10))
			in = &copied
		}
	}
	return n.StreamClient.GetShardIterator(ctx, in, options...)
}
