package awserr

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/smithy-go"
)

// A quiet error says which request failed and how. It quotes nothing of what was sent.
func TestQuiet(t *testing.T) {
	of := func(err error) error {
		return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "PutItem", Err: err}
	}
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "not a number: jane"} }
	for _, c := range []struct {
		err          error
		text, detail string
	}{
		{of(coded("ValidationException")), "DynamoDB PutItem: ValidationException",
			"DynamoDB PutItem: ValidationException: not a number: jane"},
		{coded("ValidationException"), "ValidationException", "ValidationException: not a number: jane"},
		{&smithy.GenericAPIError{Code: "InternalError"}, "InternalError", "InternalError"},
		{fmt.Errorf("head: %w", of(coded("ThrottlingException"))), "DynamoDB PutItem: ThrottlingException",
			"DynamoDB PutItem: ThrottlingException: not a number: jane"},
		{coded("AccessDeniedException"), "api error AccessDeniedException: not a number: jane",
			"api error AccessDeniedException: not a number: jane"},
		{errors.New("connection reset"), "connection reset", "connection reset"},
		{context.Canceled, "context canceled", "context canceled"},
	} {
		q := Quiet(c.err)
		if q.Error() != c.text || Detail(q) != c.detail || Quiet(q) != q {
			t.Errorf("%v: %q, %q, %v", c.err, q, Detail(q), Quiet(q))
		}
		if wrapped := fmt.Errorf("refused: %w", q); Detail(wrapped) != "refused: "+c.detail || !errors.Is(wrapped, c.err) {
			t.Errorf("%v wrapped: %q", c.err, Detail(wrapped))
		}
	}
}
