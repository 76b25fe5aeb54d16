package pipeline

import (
	"iter"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

func (a anyOf) print(b *strings.Builder, binding int) { printList(b, a, " or ", 0, binding) }
func (a allOf) print(b *strings.Builder, binding int) { printList(b, a, " and ", 1, binding) }

func printList(b *strings.Builder, list []condition, between string, own, binding int) {
	if binding > own {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	for i, c := range list {
		if i > 0 {
			b.WriteString(between)
		}
		c.print(b, own+1)
	}
}

func (n not) print(b *strings.Builder, _ int) {
	b.WriteString("not ")
	n.of.print(b, 2)
}

func (e exists) print(b *strings.Builder, _ int) { b.WriteString("exists " + wherePath(e.path)) }

func (c comparison) print(b *strings.Builder, _ int) {
	b.WriteString(wherePath(c.path) + " " + c.op.text + " " + c.with.String())
}

func (o oneOf) print(b *strings.Builder, _ int) {
	b.WriteString(wherePath(o.path) + " in (")
	for i, l := range o.set {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.String())
	}
	b.WriteByte(')')
}

// wherePath is a path as the grammar reads it: a field called like one of its words goes in brackets.
func wherePath(p event.Path) string {
	text := p.String()
	if slices.Contains(reservedWords, text) {
		return `["` + text + `"]`
	}
	return text
}

// String is the literal as the grammar reads it: numbers in normal form, text in double quotes.
func (l literal) String() string {
	switch l.kind {
	case event.Number:
		return l.number.String()
	case event.String:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l.text) + `"`
	}
	return l.text
}

func (a anyOf) paths() iter.Seq[event.Path] { return pathsOf(a) }
func (a allOf) paths() iter.Seq[event.Path] { return pathsOf(a) }
func (n not) paths() iter.Seq[event.Path]   { return n.of.paths() }

func (e exists) paths() iter.Seq[event.Path]     { return onePath(e.path) }
func (c comparison) paths() iter.Seq[event.Path] { return onePath(c.path) }
func (o oneOf) paths() iter.Seq[event.Path]      { return onePath(o.path) }

func pathsOf(list []condition) iter.Seq[event.Path] {
	return func(yield func(event.Path) bool) {
		for _, c := range list {
			for p := range c.paths() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func onePath(p event.Path) iter.Seq[event.Path] {
	return func(yield func(event.Path) bool) { yield(p) }
}
