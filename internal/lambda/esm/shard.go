package esm

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// shard is one shard as the mapping sees it. It holds where the mapping stands and what it has read
// ahead.
type shard struct {
	id, parent string
	at         ShardCheckpoint
	busy       bool // a Round of it is not done yet
	ended      bool // it has finished since the list of shards was read

	ahead    []change // read, but after the checkpoint
	iterator *string  // nil if there is none yet, or none that is still valid
	closed   bool     // the stream has no record after those in ahead, and never will have one
	drained  bool     // when it was last read, it was open and had no record after those in ahead

	attempts int   // failed invocations at this checkpoint
	pieces   []int // sizes that bisecting gave to the next batches
}

// change is one record and its JSON.
type change struct {
	record types.Record
	json   []byte
}

func (c change) sequence() string { return aws.ToString(c.record.Dynamodb.SequenceNumber) }

// rewind forgets what was read ahead. The next round reads again from the checkpoint, like a poller
// that knows nothing else.
func (sh *shard) rewind() {
	sh.ahead, sh.iterator, sh.closed, sh.drained = nil, nil, false, false
}

// advance moves the checkpoint over the first n records read ahead.
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

// changeSize is the length of the JSON of a small item's change, so that it is written into one
// piece of memory.
const changeSize = 2048

// fill reads ahead until a batch is full or the shard has nothing more to give now.
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
			// An iterator lives 15 minutes and must not point at trimmed records. The next round
			// takes a new one.
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
				return trimmed, fmt.Errorf("read shard %s: a record without its dynamodb part", sh.id)
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

// iterate takes an iterator after what has been read. If the stream no longer has that record, then
// records may be lost. In that case it goes on with the oldest record there is.
func (s *Stream) iterate(ctx context.Context, sh *shard) (trimmed int, err error) {
	after := sh.at.After
	if n := len(sh.ahead); n > 0 {
		after = sh.ahead[n-1].sequence()
	}
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &s.cfg.ARN, ShardId: &sh.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
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
		return trimmed, fmt.Errorf("iterator of shard %s: %w", sh.id, err)
	}
	sh.iterator = out.ShardIterator
	return trimmed, nil
}
