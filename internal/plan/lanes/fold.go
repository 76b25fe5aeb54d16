package lanes

import (
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Step is what one change does to one aggregate item.
type Step struct {
	Sequence event.Sequence
	Created  time.Time
	Plus     *aggregate.Contribution // what the new image contributes; nil if nothing
	Minus    *aggregate.Contribution // what the old image contributed; nil if nothing
	// Closes says that the item has expired under Keep. The values and n of Minus stay, and so does
	// fp. Its term moves into the expired part fpx.
	Closes bool
}

// Update is what one batch does to one aggregate item. Its steps are in ascending sequence.
type Update struct {
	Key       event.Key
	Def       *aggregate.Definition
	ExpiresAt int64 // the aggregate item's own expiry, epoch seconds; 0: never
	Steps     []Step
}

// Delta is a fold of steps. It is what one conditional write adds.
type Delta struct {
	N      int64
	FP     event.Decimal
	FPX    event.Decimal
	Values []aggregate.Amount // aligned with Def.Values; additive ones are added, extremes are candidates
	// Buckets holds what is added to histograms, aligned with Def.Values. It is nil if there are
	// none.
	Buckets []aggregate.Buckets
	// sketches holds what has been met, aligned with Def.Values. It is nil if there are none.
	sketches []*aggregate.Sketch
	// Flag is set if a subtraction met a min or max. Only verify can repair that.
	Flag  string
	First event.Sequence // of the first step
	Last  Mark           // of the last step
}

// Fold adds up the steps. The result does not depend on their order, except for First and Last.
func (u *Update) Fold() Delta {
	d := Delta{Values: make([]aggregate.Amount, len(u.Def.Values))}
	if len(u.Steps) == 0 {
		return d
	}
	last := u.Steps[len(u.Steps)-1]
	d.First, d.Last = u.Steps[0].Sequence, MarkAt(last.Sequence, last.Created)
	for i := range u.Steps {
		d.add(u.Def, &u.Steps[i])
	}
	for i, s := range d.sketches {
		if s != nil {
			d.Values[i] = aggregate.Amount{Set: true, Text: s.Text()}
		}
	}
	return d
}

func (d *Delta) add(def *aggregate.Definition, s *Step) {
	if s.Plus != nil {
		d.N++
		d.FP = d.FP.Add(event.DecimalOf(s.Plus.Term))
		for i, v := range s.Plus.Values {
			switch def.Values[i].Op {
			case aggregate.Histogram:
				d.bucket(i, v, 1)
				continue
			case aggregate.Distinct:
				d.meet(i, v)
				continue
			}
			d.Values[i] = Merge(def.Values[i].Op, d.Values[i], v)
		}
	}
	switch {
	case s.Minus == nil:
	case s.Closes:
		d.FPX = d.FPX.Add(event.DecimalOf(s.Minus.Term))
	default:
		d.N--
		d.FP = d.FP.Sub(event.DecimalOf(s.Minus.Term))
		d.subtract(def, s.Minus)
	}
}

func (d *Delta) subtract(def *aggregate.Definition, c *aggregate.Contribution) {
	var kept []string
	for i, v := range c.Values {
		if !v.Set {
			continue
		}
		if def.Values[i].Op == aggregate.Histogram {
			d.bucket(i, v, -1)
		} else if def.Values[i].Op.Additive() {
			d.Values[i] = aggregate.Amount{Set: true, Number: d.Values[i].Number.Sub(v.Number)}
		} else {
			kept = append(kept, def.Values[i].Name)
		}
	}
	if len(kept) > 0 && d.Flag == "" {
		d.Flag = "an event was removed or corrected, which cannot be taken back out of " + strings.Join(kept, ", ")
	}
}

// bucket adds what one contribution counts in a histogram.
func (d *Delta) bucket(i int, v aggregate.Amount, sign int64) {
	if !v.Set {
		return
	}
	if d.Buckets == nil {
		d.Buckets = make([]aggregate.Buckets, len(d.Values))
	}
	if d.Buckets[i] == nil {
		d.Buckets[i] = aggregate.Buckets{}
	}
	_ = d.Buckets[i].Add(v.Text, sign) // a contribution's text is [aggregate.Buckets.Text]
}

// meet adds what one contribution met to a sketch.
func (d *Delta) meet(i int, v aggregate.Amount) {
	if !v.Set {
		return
	}
	if d.sketches == nil {
		d.sketches = make([]*aggregate.Sketch, len(d.Values))
	}
	if d.sketches[i] == nil {
		d.sketches[i] = &aggregate.Sketch{}
	}
	_ = d.sketches[i].Merge(v.Text) // a contribution's text is [aggregate.DistinctText]
}

// Merge folds b into a. They are two amounts of one value. Counts and sums add up; of two extremes
// the further one stays, and of two dated values the newer or the older one.
func Merge(o aggregate.Op, a, b aggregate.Amount) aggregate.Amount {
	switch {
	case !b.Set:
		return a
	case !a.Set:
		return b
	case o == aggregate.Min && b.Number.Cmp(a.Number) > 0, o == aggregate.Max && b.Number.Cmp(a.Number) < 0:
		return a
	case o == aggregate.Histogram:
		sum := aggregate.Buckets{}
		_, _ = sum.Add(a.Text, 1), sum.Add(b.Text, 1) // what is stored otherwise is not read as buckets
		return aggregate.Amount{Set: true, Text: sum.Text()}
	case o == aggregate.Distinct:
		var both aggregate.Sketch
		_, _ = both.Merge(a.Text), both.Merge(b.Text) // what is stored otherwise is not read as a sketch
		return aggregate.Amount{Set: true, Text: both.Text()}
	case o == aggregate.Newest && b.Text < a.Text, o == aggregate.Oldest && b.Text > a.Text:
		return a
	case o.Additive():
		return aggregate.Amount{Set: true, Number: a.Number.Add(b.Number)}
	}
	return b
}

// Drop removes the steps that mark covers, and returns how many it removed.
func (u *Update) Drop(mark Mark) int {
	n := 0
	for n < len(u.Steps) && mark.Covers(u.Steps[n].Sequence) {
		n++
	}
	u.Steps = u.Steps[n:]
	return n
}

// Equal reports whether two amounts of one value are the same.
func Equal(a, b aggregate.Amount) bool {
	return a.Set == b.Set && a.Text == b.Text && a.Number.Cmp(b.Number) == 0
}

// HasExtremes reports whether any value of a definition only moves outwards.
func HasExtremes(d *aggregate.Definition) bool {
	return slices.ContainsFunc(d.Values, func(v aggregate.Value) bool { return !v.Op.Additive() })
}

// HasHistogram reports whether any value of a definition is a histogram.
func HasHistogram(d *aggregate.Definition) bool {
	return slices.ContainsFunc(d.Values, func(v aggregate.Value) bool { return v.Op == aggregate.Histogram })
}

// MaxBuckets is how many buckets of histograms one update moves at most, so that its expression
// stays below 4 KB and 300 operators. A single change moves at most two buckets of each value,
// which is not more.
const MaxBuckets = 100

// Cut takes the leading records of an update whose steps move at most [MaxBuckets] buckets, at
// least one record, and returns the steps of the others. All steps of one record stay together,
// because the mark says only which records are counted.
func (u *Update) Cut() (rest []Step) {
	if !HasHistogram(u.Def) {
		return nil
	}
	moved := Moved{}
	for i := range u.Steps {
		begins := i > 0 && u.Steps[i].Sequence != u.Steps[i-1].Sequence
		if moved.Add(&u.Steps[i]); begins && len(moved) > MaxBuckets {
			rest, u.Steps = u.Steps[i:], u.Steps[:i]
			return rest
		}
	}
	return nil
}

// Moved is a set of buckets of one total: the number of each value, and its bucket.
type Moved map[movedBucket]bool

type movedBucket struct {
	value  int
	bucket string
}

// Add adds the buckets that a step moves.
func (m Moved) Add(s *Step) {
	for _, c := range []*aggregate.Contribution{s.Plus, s.Minus} {
		if c == nil || c == s.Minus && s.Closes {
			continue
		}
		for i, v := range c.Values {
			if v.Set && c.Def.Values[i].Op == aggregate.Histogram {
				m[movedBucket{i, v.Text}] = true
			}
		}
	}
}
