package lanes

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Batch routes the changes of one lane to the aggregate items that they touch, and gathers the
// steps of each item.
type Batch struct {
	counting aggregate.Counting
	stream   string
	lane     LaneID
	unclosed func(expired *event.Item, from *aggregate.Contribution) bool // nil: none is left so
	updates  []*Update
	byKey    map[event.Key]*Update
	entries  []Entry
}

// Entry is one change of a batch with the aggregate items that it touches.
type Entry struct {
	Change  *event.Change
	Touches []*Update
}

// NewBatch begins a batch of one lane. The batch is counted in the given way.
func NewBatch(counting aggregate.Counting, lane event.Lane) *Batch {
	return &Batch{counting: counting, stream: lane.StreamARN, lane: LaneIDOf(lane), byKey: map[event.Key]*Update{}}
}

// LeaveUnclosed says which totals an event that expires does not close: see [Unclosed]. Call it
// before the first change is added. It is always right to close more.
func (b *Batch) LeaveUnclosed(leaves func(expired *event.Item, from *aggregate.Contribution) bool) {
	b.unclosed = leaves
}

// Counting returns the way in which the batch is counted.
func (b *Batch) Counting() aggregate.Counting { return b.counting }

// Lane returns the lane whose mark the batch moves.
func (b *Batch) Lane() LaneID { return b.lane }

// StreamARN returns the ARN of the stream that the batch comes from.
func (b *Batch) StreamARN() string { return b.stream }

// Updates returns the updates of the aggregate items touched so far, in the order in which they
// were first touched.
func (b *Batch) Updates() []*Update { return b.updates }

// Entries returns the changes that touch at least one aggregate item, in ascending sequence.
func (b *Batch) Entries() []Entry { return b.entries }

// Add routes one change: old and new are what its images contribute. Changes must come in ascending
// sequence.
//
// If the contributions of the old and the new image are equal, they touch nothing. If they differ
// in By or window, they touch two aggregate items: the old one is subtracted from, and the new one
// is added to.
func (b *Batch) Add(c *event.Change, old, new []aggregate.Contribution) {
	entry := Entry{Change: c}
	matched := make([]bool, len(new))
	for i := range old {
		step := Step{Sequence: c.Sequence, Created: c.Created, Minus: &old[i]}
		step.Closes = c.Expired && old[i].Def.OnExpire == aggregate.Keep
		if step.Closes && b.unclosed != nil && b.unclosed(c.Old, &old[i]) {
			continue
		}
		if j := match(&old[i], new, matched); j >= 0 {
			matched[j] = true
			if same(&old[i], &new[j]) {
				continue
			}
			step.Plus = &new[j]
		}
		entry.Touches = append(entry.Touches, b.step(c, &old[i], step))
	}
	for j := range new {
		if !matched[j] {
			step := Step{Sequence: c.Sequence, Created: c.Created, Plus: &new[j]}
			entry.Touches = append(entry.Touches, b.step(c, &new[j], step))
		}
	}
	if len(entry.Touches) > 0 {
		b.entries = append(b.entries, entry)
	}
}

func match(old *aggregate.Contribution, new []aggregate.Contribution, matched []bool) int {
	for j := range new {
		if !matched[j] && sameTotal(old, &new[j]) {
			return j
		}
	}
	return -1
}

func (b *Batch) step(c *event.Change, to *aggregate.Contribution, step Step) *Update {
	var key event.Key
	if b.counting == aggregate.Marks {
		key = Key(to.Def, b.lane.Bucket(to.Def.Spread), to.By, to.Window)
	} else {
		key = ItemKey(c.Key, to)
	}
	u := b.byKey[key]
	if u == nil {
		u = &Update{Key: key, Def: to.Def, ExpiresAt: Expiry(to.Def, to.Window)}
		b.byKey[key] = u
		b.updates = append(b.updates, u)
	}
	u.Steps = append(u.Steps, step)
	return u
}

// Only returns the part of an update that belongs to the given changes.
func (u *Update) Only(sequences map[event.Sequence]bool) *Update {
	part := &Update{Key: u.Key, Def: u.Def, ExpiresAt: u.ExpiresAt}
	for _, s := range u.Steps {
		if sequences[s.Sequence] {
			part.Steps = append(part.Steps, s)
		}
	}
	return part
}
