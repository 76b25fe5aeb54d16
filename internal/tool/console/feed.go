package console

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// These constants limit the memory of a Feed and the size of its answers, at any rate of events.
const (
	feedSeconds   = 120
	feedRecent    = 40
	feedTraces    = 2000
	feedRefused   = 200
	feedBody      = 16 << 10 // bytes of a message that are kept
	feedDelivered = 20       // deliveries and changes that are kept of one event
)

// Feed collects what a pipeline in this process does. Set its methods as the hooks of both
// functions: [Feed.Result] and [Feed.Ingested] of handler.Ingest, [Feed.Changed] and [Feed.Counted]
// of handler.Streams. It adds up events as they come, so an event costs the same however many pages
// are open. It is safe for concurrent use, and it never blocks a function.
type Feed struct {
	now func() time.Time

	mu      sync.Mutex
	seconds [feedSeconds]second // by the time in seconds, modulo their number
	recent  [feedRecent]Recent  // a ring
	told    int                 // outcomes so far; the next one goes to told modulo feedRecent
	lag     time.Duration
	lagAt   time.Time
	refused []refused // the latest deliveries that were refused, at most feedRefused
	traces  map[event.Key]*list.Element
	order   list.List // of *trace, the latest event first
	last    *trace    // the trace of the last message that was stored
}

// second is what happened in one second.
type second struct {
	at       int64
	verdicts [len(event.Verdicts) + 1]float64
	sums     [sumCount]float64
}

// These are the sums of a second, apart from the verdicts.
const (
	sumReceived = iota
	sumReturned
	sumIngestRequests
	sumIngestWrites
	sumIngestReads
	sumQueueRequests
	sumChanges
	sumUpdates
	sumDropped
	sumArchived
	sumStreamsRequests
	sumStreamsWrites
	sumStreamsReads
	sumCount
)

// sumNames holds the names of the series that the sums become.
var sumNames = [sumCount]string{"received", "returned", "ingestRequests", "ingestWrites", "ingestReads", "queueRequests",
	"changes", "updates", "dropped", "archived", "streamsRequests", "streamsWrites", "streamsReads"}

// trace is what happened to one event.
type trace struct {
	key        event.Key
	body       string
	whole      bool // body is the whole body of the message
	attributes map[string]string
	deliveries []delivery
	changes    []changed
}

type delivery struct {
	at       time.Time
	message  string // its id
	verdict  string
	reason   string
	returned bool
}

// refused is a delivery that was refused, with its message.
type refused struct {
	number int64 // of the outcome, from 1
	delivery
	detail     string
	key        event.Key // empty if it is not known
	body       string
	whole      bool // body is the whole body of the message
	attributes map[string]string
}

type changed struct {
	at       time.Time
	kind     string
	lane     string
	sequence string
}

// NewFeed returns an empty Feed. now is the clock of the functions, and nil means time.Now.
func NewFeed(now func() time.Time) *Feed {
	if now == nil {
		now = time.Now
	}
	return &Feed{now: now, traces: map[event.Key]*list.Element{}}
}

// second returns the sums of the second of now. It clears them if they are still those of an
// earlier second.
func (f *Feed) second(now time.Time) *second {
	at := now.Unix()
	s := &f.seconds[at%feedSeconds]
	if s.at != at {
		*s = second{at: at}
	}
	return s
}

// Result records what became of one message, or of each event if the message is an array.
func (f *Feed) Result(_ context.Context, o handler.Outcome) {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queueRequests(now, o)
	if o.Events == nil {
		body := ""
		if o.Message != nil {
			body = o.Message.Body
		}
		f.event(now, &o, body)
		return
	}
	var alone []envelope.Message // the events, as messages of their own
	if o.Message != nil {
		_, alone, _ = envelope.OpenAll(handler.MessageOf(o.Message), []envelope.Batch{{}}) // the function has opened it
	}
	for i := range o.Events {
		body, item := "", o.Events[i].Item
		switch inside := !o.Events[i].Place.In.IsZero(); {
		case inside && item != nil:
			body = item.Text()
		case !inside && i < len(alone):
			body = alone[i].Body
		}
		f.event(now, &o.Events[i], body)
	}
}

