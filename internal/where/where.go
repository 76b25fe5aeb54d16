package where

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Condition is a compiled `where`. It is a pure function of a payload: no clock, no loops. A comparison with a field
// that is missing, null or of another kind than its literal is false, whatever the operator; not turns that into true
// like any other false. A nil Condition always holds and reads nothing.
type Condition struct{ of node }

// Holds reports whether a payload meets the condition.
func (c *Condition) Holds(root event.Node) bool { return c == nil || c.of.holds(root) }

// node is a part of a condition.
type node interface {
	holds(root event.Node) bool
	// print appends the canonical text. A condition that binds weaker than its surroundings is put in
	// parentheses: or (0) is weaker than and (1), and is weaker than not (2).
	print(b *strings.Builder, binding int)
}

type (
	anyOf      []node
	allOf      []node
	not        struct{ of node }
	exists     struct{ path event.Path }
	comparison struct {
		path event.Path
		op   operator
		with literal
	}
	oneOf struct {
		path event.Path
		set  []literal
	}
)

// literal is what a field is compared with.
type literal struct {
	kind   event.Kind // Number, String or Bool
	text   string     // of a String; "true" or "false"
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

// compare orders a field against the literal: text by its bytes, numbers exactly. ok is false if they are
// not of one kind. false is below true, which only = and != make use of.
func (l *literal) compare(n event.Node) (order int, ok bool) {
	if n.Kind() != l.kind {
		return 0, false
	}
	if l.kind == event.Number {
		d, err := n.Decimal()
		return d.Cmp(l.number), err == nil
	}
	return strings.Compare(n.Text(), l.text), true
}

func (a anyOf) holds(root event.Node) bool {
	for _, c := range a {
		if c.holds(root) {
			return true
		}
	}
	return false
}

func (a allOf) holds(root event.Node) bool {
	for _, c := range a {
		if !c.holds(root) {
			return false
		}
	}
	return true
}

func (n not) holds(root event.Node) bool { return !n.of.holds(root) }

func (e exists) holds(root event.Node) bool {
	k := root.At(e.path).Kind()
	return k != event.Absent && k != event.Null
}

func (c comparison) holds(root event.Node) bool {
	order, ok := c.with.compare(root.At(c.path))
	return ok && c.op.holds(order)
}

func (o oneOf) holds(root event.Node) bool {
	n := root.At(o.path)
	for i := range o.set {
		if order, ok := o.set[i].compare(n); ok && order == 0 {
			return true
		}
	}
	return false
}
