package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
)

var outcomes = [...]string{"done", "failed", "throttled", "contended", "unknown", "cancelled", "invalid", "refused"}

// The table lists every error that the service or the SDK returns for one of our calls, and what it
// means for the request.
func TestClassify(t *testing.T) {
	reasons := []types.ThrottlingReason{{Reason: aws.String("IndexWriteKeyRangeThroughputExceeded"),
		Resource: aws.String("arn:table/events/index/GSI1")}}
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "words"} }
	for _, c := range []struct {
		err    error
		want   outcome
		reason string
	}{
		{nil, done, ""},
		{&types.ConditionalCheckFailedException{}, failed, ""},
		{&types.DuplicateItemException{}, failed, ""},
		{&types.ProvisionedThroughputExceededException{ThrottlingReasons: reasons}, throttled,
			"IndexWriteKeyRangeThroughputExceeded of arn:table/events/index/GSI1"},
		{&types.ThrottlingException{ThrottlingReasons: reasons[:1]}, throttled,
			"IndexWriteKeyRangeThroughputExceeded of arn:table/events/index/GSI1"},
		{&types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteAccountLimitExceeded")}}},
			throttled, "TableWriteAccountLimitExceeded"},
		{&types.ProvisionedThroughputExceededException{}, throttled, "ThrottlingWithoutReason"},
		{coded("ThrottlingException"), throttled, "ThrottlingException"},
		{coded("Throttling"), throttled, "Throttling"},
		{&types.TransactionConflictException{}, contended, ""},
		{&types.TransactionInProgressException{}, contended, "TransactionInProgress"},
		{&types.ReplicatedWriteConflictException{}, contended, ""},
		{&types.TransactionCanceledException{}, cancelled, ""},
		{coded("ValidationException"), invalid, ""},
		{&types.ItemCollectionSizeLimitExceededException{}, invalid, ""},
		{&types.ResourceNotFoundException{}, refused, ""},
		{coded("AccessDeniedException"), refused, ""},
		{coded("UnrecognizedClientException"), refused, ""},
		{coded("IncompleteSignatureException"), refused, ""},
		{coded("InvalidSignatureException"), refused, ""},
		{coded("MissingAuthenticationTokenException"), refused, ""},
		{coded("ExpiredTokenException"), refused, ""},
		{coded("OptInRequired"), refused, ""},
		{coded("InvalidClientTokenId"), refused, ""},
		{coded("NotAuthorized"), refused, ""},
		{&types.InternalServerError{}, unknown, ""},
		{coded("ServiceUnavailable"), unknown, ""},
		{coded("SomethingNew"), unknown, ""},
		{io.ErrUnexpectedEOF, unknown, ""},
		{&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, unknown, ""},
		{context.DeadlineExceeded, unknown, ""},
		{context.Canceled, unknown, ""},
	} {
		wrapped := c.err
		if c.err != nil { // as the SDK returns it
			wrapped = &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "PutItem",
				Err: fmt.Errorf("https response error: %w", c.err)}
		}
		got := classify(wrapped)
		if got.outcome != c.want || got.reason != c.reason || (c.err != nil && !errors.Is(got.err, c.err)) {
			t.Errorf("%T %v: %s %q, want %s %q", c.err, c.err, outcomes[got.outcome], got.reason, outcomes[c.want], c.reason)
		}
	}
}

// These codes stand inside a successful answer, for each statement, or for each item of a cancelled
// transaction.
func TestClassifyCodes(t *testing.T) {
	want := map[types.BatchStatementErrorCodeEnum]outcome{
		types.BatchStatementErrorCodeEnumConditionalCheckFailed:          failed,
		types.BatchStatementErrorCodeEnumDuplicateItem:                   failed,
		types.BatchStatementErrorCodeEnumItemCollectionSizeLimitExceeded: invalid,
		types.BatchStatementErrorCodeEnumValidationError:                 invalid,
		types.BatchStatementErrorCodeEnumRequestLimitExceeded:            throttled,
		types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded:   throttled,
		types.BatchStatementErrorCodeEnumThrottlingError:                 throttled,
		types.BatchStatementErrorCodeEnumTransactionConflict:             contended,
		types.BatchStatementErrorCodeEnumInternalServerError:             unknown,
		types.BatchStatementErrorCodeEnumResourceNotFound:                refused,
		types.BatchStatementErrorCodeEnumAccessDenied:                    refused,
	}
	for _, code := range types.BatchStatementErrorCodeEnum("").Values() {
		expected, known := want[code]
		if !known {
			t.Errorf("the SDK has a code %s that this table has not", code)
			continue
		}
		got := classifyStatement(&types.BatchStatementError{Code: code, Message: aws.String("words")})
		if got.outcome != expected || !strings.Contains(got.err.Error(), string(code)) ||
			(got.outcome == throttled) != (got.reason == string(code)) {
			t.Errorf("%s: %s %q %v, want %s", code, outcomes[got.outcome], got.reason, got.err, outcomes[expected])
		}
	}
	for code, expected := range map[string]outcome{"": done, "None": done, "ConditionalCheckFailed": failed,
		"ItemCollectionSizeLimitExceeded": invalid, "TransactionConflict": contended,
		"ProvisionedThroughputExceeded": throttled, "ThrottlingError": throttled, "ValidationError": invalid, "SomethingNew": unknown} {
		if got := classifyReason(types.CancellationReason{Code: aws.String(code)}); got.outcome != expected {
			t.Errorf("reason %q: %s, want %s", code, outcomes[got.outcome], outcomes[expected])
		}
	}
	if got := classifyReason(types.CancellationReason{}); got.outcome != done {
		t.Errorf("no code: %s", outcomes[got.outcome])
	}
}

// The text of a Retry tells a person what to look at.
func TestRetryReasons(t *testing.T) {
	for o, want := range map[outcome]event.Reason{throttled: event.Throttled, refused: event.Refused, invalid: event.Refused,
		unknown: event.Unproven, contended: event.Unproven, failed: event.Unproven, done: event.Unproven} {
		r := answer{outcome: o, reason: "why", err: errors.New("cause")}.retry()
		if r.Verdict != event.Retry || r.Reason != want || r.Detail == "" {
			t.Errorf("%s: %v", outcomes[o], r)
		}
		if o != throttled && !strings.Contains(r.Detail, "cause") {
			t.Errorf("%s does not say the cause: %s", outcomes[o], r.Detail)
		}
	}
}
