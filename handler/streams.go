package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/table/records"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Streams updates the totals from the events table's stream, and archives events that time to live
// removes. Handle is safe for concurrent use.
type Streams struct {
	// Quarantine takes records that cannot be understood, and updates that the table refuses for
	// good. If it is nil, such a record fails its batch, and blocks its shard until a person acts.
	Quarantine quarantine.Queue
	// Archive keeps events that time to live removes. If it is nil, they are not kept.
	Archive Archive
	// ArchiveFiles says that Archive gets the expired items of a batch as a file, and not as an
	// object for each.
	ArchiveFiles bool
	// OnChange is called for each change in order, at least once, before anything is counted. An
	// error stops the batch there, and that change and all changes after it are delivered again.
	// The error is logged unchanged, so it must not quote the event.
	OnChange func(context.Context, event.Change) error
	// OnBatch is called with the sums of each batch before the answer, even if the whole batch
	// fails.
	OnBatch func(context.Context, StreamsReport)
	// Margin is the time before the function's deadline at which work stops. 0 means 3 seconds. At
	// most half of the remaining time is used as margin.
	Margin time.Duration
	Log    *slog.Logger // nil: no log

	pipeline *pipeline.Pipeline
	tables   *table.Writers
	notes    fences.Notes
	env      env.Env
}

// NewStreams checks the configuration and makes the handler. It sends no request. Set its fields
// before the first batch.
func NewStreams(c tables.Config) (*Streams, error) {
	t, err := table.Open(c)
	if err != nil {
		return nil, err
	}
	return &Streams{pipeline: c.Pipeline, tables: t, env: c.Env.Real(),
		notes: fences.Notes{Client: c.Client, Table: c.Aggregates, Function: fences.Streams}}, nil
}

// StreamResponse is the answer. State is set if and only if the event had a window, and it is never
// null then: without it, Lambda fails the batch of a window.
type StreamResponse struct {
	BatchItemFailures []events.DynamoDBBatchItemFailure `json:"batchItemFailures"`
	State             json.RawMessage                   `json:"state,omitempty"`
}

// Handle processes a batch as Lambda sends it. If a record is not proven done with, the answer
// names the first such record, and the batch comes again from there. An error fails the whole
// batch. Its reasons are:
//
//   - the pipeline needs a secret that the function does not have;
//   - the event is not a batch of a stream;
//   - its records are not in order, or come from two streams;
//   - the aggregates table does not agree with the pipeline, or cannot be read or written at the
//     start: see [Streams.Start];
//   - marks need a shard id, and the batch has none;
//   - a newer pipeline has stamped an item, and no operator has given its record up, or that cannot
//     be read;
//   - a record that is not done with has no sequence number that could be named;
//   - the batch is one of a pipe, and one of its records is not done with.
//
// An event whose list of records is empty counts nothing. You may invoke the function with
// {"Records":[]}: it then starts the store again, and stores pipeline.yaml for the tool. See
// [Streams.Start] and
// [github.com/ingot-events/ingot/store.DeployedFile].
//
// Handle also takes the batches of EventBridge Pipes, from a pipe that waits for the answer. Such a
// batch is an array of records without a shard id, so only receipts count it. Where Lambda's answer
// would name a record, the whole batch of a pipe fails. A pipe identifies records by their eventID,
// and its documentation does not say whether it continues from the named record or sends that
// record alone.
func (s *Streams) Handle(ctx context.Context, payload json.RawMessage) (StreamResponse, error) {
	response := StreamResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	if err := s.pipeline.Ready(); err != nil {
		return response, fmt.Errorf("streams: %w", err)
	}
	e, err := records.Read(payload)
	if err != nil {
		return response, fmt.Errorf("streams: the event is not a stream batch: %w", err)
	}
	if e.Windowed || e.Shard != "" {
		response.State = json.RawMessage("{}")
	}
	b := &streamBatch{Streams: s, quarantineLog: quarantineLog{log: s.Log}}
	if len(e.Records) == 0 {
		return response, b.wake(ctx, e)
	}
	b.rep.ShardID, b.rep.Received = e.Shard, len(e.Records)
	began := b.env.Now()
	ctx, stop := b.deadline(ctx)
	defer stop()
	if err := b.run(ctx, e); err != nil {
		b.whole = err
	}
	b.report(ctx, began)
	if b.whole != nil {
		return response, fmt.Errorf("streams: %w%s", b.whole, where(e.Shard))
	}
	if !b.unproven.IsZero() && e.Piped {
		return response, fmt.Errorf("streams: record %s is not proven done with, and a pipe's batch goes back whole: %w", b.unproven, b.why)
	}
	if !b.unproven.IsZero() {
		response.BatchItemFailures = append(response.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: b.unproven.String()})
	}
	return response, nil
}

