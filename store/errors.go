package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// outcome is what an answer of the service means for its request.
type outcome uint8

const (
	done      outcome = iota // applied
	failed                   // not applied: its condition was false
	throttled                // not applied: no capacity; ask again later
	contended                // not applied: another request holds the item; ask again soon
	unknown                  // perhaps applied, perhaps applied later: ask again under the same condition
	cancelled                // a transaction that was not applied; its reasons say why
	invalid                  // not applied, and never will be
	refused                  // not applied: permissions, credentials, missing table
)

// answer is an outcome, with what people and metrics need to know about it.
type answer struct {
	outcome outcome
	reason  string // throttled: why and where; see hotKey
	err     error  // quiet: its text may stand in a log
}

// hopeless reports whether there is no point in asking again.
func (a answer) hopeless() bool { return a.outcome == refused || a.outcome == invalid }

// classify judges the error of a whole request. An error that it does not know is unknown, which is
// the only safe guess.
func classify(err error) answer {
	if err == nil {
		return answer{}
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
	case errors.As(err, &condition):
		return answer{failed, "", err}
	case errors.As(err, &cancel):
		return answer{cancelled, "", err}
	case errors.As(err, &busy):
		return answer{contended, "TransactionInProgress", err}
	case errors.As(err, &capacity):
		return answer{throttled, throttlingReason(capacity.ThrottlingReasons), err}
	case errors.As(err, &throttle):
		return answer{throttled, throttlingReason(throttle.ThrottlingReasons), err}
	case errors.As(err, &limit):
		return answer{throttled, throttlingReason(limit.ThrottlingReasons), err}
	case errors.As(err, &api):
		return ofCode(api.ErrorCode(), err)
	}
	return answer{unknown, "", err}
}

// ofCode returns the answer that an error code stands for. If a throttle has no reasons, its code
// is used in their place.
func ofCode(code string, err error) answer {
	a := answer{outcome: codeOutcome(code), err: err}
	if a.outcome == throttled {
		a.reason = code
	}
	return a
}

// codeOutcome judges an error code. The code comes from an exception without a type of its own,
// from a statement inside a batch (API reference, BatchStatementError), or from the reason of a
// cancelled transaction.
func codeOutcome(code string) outcome {
	if awserr.DeniedCode(code) {
		return refused
	}
	switch strings.TrimSuffix(code, "Exception") {
	case "ConditionalCheckFailed", "DuplicateItem":
		return failed
	case "ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return throttled
	case "TransactionConflict", "TransactionInProgress", "ReplicatedWriteConflict":
		return contended
	case "ValidationError", "Validation", "ItemCollectionSizeLimitExceeded":
		return invalid
	}
	return unknown
}

// hotKey reports whether the service refused for capacity because of one key. More capacity does
// not help then.
func (a answer) hotKey() bool { return strings.Contains(a.reason, "KeyRange") }

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

// retry returns the Refusal of an event for which nothing is proven.
func (a answer) retry() *event.Refusal {
	r := &event.Refusal{Verdict: event.Retry, Reason: event.Unproven,
		Detail: "the table gave no answer that proves the event stored; it is delivered again"}
	switch a.outcome {
	case throttled:
		r.Reason, r.Detail = event.Throttled, "the table refused it for capacity, again and again: "+a.reason+"; it is delivered again"
	case refused, invalid:
		r.Reason, r.Detail = event.Refused,
			fmt.Sprintf("the table refused the request: %v; check the table's name, its key schema (PK, SK) and the function's permissions",
				a.err)
	default:
		if ahead := (*aheadError)(nil); errors.As(a.err, &ahead) {
			r.Reason, r.Detail = event.NewerStamp, ahead.Error()
		} else if unread := (*unreadError)(nil); errors.As(a.err, &unread) {
			r.Reason, r.Detail = event.PayloadUnread,
				fmt.Sprintf("the stored payload is needed to judge the event: %v; it is delivered again", unread)
		} else if a.err != nil {
			r.Detail = fmt.Sprintf("the table gave no answer that proves the event stored: %v; it is delivered again", a.err)
		}
	}
	return r
}

func classifyReason(reason types.CancellationReason) answer {
	code := aws.ToString(reason.Code)
	if code == "" || code == "None" {
		return answer{}
	}
	return answer{outcome: codeOutcome(code), reason: code,
		err: awserr.Quiet(&smithy.GenericAPIError{Code: code, Message: aws.ToString(reason.Message)})}
}

// errUnread is the answer to a read that left some items out.
var errUnread = answer{throttled, "UnprocessedKeys", errors.New("the table left some items of a read out")}

// refusedBy returns the stored item that a failed condition brought back, or nil if it brought
// none.
func refusedBy(err error) image {
	var condition *types.ConditionalCheckFailedException
	if errors.As(err, &condition) {
		return condition.Item
	}
	return nil
}

func classifyStatement(e *types.BatchStatementError) answer {
	if e == nil {
		return answer{}
	}
	return ofCode(string(e.Code), awserr.Quiet(&smithy.GenericAPIError{Code: string(e.Code), Message: aws.ToString(e.Message)}))
}

var errSilent = errors.New("a transaction was cancelled without a reason")
