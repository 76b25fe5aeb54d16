package count

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// count adds the cost of the transaction. A cancelled transaction costs the same.
func (g *receiptGroup) count(answer rows.Answer, updates []*lanes.Update, units float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Cost.Requests++
	switch answer.Outcome {
	case rows.Done:
		g.Updates += len(updates)
		for _, u := range updates {
			if g.refusals[u.Key] != nil { // only flagged; flagHead counts the items that could not even take the flag
				g.Refused++
			}
		}
		fallthrough
	case rows.Cancelled:
		g.Cost.WriteUnits += units
	}
}

// units returns the price of a transaction: two write units for each started kilobyte of each item.
// The size of a receipt is known. An aggregate item is at least as large as what its update writes,
// and at least as large as when it was last seen. A transaction brings no images, so a flag that
// another sandbox wrote may be missing here.
func (g *receiptGroup) units(items []types.TransactWriteItem) float64 {
	units := 0.0
	for _, item := range items {
		size := 0
		if item.Put != nil {
			size = rows.ImageSize(item.Put.Item)
		} else {
			size = max(WrittenSize(item.Update), g.observed(rows.KeyOf(item.Update.Key)).Size)
		}
		units += rows.TransactionUnits(size)
	}
	return units
}

// WrittenSize returns the size of the item that an update makes if there is none. Each attribute
// that the update names has one value. So this is the size of the key and of all those names and
// values.
func WrittenSize(u *types.Update) int {
	size := rows.ImageSize(u.Key)
	for _, name := range u.ExpressionAttributeNames {
		size += len(name)
	}
	for _, v := range u.ExpressionAttributeValues {
		size += rows.ValueSize(v)
	}
	return size
}
