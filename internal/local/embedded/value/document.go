package value

import (
	"bytes"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Lists, maps and sets are stored, sized and compared whole. Expressions do not look into them.

func copyDocument(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		out := make([]types.AttributeValue, len(v.Value))
		for i, el := range v.Value {
			c, err := copyValue(el, depth)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return &types.AttributeValueMemberL{Value: out}, nil
	case *types.AttributeValueMemberM:
		out := make(map[string]types.AttributeValue, len(v.Value))
		for name, el := range v.Value {
			if err := checkName(name); err != nil {
				return nil, err
			}
			c, err := copyValue(el, depth)
			if err != nil {
				return nil, err
			}
			out[name] = c
		}
		return &types.AttributeValueMemberM{Value: out}, nil
	}
	return nil, nil
}

func copySet(v types.AttributeValue) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		out, err := sortedSet("string", v.Value)
		return &types.AttributeValueMemberSS{Value: out}, err
	case *types.AttributeValueMemberNS:
		numbers := make([]string, len(v.Value))
		for i, s := range v.Value {
			n, err := normalNumber(s)
			if err != nil {
				return nil, err
			}
			numbers[i] = n
		}
		out, err := sortedSet("number", numbers)
		return &types.AttributeValueMemberNS{Value: out}, err
	case *types.AttributeValueMemberBS:
		texts := make([]string, len(v.Value))
		for i, b := range v.Value {
			texts[i] = string(b)
		}
		texts, err := sortedSet("binary", texts)
		out := make([][]byte, len(texts))
		for i, s := range texts {
			out[i] = []byte(s)
		}
		return &types.AttributeValueMemberBS{Value: out}, err
	}
	return nil, nil
}

// sortedSet copies a set in sorted order, so that equal sets become equal lists.
func sortedSet(kind string, in []string) ([]string, error) {
	if len(in) == 0 && kind == "binary" {
		return nil, api.Invalid("One or more parameter values were invalid: Binary sets should not be empty")
	}
	if len(in) == 0 {
		return nil, api.Invalid("One or more parameter values were invalid: An %s set  may not be empty", kind)
	}
	out := slices.Sorted(slices.Values(in))
	if len(slices.Compact(slices.Clone(out))) != len(out) {
		return nil, api.Invalid("One or more parameter values were invalid: Input collection %v contains duplicates.", in)
	}
	return out, nil
}

func documentSize(v types.AttributeValue) int {
	size := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		size = 3
		for _, el := range v.Value {
			size += 1 + Size(el)
		}
	case *types.AttributeValueMemberM:
		size = 3
		for name, el := range v.Value {
			size += 1 + len(name) + Size(el)
		}
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberNS:
		for _, s := range v.Value {
			size += numberSize(s)
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			size += len(b)
		}
	}
	return size
}

func equalDocuments(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, Equal)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		if !ok || len(a.Value) != len(b.Value) {
			return false
		}
		for name, el := range a.Value {
			if other, ok := b.Value[name]; !ok || !Equal(el, other) {
				return false
			}
		}
		return true
	case *types.AttributeValueMemberSS:
		b, ok := b.(*types.AttributeValueMemberSS)
		return ok && sameSet(a.Value, b.Value)
	case *types.AttributeValueMemberNS:
		b, ok := b.(*types.AttributeValueMemberNS)
		return ok && sameSet(normalNumbers(a.Value), normalNumbers(b.Value))
	case *types.AttributeValueMemberBS:
		b, ok := b.(*types.AttributeValueMemberBS)
		return ok && len(a.Value) == len(b.Value) && !slices.ContainsFunc(a.Value, func(x []byte) bool {
			return !slices.ContainsFunc(b.Value, func(y []byte) bool { return bytes.Equal(x, y) })
		})
	}
	return false
}

func normalNumbers(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i], _ = normalNumber(s)
	}
	return out
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
