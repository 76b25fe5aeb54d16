package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/migrate"
)

// The end of a shard is found by reading. An answer without records does not prove it: AWS says
// that records may follow it ("Amazon DynamoDB Streams API Reference", GetRecords). So an end is
// taken for one after so many empty answers in a row, beginning a while after the moment, because
// records appear in the stream a little later than they were written. A record past the moment, or
// the end of a closed shard, is one at once.
const (
	settleTime  = time.Minute
	emptyAnswer = 8
	// proofTime is how long a question takes at most: until the ends are found, and then until
	// capture, whose window is a minute, has noted them.
	proofTime = 10 * time.Minute
	// streamKeeps is how long a stream keeps records.
	streamKeeps = 24 * time.Hour
)

// Ends is how the ends of streams are found.
type Ends struct {
	Client esm.StreamClient
	Clock  env.Env
	// Settle is how long after the question empty answers begin to count, and over how long they
	// are spread. Zero: a minute, as AWS needs. An emulator shows a record at once.
	Settle time.Duration
}

// reading begins to read to the ends of what was written before now.
func (e Ends) reading() *reading {
	clock := e.Clock.Real()
	return &reading{client: e.Client, clock: clock, settle: cmp.Or(e.Settle, settleTime), moment: clock.Now(),
		shards: map[event.Lane]*shardEnd{}}
}

// Proof says how far capture is. It reads the streams to their ends, and waits for what capture
// notes of each shard. It is a [migrate.Lag].
type Proof struct {
	Ends
	Migration *migrate.Migration
	Streams   []string // the ARNs of those that capture must read
	// Covered is a time: what was written before needs no proof, because a comparison that is
	// evidence began after it.
	Covered time.Time
	// Why says more of the function that captures, for an error; may be nil.
	Why func(context.Context, string) string
}

// Counted proves that capture has done every change that was written before the call, and returns
// that time. It takes two minutes or more. A [*migrate.StopError] says which shard is not proven,
// and since when. If the table that is the source has changed since the call, that is noted, too:
// capture may not have seen it yet.
func (p Proof) Counted(ctx context.Context) (time.Time, error) {
	if len(p.Streams) == 0 {
		return time.Time{}, &migrate.StopError{Why: "the old table has no stream that is on, so nobody knows what is written there: switch " +
			"one on, with new and old images, and let capture read it"}
	}
	r := p.reading()
	r.note = p.Migration.LaneDone
	err := r.until(ctx, p.Streams, proofTime)
	if err != nil {
		return time.Time{}, err
	}
	for _, lane := range r.lanes() {
		sh := r.shards[lane]
		why := ""
		switch {
		case sh.trimmed && r.moment.Sub(p.Covered) > streamKeeps:
			why = "what it has noted is older than what the stream keeps, so changes may be lost: run `ingot migrate backfill` and " +
				"`ingot migrate compare`"
		case r.done(sh):
			continue
		case sh.note.Sequence == "":
			why = "it has noted nothing there: is it on, and does its mapping have a window?"
		default:
			why = "it has noted what was written before " + sh.note.Created.UTC().Format(time.RFC3339) + ": is it on?"
		}
		if p.Why != nil {
			why += p.Why(ctx, lane.StreamARN)
		}
		return time.Time{}, &migrate.StopError{Why: fmt.Sprintf("it is not known whether capture has done what was written before %s. In "+
			"shard %s of %s, which has changes until %s, %s", r.moment.UTC().Format(time.RFC3339), lane.ShardID, lane.StreamARN,
			sh.says(), why)}
	}
	if len(p.Streams) == 1 && !r.past.IsZero() { // with two, the new table is the source, and capture writes the old one
		if err := p.Migration.NoteChanged(ctx, r.past); err != nil {
			return time.Time{}, err
		}
	}
	return r.moment, nil
}

// reading reads shards of streams from their notes to their ends.
type reading struct {
	client esm.StreamClient
	clock  env.Env
	settle time.Duration
	moment time.Time
	past   time.Time                                                   // of the last record past the moment that was read; zero: none
	note   func(context.Context, event.Lane) (migrate.LaneNote, error) // nil: read all
	take   func([]types.Record)                                        // may be nil
	shards map[event.Lane]*shardEnd
}

// shardEnd is how far a shard was read.
type shardEnd struct {
	note     migrate.LaneNote // by capture
	iterator *string
	after    event.Sequence // the last record that was read, or that capture has noted
	last     event.Sequence // the last record that was read and is not past the moment; zero: none
	lastAt   time.Time
	empty    int  // answers without records, one after the other
	closed   bool // nothing is written there any more, and its last answer has no iterator
	ended    bool
	trimmed  bool // the stream no longer has what was noted
}

// done reports whether the end is known, and capture has noted it.
func (r *reading) done(s *shardEnd) bool {
	return s.ended && (r.note == nil || s.last.IsZero() || reaches(s.note, s.last))
}

func (s *shardEnd) says() string {
	if s.last.IsZero() {
		return "an end that is not found"
	}
	return s.lastAt.UTC().Format(time.RFC3339)
}

