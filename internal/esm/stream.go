package esm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// StreamClient is what a stream mapping needs of DynamoDB Streams. *dynamodbstreams.Client
// implements it.
type StreamClient interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput,
		error)
}

// StreamConfig describes a mapping from a table's stream to a function. The mapping starts at
// TRIM_HORIZON. Its ParallelizationFactor is 1, which means one batch for each shard at a time.
type StreamConfig struct {
	Client   StreamClient
	ARN      string // of the stream
	Function Function
	// BatchSize is how many records one invocation gets at most. 0 means 100. The maximum is
	// 10,000.
	BatchSize int
	// Concurrency is how many shards' invocations Poll runs at once. 0 means 1, which starts no
	// goroutine.
	Concurrency int
	// Window is the length of the tumbling window, in whole seconds and at most 15 minutes. 0 means
	// no window. An event names its shard only with a window.
	Window time.Duration
	// Grace is how long after the end of a window the mapping waits for its last records. 0 means
	// two minutes, as Lambda does (developer guide, "Tumbling windows").
	Grace time.Duration
	// ReportBatchItemFailures makes the mapping read which records failed. Without it, an
	// invocation that returns no error succeeds as a whole.
	ReportBatchItemFailures bool
	// Bisect splits a batch in two when it failed as a whole. Splitting does not count as a retry.
	Bisect bool
	// MaxRetries discards records after this many retries. 0 means never, which is Lambda's -1.
	MaxRetries int
	// OnFailure, if set, is called for every batch that failed, as a whole (with the error) or in
	// part (with nil).
	OnFailure func(Invocation, error)
	// OnDiscard, if set, is called for what was discarded.
	OnDiscard func(Discard)
}

// Discard describes what was discarded because its retries ran out.
type Discard struct {
	ShardID string
	IDs     []string // sequence numbers; none if it was the end of a window
}

// Stream is an event source mapping from a stream. [NewStream] makes one. Its methods are not safe
// for concurrent use.
type Stream struct {
	cfg         StreamConfig
	shards      map[string]*shard
	order       []string // their ids, in byte order
	described   bool     // whether the list of shards was read since the last shard finished
	describedAt time.Time
}

// NewStream checks cfg. It does not ask the stream anything yet.
func NewStream(cfg StreamConfig) (*Stream, error) {
	if cfg.BatchSize == 0 {
		cfg.BatchSize = 100
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("stream mapping of %s: %w", cfg.ARN, err)
	}
	return &Stream{cfg: cfg, shards: map[string]*shard{}}, nil
}

func (cfg *StreamConfig) check() error {
	switch {
	case cfg.BatchSize < 1 || cfg.BatchSize > 10_000:
		return fmt.Errorf("field BatchSize is %d, not 1 to 10000", cfg.BatchSize)
	case cfg.Concurrency < 0:
		return fmt.Errorf("field Concurrency is %d", cfg.Concurrency)
	case cfg.Window < 0 || cfg.Window > 15*time.Minute || cfg.Window%time.Second != 0:
		return fmt.Errorf("field Window is %v, not whole seconds up to 15m", cfg.Window)
	case cfg.MaxRetries < 0 || cfg.MaxRetries > 10_000:
		return fmt.Errorf("field MaxRetries is %d, not 0 to 10000", cfg.MaxRetries)
	}
	return cfg.Function.check()
}

// Streamed is what one round of a stream mapping did.
type Streamed struct {
	Invocations int // calls for records
	Finals      int // calls for the end of a window
	Records     int // records passed to the function
	Done        int // records that the checkpoint moved past
	Failed      int // invocations that failed in whole or in part
	Discarded   int // records that were discarded
	Finished    int // shards that came to their end
	Trimmed     int // shards where records may be lost, because they were trimmed before they were done
}

// Idle reports whether there was nothing to do.
func (p Streamed) Idle() bool {
	return p.Invocations == 0 && p.Finals == 0 && p.Discarded == 0 && p.Finished == 0
}

func (p *Streamed) add(q Streamed) {
	p.Invocations += q.Invocations
	p.Finals += q.Finals
	p.Records += q.Records
	p.Done += q.Done
	p.Failed += q.Failed
	p.Discarded += q.Discarded
	p.Finished += q.Finished
	p.Trimmed += q.Trimmed
}

