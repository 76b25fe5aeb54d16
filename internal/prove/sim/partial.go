package sim

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

// partial is about answers that say that a part of a request failed.
type partial struct {
	*World
}

// The faults in this file happen inside an answer. The request as a whole succeeded, or it was
// cancelled with a reason for each item. The SDK retries none of these.

// some reports whether a fault inside an answer happens now.
func (w *partial) some(p float64) bool { return !w.Calm && w.Chance(p) }

// draw marks some of n places, and at least one.
func (w *partial) draw(n int, share float64) []bool {
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

// failStatements refuses some statements of a batch inside a successful answer. A statement that
// gets an internal error may have been applied all the same.
func (w *partial) failStatements(in *dynamodb.BatchExecuteStatementInput,
	call func() (*dynamodb.BatchExecuteStatementOutput, error)) (*dynamodb.BatchExecuteStatementOutput, error) {
	var code types.BatchStatementErrorCodeEnum
	switch {
	case len(in.Statements) < 2:
		return call()
	case w.some(w.plan.Faults.Statements):
		code = types.BatchStatementErrorCodeEnumThrottlingError
		w.Fault(statements, "BatchExecuteStatement")
	case w.some(w.plan.Faults.Codes):
		code = otherCodes[w.Rng.IntN(len(otherCodes))]
		w.Fault(statementCodes, string(code))
	default:
		return call()
	}
	told := w.draw(len(in.Statements), 0.3)
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

// leaveUnread answers a read but leaves some of its keys unprocessed. A read of one key would get
// an error instead.
func (w *partial) leaveUnread(in *dynamodb.BatchGetItemInput, call func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput,
	error)) (*dynamodb.BatchGetItemOutput, error) {
	for table, asked := range in.RequestItems { // Ingot names one table in a read
		if len(asked.Keys) < 2 || !w.some(w.plan.Faults.Unread) {
			break
		}
		w.Fault(unread, table)
		left := w.draw(len(asked.Keys), 0.3)
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

// cancel cancels a transaction with a reason for each item. A transaction that is cancelled anyway,
// because conditions fail, may also have such reasons.
func (w *partial) cancel(in *dynamodb.TransactWriteItemsInput,
	call func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
	var cancelled *types.TransactionCanceledException
	if !w.some(w.plan.Faults.Cancel) {
		out, err := call()
		if !errors.As(err, &cancelled) || !w.some(w.plan.Faults.Cancel) {
			return out, err
		}
	} else {
		cancelled = testworld.Cancelled(len(in.TransactItems))
	}
	reason := cancelReasons[w.Rng.IntN(len(cancelReasons))]
	w.Fault(cancelledFor, reason)
	for i, drawn := range w.draw(len(in.TransactItems), 0.1) {
		if r := &cancelled.CancellationReasons[i]; drawn && aws.ToString(r.Code) == "None" {
			r.Code, r.Message = &reason, aws.String("try again")
		}
	}
	return nil, cancelled
}

// failLetters answers that some letters of a batch were not taken. Usually it blames the queue
// itself.
func (w *partial) failLetters(in *sqs.SendMessageBatchInput, call func(*sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput,
	error)) (*sqs.SendMessageBatchOutput, error) {
	choosy := !w.Calm && w.Now.Before(w.trouble.choosy) // the answer blames the sender, who then does not ask again
	if !choosy && !w.some(w.plan.Faults.Letters) {
		return call(in)
	}
	w.Fault(lettersFailed, "SendMessageBatch")
	failed := w.draw(len(in.Entries), 0.4)
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
