package testworld

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Key returns the key of an item as a request has it.
func Key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk}}
}
