package value

import (
	"bytes"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// maxNesting is how many lists and maps can be inside one another.
const maxNesting = 31

// Copy copies a value on its way into a table. It checks and normalises the value.
func Copy(v types.AttributeValue) (types.AttributeValue, error) { return copyValue(v, 0) }

// copyValue copies a value that is inside so many lists and maps.
func copyValue(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}, nil
	case *types.AttributeValueMemberN:
		text, err := normalNumber(v.Value)
		return &types.AttributeValueMemberN{Value: text}, err
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}, nil
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}, nil
	case *types.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}, checkNull(v)
	case *types.AttributeValueMemberL, *types.AttributeValueMemberM:
		if depth++; depth > maxNesting {
			return nil,
				api.Invalid(
					"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
		}
		return copyDocument(v, depth)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return copySet(v)
	default:
		return nil, api.Invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
}

func checkNull(v *types.AttributeValueMemberNULL) error {
	if !v.Value {
		return api.Invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
	}
	return nil
}

// checkName checks the name of an attribute, or of a member of a map.
func checkName(name string) error {
	switch {
	case name == "":
		return api.Invalid("Empty attribute name")
	case len(name) > maxNameSize:
		return api.Invalid("Attribute name is too large, must be less than %d bytes", maxNameSize+1)
	}
	return nil
}

const maxNameSize = 65535

// TypeName returns the short name of the value's type, as messages print it.
func TypeName(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	default:
		return "unknown"
	}
}

// Size follows "item sizes and formats" in the developer guide: UTF-8 bytes for strings, raw bytes
// for binaries, the documented size for numbers, 1 for BOOL and NULL, and 3 plus 1 for each element
// for lists and maps.
func Size(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	default:
		return documentSize(v)
	}
}

// Equal reports whether two values are equal by DynamoDB's rules: they have the same type and the
// same value. Numbers are compared by value.
func Equal(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		if !ok || a.Value == b.Value {
			return ok
		}
		x, _ := ScanNumber(a.Value)
		y, _ := ScanNumber(b.Value)
		return x == y
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	default:
		return equalDocuments(a, b)
	}
}

// Check checks a value as [Copy] does. It makes no copy of the scalar types that most expressions
// have.
func Check(v types.AttributeValue) error {
	switch v := v.(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL:
		return nil
	case *types.AttributeValueMemberNULL:
		return checkNull(v)
	case *types.AttributeValueMemberN:
		if isPlainInteger(v.Value) {
			return nil
		}
		_, err := parseNumber(v.Value)
		return err
	default:
		_, err := Copy(v)
		return err
	}
}

// Compare compares two strings, two numbers or two binaries (as unsigned bytes). Other pairs have
// no order.
func Compare(a, b types.AttributeValue) (int, bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			x, _ := ScanNumber(a.Value)
			y, _ := ScanNumber(b.Value)
			return x.cmp(y), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

// BeginsWith reports whether a string or a binary begins with another of its kind.
func BeginsWith(v, prefix types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, p.Value)
	}
	return false
}

// Sum adds two numbers. It subtracts if sign is '-'.
func Sum(left, right types.AttributeValue, sign byte) (types.AttributeValue, error) {
	x, okLeft := left.(*types.AttributeValueMemberN)
	y, okRight := right.(*types.AttributeValueMemberN)
	if !okLeft || !okRight {
		return nil, api.Invalid("An operand in the update expression has an incorrect data type")
	}
	n, err := parseNumber(x.Value)
	if err != nil {
		return nil, err
	}
	m, err := parseNumber(y.Value)
	if err != nil {
		return nil, err
	}
	if sign == '-' {
		m = m.negated()
	}
	total, err := n.add(m)
	if err != nil {
		return nil, err
	}
	return &types.AttributeValueMemberN{Value: total.String()}, nil
}

// LongTypeName returns the long name of the value's type, which a few messages print.
func LongTypeName(v types.AttributeValue) string {
	switch name := TypeName(v); name {
	case "S":
		return "STRING"
	case "N":
		return "NUMBER"
	case "B":
		return "BINARY"
	case "BOOL":
		return "BOOLEAN"
	case "L":
		return "LIST"
	case "M":
		return "MAP"
	default:
		return name
	}
}
