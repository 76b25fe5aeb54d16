package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Ingest stores the events of SQS messages. Handle is safe for concurrent use. The fields must not
// change once it runs.
type Ingest struct {
	// Quarantine takes what can never be stored. If it is nil, such messages are failures, and
	// SQS's own redrive carries them to the dead-letter queue.
	Quarantine quarantine.Queue
	// Payloads reads payloads from S3 for messages that point to them. If it is nil, such messages
	// are Poison.
	Payloads *Payloads
	// Margin is the time before the function's deadline at which writing stops, so that the answer
	// is sent in time. Quarantine may use two thirds of it. 0 means 3 seconds. At most half of the
	// remaining time is used as margin.
	Margin time.Duration
	// OnResult is called with the outcome of each message, after the message was put into
	// quarantine if it had to be. It must not block.
	OnResult func(context.Context, Outcome)
	// OnBatch is called with the sums of each batch, before the answer.
	OnBatch func(context.Context, IngestReport)
	Log     *slog.Logger // nil: no log

	pipeline *pipeline.Pipeline
	tables   *table.Writers
	env      env.Env
}

// NewIngest checks the configuration and makes the handler. It sends no request. Set its fields
// before the first batch.
func NewIngest(c tables.Config) (*Ingest, error) {
	t, err := table.Open(c)
	if err != nil {
		return nil, err
	}
	return &Ingest{pipeline: c.Pipeline, tables: t, env: c.Env.Real()}, nil
}

// Outcome is what became of one message.
type Outcome struct {
	Message *events.SQSMessage
	// Item is nil if it could not be planned. Its Data is empty if the payload came from S3, or
	// from an array inside an object.
	Item    *event.Item
	Verdict event.Verdict
	Refusal *event.Refusal
	// Failed says that the message is returned to SQS, because neither of two things is proven:
	// that it is stored, or that it is kept in quarantine.
	Failed bool
	// Existing is the stored item that a Conflict met, without its payload. See [tables.Result]. It
	// is nil for every other verdict.
	Existing *event.Item
	// Parts counts the verdicts of the message's parts, by [event.Verdict], if they were put.
	Parts [len(event.Verdicts) + 1]int
	// Events are the outcomes of the message's events, in order, if the pipeline says that it may
	// hold several. Verdict then follows from theirs, and Item and Existing are nil. Events is nil
	// for every other message.
	Events []Outcome
	// Place is where the event stands in its message, if that has several.
	Place event.Place

	pointer *envelope.Pointer // to the payload, if it is in S3 and must be read
}

// IngestReport sums up one batch. The verdicts add up to Received: each is that of a message, with
// all the items that it yields.
type IngestReport struct {
	Received int
	Verdicts [len(event.Verdicts) + 1]int // by event.Verdict
	Parts    [len(event.Verdicts) + 1]int // items of parts, by event.Verdict
	Events   [len(event.Verdicts) + 1]int // events of messages that have several, by event.Verdict
	// TotalRefused counts the events that were Rejected because a total cannot be updated any more.
	TotalRefused int
	Failed       int // returned to SQS: retries, and messages that quarantine did not take
	Cost         tables.Cost
	OldestAge    time.Duration // age of the oldest message, since it was sent
	Took         time.Duration
}

// Handle processes a batch as Lambda sends it. It returns an error for an event that is not from
// SQS: one without Records (an empty list is a batch without messages), or with a record that has
// no messageId. It also returns an error in another Region than the home of the events table, or if
// the secret of hmac is missing, is not the one that the tables were filled with, or cannot be
// checked. The whole batch is then delivered again. The same happens if the pipeline has totals
// that move with the put, and the aggregates table does not agree with the pipeline: see
// [Streams.Start].
func (in *Ingest) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	if err := in.pipeline.Ready(); err != nil {
		return events.SQSEventResponse{}, fmt.Errorf("ingest: %w", err)
	}
	if e.Records == nil {
		return events.SQSEventResponse{}, errors.New("ingest: the event has no Records, so it is not from SQS, and nothing is stored; " +
			"let its sender send to the queue, and map this function to the queue")
	}
	for i := range e.Records {
		if e.Records[i].MessageId == "" {
			return events.SQSEventResponse{},
				fmt.Errorf("ingest: record %d of the event has no messageId, so it is not from SQS; map this function to a queue", i)
		}
	}
	b := &ingestBatch{Ingest: in, quarantineLog: quarantineLog{log: in.Log}}
	began := b.env.Now()
	b.begin(e.Records)
	var stop context.CancelFunc
	b.writing, b.sending, stop = b.deadlines(ctx, in.Margin)
	defer stop()
	if err := in.ready(b.writing); err != nil {
		return events.SQSEventResponse{}, fmt.Errorf("ingest: %w", err)
	}
	if len(e.Records) > 0 && strings.HasSuffix(e.Records[0].EventSourceARN, ".fifo") {
		b.fifo()
	} else {
		b.standard()
	}
	response := events.SQSEventResponse{BatchItemFailures: b.failures()}
	b.report(ctx, began)
	return response, nil
}

