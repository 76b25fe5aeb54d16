package draining

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

func (w *world) lives() {
	asked := w.Now.Add(time.Duration(120+w.Rng.IntN(600)) * time.Second)
	if !w.Calm && w.Chance(0.15) {
		w.silent = w.fate(asked)
		w.shown = []string{"Enabled", "Enabled", "Creating", "Enabling", "Updating"}[w.Rng.IntN(5)]
	}
	w.Spawn("mapping", nil, w.poll)
	w.Spawn("writer", nil, func() { w.write(asked) })
	w.Spawn("shards", nil, func() { w.reshard(asked) })
	done := false
	w.Spawn("asker", nil, func() {
		w.Sleep(asked.Sub(w.Now))
		w.asked = w.Now
		w.ask()
		done = true
	})
	w.Run(func() bool { return done }, func() string { return fmt.Sprintf("after %s: %d events", w.Now.Sub(stage.Origin), len(w.stored)) })
}

// fate draws when something stands still: for a minute, for some minutes, or for longer than
// anybody waits.
func (w *world) fate(asked time.Time) fate {
	from := stage.Origin.Add(time.Duration(w.Rng.Int64N(int64(asked.Sub(stage.Origin) + 2*time.Minute))))
	return fate{from, from.Add([]time.Duration{time.Minute, 5 * time.Minute, 5 * time.Hour}[w.Rng.IntN(3)])}
}

// write stores events: without end, in bursts, or hardly any.
func (w *world) write(asked time.Time) {
	rare := 1 + w.Rng.IntN(20)
	until := asked.Add(time.Duration(w.Rng.IntN(260)-200) * time.Second)
	for w.busy || w.Now.Before(until) {
		w.Sleep(time.Duration(1+w.Rng.IntN(10*rare)) * time.Second)
		for range 1 + w.Rng.IntN(4) {
			w.put()
		}
	}
}

// mostShards is how many open shards there are at most.
const mostShards = 8

// reshard closes shards, as DynamoDB does, also while somebody asks and while the function is
// behind. Some shards stand still for a while.
func (w *world) reshard(asked time.Time) {
	for {
		for _, id := range w.open() {
			if _, known := w.fates[id]; !known {
				w.fates[id] = fate{}
				if w.ill && w.Chance(0.5) {
					w.fates[id] = w.fate(asked)
				}
			}
		}
		w.Sleep(time.Duration(1+w.Rng.IntN(200)) * time.Second)
		open := w.open()
		// Without shard ids, the proof is for shards that have much the same share of the keys.
		if w.Chance(0.3) || len(open) >= mostShards || w.receipts {
			w.Must(w.engine.RollShards(stack.Events))
		} else {
			w.Must(w.engine.SplitShard(stack.Events, open[w.Rng.IntN(len(open))]))
		}
	}
}

// open lists the open shards.
func (w *world) open() (list []string) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn}
	for {
		out, err := w.engine.Streams().DescribeStream(context.Background(), in)
		if w.Must(err); err != nil {
			return nil
		}
		for _, s := range out.StreamDescription.Shards {
			if s.SequenceNumberRange.EndingSequenceNumber == nil {
				list = append(list, aws.ToString(s.ShardId))
			}
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return list
		}
	}
}

// uncounted returns one of the events that have no total, or nothing.
func (w *world) uncounted(list []string) string {
	var there []string
	for total, err := range w.store(w.engine.DynamoDB()).Totals(context.Background()) {
		if w.Must(err); err != nil {
			return ""
		}
		there = append(there, total.Address.By...)
	}
	for _, n := range list {
		if !slices.Contains(there, n) {
			return n
		}
	}
	return ""
}

// streams is the stream as the mapping reads it. A page may be empty although records follow, and a
// shard that stands still has nothing to tell.
type streams struct {
	*embedded.Streams
	w     *world
	shard map[string]string // by iterator
}

func (s streams) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	out, err := s.Streams.GetShardIterator(ctx, in)
	if err == nil {
		s.shard[*out.ShardIterator] = *in.ShardId
	}
	return out, err
}

func (s streams) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	id := s.shard[*in.ShardIterator]
	if !s.w.Calm && (s.w.stands(s.w.fates[id]) || s.w.Chance(0.3)) {
		return &dynamodbstreams.GetRecordsOutput{NextShardIterator: in.ShardIterator}, nil
	}
	out, err := s.Streams.GetRecords(ctx, in)
	if err == nil && out.NextShardIterator != nil {
		s.shard[*out.NextShardIterator] = id
	}
	return out, err
}

// DescribeStream returns shards without their parents, in a world in which Lambda does not read a
// parent before its children.
func (s streams) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	out, err := s.Streams.DescribeStream(ctx, in)
	if err == nil && s.w.unordered {
		for i := range out.StreamDescription.Shards {
			out.StreamDescription.Shards[i].ParentShardId = nil
		}
	}
	return out, err
}
