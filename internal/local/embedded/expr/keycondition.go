package expr

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// KeyRange is the key condition of a Query: one partition, and a range of its sort key.
type KeyRange struct {
	Partition string
	sort      *node // nil means the whole partition; the first operand is the sort key, the rest are values
	number    bool  // the sort key is a number
	b         Binding
}

// NewKeyRange reads a key condition on a keyspace whose key is pk and sk. sk is empty if the
// keyspace has no sort key. number says that sk is a number. Its sort texts are those of
// [value.Number.Ordered].
func NewKeyRange(c *Condition, b Binding, pk, sk string, number bool) (KeyRange, error) {
	if c == nil {
		return KeyRange{}, api.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	parts := []*node{c.root}
	if c.root.op == opAnd {
		parts = c.root.children
	}
	if len(parts) > 2 {
		return KeyRange{}, api.Invalid("Invalid KeyConditionExpression: The expression has too many conditions; number of conditions: %d",
			len(parts))
	}
	r := KeyRange{b: b, number: number}
	found := false
	for _, n := range parts {
		n, err := keyed(n)
		if err != nil {
			return r, err
		}
		switch name := b.name(n.operands[0].text); {
		case name == pk && n.op == opEqual && !found:
			text, ok := b.values[n.operands[1].text].(*types.AttributeValueMemberS)
			if !ok {
				return r, api.Invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
			}
			r.Partition, found = text.Value, true
		case name == pk:
			return r, api.Invalid("Query key condition not supported")
		case sk != "" && name == sk && r.sort == nil:
			r.sort = n
		default:
			return r, api.Invalid("Query condition missed key schema element: %s", pk)
		}
	}
	if !found {
		return r, api.Invalid("Query condition missed key schema element: %s", pk)
	}
	if r.Partition == "" {
		return r, api.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "+
			"empty string value. Key: %s", pk)
	}
	return r, r.checkSort(sk)
}

var mirrored = map[condOp]condOp{opEqual: opEqual, opLess: opGreater, opLessEqual: opGreaterEqual, opGreater: opLess,
	opGreaterEqual: opLessEqual}

// keyed brings a condition into the form path, operator, values. So :value = path becomes
// path = :value.
func keyed(n *node) (*node, error) {
	switch n.op {
	case opAnd, opOr, opNot, opIn, opExists, opNotExists, opNotEqual:
		return nil, api.Invalid("Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: %s", n.sign)
	}
	if n.operands[0].value {
		op, ok := mirrored[n.op]
		if !ok || n.operands[1].value {
			return nil, api.Invalid("Invalid KeyConditionExpression: No key attribute is named by operator: %s", n.sign)
		}
		n = &node{op: op, sign: n.sign, operands: []operand{n.operands[1], n.operands[0]}}
	}
	for _, o := range n.operands[1:] {
		if !o.value {
			return nil, api.Invalid("Invalid KeyConditionExpression: A key attribute must be compared with a value; operator: %s", n.sign)
		}
	}
	return n, nil
}

func (r KeyRange) checkSort(sk string) error {
	if r.sort == nil {
		return nil
	}
	for _, o := range r.sort.operands[1:] {
		if n, ok := r.b.values[o.text].(*types.AttributeValueMemberN); r.number && ok && r.sort.op != opBeginsWith {
			if _, scanned := value.ScanNumber(n.Value); !scanned {
				return api.Invalid("The parameter cannot be converted to a numeric value: %s", n.Value)
			}
			continue
		}
		text, ok := r.b.values[o.text].(*types.AttributeValueMemberS)
		if !ok || r.number {
			return api.Invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
		}
		if err := value.CheckKey(sk, text.Value, false); err != nil {
			return err
		}
	}
	if r.sort.op == opBetween && r.bound(1) > r.bound(2) {
		return api.Invalid("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to "+
			"lower bound; lower bound operand: AttributeValue: {S:%s}, upper bound operand: AttributeValue: {S:%s}", r.bound(1), r.bound(2))
	}
	return nil
}

func (r KeyRange) bound(i int) string {
	v := r.b.values[r.sort.operands[i].text]
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		number, _ := value.ScanNumber(n.Value)
		return number.Ordered()
	}
	return v.(*types.AttributeValueMemberS).Value
}

// From returns the lowest sort text that can match. The matching rows are contiguous from there.
func (r KeyRange) From() string {
	if r.sort == nil {
		return ""
	}
	switch r.sort.op {
	case opLess, opLessEqual:
		return ""
	default:
		return r.bound(1)
	}
}

// Side returns where a sort text lies: -1 before the range, 0 in it, +1 after it.
func (r KeyRange) Side(sort string) int {
	if r.sort == nil {
		return 0
	}
	b := r.bound(1)
	below, above := false, false
	switch r.sort.op {
	case opEqual:
		below, above = sort < b, sort > b
	case opLess:
		above = sort >= b
	case opLessEqual:
		above = sort > b
	case opGreater:
		below = sort <= b
	case opGreaterEqual:
		below = sort < b
	case opBetween:
		below, above = sort < b, sort > r.bound(2)
	case opBeginsWith:
		below = sort < b
		above = !below && (len(sort) < len(b) || sort[:len(b)] != b)
	}
	switch {
	case below:
		return -1
	case above:
		return +1
	}
	return 0
}
