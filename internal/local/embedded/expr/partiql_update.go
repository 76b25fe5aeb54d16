package expr

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/reserved"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// UpdateStatement is UPDATE "table" SET a = a + ?, b = 'x' REMOVE "c" WHERE PK = ? AND SK = ? AND …
// It becomes an update and a condition with placeholders, so that one evaluator serves statements
// and expressions. An attribute becomes "#" and its name. A value becomes ":" and its slot.
type UpdateStatement struct {
	Table  string
	Update Update
	Where  Condition
	names  map[string]string
	// equal holds each attribute that WHERE as a whole requires to equal a value, with the slot of
	// that value.
	equal map[string]int
	slots slots
}

// parseUpdateStatement reads what follows the word UPDATE.
func parseUpdateStatement(call string, s *statement) (*UpdateStatement, error) {
	p := &updateParser{statement: s, api: call, u: &UpdateStatement{names: map[string]string{}}}
	table, ok := s.name()
	if !ok {
		return nil, s.expected(call, "a table name")
	}
	p.u.Table = table
	if err := p.actions(); err != nil {
		return nil, err
	}
	if !s.keyword("WHERE") {
		return nil, s.expected(call, "WHERE")
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	p.u.Where.root = root
	p.u.equal = equalities(root)
	return p.u, s.end(call)
}

// updateParser reads an UPDATE from the left.
type updateParser struct {
	*statement
	api   string
	u     *UpdateStatement
	depth int
}

// actions reads SET a = …, b = … and REMOVE a, in any order. Commas join assignments. Each
// attribute to remove has its own REMOVE.
func (p *updateParser) actions() error {
	for {
		switch {
		case p.keyword("SET"):
			if err := p.set(); err != nil {
				return err
			}
			for p.punct(',') {
				if err := p.set(); err != nil {
					return err
				}
			}
		case p.keyword("REMOVE"):
			path, err := p.attribute()
			if err != nil {
				return err
			}
			p.u.Update.actions = append(p.u.Update.actions, action{kind: updateRemove, path: path})
		case len(p.u.Update.actions) == 0:
			return p.expected(p.api, "SET or REMOVE")
		default:
			return nil
		}
	}
}

// set reads a = b, a = b + c or a = b - c. Each of b and c is a value or an attribute.
func (p *updateParser) set() error {
	a := action{kind: updateSet}
	var err error
	if a.path, err = p.attribute(); err != nil {
		return err
	}
	if !p.punct('=') {
		return p.expected(p.api, "= after SET "+a.path[1:])
	}
	if a.term.operand, err = p.operand(); err != nil {
		return err
	}
	for _, sign := range []byte("+-") {
		if a.sign == 0 && p.punct(sign) {
			a.sign = sign
			if a.plus.operand, err = p.operand(); err != nil {
				return err
			}
		}
	}
	p.u.Update.actions = append(p.u.Update.actions, a)
	return nil
}

// operand reads a value or the name of an attribute.
func (p *updateParser) operand() (operand, error) {
	is, err := p.value(p.api, &p.u.slots)
	if is || err != nil {
		return operand{text: placeholder(len(p.u.slots) - 1), value: true}, err
	}
	name, err := p.attribute()
	return operand{text: name}, err
}

// attribute reads the name of an attribute, which must be quoted if it is a reserved word.
func (p *updateParser) attribute() (string, error) {
	p.space()
	begin, quoted := p.rest, strings.HasPrefix(p.rest, `"`)
	name, ok := p.name()
	switch {
	case ok && strings.IndexAny(p.rest, ".[(") == 0:
		return "", api.Unsupported(p.api, "a path or function in a PartiQL UPDATE")
	case !ok || !quoted && (reserved.InStatements(name) || name[0] >= '0' && name[0] <= '9'):
		p.rest = begin
		return "", p.expected(p.api, "the name of an attribute")
	}
	p.u.names["#"+name] = name
	return "#" + name, nil
}

func placeholder(i int) string { return fmt.Sprintf(":%d", i) }

func (p *updateParser) or() (*node, error)  { return p.chain("OR", opOr, p.and) }
func (p *updateParser) and() (*node, error) { return p.chain("AND", opAnd, p.primary) }

func (p *updateParser) chain(word string, op condOp, next func() (*node, error)) (*node, error) {
	first, err := next()
	if err != nil {
		return nil, err
	}
	n := &node{op: op, sign: word, children: []*node{first}}
	for p.keyword(word) {
		child, err := next()
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	if len(n.children) == 1 {
		return first, nil
	}
	return n, nil
}

// primary reads (…), a IS MISSING, a IS NOT MISSING, or a comparison of an attribute with a value
// or with another attribute.
func (p *updateParser) primary() (*node, error) {
	if p.punct('(') {
		if p.depth++; p.depth > maxOperators {
			return nil, api.Unsupported(p.api, "a PartiQL condition that is nested so deeply")
		}
		n, err := p.or()
		p.depth--
		if err == nil && !p.punct(')') {
			err = p.expected(p.api, ")")
		}
		return n, err
	}
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if !left.value && p.keyword("IS") {
		return p.missing(left)
	}
	for _, sign := range []string{"<=", ">=", "<>", "!=", "=", "<", ">"} { // longer signs come first
		if p.space(); strings.HasPrefix(p.rest, sign) {
			p.rest = p.rest[len(sign):]
			return p.comparison(left, sign)
		}
	}
	return nil, p.expected(p.api, "a comparison")
}

// missing reads what follows IS.
func (p *updateParser) missing(left operand) (*node, error) {
	n := &node{op: opNotExists, operands: []operand{left}}
	if p.keyword("NOT") {
		n.op = opExists
	}
	if !p.keyword("MISSING") {
		return nil, api.Unsupported(p.api, "IS without MISSING in a PartiQL UPDATE")
	}
	return n, nil
}

// comparison reads the right side of a comparison. If the left one is a value, the two change
// places.
func (p *updateParser) comparison(left operand, sign string) (*node, error) {
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if left.value && right.value {
		return nil, api.Unsupported(p.api, "a comparison of two values in a PartiQL UPDATE")
	}
	if sign == "!=" {
		sign = "<>"
	}
	if left.value {
		left, right, sign = right, left, mirroredSigns[sign]
	}
	return &node{op: comparisons[sign], sign: sign, operands: []operand{left, right}}, nil
}

var mirroredSigns = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// equalities returns the attributes that must equal a value if the condition is to hold.
func equalities(n *node) map[string]int {
	equal := map[string]int{}
	conjuncts := []*node{n}
	if n.op == opAnd {
		conjuncts = n.children
	}
	for _, c := range conjuncts {
		if c.op == opEqual && c.operands[1].value {
			var place int
			_, _ = fmt.Sscanf(c.operands[1].text, ":%d", &place) // this file wrote the text
			equal[c.operands[0].text[1:]] = place
		}
	}
	return equal
}

// Bind returns the key that WHERE names, which has these attributes. It also returns the values of
// the condition and the update.
func (u *UpdateStatement) Bind(keys []string, parameters []types.AttributeValue) (map[string]types.AttributeValue, Binding, error) {
	filled, err := u.slots.fill(parameters)
	if err != nil {
		return nil, Binding{}, err
	}
	k := make(map[string]types.AttributeValue, len(keys))
	for _, name := range keys {
		place, ok := u.equal[name]
		if !ok {
			return nil, Binding{}, api.Invalid("Where clause does not contain a mandatory equality on all key attributes")
		}
		k[name] = filled[place]
	}
	values := make(map[string]types.AttributeValue, len(filled))
	for i, v := range filled {
		values[placeholder(i)] = v
	}
	return k, Binding{u.names, values}, nil
}
