package store

const (
	// maxStatements is the service's limit for one BatchExecuteStatement.
	maxStatements = 25
	// maxRequestBytes bounds the items of one request, and of one answer with payloads. So it costs
	// little to ask again after a lost answer, and what is in flight fits into the smallest
	// function.
	maxRequestBytes = 2 << 20
	// few is how many writes go as PutItems. A refused PutItem brings the stored item back, which
	// saves the read.
	few = 3
	// maxTransaction is the service's limit of items in one transaction.
	maxTransaction = 100
	// maxTransactionBytes is how many bytes the items of one transaction may have together, as far
	// as their sizes are known. The service takes 4 MB. If a transaction turns out to be larger, it
	// is refused, and then halved.
	maxTransactionBytes = 3 << 20
	// maxKeys is the service's limit of keys for one BatchGetItem.
	maxKeys = 100
)
