package expr

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// This file reads update expressions: SET (value, path, sum, difference, if_not_exists), ADD of
// numbers, and REMOVE.

type updateKind uint8

const (
	updateSet updateKind = iota
	updateAdd
	updateRemove
)

type action struct {
	kind updateKind
	path string
	term term // SET: the left side of the sum; ADD: the value
	plus term // SET: the right side, if sign is set
	sign byte // 0, '+' or '-'
}

// term is an operand, or if_not_exists(path, operand).
type term struct {
	unless string // the path of if_not_exists; empty for a plain operand
	operand
}

// Update is a parsed update expression.
type Update struct {
	actions []action
	uses    Uses
}

func parseUpdate(api, src string) (*Update, error) {
	p, err := newParser(api, "UpdateExpression", src)
	if err != nil {
		return nil, err
	}
	u := &Update{}
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
		return "", nil, api.Unsupported(p.api, "DELETE section in UpdateExpression")
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
		return term{}, api.Unsupported(p.api, "a parenthesis in UpdateExpression")
	}
	if t.kind != tokWord || !p.toks[p.pos+1].is("(") {
		o, err := p.operand()
		return term{operand: o}, err
	}
	if t.text == "list_append" {
		return term{}, api.Unsupported(p.api, "list_append in UpdateExpression")
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

// Attributes returns the names of the attributes that the update changes.
func (u *Update) Attributes(b Binding) []string {
	names := make([]string, 0, len(u.actions))
	for _, a := range u.actions {
		names = append(names, b.name(a.path))
	}
	return names
}

// Check finds the mistakes that do not depend on the stored item.
func (u *Update) Check(call string, isKey func(name string) bool, b Binding) error {
	paths := make([]string, 0, len(u.actions))
	for _, a := range u.actions {
		name := b.name(a.path)
		if isKey(name) {
			return value.Misfits("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key",
				name)
		}
		if slices.Contains(paths, name) {
			return api.Invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of "+
				"these paths; path one: [%s], path two: [%s]", name, name)
		}
		paths = append(paths, name)
		if a.kind == updateAdd {
			if err := checkAddOperand(call, b.values[a.term.text]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAddOperand(call string, v types.AttributeValue) error {
	switch v.(type) {
	case *types.AttributeValueMemberN:
		return nil
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return api.Unsupported(call, "ADD of a set in UpdateExpression")
	}
	return api.Invalid("Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: %s, "+
		"typeSet: ALLOWED_FOR_ADD_OPERAND", value.LongTypeName(v))
}

// Apply changes it, a draft that is a copy of old, or has only the key if there is no old item.
// Every action reads old, so no action sees what another one has changed.
func (u *Update) Apply(b Binding, old, it *value.Item) error {
	for _, a := range u.actions {
		name := b.name(a.path)
		if a.kind == updateRemove {
			it.Unset(name)
			continue
		}
		v, err := b.result(a, old)
		if err != nil {
			return err
		}
		it.Set(name, v)
	}
	return nil
}

func (b Binding) result(a action, old *value.Item) (types.AttributeValue, error) {
	if a.kind == updateAdd {
		stored := old.Get(b.name(a.path))
		if stored == nil {
			return value.Copy(b.values[a.term.text])
		}
		return value.Sum(stored, b.values[a.term.text], '+')
	}
	left, err := b.term(a.term, old)
	if err != nil || a.sign == 0 {
		return left, err
	}
	right, err := b.term(a.plus, old)
	if err != nil {
		return nil, err
	}
	return value.Sum(left, right, a.sign)
}

func (b Binding) term(t term, old *value.Item) (types.AttributeValue, error) {
	if t.unless != "" {
		if v := old.Get(b.name(t.unless)); v != nil {
			return v, nil
		}
	}
	if t.value {
		return value.Copy(b.values[t.text])
	}
	v := old.Get(b.name(t.text))
	if v == nil {
		return nil, api.Invalid("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}
