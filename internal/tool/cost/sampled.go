package cost

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
)

// ErrNoEvents is returned if there is no message.
var ErrNoEvents = errors.New("there is no event")

// sampled is what is known about messages after their rehearsal. All sums are over the messages,
// without those that Duplicates adds.
type sampled struct {
	*rehearse.Rehearsal
	in       Input
	events   float64 // each event of an array counts as one
	messages float64 // as SQS carries them: an array of events is one
	bytes    float64 // of their bodies
	chunks   float64 // of 64 KB; SQS bills a message by them
	sent     float64 // chunks of the requests that producers send
	unsent   float64 // bytes of a request that is not full yet
	waiting  int     // messages in it
	indexes  int     // that the first item is in
	more     bool    // messages are left that were not rehearsed

	stored        float64 // events that are stored, or replace a stored one
	parts         float64 // that are stored beside them
	transacted    float64 // items that transactions put
	kept, forever held    // bytes times the seconds that they are kept, and bytes that are kept for ever
	states        map[event.Key]bool
	required      required

	batch []delivery
	room  float64 // in the open batch
	owed  float64 // deliveries that Duplicates adds
}

// delivery is a message that is delivered, for the first time or again.
type delivery struct {
	envelope.Message
	again bool
}

// held is how much is stored of items: in the table, in its indexes, and in the payload bucket.
type held struct{ table, indexes, payloads float64 }

func (h *held) add(item, indexes, payload float64) {
	h.table, h.indexes, h.payloads = h.table+item, h.indexes+item*indexes, h.payloads+payload
}

// payloadsLonger is how much longer than its item a payload is kept at least. The lifecycle rule
// that ingot check requires sets this.
const payloadsLonger = 30 * 24 * time.Hour

// storageOverhead is what DynamoDB adds to the size of an item when it bills storage (developer
// guide, "Item sizes and formats").
const storageOverhead = 100

// sample rehearses messages at the rate of the input.
func (in Input) sample(messages iter.Seq2[envelope.Message, error]) (*sampled, error) {
	in.Stack = cmp.Or(in.Stack, usual(in.Pipeline))
	r, err := rehearse.Whole(in.Pipeline, in.Now, in.Clock,
		rehearse.Deployed{Partitions: in.Partitions, Counting: in.Stack.Counting, Archive: in.Stack.Archive})
	if err != nil {
		return nil, err
	}
	s := &sampled{Rehearsal: r, in: in, room: 1, states: map[event.Key]bool{}, required: required{sizes: map[event.Key]int{}}}
	for m, err := range messages {
		if s.more = r.Over(); s.more {
			break
		}
		if err == nil {
			err = s.deliver(delivery{Message: m})
		}
		if err != nil {
			return nil, err
		}
	}
	for len(s.batch) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	if s.messages == 0 {
		return nil, ErrNoEvents
	}
	return s, r.Count(int(math.Round(s.inBatch(r.Used(rehearse.Storing).Changes))))
}

// deliver puts a message into the open batch.
func (s *sampled) deliver(d delivery) error {
	if s.batch = append(s.batch, d); float64(len(s.batch)) < math.Floor(s.room) {
		return nil
	}
	return s.flush()
}

// flush ends a batch of the ingest function. Messages that Duplicates repeats come again in the
// next batches.
func (s *sampled) flush() error {
	batch, again := s.batch, []delivery{}
	messages, planned := make([]envelope.Message, len(batch)), make([][]event.Planned, len(batch))
	for i := range batch {
		messages[i] = batch[i].Message
		planned[i] = s.in.Pipeline.PlanEach(messages[i])
	}
	s.look(planned)
	outcomes, err := s.Put(messages)
	if err != nil {
		return err
	}
	for i := range batch {
		if batch[i].again {
			continue
		}
		s.add(batch[i].Message, &outcomes[i], planned[i])
		for s.owed += s.in.Duplicates; s.owed >= 1; s.owed-- {
			again = append(again, delivery{batch[i].Message, true})
		}
	}
	s.batch, s.room = nil, s.room-float64(len(batch))+s.messagesInBatch()
	for _, d := range again {
		if err := s.deliver(d); err != nil {
			return err
		}
	}
	return nil
}

// add adds a message, its outcome, and what was planned of it.
func (s *sampled) add(m envelope.Message, o *handler.Outcome, planned []event.Planned) {
	s.messages++
	size := float64(len(m.Body))
	s.bytes, s.chunks = s.bytes+size, s.chunks+chunksOf(size)
	if s.waiting == max(1, s.in.Together) || s.unsent+size > maxRequest {
		s.sent, s.unsent, s.waiting = s.sent+chunksOf(s.unsent), 0, 0
	}
	s.unsent, s.waiting = s.unsent+size, s.waiting+1
	if o.Events == nil {
		s.event(o, planned[0].Item)
	}
	for i := range o.Events {
		s.event(&o.Events[i], planned[i].Item)
	}
}

// maxRequest is how many bytes a request to SQS may have.
const maxRequest = 1 << 20