// event records what became of one event. body is the body of a message with this event alone. The
// caller holds the lock.
func (f *Feed) event(now time.Time, o *handler.Outcome, body string) {
	r := Recent{At: now, Verdict: o.Verdict.String()}
	d := delivery{at: now, verdict: r.Verdict, returned: o.Failed}
	if o.Refusal != nil {
		r.Type, r.PK, r.SK = o.Refusal.Type, o.Refusal.Key.PK, o.Refusal.Key.SK
		d.reason = string(o.Refusal.Reason)
		r.Reason = quarantine.Reason(d.reason, o.Refusal.Detail)
	}
	if o.Item != nil {
		r.Type, r.PK, r.SK = o.Item.Type, o.Item.Key.PK, o.Item.Key.SK
	}
	if o.Message != nil {
		d.message = o.Message.MessageId
	}
	if o.Refusal != nil {
		r.Delivery = int64(f.told + 1)
		one := refused{number: r.Delivery, delivery: d, detail: o.Refusal.Detail, key: event.Key{PK: r.PK, SK: r.SK},
			body: excerpt.Of(body, feedBody), whole: len(body) <= feedBody}
		if o.Message != nil {
			one.attributes = handler.MessageOf(o.Message).Attributes
		}
		if f.refused = append(f.refused, one); len(f.refused) > feedRefused {
			f.refused = slices.Delete(f.refused, 0, 1)
		}
	}
	f.recent[f.told%feedRecent] = r
	f.told++
	if o.Item == nil {
		return
	}
	t := f.trace(o.Item.Key)
	t.deliveries = bounded(t.deliveries, d)
	if o.Message == nil {
		return
	}
	// The message that is stored is the one to show. A Conflict came with another payload.
	if t.body == "" || o.Verdict.Written() {
		t.body, t.whole, t.attributes = body, len(body) <= feedBody, handler.MessageOf(o.Message).Attributes
		t.body = excerpt.Of(t.body, feedBody)
	}
	if t.whole && (o.Verdict.Written() || o.Verdict == event.Duplicate) {
		f.last = t
	}
}

// queueRequests adds what SQS bills for one message after it was sent, if ten are received and
// deleted at once: SQS bills a request for each started 64 KB. A message that is returned is not
// deleted, and one that is quarantined is sent to another queue. The caller holds the lock.
func (f *Feed) queueRequests(now time.Time, o handler.Outcome) {
	size := 0
	if o.Message != nil {
		size = len(o.Message.Body)
	}
	requests := max(1./atOnceInSQS, float64(size)/chunk)
	if !o.Failed {
		requests += 1. / atOnceInSQS
	}
	if !o.Failed && o.Verdict.Quarantined() {
		requests += float64(chunks(size))
	}
	f.second(now).sums[sumQueueRequests] += requests
}

// These are limits of SQS: how many messages one request can have, and how many bytes are billed as
// one request.
const (
	atOnceInSQS = 10
	chunk       = 64 << 10
)

// chunks returns how many requests SQS bills for a request with one message of this size.
func chunks(size int) int { return max(1, (size+chunk-1)/chunk) }

// bounded appends to a list. If the list is full, the new entry replaces the last one.
func bounded[T any](all []T, one T) []T {
	if len(all) < feedDelivered {
		return append(all, one)
	}
	all[len(all)-1] = one
	return all
}

// trace returns the trace of a key, which it makes if there is none. If there are too many, it
// forgets the one that was used least recently. The caller holds the lock.
func (f *Feed) trace(key event.Key) *trace {
	if e, there := f.traces[key]; there {
		f.order.MoveToFront(e)
		return e.Value.(*trace)
	}
	t := &trace{key: key}
	f.traces[key] = f.order.PushFront(t)
	if f.order.Len() > feedTraces {
		oldest := f.order.Remove(f.order.Back()).(*trace)
		delete(f.traces, oldest.key)
	}
	return t
}

