package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// stops fails if err is not a [*migrate.StopError] that says something. Nothing is said of an error
// that is not wanted.
func stops(t *testing.T, err error, want string) {
	t.Helper()
	stop := (*migrate.StopError)(nil)
	if want == "" && err != nil || want != "" && (!errors.As(err, &stop) || !strings.Contains(err.Error(), want)) {
		t.Errorf("%v, want %q", err, want)
	}
}

// stream is a stream of two shards, of which the first may be closed. Its answers may be empty
// although records follow.
type stream struct {
	*testing.T
	now     time.Time
	moment  time.Time // when the question is asked
	closed  bool      // the first shard
	records map[string][]types.Record
	shows   map[string]time.Time // when a record appears, by its sequence number
	lies    int                  // so many empty answers come before each one with records
	trimmed int64                // sequence numbers below it are gone
	lied    map[string]int
	sync    *migrate.Migration
	asked   int
	first   time.Duration // how long the first answer takes
	tick    func()
	forget  func() // deletes the control item
}

const streamARN = "arn:aws:dynamodb:eu-west-1:1:table/old/stream/1"

func number21(n int64) string { return fmt.Sprintf("1%020d", n) }

func (s *stream) add(shard string, n int64, at time.Time) {
	s.records[shard] = append(s.records[shard], types.Record{Dynamodb: &types.StreamRecord{SequenceNumber: aws.String(number21(n)),
		ApproximateCreationDateTime: aws.Time(at.Truncate(time.Second))}})
}

func (s *stream) noted(shard string, n int64, at time.Time) {
	s.Helper()
	must.Succeed(s, s.sync.NoteLane(s.Context(), event.Lane{StreamARN: streamARN, ShardID: shard}, migrate.LaneNote{Sequence: number21(n),
		Created: at}))
}

func (s *stream) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
	...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	list := []types.Shard{{ShardId: aws.String("a")}, {ShardId: aws.String("b"), ParentShardId: aws.String("a")}}
	if s.closed {
		list[0].SequenceNumberRange = &types.SequenceNumberRange{EndingSequenceNumber: aws.String(number21(99))}
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{Shards: list}}, nil
}

func (s *stream) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	after := aws.ToString(in.SequenceNumber)
	if after != "" && after < number21(s.trimmed) {
		return nil, &types.TrimmedDataAccessException{}
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(*in.ShardId + " " + after)}, nil
}

func (s *stream) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	if s.asked++; s.asked == 1 {
		s.now = s.now.Add(s.first)
	}
	shard, after, _ := strings.Cut(*in.ShardIterator, " ")
	out := &dynamodbstreams.GetRecordsOutput{NextShardIterator: in.ShardIterator}
	if s.lied[shard]++; s.lied[shard] <= s.lies {
		return out, nil
	}
	for _, r := range s.records[shard] {
		n := *r.Dynamodb.SequenceNumber
		if n > after && n >= number21(s.trimmed) && !s.shows[n].After(s.now) {
			out.Records, out.NextShardIterator = []types.Record{r}, aws.String(shard+" "+n)
			s.lied[shard] = 0
			return out, nil
		}
	}
	if shard == "a" && s.closed {
		out.NextShardIterator = nil
	}
	return out, nil
}

// A batch that fails is tried again each second, and why is said once a minute.
func TestFailingBatchIsSaidOnceAMinute(t *testing.T) {
	s := newStream(t)
	s.add("a", 1, s.now) // a record without keys is not a change
	p, err := NewPoller(&migrate.Capture{Migration: s.sync}, s, migrate.Source{Stream: streamARN},
		esm.Function{Now: func() time.Time { return s.now }})
	must.Succeed(t, err)
	slept, said := 0, 0
	if err := p.Run(t.Context(), func(_ context.Context, d time.Duration) error {
		if s.now = s.now.Add(d); slept == 150 {
			return errors.New("it is over")
		}
		slept++
		return nil
	}, func(string) { said++ }); err != nil || said < 2 || said > 3 {
		t.Errorf("said %d times in %d seconds, %v", said, slept, err)
	}
}

// A poller learns that the migration may not write any more although nothing changes.
func TestPollerEnds(t *testing.T) {
	s := newStream(t)
	p, err := NewPoller(&migrate.Capture{Migration: s.sync}, s, migrate.Source{Stream: streamARN},
		esm.Function{Now: func() time.Time { return s.now }})
	must.Succeed(t, err)
	slept := 0
	err = p.Run(t.Context(), func(_ context.Context, d time.Duration) error {
		if s.now = s.now.Add(d); slept == 90 {
			s.forget()
		}
		slept++
		return nil
	}, func(text string) { t.Error(text) })
	if stops(t, err, "has no control item"); slept < 91 || slept > 150 {
		t.Errorf("it ends after %d s", slept)
	}
}

