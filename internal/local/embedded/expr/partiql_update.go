package expr

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/reserved"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// UpdateStatement is UPDATE "table" SET a = a + ?, b = ? REMOVE "c" WHERE PK = ? AND SK = ? AND …
// It becomes an update and a condition with placeholders, so that one evaluator serves statements
// and expressions. An attribute becomes "#" and its name. A parameter becomes ":" and its place.
type UpdateStatement struct {
	Table  string
	Update Update
	Where  Condition
	names  map[string]string
	// equal holds each attribute that WHERE as a whole requires to equal a parameter, with the
	// place of that parameter.
	equal      map[string]int
	parameters int
}

// parseUpdateStatement reads what follows the word UPDATE.
func parseUpdateStatement(call string, s *statement) (*UpdateStatement, error) {
	p := &updateParser{statement: s, api: call, u: &UpdateStatement{names: map[string]string{}}}
	table, ok := s.name()
	if !ok {
		return nil, &Malformed{"Expected a table name"}
	}
	p.u.Table = table
	if err := p.actions(); err != nil {
		return nil, err
	}
	if !s.keyword("WHERE") {
		return nil, &Malformed{"Expected WHERE"}
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	p.u.Where.root, p.u.Where.uses.kind = root, "ConditionExpression"
	p.u.equal = equalities(root)
	if s.space(); s.rest != "" {
		if s.keyword("RETURNING") {
			return nil, api.Unsupported(call, "PartiQL RETURNING")
		}
		return nil, &Malformed{"Unexpected text after WHERE: " + s.rest}
	}
	return p.u, nil
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
			return &Malformed{"Expected SET or REMOVE"}
		default:
			return nil
		}
	}
}

// set reads a = ? or a = b + ? or a = b - ?.
func (p *updateParser) set() error {
	a := action{kind: updateSet}
	var err error
	if a.path, err = p.attribute(); err != nil {
		return err
	}
	if !p.punct('=') {
		return &Malformed{"Expected = after SET " + a.path[1:]}
	}
	if value, ok := p.parameter(); ok {
		a.term.operand = value
	} else {
		if a.term.text, err = p.attribute(); err != nil {
			return err
		}
		switch {
		case p.punct('+'):
			a.sign = '+'
		case p.punct('-'):
			a.sign = '-'
		default:
			return api.Unsupported(p.api, "an assignment that is neither ? nor a sum in a PartiQL UPDATE")
		}
		if a.plus.operand, ok = p.parameter(); !ok {
			return api.Unsupported(p.api, "a sum of other than an attribute and ? in a PartiQL UPDATE")
		}
	}
	p.u.Update.actions = append(p.u.Update.actions, a)
	return nil
}

// attribute reads the name of an attribute, which must be quoted if it is a reserved word.
func (p *updateParser) attribute() (string, error) {
	p.space()
	quoted := strings.HasPrefix(p.rest, `"`)
	name, ok := p.name()
	switch {
	case !ok || (!quoted && reserved.InStatements(name)):
		return "", &Malformed{"Expected the name of an attribute"}
	case !quoted && name[0] >= '0' && name[0] <= '9':
		return "", api.Unsupported(p.api, "a literal in a PartiQL UPDATE")
	case strings.HasPrefix(p.rest, ".") || strings.HasPrefix(p.rest, "[") || strings.HasPrefix(p.rest, "("):
		return "", api.Unsupported(p.api, "a path or function in a PartiQL UPDATE")
	}
	p.u.names["#"+name] = name
	return "#" + name, nil
}

func (p *updateParser) parameter() (operand, bool) {
	if !p.punct('?') {
		return operand{}, false
	}
	p.u.parameters++
	return operand{text: placeholder(p.u.parameters - 1), value: true}, true
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

// primary reads (…), a IS MISSING, a IS NOT MISSING, or a comparison of an attribute with a
// parameter.
func (p *updateParser) primary() (*node, error) {
	if p.punct('(') {
		if p.depth++; p.depth > maxOperators {
			return nil, api.Unsupported(p.api, "a PartiQL condition that is nested so deeply")
		}
		n, err := p.or()
		p.depth--
		if err == nil && !p.punct(')') {
			err = &Malformed{"Expected )"}
		}
		return n, err
	}
	for _, other := range []string{"NOT", "EXISTS"} {
		if p.keyword(other) {
			return nil, api.Unsupported(p.api, "PartiQL "+other)
		}
	}
	name, err := p.attribute()
	if err != nil {
		return nil, err
	}
	n := &node{operands: []operand{{text: name}}}
	if p.keyword("IS") {
		n.op = opNotExists
		if p.keyword("NOT") {
			n.op = opExists
		}
		if !p.keyword("MISSING") {
			return nil, api.Unsupported(p.api, "IS without MISSING in a PartiQL UPDATE")
		}
		return n, nil
	}
	for _, sign := range []string{"<=", ">=", "<>", "=", "<", ">"} { // longer signs come first
		if p.space(); strings.HasPrefix(p.rest, sign) {
			p.rest = p.rest[len(sign):]
			value, ok := p.parameter()
			if !ok {
				return nil, api.Unsupported(p.api, "a comparison with other than ? in a PartiQL UPDATE")
			}
			n.op, n.sign, n.operands = comparisons[sign], sign, append(n.operands, value)
			return n, nil
		}
	}
	for _, other := range []string{"BETWEEN", "IN", "LIKE"} {
		if p.keyword(other) {
			return nil, api.Unsupported(p.api, "PartiQL "+other)
		}
	}
	return nil, &Malformed{"Expected a comparison"}
}

// equalities returns the attributes that must equal a parameter if the condition is to hold.
func equalities(n *node) map[string]int {
	equal := map[string]int{}
	conjuncts := []*node{n}
	if n.op == opAnd {
		conjuncts = n.children
	}
	for _, c := range conjuncts {
		if c.op == opEqual {
			var place int
			_, _ = fmt.Sscanf(c.operands[1].text, ":%d", &place) // this file wrote the text
			equal[c.operands[0].text[1:]] = place
		}
	}
	return equal
}

// Bind returns the key that WHERE names, which has these attributes. It also returns the parameters
// as the values of the condition and the update.
func (u *UpdateStatement) Bind(keys []string, parameters []types.AttributeValue) (map[string]types.AttributeValue, Binding, error) {
	if len(parameters) != u.parameters {
		return nil, Binding{}, api.Invalid("Number of parameters in request and statement don't match.")
	}
	k := make(map[string]types.AttributeValue, len(keys))
	for _, name := range keys {
		place, ok := u.equal[name]
		if !ok {
			return nil, Binding{}, api.Invalid("Where clause does not contain a mandatory equality on all key attributes")
		}
		k[name] = parameters[place]
	}
	values := make(map[string]types.AttributeValue, len(parameters))
	for i, v := range parameters {
		if err := value.Check(v); err != nil {
			return nil, Binding{}, err
		}
		values[placeholder(i)] = v
	}
	return k, Binding{u.names, values}, nil
}
