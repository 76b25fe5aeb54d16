package awserr

import (
	"errors"

	"github.com/aws/smithy-go"
)

// Quiet makes the error of a service fit for a log. Its text is the operation and the code. The
// message is left out, because a service may quote what it refuses. A denial (see [Denied]) keeps
// its message, because that names the role and the resource, and never an item. Any other error,
// such as a lost connection, is returned as it is.
//
// errors.As still finds the service's error, and [Detail] returns its whole text.
func Quiet(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) || Denied(err) || errors.As(err, new(quiet)) {
		return err
	}
	return quiet{err, api}
}

type quiet struct {
	err error
	api smithy.APIError
}

func (q quiet) Error() string {
	var of *smithy.OperationError
	if errors.As(q.err, &of) {
		return of.Service() + " " + of.Operation() + ": " + q.api.ErrorCode()
	}
	return q.api.ErrorCode()
}

func (q quiet) Unwrap() error { return q.err }

// Detail returns the text of err with the message that [Quiet] left out. It may quote an event, so
// it belongs beside a quarantined message, and never in a log.
func Detail(err error) string {
	var q quiet
	if errors.As(err, &q) && q.api.ErrorMessage() != "" {
		return err.Error() + ": " + q.api.ErrorMessage()
	}
	return err.Error()
}
