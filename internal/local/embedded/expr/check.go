package expr

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// This file finds the mistakes in a condition that do not depend on items.

// Check returns an error for a comparison that no item could make: of an attribute with itself, of
// a value that has no order, or with a range whose ends have different types or are out of order.
// It looks at all parts of the condition, also at those that Eval may skip.
func (c *Condition) Check(b Binding) error {
	if c == nil {
		return nil
	}
	return c.each(func(n *node) error {
		if len(n.operands) < 2 {
			return nil
		}
		if err := c.distinct(b, n); err != nil || n.op <= opNotEqual || n.op == opIn {
			return err
		}
		if err := c.ordered(b, n); err != nil || n.op != opBetween {
			return err
		}
		return c.bounds(b, n)
	})
}

// CheckFilter returns an error for a filter on a key attribute of the keyspace that a Query reads.
func (c *Condition) CheckFilter(b Binding, isKey func(name string) bool) error {
	if c == nil {
		return nil
	}
	return c.each(func(n *node) error {
		for _, o := range n.operands {
			if !o.value && isKey(b.name(o.text)) {
				return api.Invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s",
					b.name(o.text))
			}
		}
		return nil
	})
}

// each calls do for every node of the condition, until do returns an error.
func (c *Condition) each(do func(*node) error) error {
	var visit func(*node) error
	visit = func(n *node) error {
		for _, child := range n.children {
			if err := visit(child); err != nil {
				return err
			}
		}
		return do(n)
	}
	return visit(c.root)
}

// invalid returns an error about the condition. Those of statements do not say where they are.
func (c *Condition) invalid(format string, args ...any) error {
	if c.uses.kind != "" {
		format = "Invalid " + c.uses.kind + ": " + format
	}
	return api.Invalid(format, args...)
}

func (c *Condition) distinct(b Binding, n *node) error {
	first := n.operands[0]
	for _, o := range n.operands[1:] {
		if !first.value && !o.value && b.name(first.text) == b.name(o.text) {
			return c.invalid("The first operand must be distinct from the remaining operands for this operator or function; operator: "+
				"%s, first operand: [%s]", n.sign, b.name(first.text))
		}
	}
	return nil
}

// ordered refuses a :value of a type without order.
func (c *Condition) ordered(b Binding, n *node) error {
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
		return c.invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", n.sign,
			value.TypeName(b.values[o.text]))
	}
	return nil
}

// bounds compares the ends of a BETWEEN, if both are in the request.
func (c *Condition) bounds(b Binding, n *node) error {
	if !n.operands[1].value || !n.operands[2].value {
		return nil
	}
	low, high := b.values[n.operands[1].text], b.values[n.operands[2].text]
	switch order, ok := value.Compare(low, high); {
	case !ok:
		return c.invalid("The BETWEEN operator requires same data type for lower and upper bounds")
	case order > 0:
		return c.invalid("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
	}
	return nil
}
