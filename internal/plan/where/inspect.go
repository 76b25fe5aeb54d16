package where

import (
	"iter"
	"slices"

	"github.com/ingot-events/ingot/event"
)

// test is one test of one field. A comparison has its literal, in has all of its literals, and
// exists has none.
type test struct {
	path    event.Path
	with    []literal
	offset  int  // where it stands in the condition's text, in bytes
	negated bool // the test stands under not
	ordered bool // it asks which is larger
	// numbers returns the same test with these literals.
	numbers func([]literal) node
}

// tests lists the tests of a condition in the order of its text.
func (c *Condition) tests() iter.Seq[test] {
	return func(yield func(test) bool) {
		if c != nil {
			each(c.of, false, yield)
		}
	}
}

func each(n node, negated bool, yield func(test) bool) bool {
	all := func(parts []node) bool {
		return !slices.ContainsFunc(parts, func(part node) bool { return !each(part, negated, yield) })
	}
	switch n := n.(type) {
	case anyOf:
		return all(n)
	case allOf:
		return all(n)
	case not:
		return each(n.of, true, yield)
	case earlier:
		return each(n.node, negated, yield)
	case changed:
		return yield(test{path: n.path, negated: negated})
	case exists:
		return yield(test{path: n.path, negated: negated})
	case comparison:
		return yield(test{n.path, []literal{n.with}, n.offset, negated, n.op.below != n.op.beyond, func(l []literal) node {
			return comparison{n.path, n.op, l[0], n.offset}
		}})
	case oneOf:
		return yield(test{n.path, n.set, n.offset, negated, false, func(l []literal) node { return oneOf{n.path, l, n.offset} }})
	}
	panic("where: a condition of an unknown kind")
}

// Paths lists the fields that the condition reads, in the order of its text. It lists a field again
// each time that the text names it.
func (c *Condition) Paths() []event.Path {
	var paths []event.Path
	for t := range c.tests() {
		paths = append(paths, t.path)
	}
	return paths
}

// Reads lists each path of a condition once, with the kinds that it is compared with. If the path
// only has to exist, these are all kinds. use says what reads it.
func (c *Condition) Reads(use string) (list []event.Read) {
	for _, path := range c.Paths() {
		if slices.ContainsFunc(list, func(r event.Read) bool { return r.Path.Equal(path) }) {
			continue
		}
		kinds := c.Kinds(path)
		if len(kinds) == 0 {
			kinds = []event.Kind{event.String, event.Number, event.Bool, event.Array, event.Object}
		}
		list = append(list, event.Read{Path: path, Use: use, Kinds: kinds})
	}
	return list
}

// Kinds lists the kinds that the field at path is compared with. It is empty if the field only has
// to exist.
func (c *Condition) Kinds(path event.Path) []event.Kind {
	var kinds []event.Kind
	for t := range c.tests() {
		for _, l := range t.with {
			if t.path.Equal(path) {
				kinds = append(kinds, l.kind)
			}
			if t.path.Equal(path) && l.quoted {
				kinds = append(kinds, event.String)
			}
		}
	}
	return kinds
}

// Text is a text that a field is compared with, and its place in the condition's text, in bytes.
type Text struct {
	Offset int
	Text   string
}

// Texts lists the texts in quotes.
func (c *Condition) Texts() []Text {
	var texts []Text
	for t := range c.tests() {
		for _, l := range t.with {
			if l.kind == event.String {
				texts = append(texts, Text{l.offset, l.text})
			}
		}
	}
	return texts
}

// NoNumber is a test of a field against something other than a number.
type NoNumber struct {
	Offset  int    // of the test in the condition's text, in bytes
	With    string // the literal, as one writes it in a condition
	Numbers string // the same test against numbers; empty if a literal cannot be read as a number
	Ordered bool   // it asks which of the two is larger
}

// NoNumbers lists the tests that need the field at path to be text, or true or false. It leaves out
// tests under not, because they mean the opposite.
func (c *Condition) NoNumbers(path event.Path) []NoNumber {
	var list []NoNumber
	for t := range c.tests() {
		i := slices.IndexFunc(t.with, func(l literal) bool { return l.kind != event.Number })
		if t.negated || i < 0 || !t.path.Equal(path) {
			continue
		}
		found := NoNumber{Offset: t.offset, With: t.with[i].String(), Ordered: t.ordered}
		if numbers, ok := asNumbers(t.with); ok {
			found.Numbers = (&Condition{t.numbers(numbers)}).String()
		}
		list = append(list, found)
	}
	return list
}

// asNumbers reads literals as numbers. ok is false if one of them is not a number.
func asNumbers(list []literal) (numbers []literal, ok bool) {
	for _, l := range list {
		if l.kind != event.Number {
			n, err := event.ParseDecimal(l.text)
			if l.kind != event.String || err != nil {
				return nil, false
			}
			l = literal{kind: event.Number, number: n}
		}
		numbers = append(numbers, l)
	}
	return numbers, true
}
