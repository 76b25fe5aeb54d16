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
