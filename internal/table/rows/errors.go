package rows

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/tables"
)

// outcome is what an answer of the service means for its request.
type outcome uint8

const (
	Done      outcome = iota // applied
	Failed                   // not applied: its condition was false
	Throttled                // not applied: no capacity; ask again later
	Contended                // not applied: another request holds the item; ask again soon
	Unknown                  // perhaps applied, perhaps applied later: ask again under the same condition
	Cancelled                // a transaction that was not applied; its reasons say why
	Invalid                  // not applied, and never will be
	Refused                  // not applied: permissions, credentials, missing table
)

// Answer is an outcome, with what people and metrics need to know about it.
type Answer struct {
	Outcome outcome
	Reason  string // throttled: why and where; see [Answer.HotKey]
	Err     error  // quiet: its text may stand in a log
}

// Hopeless reports whether there is no point in asking again.
func (a Answer) Hopeless() bool { return a.Outcome == Refused || a.Outcome == Invalid }

// Classify judges the error of a whole request. An error that it does not know is unknown, which is
// the only safe guess.
func Classify(err error) Answer {
	if err == nil {
		return Answer{}
	}
	err = awserr.Quiet(err)
	var (
		condition *types.ConditionalCheckFailedException
		cancel    *types.TransactionCanceledException
		busy      *types.TransactionInProgressException
		capacity  *types.ProvisionedThroughputExceededException
		throttle  *types.ThrottlingException
		limit     *types.RequestLimitExceeded
		api       smithy.APIError
	)
	switch {
	case errors.Is(err, ErrLate): // the clock tells in the next round
		return Answer{Contended, "TooLate", err}
	case errors.As(err, &condition):
		return Answer{Failed, "", err}
	case errors.As(err, &cancel):
		return Answer{Cancelled, "", err}
	case errors.As(err, &busy):
		return Answer{Contended, "TransactionInProgress", err}
	case errors.As(err, &capacity):
		return Answer{Throttled, throttlingReason(capacity.ThrottlingReasons), err}
	case errors.As(err, &throttle):
		return Answer{Throttled, throttlingReason(throttle.ThrottlingReasons), err}
	case errors.As(err, &limit):
		return Answer{Throttled, throttlingReason(limit.ThrottlingReasons), err}
	case errors.As(err, &api):
		return ofCode(api.ErrorCode(), api.ErrorMessage(), err)
	}
	return Answer{Unknown, "", err}
}

// ofCode returns the answer that an error code stands for. If a throttle has no reasons, its code
// is used in their place.
func ofCode(code, message string, err error) Answer {
	a := Answer{Outcome: codeOutcome(code, message), Err: err}
	if a.Outcome == Throttled {
		a.Reason = code
	}
	return a
}

// codeOutcome judges an error code. The message tells that the key of a table is out of reach,
// which nothing in the request can mend. The code comes from an exception without a type of its
// own, from a statement inside a batch (API reference, BatchStatementError), or from the reason of
// a cancelled transaction.
func codeOutcome(code, message string) outcome {
	if awserr.DeniedCode(code) {
		return Refused
	}
	switch strings.TrimSuffix(code, "Exception") {
	case "ConditionalCheckFailed", "DuplicateItem":
		return Failed
	case "ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return Throttled
	case "TransactionConflict", "TransactionInProgress", "ReplicatedWriteConflict":
		return Contended
	case "ValidationError", "Validation", "ItemCollectionSizeLimitExceeded":
		if strings.Contains(message, "KMS") {
			return Refused
		}
		return Invalid
	}
	return Unknown
}

// HotKey reports whether the service refused for capacity because of one key. More capacity does
// not help then.
func (a Answer) HotKey() bool { return strings.Contains(a.Reason, "KeyRange") }

// throttlingReason returns the first reason that the service gives, as
// "TableWriteKeyRangeThroughputExceeded of arn:…". A reason with KeyRange means one hot key, and
// only spreading helps. The other reasons mean a lack of capacity.
func throttlingReason(reasons []types.ThrottlingReason) string {
	for _, r := range reasons {
		if r.Reason != nil && r.Resource != nil {
			return *r.Reason + " of " + *r.Resource
		}
		if r.Reason != nil {
			return *r.Reason
		}
	}
	return "ThrottlingWithoutReason"
}

// Retry returns the Refusal of an event for which nothing is proven.
func (a Answer) Retry() *event.Refusal {
	r := &event.Refusal{Verdict: event.Retry, Reason: event.Unproven,
		Detail: "the table gave no answer that proves the event stored; it is delivered again"}
	switch a.Outcome {
	case Throttled:
		r.Reason, r.Detail = event.Throttled, "the table refused it for capacity, again and again: "+a.Reason+"; it is delivered again"
	case Refused, Invalid:
		r.Reason, r.Detail = event.Refused,
			fmt.Sprintf("the table refused the request: %v; check the table's name, its key schema (PK, SK) and the function's permissions",
				a.Err)
	default:
		if ahead := (*aheadError)(nil); errors.As(a.Err, &ahead) {
			r.Reason, r.Detail = event.NewerStamp, ahead.Error()
		} else if unread := (*UnreadError)(nil); errors.As(a.Err, &unread) {
			r.Reason, r.Detail = event.PayloadUnread,
				fmt.Sprintf("the stored payload is needed to judge the event: %v; it is delivered again", unread)
		} else if a.Err != nil {
			r.Detail = fmt.Sprintf("the table gave no answer that proves the event stored: %v; it is delivered again", a.Err)
		}
	}
	return r
}

func ClassifyReason(reason types.CancellationReason) Answer {
	code := aws.ToString(reason.Code)
	if code == "" || code == "None" {
		return Answer{}
	}
	message := aws.ToString(reason.Message)
	return Answer{Outcome: codeOutcome(code, message), Reason: code,
		Err: awserr.Quiet(&smithy.GenericAPIError{Code: code, Message: message})}
}

// ErrUnread is the answer to a read that left some items out.
var ErrUnread = Answer{Throttled, "UnprocessedKeys", errors.New("the table left some items of a read out")}

// RefusedBy returns the stored item that a failed condition brought back, or nil if it brought
// none.
func RefusedBy(err error) Image {
	var condition *types.ConditionalCheckFailedException
	if errors.As(err, &condition) {
		return condition.Item
	}
	return nil
}

func ClassifyStatement(e *types.BatchStatementError) Answer {
	if e == nil {
		return Answer{}
	}
	code, message := string(e.Code), aws.ToString(e.Message)
	return ofCode(code, message, awserr.Quiet(&smithy.GenericAPIError{Code: code, Message: message}))
}

var ErrSilent = errors.New("a transaction was cancelled without a reason")

// Count counts a refusal that says nothing about what is stored.
func (a *Answer) Count(c *tables.Cost) {
	switch a.Outcome {
	case Throttled:
		c.Throttle(a.Reason, 1)
	case Contended:
		c.Conflicts++
	}
}
