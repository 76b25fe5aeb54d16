package rows

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

// InsertUnits returns what it costs to store a new item: its started kilobytes, on the table and on
// each index that holds it.
func InsertUnits(item *event.Item) float64 {
	return float64(itemform.WriteUnits(item.Size()) * (1 + len(item.Indexes)))
}

// UnitsOf returns the units that an answer reports. An emulator may not report any.
func UnitsOf(c *types.ConsumedCapacity, least float64) float64 {
	if c == nil || c.CapacityUnits == nil {
		return least
	}
	return *c.CapacityUnits
}

// TransactionUnits returns what a transaction costs for one of its items on the table itself: two
// units for each started KB, also if the transaction is cancelled.
func TransactionUnits(size int) float64 { return float64(2 * itemform.WriteUnits(size)) }
