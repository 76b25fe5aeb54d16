package cost

import (
	"hash/fnv"
	"io"
	"math"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/estimate"
	"github.com/ingot-events/ingot/internal/itemform"
	"github.com/ingot-events/ingot/internal/sample"
)

// maxTotals is how many different totals are told apart. They take about 100 bytes each. If events
// change further totals, these count as new totals.
const maxTotals = 1 << 20

// Sampled adds up what sample events would cost. Make it with [NewSampled], and give its
// [Sampled.Add] to a [sample.Sampler].
type Sampled struct {
	shards, batch int // changes are dealt to this many shards, and counted in batches of this size
	events
	open   []map[total]struct{} // for each shard, the totals that its open batch changes
	filled []int                // for each shard, the changes in its open batch
	totals map[total]*touched   // without windows
}

// events is what is known about many events together. All fields are sums over the messages.
type events struct {
	file     string // empty: nothing was sampled
	messages float64
	bytes    float64 // of their bodies
	chunks   float64 // of 64 KB; SQS bills a message by them
	verdicts [len(event.Verdicts) + 1]float64

	table, index    float64 // write units of items that are stored
	refused, reread float64 // write units of puts whose key is taken, and read units of what is stored there
	// parts are the parts that are stored, and partsTaken those that are stored already.
	parts, partsTaken float64
	stored            float64 // bytes of items
	kept              held    // bytes times the seconds that they are kept
	forever           held    // bytes of items that are kept for ever
	expire            float64 // items that expire
	expired           float64 // their bytes

	sums []*summed // by aggregate
}

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
	batches float64
	bytes   int // of its item, without marks
}

// NewSampled returns a Sampled for events of a file. Their changes are dealt to so many partitions
// and counted in batches of so many. [InBatch] says how many a batch has at a given rate.
func NewSampled(file string, partitions int, batch float64) *Sampled {
	return &Sampled{shards: partitions, batch: int(math.Max(1, math.Round(batch))), events: events{file: file},
		open: make([]map[total]struct{}, partitions), filled: make([]int, partitions), totals: map[total]*touched{}}
}

// InBatch returns about how many changes are in a batch, if rate events are stored each second, in
// this number of partitions.
func InBatch(rate float64, partitions int) float64 {
	return estimate.InBatch(rate/float64(partitions), 0)
}

// Empty reports whether there was no line.
func (s *Sampled) Empty() bool { return s.messages == 0 }

// Add adds one line.
func (s *Sampled) Add(j sample.Judged) {
	s.messages++
	s.bytes += float64(j.Bytes)
	s.chunks += math.Max(1, math.Ceil(float64(j.Bytes)/(64<<10)))
	s.verdicts[j.Verdict]++
	if j.Item == nil {
		return
	}
	s.item(j)
	for _, part := range j.Parts {
		if part.Verdict == event.Inserted {
			s.parts++
		} else {
			s.partsTaken++
		}
		s.item(part)
	}
}

// item adds one item of a line.
func (s *Sampled) item(j sample.Judged) {
	size, indexes := j.Item.Size(), float64(len(j.Item.Indexes))
	units, reading := float64(itemform.WriteUnits(size)), float64(estimate.ReadUnits(size))
	switch j.Verdict {
	case event.Inserted:
		s.table, s.index = s.table+units, s.index+units*indexes
	case event.Updated: // its first put is refused; an index entry that moves is deleted and put
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
		s.expire, s.expired = s.expire+1, s.expired+float64(size)
	}
	s.change(j)
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
		}
		at := total{def: c.Def, by: hashOf(c.By...), window: c.Window}
		if _, moved := s.open[shard][at]; moved {
			continue
		}
		s.open[shard][at] = struct{}{}
		s.update(sum, at, c.By)
	}
	if s.filled[shard]++; s.filled[shard] == s.batch {
		s.filled[shard] = 0
		clear(s.open[shard])
	}
}

// update counts one update of a total.
func (s *Sampled) update(sum *summed, at total, by []string) {
	sum.updates++
	at.window = aggregate.NoWindow
	t := s.totals[at]
	if t == nil {
		t = &touched{bytes: estimate.Bytes(at.def, by)}
		if len(s.totals) >= maxTotals {
			sum.plain += float64(estimate.Units(at.def, t.bytes, aggregate.Marks))
			sum.full += float64(estimate.Units(at.def, t.bytes+estimate.MarkBytes, aggregate.Marks))
			sum.looks++
			return
		}
		s.totals[at] = t
		sum.totals = append(sum.totals, t)
	}
	t.batches++
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

// hashOf returns the same hash in every run, so that the same sample costs the same.
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
	e := s.events
	e.sums = nil
	for _, sum := range s.sums {
		one := *sum
		for _, t := range sum.totals {
			often := t.batches / s.messages * rate
			marks := marksOf(sum.def, often, s.shards)
			one.looks += t.batches * math.Min(1, estimate.LooksASecond*float64(s.shards)/often)
			one.plain += t.batches * float64(estimate.Units(sum.def, t.bytes, aggregate.Marks))
			one.full += t.batches * float64(estimate.Units(sum.def, t.bytes+int(math.Ceil(marks))*estimate.MarkBytes, aggregate.Marks))
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

// supposed returns the worst events that a pipeline allows. They are of the type that costs the
// most, and no two of them share a total.
func supposed(s shape) *events {
	bytes := float64(supposedBytes + storageOverhead)
	e := &events{messages: 1, bytes: supposedBytes, chunks: 1, table: 1, index: float64(s.indexes), stored: supposedBytes}
	e.verdicts[event.Inserted] = 1
	if s.retain == 0 {
		e.forever.add(bytes, e.index)
	} else {
		e.kept.add(bytes*s.retain.Seconds(), e.index)
		e.expire, e.expired = 1, supposedBytes
	}
	for _, def := range s.aggregates {
		units := float64(estimate.Units(def, estimate.Bytes(def, nil), aggregate.Marks))
		sum := &summed{def: def, steps: 1, updates: 1, looks: 1, plain: units,
			full: float64(estimate.Units(def, estimate.Bytes(def, nil)+estimate.MarkBytes, aggregate.Marks))}
		if s.retain != 0 {
			sum.leave = 1
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
	e.reread += again * items * math.Max(1, math.Ceil(e.stored/stored/items/4096))
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
