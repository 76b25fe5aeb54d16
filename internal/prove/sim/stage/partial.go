package stage

import (
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/testworld"
)

// The faults in this file happen inside an answer. The request as a whole succeeded, or it was
// cancelled with a reason for each item. The SDK retries none of these.

// These are the names of these faults.
const (
	Statements     = "statements throttled"  // some statements of a batch, inside a successful answer
	StatementCodes = "statements failed"     // some statements of a batch, inside a successful answer, with other codes
	Unread         = "keys left unread"      // some keys of a read come back unprocessed
	InParts        = "read in parts"         // a read of several keys: some are read before others write, some after
	CancelledFor   = "transaction cancelled" // with a reason for each item, but none of the reasons is a condition
	LettersFailed  = "letters not taken"     // some letters of a batch, inside a successful answer
)

// Happens draws whether a fault happens now.
func (w *World) Happens(p float64) bool { return !w.Calm && w.Chance(p) }

// some marks some of n places, and at least one.
func (w *World) some(n int, share float64) []bool {
	places := make([]bool, n)
	for i := range places {
		places[i] = w.Chance(share)
	}
	places[w.Rng.IntN(n)] = true
	return places
}

// divide separates the marked places of a list from the rest.
func divide[T any](list []T, marked []bool) (taken, rest []T) {
	for i, v := range list {
		if marked[i] {
			taken = append(taken, v)
		} else {
			rest = append(rest, v)
		}
	}
	return taken, rest
}

// otherCodes are the codes that a statement of a batch may get, other than throttling.
var otherCodes = []types.BatchStatementErrorCodeEnum{
	types.BatchStatementErrorCodeEnumInternalServerError, types.BatchStatementErrorCodeEnumInternalServerError,
	types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded,
	types.BatchStatementErrorCodeEnumRequestLimitExceeded, types.BatchStatementErrorCodeEnumTransactionConflict,
}

// FailStatements refuses some statements of a batch inside a successful answer, with the chances
// that they are throttled and that they get other codes. A statement that gets an internal error
// may have been applied all the same.
func (w *World) FailStatements(in *dynamodb.BatchExecuteStatementInput, throttled, codes float64,
	call func() (*dynamodb.BatchExecuteStatementOutput, error)) (*dynamodb.BatchExecuteStatementOutput, error) {
	var code types.BatchStatementErrorCodeEnum
	switch {
	case len(in.Statements) < 2:
		return call()
	case w.Happens(throttled):
		code = types.BatchStatementErrorCodeEnumThrottlingError
		w.Fault(Statements, "BatchExecuteStatement")
	case w.Happens(codes):
		code = otherCodes[w.Rng.IntN(len(otherCodes))]
		w.Fault(StatementCodes, string(code))
	default:
		return call()
	}
	told := w.some(len(in.Statements), 0.3)
	kept := make([]bool, len(told)) // not applied
	for i := range told {
		kept[i] = told[i] && (code != types.BatchStatementErrorCodeEnumInternalServerError || !w.Chance(0.3))
	}
	why := &types.BatchStatementError{Code: code, Message: aws.String("try again")}
	out, err := testworld.RefuseStatements(in, kept, why, call)
	for i := range told {
		if err == nil && told[i] {
			out.Responses[i] = types.BatchStatementResponse{Error: why}
		}
	}
	return out, err
}

// LeaveUnread answers a read but leaves some of its keys unprocessed. A read of one key would get
// an error instead.
func (w *World) LeaveUnread(in *dynamodb.BatchGetItemInput, p float64,
	call func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error)) (*dynamodb.BatchGetItemOutput, error) {
	for table, asked := range in.RequestItems { // Ingot names one table in a read
		if len(asked.Keys) < 2 || !w.Happens(p) {
			break
		}
		w.Fault(Unread, table)
		left := w.some(len(asked.Keys), 0.3)
		left[w.Rng.IntN(len(left))] = false
		rest, unprocessed := asked, asked
		unprocessed.Keys, rest.Keys = divide(asked.Keys, left)
		out, err := call(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: rest}})
		if err == nil && len(unprocessed.Keys) > 0 {
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{table: unprocessed}
		}
		return out, err
	}
	return call(in)
}

// cancelReasons are reasons for which a transaction is cancelled even though each of its conditions
// holds.
var cancelReasons = []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}

// Cancel cancels a transaction with a reason for each item. A transaction that is cancelled anyway,
// because conditions fail, may also have such reasons.
func (w *World) Cancel(in *dynamodb.TransactWriteItemsInput, p float64,
	call func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
	var cancelled *types.TransactionCanceledException
	if !w.Happens(p) {
		out, err := call()
		if !errors.As(err, &cancelled) || !w.Happens(p) {
			return out, err
		}
	} else {
		cancelled = testworld.Cancelled(len(in.TransactItems))
	}
	reason := cancelReasons[w.Rng.IntN(len(cancelReasons))]
	w.Fault(CancelledFor, reason)
	for i, drawn := range w.some(len(in.TransactItems), 0.1) {
		if r := &cancelled.CancellationReasons[i]; drawn && aws.ToString(r.Code) == "None" {
			r.Code, r.Message = &reason, aws.String("try again")
		}
	}
	return nil, cancelled
}

// FailLetters answers that some letters of a batch were not taken. Usually it blames the queue
// itself. A choosy queue blames the sender, who then does not ask again.
func (w *World) FailLetters(in *sqs.SendMessageBatchInput, p float64, choosy bool,
	call func(*sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error)) (*sqs.SendMessageBatchOutput, error) {
	if !choosy && !w.Happens(p) {
		return call(in)
	}
	w.Fault(LettersFailed, "SendMessageBatch")
	failed := w.some(len(in.Entries), 0.4)
	out := &sqs.SendMessageBatchOutput{}
	if _, rest := divide(in.Entries, failed); len(rest) > 0 {
		one := *in
		one.Entries = rest
		var err error
		if out, err = call(&one); err != nil {
			return out, err
		}
	}
	slices.Reverse(out.Successful) // in any order
	for i, entry := range in.Entries {
		if failed[i] {
			out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: entry.Id, SenderFault: choosy,
				Code: aws.String("InternalError"), Message: aws.String("not now")})
		}
	}
	return out, nil
}

// ReadInParts reads some keys of a batch before others act, and some after. A batch is not a
// snapshot.
func (w *World) ReadInParts(in *dynamodb.BatchGetItemInput, p float64,
	call func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error)) (*dynamodb.BatchGetItemOutput, error) {
	for table, asked := range in.RequestItems { // Ingot names one table in a read
		if len(asked.Keys) < 2 || !w.Happens(p) {
			break
		}
		w.Fault(InParts, table)
		now, later := asked, asked
		now.Keys, later.Keys = divide(asked.Keys, w.some(len(asked.Keys), 0.5))
		out, err := call(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: now}})
		if err != nil || len(later.Keys) == 0 {
			return out, err
		}
		w.Pause()
		rest, err := call(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: later}})
		if err != nil {
			return nil, err
		}
		out.Responses[table] = append(out.Responses[table], rest.Responses[table]...)
		return out, nil
	}
	return call(in)
}
