package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

func resourceNotFound() error {
	return &types.ResourceNotFoundException{Message: aws.String("Requested resource not found")}
}

func tableNotFound(name string) error {
	return &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Table: " + name + " not found")}
}

const conditionFailedMessage = "The conditional request failed"

// conditionFailed returns the error of a failed condition. It carries the stored item only if the
// caller asked for it. That costs no read units.
func conditionFailed(old *value.Item, asked types.ReturnValuesOnConditionCheckFailure) error {
	err := &types.ConditionalCheckFailedException{Message: aws.String(conditionFailedMessage)}
	if asked == types.ReturnValuesOnConditionCheckFailureAllOld && old != nil {
		err.Item = old.Map()
	}
	return err
}