// wake handles an event without records. All earlier changes of the shard are written already, but
// the aggregates table may have changed since this process last read it. Lambda sends such an event
// from every shard when a window or a shard ends. For those, wake looks at the table only as often
// as a batch does. An event without a window comes from a person or a tool that wakes the function.
// Then wake starts the store again at once, so that the heads of an idle stack exist when the
// answer comes.
func (b *streamBatch) wake(ctx context.Context, e *records.Batch) error {
	ctx, stop := b.deadline(ctx)
	defer stop()
	if e.Windowed || e.Shard != "" {
		if err := b.tables.Heads.Renew(ctx); err != nil {
			return fmt.Errorf("streams: %w%s", err, where(e.Shard))
		}
		return nil
	}
	if err := b.tables.Heads.Start(ctx); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	b.keepFile(ctx, true)
	return nil
}

// Start makes sure that the aggregates table agrees with the pipeline, as
// [github.com/ingot-events/ingot/store.Store.Start] does. [Streams.Handle] does the same with the
// first batch, but an error of Start comes before it.
func (s *Streams) Start(ctx context.Context) error { return s.tables.Heads.Start(ctx) }

// KeepFile keeps pipeline.yaml in the aggregates table, where the tool can read it. Counting does
// not need it, so a failure is only logged.
func (s *Streams) KeepFile(ctx context.Context) { s.keepFile(ctx, false) }

func (s *Streams) keepFile(ctx context.Context, anew bool) {
	if err := s.tables.Heads.KeepFile(ctx, anew); err != nil && s.Log != nil {
		s.Log.WarnContext(ctx, "the tool cannot read which pipeline.yaml runs; counting goes on", "error", err.Error())
	}
}

// where says which shard waits. A person looks for this first, and no metric shows it.
func where(shard string) string {
	if shard == "" {
		return ""
	}
	return " (shard " + shard + ")"
}

var errNoShard = errors.New("the batch names no shard, and counting by marks needs one: " +
	"set TumblingWindowInSeconds on the event source mapping, or count by receipts (INGOT_COUNTING=receipts) in new generations; " +
	"EventBridge Pipes never name one")

// streamBatch is one call of Handle.
type streamBatch struct {
	*Streams
	changes  []event.Change
	foreign  []event.Change // of items that are not events; a tool that asks how far the stream is read puts some
	odd      []oddRecord
	ahead    []oddRecord    // those with an image that a newer pipeline has stamped
	created  time.Time      // of the first record, in stream time
	unproven event.Sequence // the lowest that is not proven; zero if all are proven
	why      error          // why that record is not proven
	whole    error          // a record without a sequence number is not proven, so the whole batch goes back
	rep      StreamsReport
	lost     atomic.Int64 // expired items without their payload
	// quarantineLog writes the lines about quarantine.
	quarantineLog quarantineLog
}

// oddRecord is a record that goes to quarantine. It cannot be understood, or an operator has given
// it up.
type oddRecord struct {
	change event.Change // what could be read of it
	raw    string
	reason event.Reason
	err    error
}

func (b *streamBatch) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return b.short(ctx, func(left time.Duration) time.Duration { return marginOf(b.Margin, left) })
}

// short returns ctx with a margin kept of the time that is left.
func (b *streamBatch) short(ctx context.Context, margin func(left time.Duration) time.Duration) (context.Context, context.CancelFunc) {
	at, bounded := ctx.Deadline()
	if !bounded {
		return ctx, func() {}
	}
	return b.env.Deadline(ctx, at.Add(-margin(at.Sub(b.env.Now()))))
}

// run settles the batch. Everything that is done before a failure may be repeated: archive objects
// have the same name and bytes, flags stay, and steps that were counted are dropped by mark or
// receipt.
func (b *streamBatch) run(ctx context.Context, e *records.Batch) error {
	if err := b.decode(e); err != nil {
		return err
	}
	if err := b.tables.Heads.Renew(ctx); err != nil {
		return err
	}
	if e.Shard == "" && b.tables.Heads.Counting() == aggregate.Marks {
		return errNoShard
	}
	if err := b.giveUp(ctx); err != nil {
		return err
	}
	b.hook(ctx)
	counted, heads := b.route(e.Shard)
	b.archive(ctx)
	b.quarantineOdd(ctx)
	b.mark(ctx, heads)
	applied := b.tables.Counter.Apply(ctx, counted, b.refused)
	b.rep.Cost.Add(applied.Cost)
	b.rep.Updates, b.rep.Dropped, b.rep.Large = applied.Updates, applied.Dropped, applied.Large
	b.rep.Quarantined += applied.Refused
	if !applied.Unproven.IsZero() {
		b.fail(ctx, applied.Unproven, "aggregates not proven", applied.Err)
	}
	b.note(ctx)
	return nil
}