// What capture has done is proven by its notes, up to what the stream holds: never by an answer
// without records.
func TestProof(t *testing.T) {
	const before, after = -10 * time.Second, 10 * time.Second
	for name, tt := range map[string]struct {
		change func(*stream)
		want   string        // of the error; empty: it is proven
		within time.Duration // at most
	}{
		"idle": {func(*stream) {}, "", 2 * time.Minute},
		"noted to its end": {func(s *stream) {
			s.add("b", 1, s.moment.Add(before))
			s.noted("b", 1, s.moment.Add(before))
		}, "", 2 * time.Minute},
		"busy: a record past the moment": {func(s *stream) {
			s.closed = true
			s.add("b", 1, s.moment.Add(before))
			s.add("b", 2, s.moment.Add(after))
			s.noted("b", 1, s.moment.Add(before))
		}, "", 10 * time.Second},
		"busy: a note past the moment": {func(s *stream) {
			s.closed = true
			s.noted("b", 2, s.moment.Add(after))
		}, "", time.Second},
		"not noted": {func(s *stream) { s.add("b", 1, s.moment.Add(before)) }, "In shard b of " + streamARN +
			", which has changes until 2031-05-05T07:59:50Z, it has noted nothing there", 11 * time.Minute},
		"behind": {func(s *stream) {
			s.add("b", 1, s.moment.Add(-time.Hour))
			s.add("b", 2, s.moment.Add(before))
			s.noted("b", 1, s.moment.Add(-time.Hour))
		}, "it has noted what was written before 2031-05-05T07:00:00Z: is it on? Lambda says so", 11 * time.Minute},
		"a closed shard is read too": {func(s *stream) {
			s.closed = true
			s.add("a", 1, s.moment.Add(before))
		}, "In shard a of", 11 * time.Minute},
		"empty answers come before records": {func(s *stream) {
			s.lies = emptyAnswer - 1
			s.add("b", 1, s.moment.Add(before))
		}, "In shard b of", 11 * time.Minute},
		"a closed shard says itself where it ends": {func(s *stream) {
			s.closed, s.lies = true, emptyAnswer-1
			s.add("a", 1, s.moment.Add(before))
			s.add("a", 2, s.moment.Add(before))
			s.noted("a", 2, s.moment.Add(before))
			s.noted("b", 3, s.moment.Add(after))
		}, "", time.Second},
		"a closed shard is silent": {func(s *stream) {
			s.closed, s.lies = true, 1000
			s.noted("b", 3, s.moment.Add(after))
		}, "In shard a of", 11 * time.Minute},
		"to ask all shards once takes long": {func(s *stream) { s.first = 11 * time.Minute }, "", 13 * time.Minute},
		"a record shows late": {func(s *stream) {
			s.shows[number21(1)] = s.moment.Add(settleTime + settleTime/emptyAnswer)
			s.add("b", 1, s.moment.Add(before))
		}, "In shard b of", 11 * time.Minute},
		"the note comes while it is waited for": {func(s *stream) {
			s.add("b", 1, s.moment.Add(before))
			s.tick = func() {
				if s.now.After(s.moment.Add(3 * time.Minute)) {
					s.noted("b", 1, s.moment.Add(before))
				}
			}
		}, "", 4 * time.Minute},
		"what is written while it is read is not waited for": {func(s *stream) {
			s.tick = func() { s.add("b", s.now.Unix(), s.now) }
		}, "", 2 * time.Minute},
		"trimmed, and compared since": {func(s *stream) {
			s.noted("b", 1, s.moment.Add(-30*time.Hour))
			s.trimmed = 5
		}, "", 2 * time.Minute},
		"trimmed, and not compared since": {func(s *stream) {
			s.noted("b", 1, s.moment.Add(-30*time.Hour))
			s.trimmed = 5
			s.now = s.now.Add(25 * time.Hour) // since the comparison
			s.moment = s.now
		}, "older than what the stream keeps, so changes may be lost: run `ingot migrate backfill`", 2 * time.Minute},
		"trimmed, and behind": {func(s *stream) {
			s.noted("b", 1, s.moment.Add(-30*time.Hour))
			s.add("b", 6, s.moment.Add(before))
			s.trimmed = 5
		}, "In shard b of", 11 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s, covered := newStream(t), time.Time{}
			covered = s.now
			tt.change(s)
			p := Proof{Ends: Ends{Client: s, Clock: s.clock()}, Migration: s.sync, Streams: []string{streamARN}, Covered: covered,
				Why: func(context.Context, string) string { return " Lambda says so" }}
			at, err := p.Counted(t.Context())
			if stops(t, err, tt.want); err == nil && !at.Equal(s.moment) {
				t.Errorf("proven is %s, and it was asked at %s", at, s.moment)
			}
			if took := s.now.Sub(s.moment); took > tt.within {
				t.Errorf("it takes %s, at most %s", took, tt.within)
			}
			past := slices.ContainsFunc(s.records["b"], func(r types.Record) bool {
				return r.Dynamodb.ApproximateCreationDateTime.After(s.moment)
			})
			if c, err := s.sync.Control(t.Context()); err != nil || past == c.Changed.IsZero() {
				t.Errorf("the old table was changed at %s, %v", c.Changed, err)
			}
		})
	}
}