// Poll does one round. It makes at most one invocation for each shard that may be read, in the
// order of their ids. An error comes from the stream, never from the function. An error does not
// undo what the round has done.
func (s *Stream) Poll(ctx context.Context) (Streamed, error) {
	rounds, p, err := s.Due(ctx)
	done := make([]Streamed, len(rounds))
	each(len(rounds), s.cfg.Concurrency, func(i int) { done[i] = rounds[i].Do(ctx) })
	for _, d := range done {
		p.add(d)
	}
	return p, err
}

// Drained reports whether the last [Stream.Poll] processed everything that the stream held when the
// Poll began. It returns false if a record is left, because the batch was full, because the record
// belongs to another window, or because it failed. It also returns false if there may be a shard
// that has not been read yet.
func (s *Stream) Drained() bool {
	if !s.described {
		return false
	}
	for _, sh := range s.shards {
		if sh.ended || !sh.at.Finished && (!sh.drained || len(sh.ahead) > 0) {
			return false
		}
	}
	return true
}

// Due reads ahead in every shard that may be read and has no [Round] in progress. It returns a
// Round for each shard that has a reason to call the function, in the order of their ids. It is for
// callers that let shards go on without waiting for each other, as Lambda does. The caller must
// call [Round.Do] of each Round. Several may run at the same time, but not while Due, Checkpoint or
// Restore runs. An error comes from the stream.
func (s *Stream) Due(ctx context.Context) ([]*Round, Streamed, error) {
	var p Streamed
	for _, sh := range s.shards {
		if sh.ended {
			sh.ended, s.described = false, false // it may have children
		}
	}
	if err := s.discover(ctx, &p); err != nil {
		return nil, p, err
	}
	var rounds []*Round
	var errs []error
	for _, sh := range s.ready() {
		if sh.busy {
			continue
		}
		due, err := s.prepare(ctx, sh, &p)
		errs = append(errs, err)
		if due {
			sh.busy = true
			rounds = append(rounds, &Round{s, sh})
		}
	}
	err := errors.Join(errs...)
	if err != nil {
		s.described = false // perhaps a shard could not be read because it is gone
	}
	return rounds, p, err
}

// rediscover is how often the list of shards is read even if no shard has ended.
const rediscover = time.Minute

// discover reads the list of shards if it may have changed. Shards appear as children of closed
// ones.
func (s *Stream) discover(ctx context.Context, p *Streamed) error {
	now := s.cfg.Function.now()
	if s.described && len(s.ready()) > 0 && now.Sub(s.describedAt) < rediscover {
		return nil
	}
	listed, err := Shards(ctx, s.cfg.Client, s.cfg.ARN)
	if err != nil {
		return err
	}
	for id, listing := range listed {
		sh := s.shards[id]
		if sh == nil {
			sh = &shard{id: id}
			s.shards[id] = sh
		}
		sh.parent = aws.ToString(listing.ParentShardId)
	}
	// A shard that is gone from the list is past its 24 hours, so nothing more can come from it.
	for id, sh := range s.shards {
		if _, ok := listed[id]; ok {
			continue
		}
		if !sh.at.Finished {
			p.Trimmed++
		}
		delete(s.shards, id)
	}
	s.order = slices.Sorted(maps.Keys(s.shards))
	s.described, s.describedAt = true, now
	return nil
}

// Shards lists the shards of a stream by their ids, closed ones too.
func Shards(ctx context.Context, client StreamClient, arn string) (map[string]types.Shard, error) {
	listed := map[string]types.Shard{}
	var from *string
	for {
		out, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn, ExclusiveStartShardId: from})
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", arn, err)
		}
		for _, listing := range out.StreamDescription.Shards {
			listed[aws.ToString(listing.ShardId)] = listing
		}
		if from = out.StreamDescription.LastEvaluatedShardId; from == nil {
			return listed, nil
		}
	}
}

// ready returns the shards that may be read, in the order of their ids. Such a shard is not
// finished, and its parent is finished or no longer known. Reading parents before children keeps
// the changes of one item in order.
func (s *Stream) ready() []*shard {
	var list []*shard
	for _, id := range s.order {
		sh := s.shards[id]
		parent := s.shards[sh.parent]
		if !sh.at.Finished && (parent == nil || parent.at.Finished) {
			list = append(list, sh)
		}
	}
	return list
}
