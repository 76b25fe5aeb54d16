package where

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// String returns the canonical text of the condition. Conditions that differ only in their spelling
// have the same text. It is empty for nil.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	c.of.print(&b, 0)
	return b.String()
}

func (a anyOf) print(b *strings.Builder, binding int) { printList(b, a, " or ", 0, binding) }
func (a allOf) print(b *strings.Builder, binding int) { printList(b, a, " and ", 1, binding) }

func printList(b *strings.Builder, list []node, between string, own, binding int) {
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

func (e exists) print(b *strings.Builder, _ int) { b.WriteString("exists " + pathText(e.path)) }

func (c comparison) print(b *strings.Builder, _ int) {
	b.WriteString(c.with.field(c.path) + " " + c.op.text + " " + c.with.String())
}

func (o oneOf) print(b *strings.Builder, _ int) {
	b.WriteString(o.set[0].field(o.path) + " in (")
	for i, l := range o.set {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.String())
	}
	b.WriteByte(')')
}

// field returns what the literal is compared with.
func (l *literal) field(path event.Path) string {
	if l.quoted {
		return "number(" + path.String() + ")"
	}
	return pathText(path)
}

// pathText returns a path as one writes it in a condition. A field that has the name of a word of
// the grammar, such as and, is in brackets and quotes.
func pathText(p event.Path) string {
	text := p.String()
	if slices.Contains(reservedWords, text) {
		return `["` + text + `"]`
	}
	return text
}

// String returns the literal as one writes it in a condition: numbers in normal form, text in
// double quotes.
func (l literal) String() string {
	switch l.kind {
	case event.Number:
		return l.number.String()
	case event.String:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l.text) + `"`
	}
	return l.text
}
