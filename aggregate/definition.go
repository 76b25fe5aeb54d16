package aggregate

import (
	"fmt"
	"time"
)

// Op is how a value is folded.
type Op uint8

// The operations. Count and Sum add and subtract exactly; Min and Max only ever move outwards, so a
// subtraction flags the total instead of changing them.
const (
	Count Op = iota + 1
	Sum
	Min
	Max
)

var opNames = [...]string{"none", "count", "sum", "min", "max"}

// String is the operation's word in pipeline.yaml.
func (o Op) String() string { return opNames[o] }

// Additive reports whether the value can be subtracted again.
func (o Op) Additive() bool { return o == Count || o == Sum }

// OnExpire says what becomes of a contribution when TTL removes its item.
type OnExpire uint8

// Keep makes an all-time total: the value stands and its fingerprint moves to the expired part. Subtract
// makes a total of what is still live.
const (
	Keep OnExpire = iota
	Subtract
)

// String is the word in pipeline.yaml.
func (o OnExpire) String() string {
	if o == Subtract {
		return "subtract"
	}
	return "keep"
}

// Counting is how a generation is made exactly once: by marks inside the aggregate item, or by receipts
// beside it. It is part of the generation and never mixed.
type Counting uint8

// Marks cost nothing but need the shard id of a tumbling window; Receipts cost 2 to 4 write units a change
// and need nothing.
const (
	Marks Counting = iota
	Receipts
)

// String is the word that INGOT_COUNTING and the head use.
func (c Counting) String() string {
	if c == Receipts {
		return "receipts"
	}
	return "marks"
}

// ParseCounting reads what String writes; empty means Marks.
func ParseCounting(s string) (Counting, error) {
	switch s {
	case "", "marks":
		return Marks, nil
	case "receipts":
		return Receipts, nil
	}
	return Marks, fmt.Errorf("counting %q: write marks or receipts", s)
}

// Value is one number that an aggregate keeps.
type Value struct {
	Name string
	Op   Op
}

// Definition is one generation of one aggregate: its name and the epoch it is valid since identify it; all
// else is fixed for its lifetime. Immutable.
type Definition struct {
	Name  string
	Since int64 // the epoch that introduced it
	By    []string
	// Window is the length of a time window over event time; 0: no window.
	Window   time.Duration
	Values   []Value // in byte order of names: the union over all its event types
	OnExpire OnExpire
	Spread   int           // write shards, at least 1
	Retain   time.Duration // how long after its window's end an aggregate item lives; 0: for ever
	// Text is the canonical text of the whole definition, with every template, condition and path, so that
	// a silent change of meaning is seen as a change of text.
	Text string
	// KeyCheck tells a secret of hmac from another: totals grouped by hashes of two secrets would mean two things.
	// Empty where By uses no hmac.
	KeyCheck string
}

// String names the generation for people: "merchant_daily since 1".
func (d *Definition) String() string { return fmt.Sprintf("%s since %d", d.Name, d.Since) }

// Address says which part of which total an item of the aggregates table holds: its key, taken apart.
type Address struct {
	Name   string
	Since  int64
	Bucket int      // write shard, from 0 and below the definition's Spread
	By     []string // the values of the definition's By, in its order, escaped
	Window int64    // start of the window in epoch seconds, or NoWindow
}
