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
	// AtLeast holds the floor of each value, aligned with Values: no event that subtracts may bring
	// the value below it. It is nil if there are no floors.
	AtLeast []Amount
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

// Floors returns what values may not fall below, by name. It is nil if there are no floors.
func (d *Definition) Floors() map[string]event.Decimal {
	var floors map[string]event.Decimal
	for i, floor := range d.AtLeast {
		if !floor.Set {
			continue
		}
		if floors == nil {
			floors = map[string]event.Decimal{}
		}
		floors[d.Values[i].Name] = floor.Number
	}
	return floors
}
