package cost

import (
	"hash/fnv"
	"io"
	"math"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/sample"
)

// maxTotals is how many different totals are remembered, at about 100 bytes each. Every change of
// any other total counts as the change of a new total.
const maxTotals = 1 << 20

// Sampled adds up what sample events would cost. Make it with [NewSampled], and give its
// [Sampled.Add] to a [sample.Sampler].
type Sampled struct {
	shards, changesIn int // changes are dealt to this many shards, and counted in batches of this size
	events
	messagesIn, inBatch int                  // messages of a batch of the ingest function, and those of the open one
	groups              [3][]*group          // of the open batch: wholes, parts, and atomic wholes
	open                []map[total]struct{} // for each shard, the totals that its open batch changes
	filled              []int                // for each shard, the changes in its open batch
	totals              map[total]*touched   // without windows
}

// events is what is known about many events together. All fields are sums over the messages.
type events struct {
	file     string  // empty: nothing was sampled
	messages float64 // each event of an array counts as one
	bytes    float64 // of their bodies
	sent     float64 // messages as SQS carries them: an array of events is one
	chunks   float64 // of 64 KB; SQS bills a message by them
	verdicts [len(event.Verdicts) + 1]float64

	table, index    float64 // write units of items that are stored
	refused, reread float64 // write units of puts whose key is taken, and read units of what is stored there
	// parts are the parts that are stored, and partsTaken those that are stored already.
	parts, partsTaken float64
	metGroups         float64 // transactions whose items are stored already
	stored            float64 // bytes of items
	kept              held    // bytes times the seconds that they are kept
	forever           held    // bytes of items that are kept for ever
	expire            float64 // items that expire
	expired           float64 // their bytes

	sums  []*summed // by aggregate
	moved moved
	apart apart
}

// apart is what is known about payloads that go to the payload bucket.
type apart struct {
	puts     float64 // each delivery puts the payload, even if the event is not stored
	stored   float64 // of the puts, those of items that are stored
	compared float64 // payloads that are read because a different one came with the same key
	expire   float64 // of items that expire: the archive reads them
	kept     float64 // bytes times the seconds that they are kept
	forever  float64 // bytes of those that are kept for ever
}

// payloadsLonger is how much longer than its item a payload is kept at least. The lifecycle rule
// that ingot check requires sets this.
const payloadsLonger = 30 * 24 * time.Hour

// held is how much is stored of items.
type held struct{ table, indexes float64 }

func (h *held) add(item, indexes float64) {
	h.table, h.indexes = h.table+item, h.indexes+item*indexes
}

func (h held) all() float64 { return h.table + h.indexes }

// summed is what events add to the totals of one aggregate.
type summed struct {
	def         *aggregate.Definition
	steps       float64    // one for each event that counts in the total
	leave       float64    // of the steps, those of events that expire
	updates     float64    // after folding
	plain, full float64    // write units of the updates: without what totals remember of shards, and with it
	looks       float64    // updates of a total that the function reads first, if it has many to update
	totals      []*touched // in the order in which they were first changed
}

// total is a total without its bucket. The window is NoWindow if windows do not matter.
type total struct {
	def    *aggregate.Definition
	by     uint64
	window int64
}

// touched counts how often a total was changed, in any window.
type touched struct {
	def     *aggregate.Definition
	batches float64
	puts    float64 // transactions that put items
	bytes   int     // of its item, without marks
}

// NewSampled returns a Sampled for events of a file. They are stored in batches of so many
// messages. Their changes are dealt to so many partitions and counted in batches of so many.
// [InBatch] and [MessagesInBatch] say how many a batch has at a given rate.
func NewSampled(file string, partitions int, changes, messages float64) *Sampled {
	return &Sampled{shards: partitions, changesIn: int(math.Max(1, math.Round(changes))),
		messagesIn: int(math.Max(1, math.Round(messages))), events: events{file: file},
		open: make([]map[total]struct{}, partitions), filled: make([]int, partitions), totals: map[total]*touched{}}
}

