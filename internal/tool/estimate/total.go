package estimate

import (
	"math"

	"github.com/ingot-events/ingot/aggregate"
)

// changesAReceipt is how many changes share one update of a total under receipts: they and their
// receipts are in one transaction.
const changesAReceipt = 98

// Load is how much is written to each of the items that a total is spread over.
type Load struct {
	Updates float64 // of one item, a second
	Units   int     // of one update
}

// LoadOf estimates the load of each item of a total. moving changes a second move the total, out of
// aSecond changes from all partitions. The total is spread over spread items. If the total moves
// with the put, events share a transaction as far as it has room. bytes is the size of an item
// without marks.
func LoadOf(def *aggregate.Definition, counting aggregate.Counting, spread, bytes, partitions int, aSecond, moving float64) Load {
	spreaded := *def
	spreaded.Spread = spread
	if def.MovedBy == aggregate.Put {
		batch := InBatch(aSecond/Pollers, 0)
		each := batch * moving / aSecond / float64(spread) // of a batch, for one item
		packs := math.Min(each, math.Ceil(each/(ItemsATransaction-1)))
		return Load{aSecond / batch * packs, Units(&spreaded, bytes, counting)}
	}
	changes, shards := moving/float64(partitions), float64(partitions)
	updates := math.Min(changes, aSecond/shards/InBatch(aSecond/shards, 0))
	if counting == aggregate.Receipts {
		updates = math.Max(updates, changes/changesAReceipt)
	}
	return Load{updates * shards / float64(spread), Units(&spreaded, bytes+Marks(&spreaded, counting, partitions)*MarkBytes, counting)}
}

// TooMuch reports whether the load is more than one item can take.
func (l Load) TooMuch(def *aggregate.Definition) bool {
	return l.Updates*float64(l.Units) > UnitsASecond || def.MovedBy == aggregate.Put && l.Updates >= float64(MovesASecond)
}
