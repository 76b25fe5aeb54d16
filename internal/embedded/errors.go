package embedded

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// UnsupportedError says that a call asked for something the engine does not implement. It is never an
// answer of the service: code that meets it must not retry.
type UnsupportedError struct {
	API  string // the call, such as PutItem
	What string // the field, function or expression form
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("embedded: %s: %s is not supported", e.API, e.What)
}

func unsupported(api, what string) error { return &UnsupportedError{API: api, What: what} }

// invalid is the service's ValidationException, which the SDK does not model as a type.
func invalid(format string, args ...any) error {
	return apiError("ValidationException", format, args...)
}

// misfit is what is wrong with a key or an index key other than that it is empty: of another type, missing, or
// too long. Alone it is a ValidationException; in a transaction it is the reason to cancel.
type misfit struct{ error }

func (m misfit) Unwrap() error { return m.error }

func misfits(format string, args ...any) error { return misfit{invalid(format, args...)} }

// emptyIndexKey is refused before a transaction begins, like every other empty key.
type emptyIndexKey struct{ error }

func (x emptyIndexKey) Unwrap() error { return x.error }

func apiError(code, format string, args ...any) error {
	return &smithy.GenericAPIError{Code: code, Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

func resourceNotFound() error {
	return &types.ResourceNotFoundException{Message: aws.String("Requested resource not found")}
}

func tableNotFound(name string) error {
	return &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Table: " + name + " not found")}
}

const conditionFailedMessage = "The conditional request failed"

// conditionFailed carries the stored item only if the caller asked for it: the answer costs no read units.
func conditionFailed(old *item, asked types.ReturnValuesOnConditionCheckFailure) error {
	err := &types.ConditionalCheckFailedException{Message: aws.String(conditionFailedMessage)}
	if asked == types.ReturnValuesOnConditionCheckFailureAllOld && old != nil {
		err.Item = old.asMap()
	}
	return err
}