// InBatch returns about how many changes are in a batch, if rate events are stored each second, in
// this number of partitions.
func InBatch(rate float64, partitions int) float64 {
	return estimate.InBatch(rate/float64(partitions), 0)
}

// MessagesInBatch returns about how many messages are in a batch of the ingest function, if rate
// messages come each second, with so many further deliveries of each.
func MessagesInBatch(rate, duplicates float64) float64 {
	return estimate.InBatch(rate*(1+duplicates)/estimate.Pollers, 0)
}

// Empty reports whether there was no line.
func (s *Sampled) Empty() bool { return s.messages == 0 }

// Add adds one line.
func (s *Sampled) Add(j sample.Judged) {
	s.messages++
	s.bytes += float64(j.Bytes)
	if j.Message > 0 {
		s.sent++
		s.chunks += math.Max(1, math.Ceil(float64(j.Message)/(64<<10)))
	}
	s.verdicts[j.Verdict]++
	if s.inBatch++; s.inBatch == s.messagesIn {
		defer s.batch()
		s.inBatch = 0
	}
	if j.Item == nil {
		return
	}
	s.transactions(j)
	s.item(j, j.Item.Parts != nil && j.Item.Parts.Atomic)
	for _, part := range j.Parts {
		if part.Verdict == event.Inserted {
			s.parts++
		} else {
			s.partsTaken++
		}
		s.item(part, j.Item.Parts.Atomic)
	}
}

// item adds one item of a line. A transaction that is refused brings what is stored, so nothing is
// read.
func (s *Sampled) item(j sample.Judged, atomic bool) {
	size, indexes := j.Item.Size(), float64(len(j.Item.Indexes))
	factor, together := transaction(atomic, j.Item)
	units, reading := factor*float64(itemform.WriteUnits(size)), float64(estimate.ReadUnits(size))
	if together {
		reading = 0
	}
	s.payload(j)
	switch j.Verdict {
	case event.Inserted:
		s.table, s.index = s.table+units, s.index+units*indexes
	case event.Updated: // its first put is refused; to move an index entry is to delete it and put another
		s.table, s.index = s.table+units, s.index+2*units*indexes
		s.refused, s.reread = s.refused+units, s.reread+reading
		s.change(j)
		return // what it replaces is no longer stored
	case event.Conflict: // it is read twice: without its payload, and then with it
		s.refused, s.reread = s.refused+units, s.reread+2*reading
		return
	case event.Expired:
		s.reread += reading
		return
	default:
		s.refused, s.reread = s.refused+units, s.reread+reading
		return
	}
	bytes := float64(size)
	s.stored += bytes
	bytes += storageOverhead
	if j.Item.ExpiresAt == 0 {
		s.forever.add(bytes, indexes)
	} else {
		s.kept.add(bytes*time.Unix(j.Item.ExpiresAt, 0).Sub(j.Item.At).Seconds(), indexes)
		s.expire, s.expired = s.expire+1, s.expired+float64(size+apartBytes(j.Item))
	}
	s.change(j)
}

// apartBytes returns how many bytes of payload are not in the item.
func apartBytes(item *event.Item) int {
	if item.Payload == nil {
		return 0
	}
	return len(item.Payload.Text)
}

// payload adds the payload of one item, if it goes to the payload bucket. Each delivery puts the
// payload before the item, unless the event is too late to be stored.
func (s *Sampled) payload(j sample.Judged) {
	if j.Item.Payload == nil || j.Verdict == event.Expired {
		return
	}
	s.apart.puts++
	bytes := float64(apartBytes(j.Item))
	switch {
	case j.Verdict == event.Conflict: // the object stays, under a hash of its own, until its lifecycle ends
		s.apart.compared++
	case j.Verdict != event.Inserted:
		return
	default:
		s.apart.stored++
	}
	if j.Item.ExpiresAt == 0 {
		s.apart.forever += bytes
		return
	}
	if j.Verdict == event.Inserted {
		s.apart.expire++
	}
	s.apart.kept += bytes * (time.Unix(j.Item.ExpiresAt, 0).Sub(j.Item.At) + payloadsLonger).Seconds()
}

