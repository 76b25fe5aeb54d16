package rows

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Observation is what the last answer about an aggregate item showed. It only guides how the next
// update is written. It never decides whether the update is right: the update's own conditions do.
// An observation is shared, so it is never changed.
type Observation struct {
	State    itemState
	Slots    uint64             // the attributes that the item has, one bit each; see slot
	extremes []aggregate.Amount // aligned with Def.Values, set for existing values that only move outwards; nil: none
	bounds   []aggregate.Amount // aligned with Def.Values, set for each value that has a bound; nil if there are none
	buckets  []slot             // the buckets of histograms that the item has, in order; see bucketSlot
	Marks    []seenMark         // at most maxSeenMarks
	Size     int                // of the item, in bytes
	At       time.Time          // in stream time, when an answer last brought the item; zero: never
}

type itemState uint8

const (
	unseen  itemState = iota
	nowhere           // a read has shown that the item does not exist
	Present           // it exists
)

// slot is the place of an attribute in an observation.
type slot uint32

const (
	SlotNone slot = iota // none: the attribute is not remembered
	slotN
	slotFP
	slotFPX
	slotFlag
	slotExpiry
	SlotLarge
	slotRank
	slotScore
	firstValueSlot // one for each of the definition's values from here on; there are at most 50
)

func slotOf(value int) slot { return firstValueSlot + slot(value) }

// firstBucketSlot is the first slot that has no bit. Buckets of histograms have the slots from here
// on.
const firstBucketSlot slot = 64

func bucketSlot(value, bucket int) slot {
	return firstBucketSlot + slot(value*(2*aggregate.LastBucket+1)+bucket+aggregate.LastBucket)
}

func (o *Observation) Has(s slot) bool {
	if s >= firstBucketSlot {
		_, there := slices.BinarySearch(o.buckets, s)
		return there
	}
	return s != SlotNone && o.Slots&(1<<s) != 0
}

type seenMark struct {
	Name string
	mark lanes.Mark
}

// maxSeenMarks bounds an observation, because a total of a large table has thousands of marks. An
// observation keeps the mark of its own lane and the oldest marks, which are pruned next.
const maxSeenMarks = 64

// observeEvery is how long, in stream time, an update trusts what it saw before and does not ask
// for the item again. A fresh read only helps to find marks to prune, and those are days old.
const observeEvery = time.Hour

// Fresh reports whether the last look is still good enough for an update of the lane. If the lane
// had no mark then, its update adds one. The item grows, which is worth another read.
func (o *Observation) Fresh(lane lanes.LaneID, now time.Time) bool {
	return !o.At.IsZero() && now.Sub(o.At) < observeEvery && o.markIndex(lane.MarkAttribute()) >= 0
}

func (o *Observation) markIndex(name string) int {
	return slices.IndexFunc(o.Marks, func(m seenMark) bool { return m.Name == name })
}

// After returns what the item must look like after the edit, as far as later guesses need it. If
// the item did not exist before, all of it is known.
func (o *Observation) After(u *lanes.Update, e *Edit, lane lanes.LaneID, d *lanes.Delta) *Observation {
	next := *o
	next.State = Present
	if o.State != Present {
		next.Size, next.At = len("PK")+len(u.Key.PK)+len("SK")+len(u.Key.SK), u.Steps[0].Created
	}
	var added []slot
	grow := func(w Operand) {
		if w.Slot != SlotNone && !next.Has(w.Slot) {
			if w.Slot >= firstBucketSlot {
				added = append(added, w.Slot)
			} else {
				next.Slots |= 1 << w.Slot
			}
			next.Size += len(w.Name) + ValueSize(w.Value)
		}
	}
	for _, a := range e.adds {
		grow(a)
	}
	for _, s := range e.Sets {
		if i := int(s.Slot) - int(firstValueSlot); i >= 0 && o.extreme(i).Set { // a text or number takes the place of another
			next.Size += ValueSize(s.Value) - ValueSize(StoredAmount(u.Def.Values[i].Op, o.extreme(i)))
		}
		grow(s.Operand)
	}
	if len(added) > 0 {
		next.buckets = slices.Concat(o.buckets, added)
		slices.Sort(next.buckets)
	}
	next.Marks = make([]seenMark, 0, len(o.Marks)+1)
	own := seenMark{lane.MarkAttribute(), d.Last}
	for _, m := range o.Marks {
		if m.Name != own.Name && !slices.Contains(e.Removes, m.Name) {
			next.Marks = append(next.Marks, m)
		}
	}
	if next.Marks = append(next.Marks, own); o.markIndex(own.Name) < 0 {
		next.Size += len(own.Name) + len(own.mark)
	}
	next.Size -= len(e.Removes) * (len(own.Name) + len(own.mark))
	return &next
}

// Merged returns the observation with the extremes that a delta moved.
func (o *Observation) Merged(def *aggregate.Definition, d *lanes.Delta) *Observation {
	next := *o
	next.extremes = make([]aggregate.Amount, len(def.Values))
	for i, v := range def.Values {
		if !v.Op.Additive() {
			next.extremes[i] = lanes.Merge(v.Op, o.extreme(i), d.Values[i])
		}
	}
	return &next
}

func (o *Observation) extreme(i int) aggregate.Amount {
	if i < len(o.extremes) {
		return o.extremes[i]
	}
	return aggregate.Amount{}
}

