package store

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/lanes"
)

// count adds what the transaction cost, which it does done or cancelled.
func (g *receiptGroup) count(answer answer, updates []*lanes.Update, units float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Cost.Requests++
	switch answer.outcome {
	case done:
		g.Updates += len(updates)
		for _, u := range updates {
			if g.refusals[u.Key] != nil { // only flagged; those that took not even the flag are counted by flagHead
				g.Refused++
			}
		}
		fallthrough
	case cancelled:
		g.Cost.WriteUnits += units
	}
}

// units is the price of a transaction: two write units for each started kilobyte of each item. A receipt is known
// whole. An aggregate item is no smaller than what its update writes, and than it was when it was last seen; a
// transaction brings no images, so a flag that another sandbox wrote may be missing here.
func (g *receiptGroup) units(items []types.TransactWriteItem) float64 {
	units := 0
	for _, item := range items {
		size := 0
		if item.Put != nil {
			size = imageSize(item.Put.Item)
		} else {
			size = max(writtenSize(item.Update), g.observed(keyOf(item.Update.Key)).size)
		}
		units += 2 * event.WriteUnits(size)
	}
	return float64(units)
}

// writtenSize is the size of the item that an update makes where there is none: its key and, since each attribute
// that it names has one value, those names and values.
func writtenSize(u *types.Update) int {
	size := imageSize(u.Key)
	for _, name := range u.ExpressionAttributeNames {
		size += len(name)
	}
	for _, v := range u.ExpressionAttributeValues {
		size += valueSize(v)
	}
	return size
}