// storageOverhead is what DynamoDB adds to the size of an item when it bills storage (developer
// guide, "Item sizes and formats").
const storageOverhead = 100

// change deals a change to its shard, and counts it there.
func (s *Sampled) change(j sample.Judged) {
	shard := int(hashOf(j.Item.Key.PK) % uint64(s.shards))
	if s.open[shard] == nil {
		s.open[shard] = map[total]struct{}{}
	}
	for _, c := range j.Contributions {
		sum := s.sum(c.Def)
		sum.steps++
		if j.Item.ExpiresAt != 0 {
			sum.leave++
		} else if byPut(c.Def) {
			continue // the stream does not move this total
		}
		at := total{def: c.Def, by: hashOf(c.By...), window: c.Window}
		if _, moved := s.open[shard][at]; moved {
			continue
		}
		s.open[shard][at] = struct{}{}
		s.update(sum, at, c.By)
	}
	if s.filled[shard]++; s.filled[shard] == s.changesIn {
		s.filled[shard] = 0
		clear(s.open[shard])
	}
}

// update counts one update of a total.
func (s *Sampled) update(sum *summed, at total, by []string) {
	sum.updates++
	t := s.touched(sum, at, by)
	if t.batches++; s.totals[at.anyWindow()] == nil {
		sum.plain += float64(estimate.UpdateUnits(at.def, t.bytes))
		sum.full += float64(estimate.UpdateUnits(at.def, t.bytes+estimate.MarkBytes))
		sum.looks++
	}
}

// anyWindow returns the total without its window.
func (t total) anyWindow() total {
	t.window = aggregate.NoWindow
	return t
}

// touched returns the counts of a total. If maxTotals are remembered, it does not remember a new
// one.
func (s *Sampled) touched(sum *summed, at total, by []string) *touched {
	at = at.anyWindow()
	t := s.totals[at]
	if t == nil {
		t = &touched{def: at.def, bytes: estimate.Bytes(at.def, by)}
		if len(s.totals) < maxTotals {
			s.totals[at] = t
			sum.totals = append(sum.totals, t)
		}
	}
	return t
}

func (s *Sampled) sum(def *aggregate.Definition) *summed {
	for _, sum := range s.sums {
		if sum.def == def {
			return sum
		}
	}
	s.sums = append(s.sums, &summed{def: def})
	return s.sums[len(s.sums)-1]
}

