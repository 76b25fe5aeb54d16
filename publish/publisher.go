package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/records"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Publisher sends what happens to stored events. Handle is safe for concurrent use.
type Publisher struct {
	// Quarantine takes the keys of what cannot be read, and of what a target has refused for longer
	// than Patience. If it is nil, such a record blocks its shard until the stream forgets it.
	Quarantine quarantine.Queue
	// Patience is how old a record is when its refusal is final. 0 means 12 hours, which leaves 12
	// more until the stream forgets the records behind it. More than 23 hours count as 23.
	Patience time.Duration
	// OnBatch is called with what a batch did, before the answer.
	OnBatch func(context.Context, Published)
	Log     *slog.Logger // nil: no log

	plan    *Plan
	targets []Target // by place in plan.Publications
	store   *rows.Tables
	heads   *generations.Heads
	bucket  *payloads.Bucket // nil: there is none
	name    string           // of the payload bucket
}

// Published is what a batch did.
type Published struct {
	Received    int // records
	Sent        int // messages that are proven taken
	Requests    int // to targets
	Pointers    int // messages without their payload or the one before, because the target takes less
	Dropped     int // events that were erased before they were sent: their payload is gone
	Refused     int // messages that are not proven taken; their records come again
	Quarantined int // records that were given up
	Lag         time.Duration
	Took        time.Duration
}

// Response is the answer to Lambda.
type Response struct {
	BatchItemFailures []events.DynamoDBBatchItemFailure `json:"batchItemFailures"`
}

const (
	defaultPatience = 12 * time.Hour
	longestPatience = 23 * time.Hour  // a stream remembers 24
	margin          = 3 * time.Second // of the function's time, in which nothing is sent
	inFlight        = 4               // requests to one target at a time
	rounds          = 3               // how often one call tries a message
)

// New checks the configuration. It sends no request. c needs Events and the pipeline of the plan,
// Aggregates if event types are migrated, and the payload bucket if some have offload. target makes
// the target of an ARN.
func New(plan *Plan, c tables.Config, target func(arn string) Target) (*Publisher, error) {
	c.Pipeline = plan.pipeline
	store, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	p := &Publisher{plan: plan, store: store, heads: generations.New(store, c), bucket: plain.New(store, c).Payloads, name: c.PayloadBucket}
	made := map[string]Target{}
	for _, of := range plan.Publications {
		if _, known := made[of.To]; !known {
			made[of.To] = target(of.To)
		}
		p.targets = append(p.targets, made[of.To])
	}
	return p, nil
}

// Handle processes a batch as Lambda sends it. If a message is not proven taken, the answer names
// the record of the first such message, and the batch comes again from there. Messages of the same
// key that come after a refused one are not sent before it. An error fails the whole batch: it is
// not a batch of a stream, or another Region is the home of the events table.
func (p *Publisher) Handle(ctx context.Context, payload json.RawMessage) (Response, error) {
	response := Response{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	batch, err := records.Read(payload)
	if err == nil && batch.Piped {
		err = errors.New("it comes from EventBridge Pipes")
	}
	if err != nil {
		return response, fmt.Errorf("publish: the event is not a stream batch of Lambda's: %w", err)
	}
	began := p.store.Env.Now()
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(began)
		var stop context.CancelFunc
		ctx, stop = p.store.Env.Deadline(ctx, deadline.Add(-min(margin, left/2)))
		defer stop()
	}
	if err := p.heads.CheckHome(ctx); err != nil {
		return response, fmt.Errorf("publish: %w", err)
	}
	b := p.read(batch.Records)
	if b.whole == nil {
		b.send(ctx)
		b.giveUp(ctx, began)
	}
	if b.whole != nil {
		return response, fmt.Errorf("publish: %w", b.whole)
	}
	b.done.Took = p.store.Env.Now().Sub(began)
	if len(b.records) > 0 {
		b.done.Lag = max(0, began.Sub(b.records[0].Created))
	}
	if p.OnBatch != nil {
		p.OnBatch(ctx, b.done)
	}
	if at := slices.IndexFunc(b.left, func(err error) bool { return err != nil }); at >= 0 {
		response.BatchItemFailures = append(response.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: b.records[at].Sequence.String()})
		if p.Log != nil {
			p.Log.WarnContext(ctx, "not published yet; the batch comes again", "from", b.records[at].Sequence.String(),
				"messages", b.done.Refused, "error", awserr.Quiet(b.left[at]).Error())
		}
	}
	return response, nil
}

// batch is one call of Handle, or a part of one of [Publisher.Again].
type batch struct {
	*Publisher
	records []event.Change
	odd     []error // by record: why it cannot be read. It may quote a value, so only a letter has it
	changes []change
	left    []error // by record: why it is not done with
	whole   error   // a record without a sequence number cannot be named

	mu   sync.Mutex // for what follows, and for left
	done Published
}

func (p *Publisher) newBatch(records int) *batch {
	return &batch{Publisher: p, records: make([]event.Change, records), odd: make([]error, records), left: make([]error, records)}
}

