package esm

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// shard is the state of the mapping in one shard: its checkpoint, and the records that it has read
// ahead.
type shard struct {
	id, parent string
	at         ShardCheckpoint
	busy       bool // a Round of the shard is not done yet
	ended      bool // the shard has finished since the list of shards was read

	ahead    []change // read, but after the checkpoint
	iterator *string  // nil if there is no valid one
	closed   bool     // the stream has no record after those in ahead, and never will have one
	drained  bool     // when it was last read, it was open and had no record after those in ahead

	attempts int   // failed invocations at this checkpoint
	pieces   []int // the sizes of the next batches, if a batch was bisected
}

// change is one record and its JSON.
type change struct {
	record types.Record
	json   []byte
}

func (c change) sequence() string { return aws.ToString(c.record.Dynamodb.SequenceNumber) }

// rewind drops the records that were read ahead. The next round reads again from the checkpoint, as
// a new poller does.
func (sh *shard) rewind() {
	sh.ahead, sh.iterator, sh.closed, sh.drained = nil, nil, false, false
}

// advance moves the checkpoint past the first n records that were read ahead.
func (sh *shard) advance(n int) {
	if n == 0 {
		return
	}
	sh.at.After = sh.ahead[n-1].sequence()
	sh.ahead = sh.ahead[n:]
	sh.attempts = 0
	sh.took(n)
}

// took removes n records from the pieces.
func (sh *shard) took(n int) {
	for n > 0 && len(sh.pieces) > 0 {
		if sh.pieces[0] > n {
			sh.pieces[0] -= n
			return
		}
		n -= sh.pieces[0]
		sh.pieces = sh.pieces[1:]
	}
}

// split halves the next n records into two batches.
func (sh *shard) split(n int) {
	sh.took(n)
	sh.pieces = append([]int{n / 2, n - n/2}, sh.pieces...)
}

// changeSize is the capacity with which the JSON of a change begins. It is enough for the change of
// a small item, so that such a JSON needs one allocation.
const changeSize = 2048

// Busy reports whether DynamoDB throttles a reader of a shard, as it may if there are more than two
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html).
func Busy(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err) == aws.TrueTernary
}

// fill reads ahead until there are enough records for a full batch, or the shard has no more
// records for now.
func (s *Stream) fill(ctx context.Context, sh *shard) (trimmed int, err error) {
	sh.drained = false
	for len(sh.ahead) < s.cfg.BatchSize && !sh.closed {
		if sh.iterator == nil {
			lost, err := s.iterate(ctx, sh)
			trimmed += lost
			if err != nil {
				return trimmed, err
			}
		}
		out, err := s.cfg.Client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: sh.iterator, Limit: aws.Int32(1000)})
		if err != nil {
			// An iterator is valid for 15 minutes, and not if it points at trimmed records. The
			// next round gets a new one.
			sh.iterator = nil
			var expired *types.ExpiredIteratorException
			var gone *types.TrimmedDataAccessException
			if errors.As(err, &expired) || errors.As(err, &gone) {
				return trimmed, nil
			}
			return trimmed, fmt.Errorf("read shard %s: %w", sh.id, err)
		}
		for _, r := range out.Records {
			if r.Dynamodb == nil {
				return trimmed, fmt.Errorf("read shard %s: a record has no dynamodb member", sh.id)
			}
			sh.ahead = append(sh.ahead, change{record: r, json: appendChange(make([]byte, 0, changeSize), r, s.cfg.ARN)})
		}
		sh.iterator, sh.closed = out.NextShardIterator, out.NextShardIterator == nil
		if len(out.Records) == 0 {
			sh.drained = !sh.closed
			break
		}
	}
	return trimmed, nil
}

// iterate gets an iterator to the place after the last record that was read. If the stream no
// longer has that place, records may be lost, and the iterator begins at the oldest record that is
// left.
func (s *Stream) iterate(ctx context.Context, sh *shard) (trimmed int, err error) {
	after := sh.at.After
	if n := len(sh.ahead); n > 0 {
		after = sh.ahead[n-1].sequence()
	}
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &s.cfg.ARN, ShardId: &sh.id,
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
	if after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
	}
	out, err := s.cfg.Client.GetShardIterator(ctx, in)
	var gone *types.TrimmedDataAccessException
	if errors.As(err, &gone) && after != "" {
		trimmed = 1
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeTrimHorizon, nil
		out, err = s.cfg.Client.GetShardIterator(ctx, in)
	}
	if err != nil {
		return trimmed, fmt.Errorf("get an iterator of shard %s: %w", sh.id, err)
	}
	sh.iterator = out.ShardIterator
	return trimmed, nil
}