// hashOf returns the same hash in every run, so the same sample always gives the same cost.
func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		io.WriteString(h, part)
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// finish returns the sums, with the units of all totals. It assumes that a total changes as often
// as in the sample, that it remembers each shard that changed it in the last 72 hours, and that a
// function reads it again once an hour.
func (s *Sampled) finish(rate float64) *events {
	if s.inBatch > 0 {
		s.batch()
		s.inBatch = 0
	}
	e := s.events
	e.sums = nil
	for _, sum := range s.sums {
		one := *sum
		for _, t := range sum.totals {
			often := t.batches / s.messages * rate
			marks := marksOf(sum.def, often, s.shards)
			if byPut(sum.def) {
				inTotal := t.bytes
				if sum.leave > 0 {
					inTotal += int(math.Ceil(marks)) * estimate.MarkBytes
				}
				e.moved.totals += t.puts * float64(estimate.Units(sum.def, inTotal, aggregate.Marks))
			}
			if t.batches == 0 {
				continue
			}
			one.looks += t.batches * math.Min(1, estimate.LooksASecond*float64(s.shards)/often)
			one.plain += t.batches * float64(estimate.UpdateUnits(sum.def, t.bytes))
			one.full += t.batches * float64(estimate.UpdateUnits(sum.def, t.bytes+int(math.Ceil(marks))*estimate.MarkBytes))
		}
		e.sums = append(e.sums, &one)
	}
	return &e
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

// supposed returns the most expensive events that a pipeline allows. They are of the type that
// costs the most, and no two of them share a total.
func supposed(s shape) *events {
	bytes := float64(supposedBytes + storageOverhead)
	e := &events{messages: 1, sent: 1, bytes: supposedBytes, chunks: 1, table: s.factor(), index: float64(s.indexes) * s.factor(),
		stored: supposedBytes}
	e.moved.batches = 1
	if s.transaction {
		e.moved.items = 1
		if !s.inWhole {
			e.moved.groups, e.moved.packs = 1, 1
		}
	}
	e.verdicts[event.Inserted] = 1
	if s.retain == 0 {
		e.forever.add(bytes, float64(s.indexes))
	} else {
		e.kept.add(bytes*s.retain.Seconds(), float64(s.indexes))
		e.expire, e.expired = 1, supposedBytes
	}
	for _, def := range s.aggregates {
		bytes := estimate.Bytes(def, nil)
		sum := &summed{def: def, steps: 1, updates: 1, looks: 1, plain: float64(estimate.UpdateUnits(def, bytes)),
			full: float64(estimate.UpdateUnits(def, bytes+estimate.MarkBytes))}
		if s.retain != 0 {
			sum.leave = 1
		}
		if byPut(def) {
			e.moved.totals += float64(estimate.Units(def, bytes, aggregate.Marks))
			e.moved.own = e.moved.totals
		}
		e.sums = append(e.sums, sum)
	}
	for _, part := range s.parts {
		e.beside(supposed(part.shape), float64(part.n))
	}
	return e
}

// beside adds n parts to the events. Each of them is stored as of is.
func (e *events) beside(of *events, n float64) {
	e.parts += n
	e.table, e.index, e.stored = e.table+n*of.table, e.index+n*of.index, e.stored+n*of.stored
	e.kept.table, e.kept.indexes = e.kept.table+n*of.kept.table, e.kept.indexes+n*of.kept.indexes
	e.forever.table, e.forever.indexes = e.forever.table+n*of.forever.table, e.forever.indexes+n*of.forever.indexes
	e.expire, e.expired = e.expire+n*of.expire, e.expired+n*of.expired
	e.moved.beside(&of.moved, n)
	for _, sum := range of.sums {
		sum.steps, sum.leave, sum.updates, sum.looks = n*sum.steps, n*sum.leave, n*sum.updates, n*sum.looks
		sum.plain, sum.full = n*sum.plain, n*sum.full
		e.sums = append(e.sums, sum)
	}
}

// supposedBytes is the size of an item if no sample says otherwise. It costs one write unit.
const supposedBytes = 1024

// duplicates adds messages that are delivered again. share is their number for each message of the
// sample.
func (e *events) duplicates(share float64) {
	stored := e.verdicts[event.Inserted]
	if stored == 0 || share == 0 {
		return
	}
	again := share * e.messages
	e.verdicts[event.Duplicate] += again
	e.refused += again * e.table / (stored + e.verdicts[event.Updated])
	items := (stored + e.parts) / stored // of a message
	e.partsTaken += again * e.parts / stored
	// A refused transaction returns the items that it met, so they are not read.
	e.reread += again * (items - e.moved.items/stored) * math.Max(1, math.Ceil(e.stored/stored/items/4096))
	e.moved.met += again * e.moved.items / stored
	e.metGroups += again * e.moved.groups / stored
	e.apart.puts += again * e.apart.stored / stored
}

// taken returns how many of the messages, and of their parts, meet an item that is stored.
func (e *events) taken() float64 {
	return e.partsTaken + e.verdicts[event.Updated] + e.verdicts[event.Duplicate] + e.verdicts[event.Stale] + e.verdicts[event.Conflict]
}

// changes returns how many changes of the table the messages make.
func (e *events) changes() float64 {
	return e.parts + e.verdicts[event.Inserted] + e.verdicts[event.Updated]
}

// letters returns how many of the messages go to quarantine.
func (e *events) letters() float64 {
	return e.verdicts[event.Conflict] + e.verdicts[event.Rejected] + e.verdicts[event.Expired] + e.verdicts[event.Poison]
}
