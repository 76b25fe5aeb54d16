// Package estimate says in advance what the two functions will need. [Put] and [Count] estimate the
// requests and time of a batch. [Units], [Bytes] and [Marks] estimate what one update of a total
// costs, from the size of its item and all the marks that it may carry.
package estimate

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

const (
	// LanesPerPartition is how many shards a partition's stream has in the 72 hours for which marks
	// are kept. A new shard begins about every 4 hours.
	LanesPerPartition = 18
	// MarkBytes is what one mark adds to an item: the name and the value of its attribute.
	MarkBytes = len(lanes.MarkPrefix) + 16 + len(lanes.Mark{})

	// These sizes in bytes are assumed for what is not known in advance.
	byBytes    = 24 // a value of `by`
	valueBytes = 7  // a number of up to 12 digits
	countBytes = 5
	proofBytes = 13 // the fingerprint
	datedBytes = 84 // a time, a tie and a JSON text of 20 bytes
	// sketchBytes is the size of a sketch of a thousand values or more.
	sketchBytes = 3073
	// bucketsOfATotal is how many buckets a histogram has whose numbers are of two powers of ten.
	bucketsOfATotal = 94
)

// Marks returns how many marks one item of a total carries if all partitions of the events table
// touch it. A spread divides this number. Under receipts there are no marks.
func Marks(def *aggregate.Definition, counting aggregate.Counting, partitions int) int {
	if counting == aggregate.Receipts {
		return 0
	}
	return (LanesPerPartition*partitions + def.Spread - 1) / def.Spread
}

// Bytes returns about the size of a total's item without marks. by are its values, escaped; nil if
// they are not known.
func Bytes(def *aggregate.Definition, by []string) int {
	known := by
	if known == nil {
		known = make([]string, len(def.By))
	}
	key := lanes.Key(def, 0, known, lanes.WindowStart(def, event.Item{}.At))
	size := len("PK") + len(key.PK) + len("SK") + len(key.SK) + len("n") + countBytes + len("fp") + proofBytes
	if by == nil {
		size += byBytes * (len(def.By) + len(def.Rank.Within)) // in i:rank, too
	}
	if def.OnExpire == aggregate.Keep {
		size += len("fpx") + proofBytes
	}
	if def.Retain > 0 {
		size += len("expiresAt") + 6
	}
	if def.Rank.Value != "" {
		size += len(lanes.RankAttribute) + len(lanes.RankOf(def, key)) + len(lanes.ScoreAttribute) + valueBytes
	}
	for _, v := range def.Values {
		switch v.Op {
		case aggregate.Newest, aggregate.Oldest:
			size += len(v.Name) + datedBytes
		case aggregate.Distinct:
			size += len(v.Name) + sketchBytes
		case aggregate.Histogram:
			size += bucketsOfATotal * (len("h:") + len(v.Name) + len(":999") + countBytes)
		default:
			size += len(v.Name) + valueBytes
		}
	}
	return size
}

// UpdateUnits returns what one update of an item of so many bytes costs outside of a transaction:
// one unit for each started kilobyte. A ranked total also moves in its index, where one entry is
// deleted and one is put.
func UpdateUnits(def *aggregate.Definition, bytes int) int {
	units := itemform.WriteUnits(bytes)
	if def.Rank.Value != "" {
		units += RankUnits
	}
	return units
}

// Units returns what one update of a total costs in the request that makes it. Under receipts that
// is a transaction. A total that moves with the put is in the transaction of the put. The receipt
// itself costs [ReceiptUnits] more for each change.
func Units(def *aggregate.Definition, bytes int, counting aggregate.Counting) int {
	units := UpdateUnits(def, bytes)
	if counting == aggregate.Receipts || def.MovedBy == aggregate.Put {
		units *= InTransaction
	}
	return units
}

// MovesASecond is about how many transactions a second move one total that moves with the put. They
// go one after the other, and each takes [Latency].
const MovesASecond = int(1 / Latency)

// ItemsATransaction is the most that one transaction writes, totals included.
const ItemsATransaction = 100

// UnitsASecond is how many write units a second one item takes, because one partition takes no more
// (DynamoDB developer guide, "Burst and adaptive capacity").
const UnitsASecond = 1000

// InTransaction is how many times as much a write costs in a transaction.
const InTransaction = itemform.InTransaction

const (
	// RankUnits is what an update costs in the index of ranked totals, if it moves the value.
	RankUnits = 2
	// RankMoves is about how many moves a second a shard of a window takes: half of the 1,000 write
	// units of a partition.
	RankMoves = 500
)

// ReceiptUnits is what the receipt of one change costs, in its transaction.
const ReceiptUnits = 2

// SpreadForOne returns the smallest spread with which an update costs one unit under marks. It
// returns 0 if there is none.
func SpreadForOne(bytes, partitions int) int {
	room := (1024 - bytes) / MarkBytes
	if room < 1 {
		return 0
	}
	return (LanesPerPartition*partitions + room - 1) / room
}
