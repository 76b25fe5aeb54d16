package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/itemform"
)

// transacted is the result of one transaction: the answer to the whole, and the reasons why it was
// cancelled.
type transacted struct {
	answer
	// reasons are those of a cancelled transaction, in the order of its operations.
	reasons []types.CancellationReason
	// long says that the answer was too large to be read. Only the reasons of a cancelled
	// transaction can be so large.
	long bool
	// units are the write units that the service reports, if the request asked for them.
	units float64
}

// transact sends operations as one transaction, once. All of them are done, or none is. It does not
// use a token to recognise repetitions. If the answer is lost, the next try finds what this one has
// done, so each operation must have a condition that fails then.
func (s *tables) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (t transacted) {
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

// once makes the SDK send a request only once. The SDK repeats a request whose answer was lost, and
// does not say so. The caller of [Store.transact] must know when a try got no answer.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