// chunksOf returns as how many requests SQS bills so many bytes.
func chunksOf(bytes float64) float64 { return math.Ceil(bytes / (64 << 10)) }

// event adds an event and what is kept of it. Its outcome has no parts any more, and the item as it
// was planned has them.
func (s *sampled) event(o *handler.Outcome, planned *event.Item) {
	s.events++
	isNew := o.Verdict == event.Inserted
	if isNew || o.Verdict == event.Updated {
		s.stored++
		s.parts += float64(o.Parts[event.Inserted] + o.Parts[event.Updated])
	}
	if o.Item == nil || !isNew && o.Verdict != event.Conflict {
		return
	}
	if s.stored == 1 {
		s.indexes = len(o.Item.Indexes)
	}
	s.hold(o.Item, isNew, false)
	if planned == nil || planned.Parts == nil || !isNew {
		return
	}
	for _, part := range planned.Parts.Items {
		s.hold(part, true, planned.Parts.Atomic)
	}
}

// hold adds what is kept of an item. If it is not stored because of a Conflict, the payload bucket
// keeps its payload all the same, until its lifecycle ends.
func (s *sampled) hold(item *event.Item, stored, atomic bool) {
	bytes, indexes, payload := 0.0, float64(len(item.Indexes)), 0.0
	if item.Payload != nil {
		payload = float64(len(item.Payload.Text))
	}
	if stored {
		bytes = float64(item.Size() + storageOverhead)
		if atomic || item.Put != 0 || item.Parts != nil && item.Parts.Atomic {
			s.transacted++
		}
	}
	if stored && item.Revision != nil { // a newer one replaces it
		if s.states[item.Key] {
			return
		}
		s.states[item.Key] = true
	}
	if item.ExpiresAt == 0 {
		s.forever.add(bytes, indexes, payload)
		return
	}
	lives := time.Unix(item.ExpiresAt, 0).Sub(item.At)
	s.kept.add(bytes*lives.Seconds(), indexes, payload*(lives+payloadsLonger).Seconds())
}

// scale multiplies a sum over the messages to get a rate a second.
func (s *sampled) scale() float64 { return s.in.Rate / s.events }

// inMessage returns how many events a message has.
func (s *sampled) inMessage() float64 { return s.events / s.messages }

// messagesInBatch returns about how many messages are in a batch of the ingest function.
func (s *sampled) messagesInBatch() float64 {
	if s.messages == 0 {
		return 1
	}
	return estimate.InBatch(s.in.Rate*(1+s.in.Duplicates)/estimate.Pollers/s.inMessage(), s.bytes/s.messages)
}

// inBatch returns about how many changes are in a batch of the streams function, if the messages
// make so many of them.
func (s *sampled) inBatch(changes int) float64 {
	return estimate.InBatch(float64(changes)*s.scale()/float64(s.in.Partitions), 2*s.bytes/s.events)
}

// marks returns how many write units more the updates of a phase take, because totals remember the
// shards that changed them in the last 72 hours. A rehearsal is too short for that. It is assumed
// that a total changes as often as in the sample. Totals of made-up events change once.
func (s *sampled) marks(p rehearse.Phase) (units float64) {
	if s.in.File == "" || s.in.Stack.Counting == aggregate.Receipts {
		return 0
	}
	for _, t := range s.Totals() {
		def, known := s.in.Pipeline.Definition(t.Aggregate)
		counted := t.Moves[rehearse.Counting] + t.Moves[rehearse.Expiring]
		if !known || counted == 0 {
			continue
		}
		bytes := estimate.Bytes(def, t.By)
		marks := math.Ceil(marksOf(def, float64(counted)*s.scale(), s.in.Partitions))
		more := itemform.WriteUnits(bytes+int(marks)*estimate.MarkBytes) - itemform.WriteUnits(bytes+estimate.MarkBytes)
		if p == rehearse.Storing {
			more *= estimate.InTransaction
		}
		units += float64(more * t.Moves[p])
	}
	return units
}

// marksOf returns about how many marks a total carries if it is changed this often in a second.
func marksOf(def *aggregate.Definition, aSecond float64, shards int) float64 {
	const kept = 72 * time.Hour
	live := kept
	if def.Window > 0 {
		live = min(live, def.Window)
	}
	lanes := float64(estimate.Marks(def, aggregate.Marks, shards)) * live.Hours() / kept.Hours()
	return math.Max(1, estimate.Touched(aSecond*live.Seconds(), math.Max(1, lanes)))
}

// looks returns the read units of a phase. The function that was rehearsed had not seen any total
// before. If the sample comes over and over, each function reads a total again once an hour.
func (s *sampled) looks(p rehearse.Phase) float64 {
	units := s.Used(p).Totals.Read
	if s.in.File == "" {
		return units
	}
	read, again := 0.0, 0.0
	for _, t := range s.Totals() {
		if n := float64(t.Moves[p]); n > 0 {
			read += math.Min(n, float64(max(1, t.Items)))
			again += math.Min(n, estimate.LooksASecond*float64(s.in.Partitions)/s.scale())
		}
	}
	return units * again / math.Max(1, read)
}
