package show

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"
)

// Error returns the text of an error for a person. If a service has refused something, this is the
// operation and the service's own message, without the SDK's additions.
func Error(err error) string {
	text := err.Error()
	var shorten func(error)
	shorten = func(err error) {
		var api smithy.APIError
		if of, is := err.(*smithy.OperationError); is && errors.As(of, &api) && api.ErrorMessage() != "" {
			text = strings.ReplaceAll(text, of.Error(), of.Service()+" "+of.Operation()+": "+api.ErrorMessage())
			return
		}
		switch inner := err.(type) {
		case interface{ Unwrap() error }:
			if next := inner.Unwrap(); next != nil {
				shorten(next)
			}
		case interface{ Unwrap() []error }:
			for _, next := range inner.Unwrap() {
				shorten(next)
			}
		}
	}
	shorten(err)
	return text
}
