// Package estimate says beforehand what the two functions will take: requests, units and time of a batch, and what one
// update of a total costs, with its item's size and all the marks it may carry.
package estimate

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/lanes"
)

const (
	// LanesPerPartition is how many shards a partition's stream has in the 72 hours that marks are kept: one rolls
	// about every 4 hours.
	LanesPerPartition = 18
	// MarkBytes is what one mark adds to an item: its attribute's name and value.
	MarkBytes = len(lanes.MarkPrefix) + 16 + len(lanes.Mark{})

	// What is not known beforehand is taken as this many bytes.
	byBytes    = 24 // a value of `by`
	valueBytes = 7  // a number of up to 12 digits
	countBytes = 5
	proofBytes = 13 // the fingerprint
)

// Marks is how many marks one item of a total carries if all partitions of the events table touch it. spread
// divides them. Under receipts there are none.
func Marks(def *aggregate.Definition, counting aggregate.Counting, partitions int) int {
	if counting == aggregate.Receipts {
		return 0
	}
	return (LanesPerPartition*partitions + def.Spread - 1) / def.Spread
}

// Bytes is about the size of a total's item without marks. by are its values, escaped; nil if they are not known.
func Bytes(def *aggregate.Definition, by []string) int {
	known := by
	if known == nil {
		known = make([]string, len(def.By))
	}
	key := lanes.Key(def, 0, known, lanes.WindowStart(def, event.Item{}.At))
	size := len("PK") + len(key.PK) + len("SK") + len(key.SK) + len("n") + countBytes + len("fp") + proofBytes
	if by == nil {
		size += byBytes * len(def.By)
	}
	if def.OnExpire == aggregate.Keep {
		size += len("fpx") + proofBytes
	}
	if def.Retain > 0 {
		size += len("expiresAt") + 6
	}
	for _, v := range def.Values {
		size += len(v.Name) + valueBytes
	}
	return size
}

// Units is what one update of an item of so many bytes costs: started kilobytes, twice that inside a
// transaction, which receipts need. The receipt itself is ReceiptUnits more for each change.
func Units(bytes int, counting aggregate.Counting) int {
	if counting == aggregate.Receipts {
		return 2 * event.WriteUnits(bytes)
	}
	return event.WriteUnits(bytes)
}

// ReceiptUnits is what the receipt of one change costs, in its transaction.
const ReceiptUnits = 2

// SpreadForOne is the least spread under which an update under marks costs one unit; 0 if none does.
func SpreadForOne(bytes, partitions int) int {
	room := (1024 - bytes) / MarkBytes
	if room < 1 {
		return 0
	}
	return (LanesPerPartition*partitions + room - 1) / room
}

// ReadUnits is what a consistent read of an item of so many bytes costs: one for each started 4 KB.
func ReadUnits(bytes int) int { return max(1, (bytes+4095)/4096) }
