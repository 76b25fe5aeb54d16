package keys

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestTemplatesThatMayEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"A#{x}", "A#{y}", true}, {"A#{x}", "B#{y}", false}, {"A#{x}", "A", false}, {"A#{x}", "A#{y}#Z", false},
		{"{x}", "A", true}, {"A{x}", "AB{y}", true}, {"A{x}", "B{y}", false}, {"{x}Z", "{y}Y", false}, {"{x}Z", "{y}YZ", true},
		{"-", "-", true}, {"-", "+", false}, {"A{x}A", "AA", false}, {"A{x}A", "ABA", true}, {"{x | day}#1", "{y}#1", true},
		{"A#{x}#B", "A#{x}#C", false},
		{"{@type}", "{@type}", false}, {"{@type}#{x}", "{@type}#{x}", false}, {"{@type}", "{x}", true}, {"{@type}", "order.placed", true},
		{"{@type}", "order.paid", false},
		{"{@type | first:5}", "{@type | first:5}", true}, {"A#{x}.{@type}", "A#{x}.{@type}", false}, {"{@type}{x}", "{@type}{x}", false},
	} {
		a := compiled(t, c.a)
		b := compiled(t, c.b)
		must.Equal(t, MayEqual(a, "order.placed", b, "order.paid"), c.want, c.a, c.b)
		must.Equal(t, MayEqual(b, "order.paid", a, "order.placed"), c.want, c.a, c.b)
	}
}

func TestCanonicalTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"A#{ x }":                         "A#{x}",
		`{["a"].b[0] | first: 3 | lower}`: "{a.b[0]|first:3|lower}",
		"{@at|day}#{@attribute.x}":        "{@at|day}#{@attribute.x}",
		"plain":                           "plain",
	} {
		must.Equal(t, compiled(t, text).Canonical(), want)
	}
}
