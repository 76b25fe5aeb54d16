package embedded

import (
	"bytes"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// binding is a request's ExpressionAttributeNames and ExpressionAttributeValues.
type binding struct {
	names  map[string]string
	values map[string]types.AttributeValue
}

func (b binding) name(text string) string {
	if text[0] == '#' {
		return b.names[text]
	}
	return text
}

// operand returns nil for an attribute that the item does not have.
func (b binding) operand(o operand, it *item) types.AttributeValue {
	if o.value {
		return b.values[o.text]
	}
	return it.get(b.name(o.text))
}

// eval judges a condition over an item; nil is the absent item.
func (c *condition) eval(b binding, it *item) (bool, error) {
	if c == nil {
		return true, nil
	}
	return b.eval(c.root, it, c.uses.kind)
}

func (b binding) eval(n *node, it *item, kind string) (bool, error) {
	switch n.op {
	case opAnd, opOr:
		for _, child := range n.children {
			ok, err := b.eval(child, it, kind)
			if err != nil || ok == (n.op == opOr) {
				return ok, err
			}
		}
		return n.op == opAnd, nil
	case opNot:
		ok, err := b.eval(n.children[0], it, kind)
		return !ok, err
	case opExists:
		return b.operand(n.operands[0], it) != nil, nil
	case opNotExists:
		return b.operand(n.operands[0], it) == nil, nil
	case opIn:
		return b.in(n, it), nil
	default:
		return b.compare(n, it, kind)
	}
}

func (b binding) in(n *node, it *item) bool {
	v := b.operand(n.operands[0], it)
	if v == nil {
		return false
	}
	for _, o := range n.operands[1:] {
		if other := b.operand(o, it); other != nil && equalValues(v, other) {
			return true
		}
	}
	return false
}

// compare judges everything with two or three operands. A missing attribute makes every comparison false
// but one: <> holds, because what is not there is not equal to anything.
func (b binding) compare(n *node, it *item, kind string) (bool, error) {
	if n.op > opNotEqual {
		if err := b.checkOrdered(n, kind); err != nil {
			return false, err
		}
	}
	left, right := b.operand(n.operands[0], it), b.operand(n.operands[1], it)
	if left == nil || right == nil {
		return n.op == opNotEqual, nil
	}
	switch n.op {
	case opEqual:
		return equalValues(left, right), nil
	case opNotEqual:
		return !equalValues(left, right), nil
	case opBeginsWith:
		return beginsWith(left, right), nil
	case opBetween:
		high := b.operand(n.operands[2], it)
		if high == nil {
			return false, nil
		}
		low, lowOK := order(left, right)
		up, upOK := order(left, high)
		return lowOK && upOK && low >= 0 && up <= 0, nil
	}
	c, ok := order(left, right)
	if !ok {
		return false, nil
	}
	switch n.op {
	case opLess:
		return c < 0, nil
	case opLessEqual:
		return c <= 0, nil
	case opGreater:
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

// checkRanges: a BETWEEN whose ends are both in the request must have ends of one type, in order.
func (b binding) checkRanges(n *node, kind string) error {
	for _, child := range n.children {
		if err := b.checkRanges(child, kind); err != nil {
			return err
		}
	}
	if n.op != opBetween || !n.operands[1].value || !n.operands[2].value {
		return nil
	}
	c, ok := order(b.values[n.operands[1].text], b.values[n.operands[2].text])
	switch {
	case !ok:
		return invalid("Invalid %s: The BETWEEN operator requires same data type for lower and upper bounds", kind)
	case c > 0:
		return invalid("Invalid %s: The BETWEEN operator requires upper bound to be greater than or equal to lower bound", kind)
	}
	return nil
}

// checkOrdered: a :value of a type without order is a mistake in the request, whatever the item holds.
func (b binding) checkOrdered(n *node, kind string) error {
	for _, o := range n.operands {
		if !o.value {
			continue
		}
		switch b.values[o.text].(type) {
		case *types.AttributeValueMemberS, *types.AttributeValueMemberB:
			continue
		case *types.AttributeValueMemberN:
			if n.op != opBeginsWith {
				continue
			}
		}
		return invalid("Invalid %s: Incorrect operand type for operator or function; operator or function: %s, operand type: %s", kind, n.sign, typeName(b.values[o.text]))
	}
	return nil
}

// order compares two strings, two numbers or two binaries (as unsigned bytes); other pairs have no order.
func order(a, b types.AttributeValue) (int, bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			x, _ := scanNumber(a.Value)
			y, _ := scanNumber(b.Value)
			return x.cmp(y), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

func beginsWith(v, prefix types.AttributeValue) bool {
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
