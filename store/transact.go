package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/itemform"
)

// transacted is what became of one transaction: the answer to all of it, and what stood in its way.
type transacted struct {
	answer
	// reasons are those of a cancelled transaction, in the order of its operations.
	reasons []types.CancellationReason
	// long says that the answer was too large to be read. Only the reasons of a transaction that was
	// cancelled are ever so large.
	long bool
	// units are the write units that the service says it took, if it was asked and says so.
	units float64
}

// transact sends operations as one transaction, once. All of them are done, or none is. Nothing here
// relies on a token to recognise a repetition: if the answer is lost, the next try meets what this one
// has done. So each operation must have a condition that fails then.
func (s *Store) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (t transacted) {
	out, err := s.client.TransactWriteItems(ctx, in, append(options, bounded)...)
	t.answer = classify(err)
	if err == nil {
		for _, c := range out.ConsumedCapacity {
			t.units += aws.ToFloat64(c.CapacityUnits)
		}
	}
	if errors.Is(err, errTooLarge) {
		t.outcome, t.long = cancelled, true
	}
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		t.reasons = cancel.CancellationReasons
	}
	return t
}

// transactionUnits returns what a transaction costs for one of its items on the table itself: two
// units for each started KB, also if the transaction is cancelled.
func transactionUnits(size int) float64 { return float64(2 * itemform.WriteUnits(size)) }

// once makes the SDK send a request only once. The SDK repeats a request whose answer was lost, and does
// not say so. The caller of [Store.transact] has to know that a try is not answered.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
