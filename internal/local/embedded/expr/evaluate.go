package expr

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// Binding is a request's ExpressionAttributeNames and ExpressionAttributeValues.
type Binding struct {
	names  map[string]string
	values map[string]types.AttributeValue
}

func (b Binding) name(text string) string {
	if text[0] == '#' {
		return b.names[text]
	}
	return text
}

// operand returns the value of o. It returns nil for an attribute that the item does not have.
func (b Binding) operand(o operand, it *value.Item) types.AttributeValue {
	if o.value {
		return b.values[o.text]
	}
	return it.Get(b.name(o.text))
}

// Eval reports whether the condition holds for an item. nil stands for an absent item. The caller
// must have called [Condition.Check].
func (c *Condition) Eval(b Binding, it *value.Item) bool {
	if c == nil {
		return true
	}
	return b.eval(c.root, it)
}

func (b Binding) eval(n *node, it *value.Item) bool {
	switch n.op {
	case opAnd, opOr:
		for _, child := range n.children {
			if ok := b.eval(child, it); ok == (n.op == opOr) {
				return ok
			}
		}
		return n.op == opAnd
	case opNot:
		return !b.eval(n.children[0], it)
	case opExists:
		return b.operand(n.operands[0], it) != nil
	case opNotExists:
		return b.operand(n.operands[0], it) == nil
	case opIn:
		return b.in(n, it)
	default:
		return b.compare(n, it)
	}
}

func (b Binding) in(n *node, it *value.Item) bool {
	v := b.operand(n.operands[0], it)
	if v == nil {
		return false
	}
	for _, o := range n.operands[1:] {
		if other := b.operand(o, it); other != nil && value.Equal(v, other) {
			return true
		}
	}
	return false
}

// compare evaluates everything with two or three operands. A missing attribute makes every
// comparison false except one: <> holds, because a missing attribute is not equal to anything.
func (b Binding) compare(n *node, it *value.Item) bool {
	left, right := b.operand(n.operands[0], it), b.operand(n.operands[1], it)
	if left == nil || right == nil {
		return n.op == opNotEqual
	}
	switch n.op {
	case opEqual:
		return value.Equal(left, right)
	case opNotEqual:
		return !value.Equal(left, right)
	case opBeginsWith:
		return value.BeginsWith(left, right)
	case opBetween:
		high := b.operand(n.operands[2], it)
		if high == nil {
			return false
		}
		low, lowOK := value.Compare(left, right)
		up, upOK := value.Compare(left, high)
		return lowOK && upOK && low >= 0 && up <= 0
	}
	c, ok := value.Compare(left, right)
	if !ok {
		return false
	}
	switch n.op {
	case opLess:
		return c < 0
	case opLessEqual:
		return c <= 0
	case opGreater:
		return c > 0
	default:
		return c >= 0
	}
}
