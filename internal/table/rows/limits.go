package rows

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