// bounded returns what was seen of a value that has a bound. What is missing counts as 0.
func (o *Observation) bounded(i int) event.Decimal {
	if i < len(o.bounds) {
		return o.bounds[i].Number
	}
	return event.Decimal{}
}

// Observe reads an image of an aggregate item for an update whose lane has the mark own. An empty
// image means that the item does not exist.
func Observe(def *aggregate.Definition, img Image, own string) *Observation {
	if len(img) == 0 {
		return &Observation{State: nowhere}
	}
	o := &Observation{State: Present, Size: ImageSize(img)}
	see := func(name string, s slot) types.AttributeValue {
		v, there := img[name]
		if there {
			o.Slots |= 1 << s
		}
		return v
	}
	see("n", slotN)
	see("fp", slotFP)
	see("fpx", slotFPX)
	see("flag", slotFlag)
	see("expiresAt", slotExpiry)
	see(LargeAttribute, SlotLarge)
	see(lanes.RankAttribute, slotRank)
	see(lanes.ScoreAttribute, slotScore)
	for i, v := range def.Values {
		stored := see(v.Name, slotOf(i))
		if slices.ContainsFunc(def.Bounds, func(b aggregate.Bound) bool { return b.Value == i }) {
			if o.bounds == nil {
				o.bounds = make([]aggregate.Amount, len(def.Values))
			}
			o.bounds[i] = amountOf(v.Op, stored)
		}
		if v.Op.Additive() {
			continue
		}
		if o.extremes == nil {
			o.extremes = make([]aggregate.Amount, len(def.Values))
		}
		o.extremes[i] = amountOf(v.Op, stored)
	}
	if lanes.HasHistogram(def) {
		o.buckets = bucketsIn(def, img)
	}
	for name, v := range img {
		if strings.HasPrefix(name, lanes.MarkPrefix) {
			if mark, err := lanes.ParseMark(BytesOf(v)); err == nil {
				o.Marks = append(o.Marks, seenMark{name, mark})
			}
		}
	}
	slices.SortFunc(o.Marks, func(a, b seenMark) int {
		return cmp.Or(a.mark.Created().Compare(b.mark.Created()), strings.Compare(a.Name, b.Name))
	})
	if len(o.Marks) > maxSeenMarks {
		i := o.markIndex(own)
		if i >= maxSeenMarks {
			o.Marks[maxSeenMarks-1] = o.Marks[i]
		}
		o.Marks = slices.Clone(o.Marks[:maxSeenMarks])
	}
	return o
}

// bucketsIn returns the slots of the buckets that an image has, in order.
func bucketsIn(def *aggregate.Definition, img Image) (there []slot) {
	for name := range img {
		value, bucket, ok := BucketName(name)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return v.Name == value }); i >= 0 {
			there = append(there, bucketSlot(i, bucket))
		}
	}
	slices.Sort(there)
	return there
}

// SameForm reports whether the next update would have the same form under both observations.
func (o *Observation) SameForm(other *Observation) bool {
	if o.State != other.State || o.Slots != other.Slots || !slices.Equal(o.buckets, other.buckets) {
		return false
	}
	for i := range max(len(o.bounds), len(other.bounds)) {
		if o.bounded(i).Cmp(other.bounded(i)) != 0 {
			return false
		}
	}
	for i := range max(len(o.extremes), len(other.extremes)) {
		a, b := o.extreme(i), other.extreme(i)
		if !lanes.Equal(a, b) {
			return false
		}
	}
	return true
}

// prunable lists the marks of other lanes that an update may remove. first is the time when its
// first record was created. The oldest mark comes first.
func (o *Observation) prunable(own string, first time.Time) []seenMark {
	var old []seenMark
	for _, m := range o.Marks {
		if m.Name != own && m.mark.Prunable(first) {
			old = append(old, m)
		}
	}
	return old
}

// bytes estimates how many bytes it takes to remember the observation.
func (o *Observation) bytes(key event.Key) int {
	bytes := 320 + len(key.PK) + len(key.SK) + (len(o.extremes)+len(o.bounds))*80 + len(o.Marks)*72 + len(o.buckets)*4
	for i := range o.extremes {
		bytes += len(o.extremes[i].Text)
	}
	return bytes
}

// maxObserved bounds how many bytes a sandbox uses to remember aggregate items.
const maxObserved = 24 << 20

// Observations remembers aggregate items between batches. When the newer half is full, it forgets
// the items that were not used since that half began. A forgotten item costs a read or a failed
// condition.
type Observations struct {
	mu    sync.Mutex
	fresh map[event.Key]*Observation // used since the last time
	old   map[event.Key]*Observation
	bytes int // of fresh
}

func (o *Observations) Get(key event.Key) *Observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.fresh[key]; seen != nil {
		return seen
	}
	seen := o.old[key]
	if seen == nil {
		return &Observation{}
	}
	o.keep(key, seen)
	return seen
}

func (o *Observations) Put(key event.Key, seen *Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(key, seen)
}

// keep remembers an item. Callers hold mu.
func (o *Observations) keep(key event.Key, seen *Observation) {
	if before := o.fresh[key]; before != nil {
		o.bytes -= before.bytes(key)
	}
	if o.fresh == nil || o.bytes+seen.bytes(key) > maxObserved/2 {
		o.fresh, o.old, o.bytes = map[event.Key]*Observation{}, o.fresh, 0
	}
	o.fresh[key] = seen
	o.bytes += seen.bytes(key)
}
