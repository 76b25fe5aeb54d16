package store

import (
	"strings"
	"sync"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// observation is what the last answer about an aggregate item showed: it only guides how the next update is
// put, never whether it is right; the update's own conditions decide that.
type observation struct {
	extremes []aggregate.Amount // aligned with Def.Values; set for each min and max that has a value
	marks    map[string]aggregate.Mark
	size     int       // of the item, in bytes
	at       time.Time // by the stream, when an answer last brought the item; zero: never
}

// observeEvery is how long, by the stream, an update trusts what it saw before and does not ask for the item
// again. Marks to prune are days old; only they are what a fresh look is for.
const observeEvery = time.Hour

// fresh reports whether the last look still does for an update of the lane. A lane that was not there then adds
// a mark, which is worth a look: the item has grown.
func (o *observation) fresh(lane aggregate.LaneID, now time.Time) bool {
	_, known := o.marks[lane.MarkAttribute()]
	return known && !o.at.IsZero() && now.Sub(o.at) < observeEvery
}

// after is what the item must look like once the delta is written, as far as guessing needs.
func (o *observation) after(def *aggregate.Definition, d *aggregate.Delta) *observation {
	next := *o
	next.extremes = make([]aggregate.Amount, len(def.Values))
	for i, v := range def.Values {
		if !v.Op.Additive() {
			next.extremes[i] = v.Op.Merge(o.extreme(i), d.Values[i])
		}
	}
	return &next
}

// observe reads an image of an aggregate item.
func observe(def *aggregate.Definition, img image) *observation {
	o := &observation{extremes: make([]aggregate.Amount, len(def.Values)), size: imageSize(img)}
	for i, v := range def.Values {
		if v.Op.Additive() {
			continue
		}
		if n, err := event.ParseDecimal(numberOf(img[v.Name])); err == nil {
			o.extremes[i] = aggregate.Amount{Set: true, Number: n}
		}
	}
	for name, v := range img {
		if strings.HasPrefix(name, aggregate.MarkPrefix) {
			if mark, err := aggregate.ParseMark(bytesOf(v)); err == nil {
				if o.marks == nil {
					o.marks = map[string]aggregate.Mark{}
				}
				o.marks[name] = mark
			}
		}
	}
	return o
}

// sameExtremes reports whether two observations would put the next update in the same form.
func (o *observation) sameExtremes(other *observation) bool {
	for i := range max(len(o.extremes), len(other.extremes)) {
		a, b := o.extreme(i), other.extreme(i)
		if a.Set != b.Set || a.Number.Cmp(b.Number) != 0 {
			return false
		}
	}
	return true
}

// prunable lists marks of other lanes that may go in an update whose first record was created then.
func (o *observation) prunable(own string, first time.Time) []string {
	var names []string
	for name, mark := range o.marks {
		if name != own && mark.Prunable(first) {
			names = append(names, name)
		}
	}
	return names
}

// maxObservations bounds the memory of a warm sandbox; beyond it everything is forgotten, which costs at
// most one failed condition per aggregate.
const maxObservations = 4096

// observations remembers aggregate items between batches.
type observations struct {
	mu    sync.Mutex
	byKey map[event.Key]*observation
}

func (o *observations) get(key event.Key) *observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.byKey[key]; seen != nil {
		return seen
	}
	return &observation{}
}

func (o *observations) put(key event.Key, seen *observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byKey == nil || len(o.byKey) >= maxObservations {
		o.byKey = map[event.Key]*observation{}
	}
	o.byKey[key] = seen
}
