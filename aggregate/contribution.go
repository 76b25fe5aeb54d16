package aggregate

import (
	"math"

	"github.com/ingot-events/ingot/event"
)

// NoWindow is the window of a contribution to an aggregate without windows.
const NoWindow = math.MinInt64

// Amount is one value of a contribution or of a total. Set is false if nothing supplies the value.
// An amount has a Number, or a Text if the operation is [Op.Textual]: see [DatedText],
// [Buckets.Text] and [Sketch.Text].
type Amount struct {
	Set    bool
	Number event.Decimal
	Text   string
}

// Contribution is what the item of one event adds to one aggregate. It depends only on the item.
type Contribution struct {
	Def    *Definition
	By     []string // the values of Def.By, in its order, escaped as [github.com/ingot-events/ingot/keys.Escape] does
	Window int64    // start of the window in epoch seconds, or NoWindow
	Values []Amount // in the order of Def.Values; a count supplies 1
	Term   int64    // what it adds to the total's fingerprint: 62 bits, never negative
}

// Contributions is what one stored item adds to the aggregates.
type Contributions struct {
	List []Contribution // by name of aggregate
	// Behind lists the definitions that the item's type feeds and that are newer than the item's
	// epoch. The item contributes nothing to them until it is touched.
	Behind []*Definition
	// Failed lists the definitions that cannot be computed from the item, because it was planned
	// before they were declared. The item adds nothing to them.
	Failed []Failure
}

// Failure is one definition that cannot be computed from an item.
type Failure struct {
	Def *Definition
	Err error // an *event.Refusal
}