// note notes the fences that the batch has passed. Nothing depends on a note but the tool that
// asks, which puts more fences if one is lost.
func (b *streamBatch) note(ctx context.Context) {
	if b.whole != nil {
		return
	}
	if err := b.notes.Write(ctx, b.foreign, b.unproven); err != nil && b.Log != nil {
		b.Log.WarnContext(ctx, "a tool that waits for the stream waits longer; counting goes on", "error", err.Error())
	}
}

// decode reads every record separately and checks that their sequence numbers ascend, because a
// mark is only correct in stream order.
func (b *streamBatch) decode(e *records.Batch) error {
	var last event.Sequence
	for _, record := range e.Records {
		change, err := record.Change(e.Shard)
		if !change.Sequence.IsZero() {
			if change.Sequence.Compare(last) <= 0 {
				return fmt.Errorf("record %s comes after %s in one batch; counting out of order would lose changes", change.Sequence, last)
			}
			last = change.Sequence
		}
		if b.created.IsZero() {
			b.created = change.Created
		}
		if change.Stamp > b.pipeline.Epoch() {
			b.ahead = append(b.ahead, oddRecord{change, record.Raw, quarantine.GivenUp, err})
			continue
		}
		if err != nil {
			b.odd = append(b.odd, oddRecord{change, record.Raw, quarantine.UndecodableRecord, err})
			continue
		}
		if len(b.changes) > 0 && change.Lane != b.changes[0].Lane {
			return fmt.Errorf("records of the streams %s and %s in one batch; one function call counts one stream",
				b.changes[0].Lane.StreamARN, change.Lane.StreamARN)
		}
		if change.Old == nil && change.New == nil {
			b.rep.Foreign++
			b.foreign = append(b.foreign, change)
			continue
		}
		b.changes = append(b.changes, change)
	}
	return nil
}

// giveUp fails the batch at the first record that a newer pipeline has stamped. Old code must not
// skip a record that it does not know, however little of it it can read. Only if an operator has
// given the record up, it is handled like any other odd record.
func (b *streamBatch) giveUp(ctx context.Context) error {
	if len(b.ahead) == 0 {
		return nil
	}
	for _, r := range b.ahead {
		c := &r.change
		if c.Sequence.IsZero() {
			return fmt.Errorf("a record without a sequence number carries epoch %d and this function's pipeline.yaml is at %d", c.Stamp,
				b.pipeline.Epoch())
		}
		given, cost, err := b.tables.Heads.GivenUp(ctx, c.Lane, c.Sequence)
		b.rep.Cost.Add(cost)
		if err != nil {
			return fmt.Errorf("record %s carries epoch %d; whether it is given up could not be read: %w", c.Sequence, c.Stamp, err)
		}
		why := fmt.Errorf("an item (%s) carries epoch %d and this function's pipeline.yaml is at %d",
			keyText(c.Key, b.pipeline.HidesKeys(typeOf(c))), c.Stamp, b.pipeline.Epoch())
		if !given {
			return fmt.Errorf("%w; deploy the streams function with the newer pipeline.yaml, before the ingest function. If no "+
				"pipeline.yaml has that epoch, "+
				"give record %s up with PK %s in the aggregates table, as %s says", why, c.Sequence,
				lanes.GivenUpKey(c.Lane, c.Sequence).PK,
				excerpt.Page("repair.md#a-stamp-of-no-pipeline"))
		}
		r.err = why
		b.odd = append(b.odd, r)
	}
	slices.SortFunc(b.odd, func(a, b oddRecord) int { return a.change.Sequence.Compare(b.change.Sequence) })
	return nil
}

// typeOf returns the event type of a change, as far as it is known.
func typeOf(c *event.Change) string {
	for _, image := range []*event.Item{c.New, c.Old} {
		if image != nil {
			return image.Type
		}
	}
	return ""
}

// hook calls the user's own code for each change. If that code fails, the batch ends.
func (b *streamBatch) hook(ctx context.Context) {
	if b.OnChange == nil {
		return
	}
	for i := range b.changes {
		if err := b.OnChange(ctx, b.changes[i]); err != nil {
			at := b.changes[i].Sequence
			b.fail(ctx, at, "OnChange failed", err)
			b.changes = b.changes[:i]
			for n := range b.odd {
				if b.odd[n].change.Sequence.Compare(at) > 0 {
					b.odd = b.odd[:n]
					break
				}
			}
			return
		}
	}
}