// Without a stream, nothing is proven, however long one waits.
func TestProofNeedsAStream(t *testing.T) {
	s := newStream(t)
	_, err := Proof{Ends: Ends{Client: s, Clock: s.clock()}, Migration: s.sync}.Counted(t.Context())
	stops(t, err, "has no stream that is on")
}

func (s *stream) clock() env.Env {
	return env.Env{Now: func() time.Time { return s.now }, Sleep: func(_ context.Context, d time.Duration) error {
		if s.now = s.now.Add(d); s.tick != nil {
			s.tick()
		}
		return nil
	}}
}

func newStream(t *testing.T) *stream {
	t.Helper()
	s := &stream{T: t, now: must.Time("2031-05-05T08:00:00Z"), records: map[string][]types.Record{},
		shows: map[string]time.Time{}, lied: map[string]int{}}
	s.moment = s.now
	engine := embedded.New(embedded.Config{Now: func() time.Time { return s.now }})
	_, err := stack.New(t.Context(), engine, stack.Config{})
	files := fstest.MapFS{"p.yaml": {Data: []byte(`ingot: 1
epoch: 1
events:
  x: {migrated: m, id: "{id}", key: {pk: "{id}", sk: X}}
`)}, "m.yaml": {Data: []byte(`migration: 1
name: m
from: {table: old}
rows: [{type: x}]
`)}}
	p, err2 := pipeline.Load(files, "p.yaml")
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	m, err := rowmap.Load(files, "m.yaml", p)
	must.Succeed(t, err)
	s.forget = func() {
		_, err := engine.DynamoDB().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(stack.Aggregates),
			Key: rows.KeyImage(rows.ControlKey("m"))})
		if err != nil {
			t.Error(err)
		}
	}
	old := migrate.Source{Client: engine.DynamoDB(), Describer: engine.DynamoDB(), Table: "old", Keys: []string{"pk"}}
	s.sync, err = migrate.NewMigration(m, old,
		tables.Config{Client: engine.DynamoDB(), Events: stack.Events, Aggregates: stack.Aggregates, Env: s.clock()})
	if err == nil {
		_, err = s.sync.Begin(t.Context())
	}
	must.Succeed(t, err)
	return s
}

// What somebody has written after the turn counts until capture has put it right.
func TestLate(t *testing.T) {
	s := newStream(t)
	change := func(n int64, key, was, is string) {
		image := func(mark string) map[string]types.AttributeValue {
			row := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}}
			if mark != "" {
				row["i:migrated"] = &types.AttributeValueMemberS{Value: mark}
			}
			return row
		}
		s.add("b", n, s.moment)
		d := s.records["b"][len(s.records["b"])-1].Dynamodb
		d.Keys, d.OldImage, d.NewImage = image(""), image(was), image(is)
	}
	for want, do := range []func(){
		func() { change(1, "x", "", "m1") },   // by capture
		func() { change(2, "x", "m1", "m1") }, // by somebody, as a whole, with the mark
		func() { change(3, "y", "m2", "") },
		func() { change(4, "x", "m1", "m3") }, // put right
	} {
		do()
		old := &migrate.Table{Source: migrate.Source{Stream: streamARN, Table: "old"}}
		late, err := Late(Ends{Client: s, Clock: s.clock()}, old)(t.Context(), s.moment)
		if is := []int{0, 1, 2, 1}[want]; err != nil || late != is {
			t.Errorf("after change %d: %d late, want %d, %v", want+1, late, is, err)
		}
	}
}