func reaches(note migrate.LaneNote, last event.Sequence) bool {
	noted, err := event.ParseSequence(note.Sequence)
	return err == nil && noted.Compare(last) >= 0
}

func (r *reading) lanes() []event.Lane {
	return slices.SortedFunc(maps.Keys(r.shards), func(a, b event.Lane) int {
		return cmp.Or(cmp.Compare(a.StreamARN, b.StreamARN), cmp.Compare(a.ShardID, b.ShardID))
	})
}

// until reads until all shards are done, or the time is over, which begins when each shard was
// asked once: a large table has thousands. Those that opened after the moment may be among them.
// They come in a fixed order, so that a seed of a simulation always makes the same world.
func (r *reading) until(ctx context.Context, streams []string, patience time.Duration) error {
	var began time.Time
	for {
		open := false
		for _, stream := range streams {
			listed, err := esm.Shards(ctx, r.client, stream)
			if err != nil {
				return err
			}
			for _, id := range slices.Sorted(maps.Keys(listed)) {
				lane := event.Lane{StreamARN: stream, ShardID: id}
				if r.shards[lane] == nil {
					r.shards[lane] = &shardEnd{}
				}
				if numbers := listed[id].SequenceNumberRange; numbers != nil {
					r.shards[lane].closed = numbers.EndingSequenceNumber != nil
				}
				if err := r.read(ctx, lane, r.shards[lane]); err != nil {
					return err
				}
				open = open || !r.done(r.shards[lane])
			}
		}
		if began.IsZero() {
			began = r.clock.Now()
		}
		if !open || r.clock.Now().Sub(began) >= patience {
			return nil
		}
		if err := r.clock.Sleep(ctx, r.settle/emptyAnswer); err != nil {
			return err
		}
	}
}

// read reads a shard as far as it goes now.
func (r *reading) read(ctx context.Context, lane event.Lane, s *shardEnd) error {
	if r.done(s) {
		return nil
	}
	if r.note != nil {
		note, err := r.note(ctx, lane)
		if err != nil {
			return err
		}
		if s.note = note; s.after.IsZero() && !s.trimmed {
			s.after, _ = event.ParseSequence(note.Sequence)
		}
		s.ended = s.ended || note.Created.After(r.moment)
	}
	for !s.ended {
		out, err := r.records(ctx, lane, s)
		if err != nil || out == nil {
			return err
		}
		if len(out.Records) == 0 {
			if s.ended = s.iterator == nil; s.ended {
				return nil
			}
			if s.empty++; s.closed && s.empty < emptyAnswer { // its end says so itself, so it may be asked at once
				continue
			}
			if s.closed || r.clock.Now().Sub(r.moment) < r.settle {
				s.empty = 0
			}
			s.ended = s.empty >= emptyAnswer
			return nil
		}
		if s.empty = 0; r.take != nil {
			r.take(out.Records)
		}
		for _, record := range out.Records {
			at := aws.ToTime(record.Dynamodb.ApproximateCreationDateTime)
			if s.after, err = event.ParseSequence(aws.ToString(record.Dynamodb.SequenceNumber)); err != nil {
				return fmt.Errorf("reading shard %s: %w", lane.ShardID, err)
			}
			if s.ended = s.ended || at.After(r.moment); !at.After(r.moment) {
				s.last, s.lastAt = s.after, at
			} else if at.After(r.past) {
				r.past = at
			}
		}
		s.ended = s.ended || s.iterator == nil
	}
	return nil
}

// records asks a shard once. It returns nil if it could not answer, and is to be asked again.
func (r *reading) records(ctx context.Context, lane event.Lane, s *shardEnd) (*dynamodbstreams.GetRecordsOutput, error) {
	if s.iterator == nil {
		in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &lane.StreamARN, ShardId: &lane.ShardID,
			ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
		if !s.after.IsZero() {
			in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, aws.String(s.after.String())
		}
		out, err := r.client.GetShardIterator(ctx, in)
		if err != nil {
			return nil, s.again(err)
		}
		s.iterator = out.ShardIterator
	}
	out, err := r.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: s.iterator})
	if err != nil {
		return nil, s.again(err)
	}
	s.iterator = out.NextShardIterator
	return out, nil
}

// again returns nil if a shard may be asked again after an error.
func (s *shardEnd) again(err error) error {
	s.iterator = nil
	var expired *types.ExpiredIteratorException
	var trimmed *types.TrimmedDataAccessException
	var gone *types.ResourceNotFoundException
	switch {
	case errors.As(err, &trimmed):
		s.trimmed, s.after, s.note = s.trimmed || s.last.IsZero() && !s.after.IsZero(), event.Sequence{}, migrate.LaneNote{}
	case errors.As(err, &gone): // all of it is past its 24 hours
		s.ended, s.trimmed, s.last = true, true, event.Sequence{}
	case !errors.As(err, &expired) && !esm.Busy(err):
		return errors.New("reading the stream: " + show.Error(err))
	}
	return nil
}
