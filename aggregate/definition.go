package aggregate

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/event"
)

// Op is how a value is computed from its events.
type Op uint8

// These are the operations. Count and Sum add and subtract exactly. Min and Max only ever move
// outwards, so a subtraction flags the total instead of changing them. Newest and Oldest keep a
// scalar of the event with the greatest or least time, and move outwards too. Histogram counts
// numbers in buckets, and can be subtracted: see [Buckets]. Distinct estimates how many different
// values there are, and only ever grows: see [Sketch].
const (
	Count Op = iota + 1
	Sum
	Min
	Max
	Newest
	Oldest
	Histogram
	Distinct
)

var opNames = [...]string{"none", "count", "sum", "min", "max", "newest", "oldest", "histogram", "distinct"}

// String returns the word that pipeline.yaml uses for the operation.
func (o Op) String() string { return opNames[o] }

// Additive reports whether the value can be subtracted again.
func (o Op) Additive() bool { return o == Count || o == Sum || o == Histogram }

// Textual reports whether amounts of the operation are texts and not numbers: see [Amount].
func (o Op) Textual() bool { return o >= Newest }

// OnExpire says what happens to a contribution when time to live removes its item.
type OnExpire uint8

// Keep makes an all-time total: the value stays, and the fingerprint of the contribution moves to
// the expired part. Subtract makes a total of the events that have not expired.
const (
	Keep OnExpire = iota
	Subtract
)

// String returns the word that pipeline.yaml uses.
func (o OnExpire) String() string {
	if o == Subtract {
		return "subtract"
	}
	return "keep"
}

// Counting is how a generation counts each change exactly once: by marks inside the aggregate item,
// or by receipts beside it. It is part of the generation. The two are never mixed.
type Counting uint8

// Marks cost nothing, but need the shard id of a tumbling window. Receipts need no shard id, but
// cost 2 to 4 write units for each change.
const (
	Marks Counting = iota
	Receipts
)

// String returns the word that INGOT_COUNTING and the head use.
func (c Counting) String() string {
	if c == Receipts {
		return "receipts"
	}
	return "marks"
}

// ParseCounting reads what [Counting.String] writes. Empty text means Marks.
func ParseCounting(s string) (Counting, error) {
	switch s {
	case "", "marks":
		return Marks, nil
	case "receipts":
		return Receipts, nil
	}
	return Marks, fmt.Errorf("counting %q: write marks or receipts", s)
}

// Mover is what moves the totals of a generation.
type Mover uint8

// Stream moves totals after the events, by the changes that the table's stream brings. Put moves
// them in the transaction that stores the event. Everything else that happens to an item, such as
// its removal, is counted by the stream in either case.
const (
	Stream Mover = iota
	Put
)

// String returns the word that pipeline.yaml uses.
func (m Mover) String() string {
	if m == Put {
		return "put"
	}
	return "stream"
}

// Value is one number that an aggregate keeps.
type Value struct {
	Name string
	Op   Op
}

// Rank says that totals are kept in the order of one of their values: those of a window, or of a
// part of it. The zero Rank says that they are not.
type Rank struct {
	Value  string // name of a value that is a count, sum, min or max
	Shards int    // partitions of the index that each list has, from 1 to 100
	// Within names some of By, in its order. The totals of a window that share these values are one
	// list. It is nil if all totals of a window are one list.
	Within []string
}

// Bound is a floor or a ceiling of a value. No event may bring the value beyond it. An event that
// moves the value the other way is always accepted.
type Bound struct {
	Value   int  // its place in the definition's Values
	Ceiling bool // the value may be at most Limit; otherwise it may be at least Limit
	Limit   event.Decimal
}

// String names the bound for people.
func (b Bound) String() string {
	if b.Ceiling {
		return "ceiling"
	}
	return "floor"
}

// Beyond says for people where a value is that breaks the bound: "below its floor".
func (b Bound) Beyond() string {
	if b.Ceiling {
		return "above its ceiling"
	}
	return "below its floor"
}

// Sign returns how a value compares with Limit if the bound holds, or if it does not.
func (b Bound) Sign(holds bool) string {
	switch {
	case b.Ceiling && holds:
		return "<="
	case b.Ceiling:
		return ">"
	case holds:
		return ">="
	}
	return "<"
}

// Holds reports whether a value is within the bound.
func (b Bound) Holds(value event.Decimal) bool {
	if b.Ceiling {
		return value.Cmp(b.Limit) <= 0
	}
	return value.Cmp(b.Limit) >= 0
}

// Nears reports whether an amount moves its value towards the bound.
func (b Bound) Nears(a Amount) bool {
	return a.Set && !a.Number.IsZero() && b.Ceiling == (a.Number.Sign() > 0)
}

// Before returns what must hold of the value before an amount is added, so that b holds afterwards.
func (b Bound) Before(a Amount) Bound {
	b.Limit = b.Limit.Sub(a.Number)
	return b
}

// Definition is one generation of one aggregate. Its name, and the epoch since which it is valid,
// identify it. Everything else is fixed for its lifetime. A Definition never changes.
type Definition struct {
	Name  string
	Since int64 // the epoch that introduced it
	By    []string
	// Window is the length of a time window over event time. 0 means that there are no windows. If
	// Months is set, Window is how long the longest of them can be.
	Window   time.Duration
	Months   int     // 1 or 12 if the windows are months or years of the calendar, in UTC; otherwise 0
	Values   []Value // in byte order of names: the union over all its event types
	OnExpire OnExpire
	Spread   int           // write shards, at least 1
	Retain   time.Duration // how long after its window's end an aggregate item lives; 0: for ever
	Rank     Rank
	MovedBy  Mover
	Bounds   []Bound // floors in the order of Values, then ceilings
	// Text is the canonical text of the whole definition, with every template, condition and path.
	// So no change of meaning goes unnoticed: it changes the text.
	Text string
	// KeyCheck identifies the secret of hmac. If totals were grouped by hashes of two secrets, they
	// would have two meanings. It is empty if By uses no hmac.
	KeyCheck string
}

// String names the generation for people: "merchant_daily since 1".
func (d *Definition) String() string { return fmt.Sprintf("%s since %d", d.Name, d.Since) }

// Address says which part of which total an item of the aggregates table holds: the parts of its
// key.
type Address struct {
	Name   string
	Since  int64
	Bucket int      // write shard, from 0 and below the definition's Spread
	By     []string // the values of the definition's By, in its order, escaped
	Window int64    // start of the window in epoch seconds, or NoWindow
}

// Limits returns the limits of the floors, or of the ceilings, by the names of the values. It is
// nil if there are none.
func (d *Definition) Limits(ceiling bool) (limits map[string]event.Decimal) {
	for _, b := range d.Bounds {
		if b.Ceiling != ceiling {
			continue
		}
		if limits == nil {
			limits = map[string]event.Decimal{}
		}
		limits[d.Values[b.Value].Name] = b.Limit
	}
	return limits
}
