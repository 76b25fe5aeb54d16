package sim

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

var (
	errHung = errors.New("request canceled while awaiting the answer")
	denied  = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no identity-based policy allows this"}
	expired = &smithy.GenericAPIError{Code: "ExpiredTokenException", Message: "the security token included in the request is expired"}
	// A customer managed key that is disabled: DynamoDB says so in the message alone, SQS and S3 in
	// the code (their API references, "Errors"). A conditional put meets another of its object.
	lockedTable = &smithy.GenericAPIError{Code: "ValidationException", Message: "KMS key access denied: the key is disabled"}
	locked      = &smithy.GenericAPIError{Code: "KMS.DisabledException", Message: "the key is disabled"}
	beside      = &smithy.GenericAPIError{Code: "ConditionalRequestConflict", Message: "a conflicting operation is in progress"}
	conflicted  = &types.TransactionConflictException{Message: aws.String("transaction is ongoing for the item")}
)

// tablesAPI and keepers are the requests that an outage may hit: those to the tables, and those to
// where letters, archive objects and large payloads are kept.
var (
	tablesAPI = map[string]bool{"PutItem": true, "GetItem": true, "UpdateItem": true, "BatchGetItem": true, "BatchExecuteStatement": true,
		"TransactWriteItems": true, "Query": true, "Scan": true}
	keepers = map[string]bool{"SendMessageBatch": true, "PutObject": true, "GetObject": true}
)

// outages are the requests that an outage hits, and what they get.
var outages = []struct {
	of   map[string]bool
	with error
}{{tablesAPI, stage.Throttled}, {tablesAPI, denied}, {tablesAPI, expired}, {tablesAPI, lockedTable},
	{keepers, stage.Throttled}, {keepers, denied}, {keepers, expired}, {keepers, locked},
	{map[string]bool{"PutObject": true}, beside}}

// answers lets other tasks run before an answer.
func (w *World) answers(ctx context.Context, fate stage.Fate) error {
	if !fate.Slow {
		w.Pause()
		return nil
	}
	w.Sleep(time.Duration(5+w.Rng.IntN(60)) * time.Second)
	return ctx.Err()
}

// fate decides what happens to a request, and whether its answer takes long.
func (w *World) fate(api string, write bool, _ func() time.Duration, carry func()) (befalls stage.Fate) {
	f := &w.plan.Faults
	switch {
	case w.Calm:
	case w.Chance(f.Crash):
		// The process dies before the request or after it.
		if w.Chance(0.5) {
			carry()
		}
		w.Fault(stage.Crashed, api)
		w.Crash()
	case w.Now.Before(w.trouble.outage) && w.trouble.outOf[api] && w.Chance(0.97):
		w.Fault(outage, api)
		befalls.Before = w.trouble.outWith
	case w.Chance(f.Refuse):
		w.Fault(stage.Refused, api)
		befalls.Before = stage.Throttled
	case w.Chance(f.Conflict) && write:
		w.Fault(stage.Conflict, api)
		befalls.Before = conflictOf(api)
	case w.Chance(f.Lose):
		w.Fault(stage.Lost, api)
		befalls.After = stage.ErrLost
	case w.Chance(f.Late) && write:
		w.Fault(stage.Late, api)
		w.later(api, carry)
		befalls.Before = errHung
	case w.Chance(f.Never):
		w.Fault(stage.Never, api)
		befalls.Before = errHung
	case w.Chance(f.Twice) && write:
		// The SDK lost the first answer and sent it a second time.
		w.Fault(stage.Twice, api)
		carry()
		w.Pause()
	case w.Chance(f.Slow):
		w.Fault(stage.Slow, api)
		befalls.Slow = true
	}
	return befalls
}

func conflictOf(api string) error {
	if api == "TransactWriteItems" {
		return &types.TransactionCanceledException{Message: aws.String("Transaction cancelled"), CancellationReasons: nil}
	}
	return conflicted
}

// later applies a request after its sender has given up on it.
func (w *World) later(api string, carry func()) {
	w.Later(api, time.Duration(w.Rng.IntN(90))*time.Second, carry)
	if w.Chance(w.plan.Faults.Hang) {
		w.Sleep(time.Duration(1+w.Rng.IntN(12)) * time.Second)
	}
}
