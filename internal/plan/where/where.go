package where

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Condition is a compiled `where`. It is a pure function of a payload: it has no clock and no
// loops. With every operator, a comparison is false if the field is missing or null, or if it is
// not of the literal's kind. A "not" in front of such a comparison makes it true. A nil Condition
// always holds, and reads nothing.
type Condition struct{ of node }

// Holds reports whether a payload meets the condition.
func (c *Condition) Holds(root event.Node) bool { return c == nil || c.of.holds(sides{now: root}) }

// node is a part of a condition.
type node interface {
	holds(s sides) bool
	// print appends the canonical text, in parentheses if the condition binds less tightly than
	// what is around it. binding says how tightly that binds: 0 for or, 1 for and, 2 for not.
	print(b *strings.Builder, binding int)
}

type (
	anyOf      []node
	allOf      []node
	not        struct{ of node }
	exists     struct{ path event.Path }
	comparison struct {
		path   event.Path
		op     operator
		with   literal
		offset int // where it stands in the condition's text, in bytes
	}
	oneOf struct {
		path   event.Path
		set    []literal
		offset int
	}
)

// literal is what a field is compared with.
type literal struct {
	kind   event.Kind // Number, String or Bool
	quoted bool       // of a Number: the field may also be the text of a number
	text   string     // the text of a String; "true" or "false" for a Bool
	number event.Decimal
	offset int // where it stands in the condition's text, in bytes
}

// operator is one of = != < <= > >=.
type operator struct {
	text                 string
	below, equal, beyond bool // whether it holds for a field below, equal to and above the literal
}

var operators = map[string]operator{
	"=": {"=", false, true, false}, "!=": {"!=", true, false, true},
	"<": {"<", true, false, false}, "<=": {"<=", true, true, false},
	">": {">", false, false, true}, ">=": {">=", false, true, true},
}

func (o operator) holds(order int) bool {
	return order < 0 && o.below || order == 0 && o.equal || order > 0 && o.beyond
}

// compare orders a field against the literal. It compares texts by their bytes, and numbers
// exactly. ok is false if the two are of different kinds. false is below true, but only = and !=
// use this.
func (l *literal) compare(n event.Node) (order int, ok bool) {
	if kind := n.Kind(); kind != l.kind && !(l.quoted && kind == event.String) {
		return 0, false
	}
	if l.kind == event.Number {
		d, is := Number(n)
		return d.Cmp(l.number), is
	}
	return strings.Compare(n.Text(), l.text), true
}

// Number returns the value of a number, or of a text that is one by the grammar of JSON.
func Number(n event.Node) (d event.Decimal, is bool) {
	text := n.Raw()
	switch n.Kind() {
	case event.String:
		text = n.Text()
	case event.Number:
	default:
		return d, false
	}
	d, err := event.ParseDecimal(text)
	return d, err == nil
}

func (a anyOf) holds(s sides) bool {
	for _, c := range a {
		if c.holds(s) {
			return true
		}
	}
	return false
}

func (a allOf) holds(s sides) bool {
	for _, c := range a {
		if !c.holds(s) {
			return false
		}
	}
	return true
}

func (n not) holds(s sides) bool {
	s.guess = !s.guess
	return !n.of.holds(s)
}

func (e exists) holds(s sides) bool { return there(s.now.At(e.path)) }

// there reports whether a field has a value: it is neither missing nor null.
func there(n event.Node) bool { return n.Exists() && n.Kind() != event.Null }

func (c comparison) holds(s sides) bool {
	order, ok := c.with.compare(s.now.At(c.path))
	return ok && c.op.holds(order)
}

func (o oneOf) holds(s sides) bool {
	n := s.now.At(o.path)
	for i := range o.set {
		if order, ok := o.set[i].compare(n); ok && order == 0 {
			return true
		}
	}
	return false
}
