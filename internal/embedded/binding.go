package embedded

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// bind checks a request's placeholders against the expressions that use them: what is used must be
// defined, what is defined must be used, and every value must be one that DynamoDB accepts.
func bind(names map[string]string, values map[string]types.AttributeValue, all ...*uses) (binding, error) {
	b := binding{names, values}
	expressions := slices.DeleteFunc(all, func(u *uses) bool { return u == nil })
	if err := b.checkPresence(len(expressions) > 0); err != nil {
		return b, err
	}
	for placeholder, v := range values {
		if err := checkValue(v); err != nil {
			return b, invalid("ExpressionAttributeValues contains invalid value: %s for key %s", errorText(err), placeholder)
		}
	}
	for _, u := range expressions {
		for _, name := range u.names {
			if _, ok := names[name]; !ok {
				return b, invalid("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s", u.kind, name)
			}
		}
		for _, value := range u.values {
			if _, ok := values[value]; !ok {
				return b, invalid("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s", u.kind, value)
			}
		}
	}
	return b, b.checkUnused(expressions)
}

func (b binding) checkPresence(expressions bool) error {
	switch {
	case b.names != nil && !expressions:
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	case b.values != nil && !expressions:
		return invalid("ExpressionAttributeValues can only be specified when using expressions")
	case b.names != nil && len(b.names) == 0:
		return invalid("ExpressionAttributeNames must not be empty")
	case b.values != nil && len(b.values) == 0:
		return invalid("ExpressionAttributeValues must not be empty")
	}
	return nil
}

func (b binding) checkUnused(expressions []*uses) error {
	var unused []string
	for name := range b.names {
		if !slices.ContainsFunc(expressions, func(u *uses) bool { return contains(u.names, name) }) {
			unused = append(unused, name)
		}
	}
	if unused != nil {
		return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", sorted(unused))
	}
	for value := range b.values {
		if !slices.ContainsFunc(expressions, func(u *uses) bool { return contains(u.values, value) }) {
			unused = append(unused, value)
		}
	}
	if unused != nil {
		return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", sorted(unused))
	}
	return nil
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// checkValue is copyValue without the copy, for the scalar types that expressions mostly carry.
func checkValue(v types.AttributeValue) error {
	switch v := v.(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberN:
		if isPlainInteger(v.Value) {
			return nil
		}
		_, err := parseNumber(v.Value)
		return err
	default:
		_, err := copyValue(v)
		return err
	}
}
