package sim

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/testworld"
)

var (
	errLost   = errors.New("read: connection reset by peer")
	errHung   = errors.New("request canceled while awaiting the answer")
	throttled = &types.ProvisionedThroughputExceededException{Message: aws.String("throughput exceeded"),
		ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded"),
			Resource: aws.String("table")}}}
	denied     = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no identity-based policy allows this"}
	conflicted = &types.TransactionConflictException{Message: aws.String("transaction is ongoing for the item")}
)

// tablesAPI and keepers are the requests that an outage may hit: those to the tables, and those to
// where letters, archive objects and large payloads are kept.
var (
	tablesAPI = map[string]bool{"PutItem": true, "GetItem": true, "UpdateItem": true, "BatchGetItem": true, "BatchExecuteStatement": true,
		"TransactWriteItems": true, "Query": true, "Scan": true}
	keepers = map[string]bool{"SendMessageBatch": true, "PutObject": true, "GetObject": true}
)

// request lets other tasks run, decides what happens to a request, and lets other tasks run again
// before the answer.
func request[O any](w *World, ctx context.Context, api string, write bool, call func() (O, error)) (O, error) {
	var none O
	w.Spend()
	w.Pause()
	if err := ctx.Err(); err != nil {
		return none, err // too late to be sent
	}
	befalls, slowly := w.fate(api, write, func() { call() })
	answer, err := befalls.Befall(func() (any, error) {
		out, err := call()
		w.wrote()
		if !slowly {
			w.Pause()
			return out, err
		}
		w.Sleep(time.Duration(5+w.Rng.IntN(60)) * time.Second)
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
		return out, err
	})
	out, _ := answer.(O) // nil if it is refused, or if its answer is lost
	return out, err
}

// fate decides what happens to a request, and whether its answer takes long.
func (w *World) fate(api string, write bool, call func()) (befalls testworld.Fault, slowly bool) {
	f := &w.plan.Faults
	switch {
	case w.Calm:
	case w.Chance(f.Crash):
		// The process dies before the request or after it.
		if w.Chance(0.5) {
			call()
			w.wrote()
		}
		w.Fault(crashed, api)
		w.Crash()
	case w.Now.Before(w.trouble.outage) && w.trouble.outOf[api] && w.Chance(0.97):
		w.Fault(outage, api)
		befalls.Before = w.trouble.outWith
	case w.Chance(f.Refuse):
		w.Fault(refused, api)
		befalls.Before = throttled
	case w.Chance(f.Conflict) && write:
		w.Fault(conflict, api)
		befalls.Before = conflictOf(api)
	case w.Chance(f.Lose):
		w.Fault(lost, api)
		befalls.After = errLost
	case w.Chance(f.Late) && write:
		w.Fault(late, api)
		w.later(api, call)
		befalls.Before = errHung
	case w.Chance(f.Never):
		w.Fault(never, api)
		befalls.Before = errHung
	case w.Chance(f.Twice) && write:
		// The SDK lost the first answer and sent it a second time.
		w.Fault(twice, api)
		call()
		w.wrote()
		w.Pause()
	case w.Chance(f.Slow):
		w.Fault(slow, api)
		slowly = true
	}
	return befalls, slowly
}

func conflictOf(api string) error {
	if api == "TransactWriteItems" {
		return &types.TransactionCanceledException{Message: aws.String("Transaction cancelled"), CancellationReasons: nil}
	}
	return conflicted
}

// later applies a request after its sender has given up on it. Once a request is sent, the deadline
// of its sender no longer matters.
func (w *World) later(api string, call func()) {
	wait := time.Duration(w.Rng.IntN(90)) * time.Second
	w.Spawn("late "+api, nil, func() {
		w.Sleep(wait)
		call()
		w.Tracef("a late %s is applied", api)
		w.wrote()
	})
	if w.Chance(w.plan.Faults.Hang) {
		w.Sleep(time.Duration(1+w.Rng.IntN(12)) * time.Second)
	}
}
