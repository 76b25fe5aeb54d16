package rows

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

const (
	// MaxStatements is the service's limit for one BatchExecuteStatement.
	MaxStatements = 25
	// MaxRequestBytes bounds the items of one request, and of one answer with payloads. So it costs
	// little to ask again after a lost answer, and what is in flight fits into the smallest
	// function.
	MaxRequestBytes = 2 << 20
	// Few is how many writes go as PutItems. A refused PutItem brings the stored item back, which
	// saves the read.
	Few = 3
	// MaxTransaction is the service's limit of items in one transaction.
	MaxTransaction = 100
	// MaxTransactionBytes is how many bytes the items of one transaction may have together, as far
	// as their sizes are known. The service takes 4 MB. If a transaction turns out to be larger, it
	// is refused, and then halved.
	MaxTransactionBytes = 3 << 20
	// MaxKeys is the service's limit of keys for one BatchGetItem.
	MaxKeys = 100
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