// ready makes sure that this function may write to the tables. Most batches need no request for
// that.
func (in *Ingest) ready(ctx context.Context) error {
	if err := in.tables.Heads.CheckHome(ctx); err != nil {
		return err
	}
	if in.pipeline.MovesByPut() {
		if err := in.tables.Heads.Renew(ctx); err != nil {
			return err
		}
	}
	return in.tables.Heads.CheckSecret(ctx)
}

// ingestBatch is one call of Handle.
type ingestBatch struct {
	*Ingest
	outcomes []Outcome
	cost     tables.Cost
	events   atomic.Int64 // of messages that have several
	// writing ends first and sending later, both before the function's own deadline.
	writing, sending context.Context
	quarantineLog    quarantineLog
}

// begin makes every message failed until it is proven stored or kept in quarantine. SQS deletes
// every message that the answer does not name.
func (b *ingestBatch) begin(records []events.SQSMessage) {
	b.outcomes = make([]Outcome, len(records))
	for i := range records {
		b.outcomes[i] = Outcome{Message: &records[i], Failed: true}
	}
}

func (b *ingestBatch) deadlines(ctx context.Context, margin time.Duration) (writing, sending context.Context, stop context.CancelFunc) {
	at, bounded := ctx.Deadline()
	if !bounded {
		return ctx, ctx, func() {}
	}
	margin = marginOf(margin, at.Sub(b.env.Now()))
	sending, stopSending := b.env.Deadline(ctx, at.Add(-margin/3))
	writing, stopWriting := b.env.Deadline(sending, at.Add(-margin))
	return writing, sending, func() { stopWriting(); stopSending() }
}

const defaultMargin = 3 * time.Second

// marginOf returns the margin to keep of the time that is left. It is at most half of that time, so
// that a function with a short timeout still gets something done.
func marginOf(margin, left time.Duration) time.Duration {
	if margin == 0 {
		margin = defaultMargin
	}
	if left > 0 {
		margin = min(margin, left/2)
	}
	return margin
}

// standard takes all messages together. It plans each, writes all, and quarantines what can never
// be written.
func (b *ingestBatch) standard() {
	load := load{todo: make([]*Outcome, 0, len(b.outcomes)), items: make([]*event.Item, 0, len(b.outcomes))}
	late := false
	var elsewhere []*Outcome // messages whose payloads are in S3
	for i := range b.outcomes {
		o := &b.outcomes[i]
		switch {
		case late:
			o.leave(noTime)
		case !b.plan(o, nil):
		case o.pointer != nil:
			elsewhere = append(elsewhere, o)
		case load.add(o):
			b.put(&load)
			late = b.writing.Err() != nil // planning thousands of items would use up the answer's time
		}
	}
	b.put(&load)
	b.follow(elsewhere)
	for i := range b.outcomes {
		b.outcomes[i].sum()
	}
	b.quarantine(b.outcomes)
}

const noTime = "there was no time left to write it; it is delivered again"

// load is the items that one call of the store puts.
type load struct {
	todo  []*Outcome
	items []*event.Item
	bytes int // of what is not the text of a message: parts, payloads from S3, and events of arrays
}

// add takes the items of a planned message. It reports whether the load is now to be put.
func (l *load) add(o *Outcome) bool {
	for e := range o.each {
		if e.Item != nil {
			l.todo, l.items = append(l.todo, e), append(l.items, e.Item)
			l.bytes += partBytes(e.Item)
			if !e.Place.In.IsZero() {
				l.bytes += len(e.Item.Data)
			}
		}
	}
	l.bytes += len(o.Events) * partOverhead
	return l.bytes > maxPartBytes
}

// maxPartBytes is how many bytes of parts may wait in memory before they are put. Parts repeat
// members of their wholes, so the parts of a batch may be much larger than its messages.
const maxPartBytes = 4 << 20

// partOverhead is about what a part, or an event of an array, takes in memory besides its payload.
const partOverhead = 1 << 10

// partBytes returns about how much memory an item's parts take.
func partBytes(item *event.Item) int {
	bytes := 0
	if item.Parts != nil {
		for _, part := range item.Parts.Items {
			bytes += len(part.Text()) + partOverhead
		}
	}
	return bytes
}

