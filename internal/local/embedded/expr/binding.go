package expr

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// maxPlaceholder is the length of the longest placeholder, in bytes.
const maxPlaceholder = 255

// Bind checks the placeholders of a request against the expressions that use them. Each placeholder
// that is used must be defined, and each that is defined must be used. DynamoDB must accept every
// value.
func Bind(names map[string]string, values map[string]types.AttributeValue, all ...*Uses) (Binding, error) {
	b := Binding{names, values}
	expressions := slices.DeleteFunc(all, func(u *Uses) bool { return u == nil })
	if err := b.checkPresence(len(expressions) > 0); err != nil {
		return b, err
	}
	for placeholder, name := range names {
		switch {
		case len(placeholder) > maxPlaceholder:
			return b, api.Invalid("ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is "+
				"too long; size of key: %d", len(placeholder))
		case name == "":
			return b, api.Invalid("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", placeholder)
		}
	}
	for placeholder, v := range values {
		if len(placeholder) > maxPlaceholder {
			return b, api.Invalid("ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is "+
				"too long; size of key: %d", len(placeholder))
		}
		if err := value.Check(v); err != nil {
			return b, api.Invalid("ExpressionAttributeValues contains invalid value: %s for key %s", api.ErrorText(err), placeholder)
		}
	}
	for _, u := range expressions {
		for _, name := range u.names {
			if _, ok := names[name]; !ok {
				return b,
					api.Invalid("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s",
						u.kind, name)
			}
		}
		for _, value := range u.values {
			if _, ok := values[value]; !ok {
				return b, api.Invalid("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s",
					u.kind, value)
			}
		}
	}
	return b, b.checkUnused(expressions)
}

func (b Binding) checkPresence(expressions bool) error {
	switch {
	case b.names != nil && !expressions:
		return api.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case b.values != nil && !expressions:
		return api.Invalid("ExpressionAttributeValues can only be specified when using expressions")
	case b.names != nil && len(b.names) == 0:
		return api.Invalid("ExpressionAttributeNames must not be empty")
	case b.values != nil && len(b.values) == 0:
		return api.Invalid("ExpressionAttributeValues must not be empty")
	}
	return nil
}

func (b Binding) checkUnused(expressions []*Uses) error {
	var unused []string
	for name := range b.names {
		if !slices.ContainsFunc(expressions, func(u *Uses) bool { return slices.Contains(u.names, name) }) {
			unused = append(unused, name)
		}
	}
	if unused != nil {
		return api.Invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", sorted(unused))
	}
	for value := range b.values {
		if !slices.ContainsFunc(expressions, func(u *Uses) bool { return slices.Contains(u.values, value) }) {
			unused = append(unused, value)
		}
	}
	if unused != nil {
		return api.Invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", sorted(unused))
	}
	return nil
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}
