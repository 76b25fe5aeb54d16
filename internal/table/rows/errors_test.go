package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
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
		{nil, Done, ""},
		{&types.ConditionalCheckFailedException{}, Failed, ""},
		{&types.DuplicateItemException{}, Failed, ""},
		{&types.ProvisionedThroughputExceededException{ThrottlingReasons: reasons}, Throttled,
			"IndexWriteKeyRangeThroughputExceeded of arn:table/events/index/GSI1"},
		{&types.ThrottlingException{ThrottlingReasons: reasons[:1]}, Throttled,
			"IndexWriteKeyRangeThroughputExceeded of arn:table/events/index/GSI1"},
		{&types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteAccountLimitExceeded")}}},
			Throttled, "TableWriteAccountLimitExceeded"},
		{&types.ProvisionedThroughputExceededException{}, Throttled, "ThrottlingWithoutReason"},
		{coded("ThrottlingException"), Throttled, "ThrottlingException"},
		{coded("Throttling"), Throttled, "Throttling"},
		{&types.TransactionConflictException{}, Contended, ""},
		{&types.TransactionInProgressException{}, Contended, "TransactionInProgress"},
		{&types.ReplicatedWriteConflictException{}, Contended, ""},
		{&types.TransactionCanceledException{}, Cancelled, ""},
		{coded("ValidationException"), Invalid, ""},
		{&smithy.GenericAPIError{Code: "ValidationException", Message: "KMS key access denied, the key is disabled"}, Refused, ""},
		{&types.ItemCollectionSizeLimitExceededException{}, Invalid, ""},
		{&types.ResourceNotFoundException{}, Refused, ""},
		{coded("AccessDeniedException"), Refused, ""},
		{coded("UnrecognizedClientException"), Refused, ""},
		{coded("IncompleteSignatureException"), Refused, ""},
		{coded("InvalidSignatureException"), Refused, ""},
		{coded("MissingAuthenticationTokenException"), Refused, ""},
		{coded("ExpiredTokenException"), Refused, ""},
		{coded("OptInRequired"), Refused, ""},
		{coded("InvalidClientTokenId"), Refused, ""},
		{coded("NotAuthorized"), Refused, ""},
		{&types.InternalServerError{}, Unknown, ""},
		{coded("ServiceUnavailable"), Unknown, ""},
		{coded("SomethingNew"), Unknown, ""},
		{io.ErrUnexpectedEOF, Unknown, ""},
		{&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, Unknown, ""},
		{context.DeadlineExceeded, Unknown, ""},
		{context.Canceled, Unknown, ""},
	} {
		wrapped := c.err
		if c.err != nil { // as the SDK returns it
			wrapped = &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "PutItem",
				Err: fmt.Errorf("https response error: %w", c.err)}
		}
		got := Classify(wrapped)
		if got.Outcome != c.want || got.Reason != c.reason || (c.err != nil && !errors.Is(got.Err, c.err)) {
			t.Errorf("%T %v: %s %q, want %s %q", c.err, c.err, outcomes[got.Outcome], got.Reason, outcomes[c.want], c.reason)
		}
	}
}

// These codes stand inside a successful answer, for each statement, or for each item of a cancelled
// transaction.
func TestClassifyCodes(t *testing.T) {
	want := map[types.BatchStatementErrorCodeEnum]outcome{
		types.BatchStatementErrorCodeEnumConditionalCheckFailed:          Failed,
		types.BatchStatementErrorCodeEnumDuplicateItem:                   Failed,
		types.BatchStatementErrorCodeEnumItemCollectionSizeLimitExceeded: Invalid,
		types.BatchStatementErrorCodeEnumValidationError:                 Invalid,
		types.BatchStatementErrorCodeEnumRequestLimitExceeded:            Throttled,
		types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded:   Throttled,
		types.BatchStatementErrorCodeEnumThrottlingError:                 Throttled,
		types.BatchStatementErrorCodeEnumTransactionConflict:             Contended,
		types.BatchStatementErrorCodeEnumInternalServerError:             Unknown,
		types.BatchStatementErrorCodeEnumResourceNotFound:                Refused,
		types.BatchStatementErrorCodeEnumAccessDenied:                    Refused,
	}
	for _, code := range types.BatchStatementErrorCodeEnum("").Values() {
		expected, known := want[code]
		if !known {
			t.Errorf("the SDK has a code %s that this table has not", code)
			continue
		}
		got := ClassifyStatement(&types.BatchStatementError{Code: code, Message: aws.String("words")})
		if got.Outcome != expected || !strings.Contains(got.Err.Error(), string(code)) ||
			(got.Outcome == Throttled) != (got.Reason == string(code)) {
			t.Errorf("%s: %s %q %v, want %s", code, outcomes[got.Outcome], got.Reason, got.Err, outcomes[expected])
		}
	}
	for code, expected := range map[string]outcome{"": Done, "None": Done, "ConditionalCheckFailed": Failed,
		"ItemCollectionSizeLimitExceeded": Invalid, "TransactionConflict": Contended,
		"ProvisionedThroughputExceeded": Throttled, "ThrottlingError": Throttled, "ValidationError": Invalid, "SomethingNew": Unknown} {
		if got := ClassifyReason(types.CancellationReason{Code: aws.String(code)}); got.Outcome != expected {
			t.Errorf("reason %q: %s, want %s", code, outcomes[got.Outcome], outcomes[expected])
		}
	}
	disabled := aws.String("the KMS key is disabled")
	for _, got := range []Answer{ClassifyReason(types.CancellationReason{Code: aws.String("ValidationError"), Message: disabled}),
		ClassifyStatement(&types.BatchStatementError{Code: "ValidationError", Message: disabled})} {
		must.Equal(t, got.Outcome, Refused, outcomes[got.Outcome])
	}
	if got := ClassifyReason(types.CancellationReason{}); got.Outcome != Done {
		t.Errorf("no code: %s", outcomes[got.Outcome])
	}
}

// The text of a Retry tells a person what to look at.
func TestRetryReasons(t *testing.T) {
	for o, want := range map[outcome]event.Reason{Throttled: event.Throttled, Refused: event.Refused, Invalid: event.Refused,
		Unknown: event.Unproven, Contended: event.Unproven, Failed: event.Unproven, Done: event.Unproven} {
		r := Answer{Outcome: o, Reason: "why", Err: errors.New("cause")}.Retry()
		if r.Verdict != event.Retry || r.Reason != want || r.Detail == "" {
			t.Errorf("%s: %v", outcomes[o], r)
		}
		if o != Throttled && !strings.Contains(r.Detail, "cause") {
			t.Errorf("%s does not say the cause: %s", outcomes[o], r.Detail)
		}
	}
}

// Tries that always go on at once wait after every hundred, and end as those that wait do. An
// answer that asks for more at once never counts as the last word.
func TestRetryAtOnceEnds(t *testing.T) {
	tries, waits := 0, 0
	s := &Tables{Env: env.Env{Rand: func() float64 { return 0 }, Sleep: func(context.Context, time.Duration) error { waits++; return nil }}}
	err := s.Retry(context.Background(), func(context.Context) (Answer, Next) {
		tries++
		return Answer{Outcome: Invalid}, Again
	})
	if err == nil || waits != 20 || tries != 21*maxAtOnce {
		t.Errorf("%v after %d tries and %d waits", err, tries, waits)
	}
}