// Ingested records the sums of one batch of messages.
func (f *Feed) Ingested(_ context.Context, r handler.IngestReport) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.second(f.now())
	for v, n := range r.Verdicts {
		s.verdicts[v] += float64(n)
	}
	s.sums[sumReceived] += float64(r.Received)
	s.sums[sumReturned] += float64(r.Failed)
	s.sums[sumIngestRequests] += float64(r.Cost.Requests)
	s.sums[sumIngestWrites] += r.Cost.WriteUnits
	s.sums[sumIngestReads] += r.Cost.ReadUnits
}

// Changed records one change before it is counted. It always returns nil. It has an error only so
// that it can be used as a hook.
func (f *Feed) Changed(_ context.Context, c event.Change) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A change has no trace if its event came before the start, or if its trace was forgotten. Then
	// only the tables know it.
	if e, there := f.traces[c.Key]; there {
		t := e.Value.(*trace)
		kind := c.Kind.String()
		if c.Expired {
			kind = "EXPIRED"
		}
		t.changes = bounded(t.changes, changed{f.now(), kind, c.Lane.ShardID, c.Sequence.String()})
	}
	return nil
}

// Counted records the sums of one batch of changes.
func (f *Feed) Counted(_ context.Context, r handler.StreamsReport) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	s := f.second(now)
	s.sums[sumChanges] += float64(r.Received)
	s.sums[sumUpdates] += float64(r.Updates)
	s.sums[sumDropped] += float64(r.Dropped)
	s.sums[sumArchived] += float64(r.Archived)
	s.sums[sumStreamsRequests] += float64(r.Cost.Requests)
	s.sums[sumStreamsWrites] += r.Cost.WriteUnits
	s.sums[sumStreamsReads] += r.Cost.ReadUnits
	f.lag, f.lagAt = r.Lag, now
}

// flow returns the last two minutes as columns, without the second that is not over yet.
func (f *Feed) flow() *Flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	out := &Flow{AsOf: now.UTC(), Step: 1, Poll: 1, Series: map[string][]float64{}, Recent: []Recent{}, Queues: []Queue{}}
	var verdicts [len(event.Verdicts) + 1][]float64
	var sums [sumCount][]float64
	for at := now.Unix() - feedSeconds + 1; at < now.Unix(); at++ {
		s := f.seconds[at%feedSeconds]
		if s.at != at {
			s = second{}
		}
		out.At = append(out.At, at)
		for _, v := range event.Verdicts {
			verdicts[v] = append(verdicts[v], s.verdicts[v])
		}
		for i := range sums {
			sums[i] = append(sums[i], s.sums[i])
		}
	}
	for _, v := range event.Verdicts {
		out.Series[v.String()] = verdicts[v]
	}
	for i, name := range sumNames {
		out.Series[name] = sums[i]
	}
	if !f.lagAt.IsZero() {
		lag := max(0, f.lag.Seconds())
		out.Lag = &lag
	}
	for i := range min(f.told, feedRecent) {
		out.Recent = append(out.Recent, f.recent[(f.told-1-i)%feedRecent])
	}
	return out
}

// find returns a copy of the trace of a key, or nil.
func (f *Feed) find(key event.Key) *trace {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, there := f.traces[key]; there {
		return e.Value.(*trace).copy()
	}
	return nil
}

// refusal returns a delivery that was refused, or false if it is not remembered.
func (f *Feed) refusal(number int64) (refused, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.refused {
		if one.number == number {
			return one, true
		}
	}
	return refused{}, false
}

// stored returns a copy of the trace of the message that was last proven stored, or nil.
func (f *Feed) stored() *trace {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		return nil
	}
	return f.last.copy()
}

func (t *trace) copy() *trace {
	c := *t
	c.deliveries, c.changes = append([]delivery(nil), t.deliveries...), append([]changed(nil), t.changes...)
	return &c
}