// put puts a load. It then lets go of the items' parts, and empties the load.
func (b *ingestBatch) put(l *load) {
	results, cost := b.tables.Puts.Put(b.writing, l.items)
	b.cost.Add(cost)
	for n, o := range l.todo {
		o.take(results[n])
		o.await()
	}
	payloads.Tidy(int64(l.bytes))
	l.todo, l.items, l.bytes = l.todo[:0], l.items[:0], 0
}

// maxArrayEvents is roughly how many events of arrays a batch may have. An array of a thousand
// events may be as small as two thousand bytes, and the outcomes of a batch stay in memory until it
// is reported.
const maxArrayEvents = 100_000

// plan makes the item of the message, or the items of its events. An outcome without an item then
// has a refusal, which says whether that can change. plan returns false for a message that it has
// left alone because the batch has too many events.
//
// payload is the text that was read from S3 for the message. If it is nil and the payload is in S3,
// plan finds out where it is and whether it may be read. If it may, the outcome has a pointer, and
// neither an item nor a refusal.
func (b *ingestBatch) plan(o *Outcome, payload *string) bool {
	if b.events.Load() >= maxArrayEvents {
		o.leave("the messages before it in its batch hold as many events as memory takes; it is delivered again")
		return false
	}
	m := MessageOf(o.Message)
	m.Payload = payload
	item, list, err := b.pipeline.PlanMessage(m)
	o.planned(item, event.RefusalOf(err))
	if o.Refusal != nil && o.Refusal.Reason == event.PayloadElsewhere && b.Payloads != nil {
		if o.pointer, o.Refusal = b.Payloads.find(m); o.pointer != nil {
			o.Verdict = 0 // the object's contents will decide
		}
	}
	if list == nil {
		return true
	}
	b.events.Add(int64(len(list)))
	o.Events = make([]Outcome, len(list))
	for i, p := range list {
		e := &o.Events[i]
		e.Message, e.Failed, e.pointer, e.Place = o.Message, true, o.pointer, p.Place
		e.planned(p.Item, p.Refusal)
	}
	return true
}

func (o *Outcome) planned(item *event.Item, refusal *event.Refusal) {
	if refusal == nil {
		o.Item = item
		return
	}
	o.Refusal, o.Verdict, o.Failed = refusal, refusal.Verdict, !refusal.Verdict.Done()
}

func (o *Outcome) take(r tables.Result) {
	if o.pointer != nil || !o.Place.In.IsZero() { // its payload is no part of the message's text
		o.letGo()
	}
	if o.Item.Parts != nil {
		o.Item.Parts.Items = nil // likewise
		for n := range r.Parts {
			o.Parts[r.Parts[n].Verdict]++
		}
	}
	o.Verdict, o.Refusal = r.Verdict, r.Refusal
	if r.Verdict == event.Conflict {
		o.Existing = r.Existing
	}
	o.Failed = !r.Verdict.Done()
}

// letGo frees the payload of an item that is put, because memory may not hold all payloads of a
// batch. The other parts of the text that the item refers to are copied first.
func (o *Outcome) letGo() {
	item := o.Item
	item.Data, item.Packed, item.Payload = "", nil, nil
	item.ID = strings.Clone(item.ID)
	for i := range item.Attributes {
		item.Attributes[i].Text = strings.Clone(item.Attributes[i].Text)
	}
	for name, text := range item.Meta {
		item.Meta[name] = strings.Clone(text)
	}
}

// quarantine sends messages that can never be stored to quarantine. A message that is not proven
// kept there is a failure, so SQS keeps the original.
func (b *ingestBatch) quarantine(outcomes []Outcome) {
	if b.Quarantine == nil {
		return
	}
	var letters []quarantine.Letter
	var places []int
	for i := range outcomes {
		o := &outcomes[i]
		if !o.Verdict.Quarantined() {
			continue
		}
		refused, others := o.places()
		l, err := quarantine.OfMessage(o.Message, o.Refusal, o.trace(), refused, others)
		if err != nil {
			b.unkept(o, err)
			continue
		}
		letters, places = append(letters, l), append(places, i)
	}
	if len(letters) == 0 {
		return
	}
	for n, err := range quarantine.Within(b.env, b.Quarantine).Send(b.sending, letters) {
		o := &outcomes[places[n]]
		if o.fail(err != nil); o.Failed {
			b.unkept(o, err)
		}
	}
}

func (b *ingestBatch) unkept(o *Outcome, err error) {
	b.logQuarantine(slog.LevelError, "quarantine failed; the message stays in its queue", o, slog.String("error", err.Error()))
}
