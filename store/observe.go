package store

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

// observation is what the last answer about an aggregate item showed. It only guides how the next
// update is written. It never decides whether the update is right: the update's own conditions do.
// An observation is shared, so it is never changed.
type observation struct {
	state    itemState
	slots    uint64             // the attributes that the item has, one bit each; see slot
	extremes []aggregate.Amount // aligned with Def.Values, set for existing values that only move outwards; nil: none
	floors   []aggregate.Amount // aligned with Def.Values, set for each value that has a floor; nil if there are none
	buckets  []slot             // the buckets of histograms that the item has, in order; see bucketSlot
	marks    []seenMark         // at most maxSeenMarks
	size     int                // of the item, in bytes
	at       time.Time          // in stream time, when an answer last brought the item; zero: never
}

type itemState uint8

const (
	unseen  itemState = iota
	nowhere           // a read has shown that the item does not exist
	present           // it exists
)

// slot is the place of an attribute in an observation.
type slot uint32

const (
	slotNone slot = iota // none: the attribute is not remembered
	slotN
	slotFP
	slotFPX
	slotFlag
	slotExpiry
	slotLarge
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

func (o *observation) has(s slot) bool {
	if s >= firstBucketSlot {
		_, there := slices.BinarySearch(o.buckets, s)
		return there
	}
	return s != slotNone && o.slots&(1<<s) != 0
}

type seenMark struct {
	name string
	mark lanes.Mark
}

// maxSeenMarks bounds an observation, because a total of a large table has thousands of marks. An
// observation keeps the mark of its own lane and the oldest marks, which are pruned next.
const maxSeenMarks = 64

// observeEvery is how long, in stream time, an update trusts what it saw before and does not ask
// for the item again. A fresh read only helps to find marks to prune, and those are days old.
const observeEvery = time.Hour

// fresh reports whether the last look is still good enough for an update of the lane. If the lane
// had no mark then, its update adds one. The item grows, which is worth another read.
func (o *observation) fresh(lane lanes.LaneID, now time.Time) bool {
	return !o.at.IsZero() && now.Sub(o.at) < observeEvery && o.markIndex(lane.MarkAttribute()) >= 0
}

func (o *observation) markIndex(name string) int {
	return slices.IndexFunc(o.marks, func(m seenMark) bool { return m.name == name })
}

// after returns what the item must look like after the edit, as far as later guesses need it. If
// the item did not exist before, all of it is known.
func (o *observation) after(u *lanes.Update, e *edit, lane lanes.LaneID, d *lanes.Delta) *observation {
	next := *o
	next.state = present
	if o.state != present {
		next.size, next.at = len("PK")+len(u.Key.PK)+len("SK")+len(u.Key.SK), u.Steps[0].Created
	}
	var added []slot
	grow := func(w operand) {
		if w.slot != slotNone && !next.has(w.slot) {
			if w.slot >= firstBucketSlot {
				added = append(added, w.slot)
			} else {
				next.slots |= 1 << w.slot
			}
			next.size += len(w.name) + valueSize(w.value)
		}
	}
	for _, a := range e.adds {
		grow(a)
	}
	for _, s := range e.sets {
		if i := int(s.slot) - int(firstValueSlot); i >= 0 && o.extreme(i).Set { // a text or number takes the place of another
			next.size += valueSize(s.value) - valueSize(storedAmount(u.Def.Values[i].Op, o.extreme(i)))
		}
		grow(s.operand)
	}
	if len(added) > 0 {
		next.buckets = slices.Concat(o.buckets, added)
		slices.Sort(next.buckets)
	}
	next.marks = make([]seenMark, 0, len(o.marks)+1)
	own := seenMark{lane.MarkAttribute(), d.Last}
	for _, m := range o.marks {
		if m.name != own.name && !slices.Contains(e.removes, m.name) {
			next.marks = append(next.marks, m)
		}
	}
	if next.marks = append(next.marks, own); o.markIndex(own.name) < 0 {
		next.size += len(own.name) + len(own.mark)
	}
	next.size -= len(e.removes) * (len(own.name) + len(own.mark))
	return &next
}

// merged returns the observation with the extremes that a delta moved.
func (o *observation) merged(def *aggregate.Definition, d *lanes.Delta) *observation {
	next := *o
	next.extremes = make([]aggregate.Amount, len(def.Values))
	for i, v := range def.Values {
		if !v.Op.Additive() {
			next.extremes[i] = lanes.Merge(v.Op, o.extreme(i), d.Values[i])
		}
	}
	return &next
}

func (o *observation) extreme(i int) aggregate.Amount {
	if i < len(o.extremes) {
		return o.extremes[i]
	}
	return aggregate.Amount{}
}

// floored returns what was seen of a value that has a floor. What is missing counts as 0.
func (o *observation) floored(i int) event.Decimal {
	if i < len(o.floors) {
		return o.floors[i].Number
	}
	return event.Decimal{}
}

// observe reads an image of an aggregate item for an update whose lane has the mark own. An empty
// image means that the item does not exist.
func observe(def *aggregate.Definition, img image, own string) *observation {
	if len(img) == 0 {
		return &observation{state: nowhere}
	}
	o := &observation{state: present, size: imageSize(img)}
	see := func(name string, s slot) types.AttributeValue {
		v, there := img[name]
		if there {
			o.slots |= 1 << s
		}
		return v
	}
	see("n", slotN)
	see("fp", slotFP)
	see("fpx", slotFPX)
	see("flag", slotFlag)
	see("expiresAt", slotExpiry)
	see(largeAttribute, slotLarge)
	see(lanes.RankAttribute, slotRank)
	see(lanes.ScoreAttribute, slotScore)
	for i, v := range def.Values {
		stored := see(v.Name, slotOf(i))
		if def.AtLeast != nil && def.AtLeast[i].Set {
			if o.floors == nil {
				o.floors = make([]aggregate.Amount, len(def.Values))
			}
			o.floors[i] = amountOf(v.Op, stored)
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
			if mark, err := lanes.ParseMark(bytesOf(v)); err == nil {
				o.marks = append(o.marks, seenMark{name, mark})
			}
		}
	}
	slices.SortFunc(o.marks, func(a, b seenMark) int {
		return cmp.Or(a.mark.Created().Compare(b.mark.Created()), strings.Compare(a.name, b.name))
	})
	if len(o.marks) > maxSeenMarks {
		i := o.markIndex(own)
		if i >= maxSeenMarks {
			o.marks[maxSeenMarks-1] = o.marks[i]
		}
		o.marks = slices.Clone(o.marks[:maxSeenMarks])
	}
	return o
}

// bucketsIn returns the slots of the buckets that an image has, in order.
func bucketsIn(def *aggregate.Definition, img image) (there []slot) {
	for name := range img {
		value, bucket, ok := bucketName(name)
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

// sameForm reports whether the next update would have the same form under both observations.
func (o *observation) sameForm(other *observation) bool {
	if o.state != other.state || o.slots != other.slots || !slices.Equal(o.buckets, other.buckets) {
		return false
	}
	for i := range max(len(o.floors), len(other.floors)) {
		if o.floored(i).Cmp(other.floored(i)) != 0 {
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
func (o *observation) prunable(own string, first time.Time) []seenMark {
	var old []seenMark
	for _, m := range o.marks {
		if m.name != own && m.mark.Prunable(first) {
			old = append(old, m)
		}
	}
	return old
}

// bytes estimates how many bytes it takes to remember the observation.
func (o *observation) bytes(key event.Key) int {
	bytes := 320 + len(key.PK) + len(key.SK) + (len(o.extremes)+len(o.floors))*80 + len(o.marks)*72 + len(o.buckets)*4
	for i := range o.extremes {
		bytes += len(o.extremes[i].Text)
	}
	return bytes
}

// maxObserved bounds how many bytes a sandbox uses to remember aggregate items.
const maxObserved = 24 << 20

// observations remembers aggregate items between batches. When the newer half is full, it forgets
// the items that were not used since that half began. A forgotten item costs a read or a failed
// condition.
type observations struct {
	mu    sync.Mutex
	fresh map[event.Key]*observation // used since the last time
	old   map[event.Key]*observation
	bytes int // of fresh
}

func (o *observations) get(key event.Key) *observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.fresh[key]; seen != nil {
		return seen
	}
	seen := o.old[key]
	if seen == nil {
		return &observation{}
	}
	o.keep(key, seen)
	return seen
}

func (o *observations) put(key event.Key, seen *observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(key, seen)
}

// keep remembers an item. Callers hold mu.
func (o *observations) keep(key event.Key, seen *observation) {
	if before := o.fresh[key]; before != nil {
		o.bytes -= before.bytes(key)
	}
	if o.fresh == nil || o.bytes+seen.bytes(key) > maxObserved/2 {
		o.fresh, o.old, o.bytes = map[event.Key]*observation{}, o.fresh, 0
	}
	o.fresh[key] = seen
	o.bytes += seen.bytes(key)
}