// read decodes the records, and finds what is to be sent. A record that a newer pipeline has
// stamped, and that cannot be read, waits for a newer publish function. So does everything behind
// it, because it may have the same key.
func (p *Publisher) read(list []records.Record) *batch {
	b := p.newBatch(len(list))
	b.done.Received = len(list)
	newer := false
	for i, r := range list {
		var err error
		b.records[i], err = r.Change("")
		switch c := &b.records[i]; {
		case err != nil && c.Sequence.IsZero():
			b.whole = fmt.Errorf("record %d cannot be read, and has no sequence number: %w", i, err)
			return b
		case newer:
			b.left[i] = errBehind
		case err != nil && c.Stamp > p.plan.pipeline.Epoch():
			newer, b.left[i] = true, fmt.Errorf("an item carries epoch %d and this function's pipeline.yaml is at %d: deploy the publish "+
				"function with the newer pipeline.yaml", c.Stamp, p.plan.pipeline.Epoch())
		case err != nil:
			b.odd[i], b.left[i] = err, errUnread
		default:
			b.add(i, p.plan.changeOf(c), nil)
		}
	}
	return b
}

// add adds what the publications send of one change. names chooses some of them; nil means all.
func (b *batch) add(record int, c change, names []string) {
	if c.item == nil {
		return
	}
	c.record, c.place = record, b.records[record].Sequence.String()
	for i, of := range b.plan.Publications {
		c.to = i
		if slices.Contains(of.From, c.item.Type) && slices.Contains(of.On, c.what) && (names == nil || slices.Contains(names, of.Name)) &&
			(c.item.Payload != nil || b.plan.wants(&c, c.item.Data)) { // what is in the bucket is judged when it is read
			b.changes = append(b.changes, c)
		}
	}
}

// send sends the changes, to all targets at the same time.
func (b *batch) send(ctx context.Context) {
	var targets []Target
	lines := map[string][]*change{}
	for i := range b.changes {
		target := b.targets[b.changes[i].to]
		if lines[target.ARN] == nil {
			targets = append(targets, target)
		}
		lines[target.ARN] = append(lines[target.ARN], &b.changes[i])
	}
	b.store.Env.Each(len(targets), len(targets), func(i int) { b.line(ctx, targets[i], lines[targets[i].ARN]) })
}

// line sends changes to one target, in waves. In each wave are the next changes of all keys. A key
// whose change is refused has no further one, so that the order of its messages holds.
func (b *batch) line(ctx context.Context, target Target, list []*change) {
	stopped := map[event.Key]*change{} // by key: the one that is refused
	for len(list) > 0 {
		var wave, later []*change
		taken := map[event.Key]bool{}
		for _, c := range list {
			switch key := c.item.Key; {
			case stopped[key] != nil && stopped[key].record == c.record:
				b.settle(c, errTogether)
			case stopped[key] != nil:
				b.settle(c, errBehind)
			case taken[key]:
				later = append(later, c)
			default:
				taken[key] = true
				wave = append(wave, c)
			}
		}
		for _, c := range b.wave(ctx, target, wave) {
			stopped[c.item.Key] = c
		}
		list = later
	}
}

var (
	errBehind   = errors.New("an earlier change of the same key is not sent yet")
	errUnread   = errors.New("it cannot be read, and is not in quarantine yet")
	errTogether = errors.New("another publication of this record is refused by the same target")
)

// wave sends changes of different keys, tries some again, and returns those that are not sent. What
// only a person can mend is not tried again.
func (b *batch) wave(ctx context.Context, target Target, wave []*change) (refused []*change) {
	give := func(c *change, err error) {
		b.settle(c, err)
		refused = append(refused, c)
	}
	for round := 1; len(wave) > 0; round++ {
		r := &sending{batch: b, target: target, todo: wave, errs: map[*change]error{}}
		workers := min(inFlight, (len(wave)+entries-1)/entries)
		b.store.Env.Each(workers, workers, func(int) { r.work(ctx) })
		var again []*change
		for _, c := range wave {
			switch err := r.errs[c]; {
			case err == nil:
			case awserr.Denied(err):
				give(c, err)
			default:
				again = append(again, c)
			}
		}
		if wave = again; len(wave) > 0 && (round == rounds || !b.store.Env.Wait(ctx, round)) {
			for _, c := range wave {
				give(c, r.errs[c])
			}
			return refused
		}
	}
	return refused
}

// settle notes that a change is not sent. A record is done with when all its messages are. The
// first reason stays, because a record is given up for it. Only errBehind takes its place: one of
// the record's messages has not been tried.
func (b *batch) settle(c *change, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done.Refused++
	if b.left[c.record] == nil || errors.Is(err, errBehind) {
		b.left[c.record] = err
	}
}

// sending is one round of a wave.
type sending struct {
	*batch
	target Target
	todo   []*change
	next   int
	errs   map[*change]error // of those that are not sent; guarded by mu of the batch
}

// take returns the next changes, at most as many as a request holds.
func (r *sending) take() []*change {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.next
	r.next = min(len(r.todo), from+entries)
	return r.todo[from:r.next]
}

