package expr

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
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

// Eval reports whether the condition holds for an item. nil stands for an absent item.
func (c *Condition) Eval(b Binding, it *value.Item) (bool, error) {
	if c == nil {
		return true, nil
	}
	return b.eval(c.root, it, c.uses.kind)
}

func (b Binding) eval(n *node, it *value.Item, kind string) (bool, error) {
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
func (b Binding) compare(n *node, it *value.Item, kind string) (bool, error) {
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
		return value.Equal(left, right), nil
	case opNotEqual:
		return !value.Equal(left, right), nil
	case opBeginsWith:
		return value.BeginsWith(left, right), nil
	case opBetween:
		high := b.operand(n.operands[2], it)
		if high == nil {
			return false, nil
		}
		low, lowOK := value.Compare(left, right)
		up, upOK := value.Compare(left, high)
		return lowOK && upOK && low >= 0 && up <= 0, nil
	}
	c, ok := value.Compare(left, right)
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

// CheckRanges returns an error for a BETWEEN with both ends in the request if the ends have
// different types or are out of order.
func (c *Condition) CheckRanges(b Binding) error { return b.checkRanges(c.root, c.uses.kind) }

func (b Binding) checkRanges(n *node, kind string) error {
	for _, child := range n.children {
		if err := b.checkRanges(child, kind); err != nil {
			return err
		}
	}
	if n.op != opBetween || !n.operands[1].value || !n.operands[2].value {
		return nil
	}
	c, ok := value.Compare(b.values[n.operands[1].text], b.values[n.operands[2].text])
	switch {
	case !ok:
		return api.Invalid("Invalid %s: The BETWEEN operator requires same data type for lower and upper bounds", kind)
	case c > 0:
		return api.Invalid("Invalid %s: The BETWEEN operator requires upper bound to be greater than or equal to lower bound", kind)
	}
	return nil
}

// checkOrdered refuses a :value of a type without order. That is a mistake in the request, whatever
// the item holds.
func (b Binding) checkOrdered(n *node, kind string) error {
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
		return api.Invalid("Invalid %s: Incorrect operand type for operator or function; operator or function: %s, operand type: %s", kind, n.sign, value.TypeName(b.values[o.text]))
	}
	return nil
}

// CheckFilter returns an error for a filter on a key attribute of the keyspace that a Query reads.
func (c *Condition) CheckFilter(b Binding, isKey func(name string) bool) error {
	if c == nil {
		return nil
	}
	return b.checkFilter(c.root, isKey)
}

func (b Binding) checkFilter(n *node, isKey func(name string) bool) error {
	for _, child := range n.children {
		if err := b.checkFilter(child, isKey); err != nil {
			return err
		}
	}
	for _, o := range n.operands {
		if !o.value && isKey(b.name(o.text)) {
			return api.Invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", b.name(o.text))
		}
	}
	return nil
}
