package stage

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/esm"
)

// Readers read the same streams. DynamoDB throttles a third reader of a shard
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html), and where the
// table has replicas, a second one
// (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html#events-sample-dynamodb).
type Readers struct {
	*World
	Most int
	last map[string]map[*Reader]time.Time // when who has read a shard
}

// NewReaders returns the readers of a world.
func NewReaders(w *World, most int) *Readers {
	return &Readers{w, most, map[string]map[*Reader]time.Time{}}
}

// Reader is one of them.
type Reader struct {
	esm.StreamClient
	of *Readers
}

// Reader returns one more reader.
func (r *Readers) Reader(client esm.StreamClient) *Reader { return &Reader{client, r} }

// reads is how long somebody counts who has read a shard.
const reads = 2 * time.Second

// GetRecords is refused if too many others read the shard.
func (r *Reader) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	shard := (*in.ShardIterator)[:strings.LastIndexByte(*in.ShardIterator, '|')]
	last, others := r.of.last[shard], 0
	if last == nil {
		last = map[*Reader]time.Time{}
		r.of.last[shard] = last
	}
	for other, at := range last {
		switch {
		case r.of.Now.Sub(at) > reads:
			delete(last, other)
		case other != r:
			others++
		}
	}
	if others >= r.of.Most && !r.of.Calm {
		return nil, &types.LimitExceededException{Message: aws.String("too many readers of the shard")}
	}
	last[r] = r.of.Now
	return r.StreamClient.GetRecords(ctx, in, options...)
}
