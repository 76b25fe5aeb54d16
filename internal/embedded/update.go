package embedded

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Update expressions: SET (value, path, sum, difference, if_not_exists), ADD of numbers, REMOVE.

type updateKind uint8

const (
	updateSet updateKind = iota
	updateAdd
	updateRemove
)

type action struct {
	kind updateKind
	path string
	term term // SET: left side of the sum; ADD: the value
	plus term // SET: right side, if sign is set
	sign byte // 0, '+' or '-'
}

// term is an operand, or if_not_exists(path, operand).
type term struct {
	unless string // the path of if_not_exists; empty: a plain operand
	operand
}

type update struct {
	actions []action
	uses    uses
}

func parseUpdate(api, src string) (*update, error) {
	p, err := newParser(api, "UpdateExpression", src)
	if err != nil {
		return nil, err
	}
	u := &update{}
	seen := map[string]bool{}
	for p.peek().kind != tokEnd {
		section, read, err := p.section()
		if err != nil {
			return nil, err
		}
		if seen[section] {
			return nil, p.fail("The \"%s\" section can only be used once in an update expression;", section)
		}
		seen[section] = true
		for {
			a, err := read()
			if err != nil {
				return nil, err
			}
			u.actions = append(u.actions, a)
			if !p.accept(",") {
				break
			}
		}
	}
	u.uses = p.uses
	return u, nil
}

func (p *parser) section() (string, func() (action, error), error) {
	switch {
	case p.accept("SET"):
		return "SET", p.setAction, nil
	case p.accept("ADD"):
		return "ADD", p.addAction, nil
	case p.accept("REMOVE"):
		return "REMOVE", p.removeAction, nil
	case p.peek().is("DELETE"):
		return "", nil, unsupported(p.api, "DELETE section in UpdateExpression")
	}
	return "", nil, p.syntax()
}

func (p *parser) setAction() (a action, err error) {
	if a.path, err = p.path(); err != nil {
		return a, err
	}
	if err = p.expect("="); err != nil {
		return a, err
	}
	if err = p.operator(); err != nil {
		return a, err
	}
	if a.term, err = p.term(); err != nil {
		return a, err
	}
	for _, sign := range []string{"+", "-"} {
		if p.accept(sign) {
			a.sign = sign[0]
			if err = p.operator(); err != nil {
				return a, err
			}
			a.plus, err = p.term()
			return a, err
		}
	}
	return a, nil
}

func (p *parser) term() (term, error) {
	t := p.peek()
	if t.is("(") {
		return term{}, unsupported(p.api, "a parenthesis in UpdateExpression")
	}
	if t.kind != tokWord || !p.toks[p.pos+1].is("(") {
		o, err := p.operand()
		return term{operand: o}, err
	}
	if t.text == "list_append" {
		return term{}, unsupported(p.api, "list_append in UpdateExpression")
	}
	if t.text != "if_not_exists" {
		return term{}, p.fail("Invalid function name; function: %s", t.text)
	}
	p.next()
	p.next()
	path, err := p.path()
	if err != nil {
		return term{}, err
	}
	if err := p.operator(); err != nil {
		return term{}, err
	}
	if err := p.expect(","); err != nil {
		return term{}, err
	}
	o, err := p.operand()
	if err != nil {
		return term{}, err
	}
	return term{unless: path, operand: o}, p.expect(")")
}

func (p *parser) addAction() (a action, err error) {
	a.kind = updateAdd
	if a.path, err = p.path(); err != nil {
		return a, err
	}
	if p.peek().kind != tokValue {
		return a, p.syntax()
	}
	a.term.operand = operand{p.value(), true}
	return a, p.operator()
}

func (p *parser) removeAction() (a action, err error) {
	a.kind = updateRemove
	if a.path, err = p.path(); err != nil {
		return a, err
	}
	return a, p.operator()
}

// check finds the mistakes that do not depend on the stored item.
func (u *update) check(api string, t *table, b binding) error {
	paths := make([]string, 0, len(u.actions))
	for _, a := range u.actions {
		name := b.name(a.path)
		if t.schema.has(name) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
		if slices.Contains(paths, name) {
			return invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]", name, name)
		}
		paths = append(paths, name)
		if a.kind == updateAdd {
			if err := checkAddOperand(api, b.values[a.term.text]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAddOperand(api string, v types.AttributeValue) error {
	switch v.(type) {
	case *types.AttributeValueMemberN:
		return nil
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return unsupported(api, "ADD of a set in UpdateExpression")
	}
	return invalid("Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: %s, typeSet: ALLOWED_FOR_ADD_OPERAND", longTypeName(v))
}

func longTypeName(v types.AttributeValue) string {
	switch name := typeName(v); name {
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

// apply returns the item that the update makes of old; every action sees old. it is the draft to change:
// a copy of old, or the bare key when there is none.
func (u *update) apply(b binding, old, it *item) error {
	for _, a := range u.actions {
		name := b.name(a.path)
		if a.kind == updateRemove {
			it.unset(name)
			continue
		}
		v, err := b.result(a, old)
		if err != nil {
			return err
		}
		it.set(name, v)
	}
	return nil
}

func (b binding) result(a action, old *item) (types.AttributeValue, error) {
	if a.kind == updateAdd {
		stored := old.get(b.name(a.path))
		if stored == nil {
			return copyValue(b.values[a.term.text])
		}
		return sum(stored, b.values[a.term.text], '+')
	}
	left, err := b.term(a.term, old)
	if err != nil || a.sign == 0 {
		return left, err
	}
	right, err := b.term(a.plus, old)
	if err != nil {
		return nil, err
	}
	return sum(left, right, a.sign)
}

func (b binding) term(t term, old *item) (types.AttributeValue, error) {
	if t.unless != "" {
		if v := old.get(b.name(t.unless)); v != nil {
			return v, nil
		}
	}
	if t.value {
		return copyValue(b.values[t.text])
	}
	v := old.get(b.name(t.text))
	if v == nil {
		return nil, invalid("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}

func sum(left, right types.AttributeValue, sign byte) (types.AttributeValue, error) {
	x, okLeft := left.(*types.AttributeValueMemberN)
	y, okRight := right.(*types.AttributeValueMemberN)
	if !okLeft || !okRight {
		return nil, invalid("An operand in the update expression has an incorrect data type")
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
