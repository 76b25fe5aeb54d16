package rows

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/itemform"
)

// Transacted is the result of one transaction: the answer to the whole, and the reasons why it was
// cancelled.
type Transacted struct {
	Answer
	// Reasons are those of a cancelled transaction, in the order of its operations.
	Reasons []types.CancellationReason
	// Long says that the answer was too large to be read. Only the reasons of a cancelled
	// transaction can be so large.
	Long bool
	// Units are the write units that the service reports, if the request asked for them.
	Units float64
}

// Transact sends operations as one transaction, once. All of them are done, or none is. It does not
// use a token to recognise repetitions. If the answer is lost, the next try finds what this one has
// done, so each operation must have a condition that fails then.
func (s *Tables) Transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (t Transacted) {
	out, err := s.Client.TransactWriteItems(ctx, in, append(options, Bounded)...)
	t.Answer = Classify(err)
	if err == nil {
		for _, c := range out.ConsumedCapacity {
			t.Units += aws.ToFloat64(c.CapacityUnits)
		}
	}
	if errors.Is(err, ErrTooLarge) {
		t.Outcome, t.Long = Cancelled, true
	}
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		t.Reasons = cancel.CancellationReasons
	}
	return t
}

// TransactionUnits returns what a transaction costs for one of its items on the table itself: two
// units for each started KB, also if the transaction is cancelled.
func TransactionUnits(size int) float64 { return float64(2 * itemform.WriteUnits(size)) }

// Once makes the SDK send a request only once. The SDK repeats a request whose answer was lost, and
// does not say so. The caller of [Store.transact] must know when a try got no answer.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
