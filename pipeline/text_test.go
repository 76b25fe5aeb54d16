package pipeline

import (
	"testing"

	"github.com/ingot-events/ingot/keys"
)

func TestNearest(t *testing.T) {
	known := []string{"order.placed", "order.refunded", "at"}
	for word, want := range map[string]string{
		"order.plced": "order.placed", "order.palced": "order.placed", "oder.refunded": "order.refunded", "ta": "at", "a": "at", "shipment": "", "": "", "ört": "", "öt": "at",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
	for word, want := range map[string]string{"counts": "count", "summ": "sum", "mxa": "max", "median": "", "mean": "", "avg": "", "minimum": "min", "total": "", "Count": "count", "SUM": "sum", "summary": "sum", "counter": "count"} {
		if got := nearest(word, []string{"count", "sum", "min", "max"}); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
	members := []string{"at", "attributes", "id", "ignore", "indexes", "key", "mode", "retain", "revision", "schema"}
	for word, want := range map[string]string{"retention": "retain", "retainFor": "retain", "attrs": "attributes", "rev": "revision", "KEY": "key", "ID": "id", "retries": "", "identity": "", "re": ""} {
		if got := nearest(word, members); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
	if got := nearest("order", []string{"order.placed", "order.refunded"}); got != "" { // akin to both
		t.Error(got)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%s to %s: %d", c.a, c.b, got)
		}
	}
}

func TestTemplatesThatMayEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"A#{x}", "A#{y}", true}, {"A#{x}", "B#{y}", false}, {"A#{x}", "A", false}, {"A#{x}", "A#{y}#Z", false},
		{"{x}", "A", true}, {"A{x}", "AB{y}", true}, {"A{x}", "B{y}", false}, {"{x}Z", "{y}Y", false}, {"{x}Z", "{y}YZ", true},
		{"-", "-", true}, {"-", "+", false}, {"A{x}A", "AA", false}, {"A{x}A", "ABA", true}, {"{x | day}#1", "{y}#1", true}, {"A#{x}#B", "A#{x}#C", false},
		{"{@type}", "{@type}", false}, {"{@type}#{x}", "{@type}#{x}", false}, {"{@type}", "{x}", true}, {"{@type}", "order.placed", true}, {"{@type}", "order.paid", false},
		{"{@type | first:5}", "{@type | first:5}", true}, {"A#{x}.{@type}", "A#{x}.{@type}", false}, {"{@type}{x}", "{@type}{x}", false},
	} {
		a, err := keys.ParseTemplate(c.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := keys.ParseTemplate(c.b)
		if err != nil {
			t.Fatal(err)
		}
		one, two := segments(a, "order.placed"), segments(b, "order.paid")
		if mayEqual(one, two) != c.want || mayEqual(two, one) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestCanonicalTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"A#{ x }":                         "A#{x}",
		`{["a"].b[0] | first: 3 | lower}`: "{a.b[0]|first:3|lower}",
		"{@at|day}#{@attribute.x}":        "{@at|day}#{@attribute.x}",
		"plain":                           "plain",
	} {
		tpl, err := keys.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonicalTemplate(tpl); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