// work sends requests as full as they may be, until nothing is left to do. It holds the payloads of
// one request.
func (r *sending) work(ctx context.Context) {
	for next := r.take(); len(next) > 0; next = r.take() {
		r.sendSome(ctx, next)
	}
}

// sendSome sends changes in one request, or in more if they are too large for one.
func (r *sending) sendSome(ctx context.Context, some []*change) {
	var of []*change
	var list []Message
	bytes := 0
	flush := func() {
		if len(list) > 0 {
			r.request(ctx, of, list)
		}
		of, list, bytes = nil, nil, 0
	}
	for _, c := range some {
		m, err := r.build(ctx, c)
		if err != nil {
			r.fail(c, err)
			continue
		}
		if m.Body == "" {
			continue // it was erased, or is not wanted
		}
		if c.alone || bytes+m.size() > r.target.Largest || len(of) > 0 && of[len(of)-1].alone {
			flush()
		}
		of, list, bytes = append(of, c), append(list, m), bytes+m.size()
	}
	flush()
}

func (r *sending) fail(c *change, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs[c] = err
}

// build returns the message of a change. Its body is empty if the event was erased, or if its
// publication does not want it.
func (r *sending) build(ctx context.Context, c *change) (Message, error) {
	if err := ctx.Err(); err != nil {
		return Message{}, err
	}
	payload := ""
	switch {
	case c.told != nil:
		return *c.told, nil
	case c.what == Removed:
	case c.item.Payload == nil:
		payload = c.item.Data
	case r.bucket == nil:
		return Message{}, errors.New("its payload is in the payload bucket, which is not configured (INGOT_PAYLOAD_BUCKET)")
	default:
		text, err := r.bucket.GetWithin(ctx, r.store.Env, c.item.Type, c.item.Key, c.item.Payload.Sum,
			func(bytes int64) bool { return bytes <= int64(r.target.Largest) })
		switch {
		case errors.Is(err, payloads.ErrMissing):
			r.count(func(d *Published) { d.Dropped++ })
			return Message{}, nil
		case err != nil && !errors.Is(err, payloads.ErrNoRoom):
			return Message{}, err
		}
		if payload = text; !r.plan.wants(c, text) {
			return Message{}, nil
		}
	}
	before, short := "", payload == ""
	if r.plan.Publications[c.to].Before && c.what == Changed {
		before = c.earlier()
	}
	m := r.plan.message(c, payload, before, r.name)
	for _, less := range []string{payload, ""} { // first without before, and then without the payload
		if m.size() > r.target.Largest {
			m, short = r.plan.message(c, less, "", r.name), true
		}
	}
	if short && c.what != Removed {
		r.count(func(d *Published) { d.Pointers++ })
	}
	return m, nil
}

func (b *batch) count(add func(*Published)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add(&b.done)
}

func (r *sending) request(ctx context.Context, of []*change, list []Message) {
	errs := r.target.Send(ctx, list)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Requests++
	for i, err := range errs {
		of[i].alone = awserr.Refuses(err) // the services refuse a request as a whole for one message
		if err != nil {
			r.errs[of[i]] = fmt.Errorf("%s: %w", r.target.ARN, err)
		} else {
			r.done.Sent++
		}
	}
}

// giveUp puts the keys of records into quarantine that cannot be read, or that were refused for too
// long.
func (b *batch) giveUp(ctx context.Context, now time.Time) {
	if b.Quarantine == nil {
		return
	}
	patience := min(cmp.Or(b.Patience, defaultPatience), longestPatience)
	var list []quarantine.Letter
	var of []int
	for i, err := range b.left {
		c := &b.records[i]
		if err == nil || errors.Is(err, errBehind) || b.odd[i] == nil && now.Sub(c.Created) < patience {
			continue
		}
		detail := awserr.Quiet(cmp.Or(b.odd[i], err)).Error() // what a service says may quote the payload
		list = append(list, quarantine.Record{PK: c.Key.PK, SK: c.Key.SK, StreamARN: c.Lane.StreamARN,
			Sequences: []string{c.Sequence.String()}, Reason: quarantine.Unpublished, Detail: detail, Change: c.Kind.String(),
			Removals: b.removals(i)}.Letter())
		of = append(of, i)
	}
	if len(list) == 0 {
		return
	}
	for i, err := range b.Quarantine.Send(ctx, list) {
		if err == nil {
			b.left[of[i]] = nil
			b.done.Quarantined++
			if b.Log != nil {
				b.Log.WarnContext(ctx, "given up: it was not published", "keyHash", b.records[of[i]].Key.Hash(),
					"sequenceNumber", b.records[of[i]].Sequence.String())
			}
		} else {
			b.left[of[i]] = fmt.Errorf("%w; quarantine: %w", b.left[of[i]], err)
		}
	}
}

// removals returns what a letter needs so that a removal can still be told.
func (b *batch) removals(record int) map[string]json.RawMessage {
	list := map[string]json.RawMessage{}
	for i := range b.changes {
		if c := &b.changes[i]; c.record == record && c.what == Removed {
			list[b.plan.Publications[c.to].Name] = json.RawMessage(b.plan.message(c, "", "", b.name).Body)
		}
	}
	return list
}
