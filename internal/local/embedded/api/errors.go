package api

import (
	"errors"
	"fmt"

	"github.com/aws/smithy-go"
)

// UnsupportedError says that a call asked for something that the engine does not implement. The
// real service never answers with it, so code that gets it must not retry.
type UnsupportedError struct {
	API  string // the call, such as PutItem
	What string // the field, function or expression form
}

// Error names the call and what is not implemented.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("embedded: %s: %s is not supported", e.API, e.What)
}

// Unsupported returns an [UnsupportedError] for what, which the engine does not implement.
func Unsupported(api, what string) error { return &UnsupportedError{API: api, What: what} }

// Invalid returns the service's ValidationException, which the SDK does not model as a type.
func Invalid(format string, args ...any) error {
	return Error("ValidationException", format, args...)
}

// Error returns an error of a service that the SDK does not model as a type.
func Error(code, format string, args ...any) error {
	return &smithy.GenericAPIError{Code: code, Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// ErrorText returns the text of a service error without its code.
func ErrorText(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorMessage()
	}
	return err.Error()
}
