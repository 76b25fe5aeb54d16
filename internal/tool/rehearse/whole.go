package rehearse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
)

// whole is what a rehearsal of both functions has in addition.
type whole struct {
	world   *testworld.World
	streams *handler.Streams
	shards  map[string]bool // of the events table; the other shards are of the totals
	phase   Phase
	expires int64 // when the last item does
	failed  error
	used    [Expiring + 1]Used
	totals  map[string]*Total
}

// Phase is a part of a rehearsal.
type Phase int

// These are the phases. In Storing, the ingest function stores events. In Counting and in Expiring,
// the streams function gets the changes that Storing and time to live have made.
const (
	Storing Phase = iota
	Counting
	Expiring
)

// Used is what a phase has used, as the engine counts it.
type Used struct {
	Batches        int
	Changes        int // of the events table, that the phase makes
	Requests       int // to DynamoDB
	Transactions   int // of these, those that write several items together
	Updates        int // of totals, by the streams function
	Events, Totals embedded.TableUsage
	Puts, Gets     int // of objects
	Letters        int // requests to the quarantine queue
}

// Total is a total, in all of its windows.
type Total struct {
	Aggregate string
	By        []string          // escaped
	Items     int               // one for each window
	Moves     [Expiring + 1]int // how often it was changed, by phase
}

// Deployed is how both functions are deployed.
type Deployed struct {
	Partitions int // of the events table
	Counting   aggregate.Counting
	Archive    string // batches or objects; empty: none
}

// Whole deploys both functions of a pipeline, with empty tables. Messages, bounds and clock are as
// in [New].
func Whole(p *pipeline.Pipeline, now time.Time, clock func() time.Time, as Deployed) (*Rehearsal, error) {
	r := &Rehearsal{clock: clock, whole: whole{shards: map[string]bool{}, totals: map[string]*Total{}}}
	p, err := r.deploy(p, testworld.Config{Start: now, Counting: as.Counting, Stack: stack.Config{Watched: true},
		Engine: embedded.Config{Partitions: as.Partitions, RollAfter: -1, OnRecord: r.changed}})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	stream, err := r.world.Engine.Streams().DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &r.world.StreamARN})
	if err != nil {
		return nil, err
	}
	for _, shard := range stream.StreamDescription.Shards {
		r.shards[*shard.ShardId] = true
	}
	r.ingest.Quarantine = r.world.Letters()
	r.ingest.OnBatch = func(_ context.Context, b handler.IngestReport) {
		r.used[r.phase].Batches++
		r.used[r.phase].Requests += b.Cost.Requests
	}
	st, err := r.world.Store(p)
	if err != nil {
		return nil, err
	}
	r.streams = r.world.Streams(st)
	r.streams.ArchiveFiles = as.Archive == "batches"
	if as.Archive == "" {
		r.streams.Archive = nil
	}
	r.streams.OnBatch = func(_ context.Context, b handler.StreamsReport) {
		u := &r.used[r.phase]
		u.Batches, u.Requests, u.Updates = u.Batches+1, u.Requests+b.Cost.Requests, u.Updates+b.Updates
	}
	// Both have made their cold starts before anything is counted.
	if _, err := r.ingest.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{}}); err != nil {
		return nil, err
	}
	return r, r.streams.Start(ctx)
}

// changed is told of every change of a table.
func (r *Rehearsal) changed(shard string, record types.Record) {
	d := record.Dynamodb
	if r.shards[shard] {
		r.used[r.phase].Changes++
		if n, is := d.NewImage["expiresAt"].(*types.AttributeValueMemberN); is {
			at, _ := strconv.ParseInt(n.Value, 10, 64)
			r.expires = max(r.expires, at)
		}
		return
	}
	key, _ := d.Keys["PK"].(*types.AttributeValueMemberS)
	pk := strings.Split(key.Value, "#") // see lanes.Key
	if pk[0] != "A" {
		return
	}
	t := r.totals[key.Value]
	if t == nil {
		t = &Total{Aggregate: pk[1], By: pk[4:]}
		r.totals[key.Value] = t
	}
	if record.EventName == types.OperationTypeInsert {
		t.Items++
	}
	t.Moves[r.phase]++
}

// Used returns what a phase has used.
func (r *Rehearsal) Used(p Phase) Used { return r.used[p] }

// Totals returns all totals by their partition key.
func (r *Rehearsal) Totals() map[string]*Total { return r.totals }

// measured runs something, and adds what it charges to the open phase.
func (r *Rehearsal) measured(run func() error) error {
	if r.streams == nil {
		return run()
	}
	before := r.world.Engine.Usage()
	err := run()
	used, u := r.world.Engine.Usage().Sub(before), &r.used[r.phase]
	u.Events, u.Totals = plus(u.Events, used.Tables[stack.Events]), plus(u.Totals, used.Tables[stack.Aggregates])
	u.Puts, u.Gets = u.Puts+int(used.Requests["PutObject"]), u.Gets+int(used.Requests["GetObject"])
	u.Letters += int(used.Requests["SendMessageBatch"])
	u.Transactions += int(used.Requests["TransactWriteItems"])
	return err
}

func plus(a, b embedded.TableUsage) embedded.TableUsage {
	return embedded.TableUsage{Write: a.Write + b.Write, IndexWrite: a.IndexWrite + b.IndexWrite, Refused: a.Refused + b.Refused,
		Read: a.Read + b.Read, IndexRead: a.IndexRead + b.IndexRead}
}

// Count gives all changes to the streams function, in batches of at most so many: first those that
// storing has made, and then those of time to live, when all has expired that ever will.
func (r *Rehearsal) Count(batch int) error {
	mapping, err := r.world.MapStream(esm.StreamConfig{BatchSize: batch, Window: r.world.Window(),
		Function: esm.Function{Handler: lambda.NewHandler(r.streams.Handle).Invoke}, OnFailure: func(_ esm.Invocation, err error) {
			r.failed = errors.Join(r.failed, err)
		}})
	if err != nil {
		return err
	}
	deliver := func() error { return r.drain(mapping) }
	r.phase = Counting
	if err := r.measured(deliver); err != nil || r.expires == 0 {
		return err
	}
	r.world.Clock.Reach(time.Unix(r.expires+1, 0))
	if err := deliver(); err != nil { // the windows end
		return err
	}
	r.phase = Expiring
	r.world.Engine.SweepExpired()
	return r.measured(deliver)
}

// drain delivers all changes.
func (r *Rehearsal) drain(mapping *esm.Stream) error {
	for {
		polled, err := mapping.Poll(context.Background())
		switch {
		case err != nil:
			return fmt.Errorf("rehearsing: %w", err)
		case polled.Failed > 0:
			return fmt.Errorf("rehearsing: the streams function failed: %w", r.failed)
		case polled.Idle():
			return nil
		}
	}
}

// Archived returns how many bytes the archive holds.
func (r *Rehearsal) Archived() (bytes int64, err error) {
	in := &s3.ListObjectsV2Input{Bucket: aws.String(stack.Bucket)}
	for {
		out, err := r.world.Engine.S3().ListObjectsV2(context.Background(), in)
		if err != nil {
			return 0, err
		}
		for _, o := range out.Contents {
			bytes += aws.ToInt64(o.Size)
		}
		if in.ContinuationToken = out.NextContinuationToken; in.ContinuationToken == nil {
			return bytes, nil
		}
	}
}
