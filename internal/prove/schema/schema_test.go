package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

const committedSchema = "../../../pipeline.schema.json"

func TestSchemaIsCommitted(t *testing.T) {
	golden.File(t, committedSchema, string(generate(t)))
}

// base is a file with everything in it.
func base(t *testing.T) string {
	t.Helper()
	text := must.Read(t, "../../../pipeline/testdata/base.yaml")
	return string(text)
}

// violations lists where v breaks the schema. It knows the keywords that Schema uses, and no other.
func violations(t *testing.T, at string, schema map[string]any, v any) []string {
	t.Helper()
	var list []string
	fail := func(format string, args ...any) { list = append(list, at+": "+fmt.Sprintf(format, args...)) }
	for keyword, want := range schema {
		switch keyword {
		case "$schema", "title", "description", "format":
		case "anyOf":
			var why []string
			for _, one := range want.([]any) {
				bad := violations(t, at, one.(map[string]any), v)
				if len(bad) == 0 {
					why = nil
					break
				}
				why = append(why, bad...)
			}
			list = append(list, why...)
		case "minItems":
			if l, ok := v.([]any); ok && float64(len(l)) < want.(float64) {
				fail("is empty")
			}
		case "not":
			if len(want.(map[string]any)) == 0 {
				fail("nothing is allowed here")
			}
		case "type":
			if got := schemaType(v); got != want {
				fail("is %s, not %s", got, want)
			}
		case "const":
			if fmt.Sprint(v) != fmt.Sprint(want) {
				fail("is %v, not %v", v, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				fail("%v is none of %v", v, want)
			}
		case "pattern":
			if s, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(s) {
				fail("%q does not match %s", s, want)
			}
		case "minLength":
			if s, ok := v.(string); ok && float64(len(s)) < want.(float64) {
				fail("is too short")
			}
		case "minimum", "maximum":
			if n, ok := v.(uint64); ok && (keyword == "minimum") == (float64(n) < want.(float64)) && float64(n) != want.(float64) {
				fail("%d is beyond the %s %v", n, keyword, want)
			}
		case "required":
			for _, name := range want.([]any) {
				if m, ok := v.(map[string]any); ok && m[name.(string)] == nil {
					fail("lacks %v", name)
				}
			}
		case "minProperties":
			if m, ok := v.(map[string]any); ok && float64(len(m)) < want.(float64) {
				fail("is empty")
			}
		case "propertyNames":
			m, _ := v.(map[string]any)
			for name := range m {
				list = append(list, violations(t, at+"."+name, want.(map[string]any), name)...)
			}
		case "properties", "additionalProperties", "items":
			list = append(list, memberViolations(t, at, keyword, schema, v)...)
		default:
			t.Fatalf("the schema uses %s, which this test does not know", keyword)
		}
	}
	return list
}

func memberViolations(t *testing.T, at, keyword string, schema map[string]any, v any) []string {
	var list []string
	if items, ok := v.([]any); ok && keyword == "items" {
		for i, item := range items {
			list = append(list, violations(t, fmt.Sprintf("%s[%d]", at, i), schema["items"].(map[string]any), item)...)
		}
	}
	m, _ := v.(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	for name, member := range m {
		own, named := known[name].(map[string]any)
		others, open := schema["additionalProperties"].(map[string]any)
		switch {
		case keyword == "properties" && named:
			list = append(list, violations(t, at+"."+name, own, member)...)
		case keyword == "additionalProperties" && !named && open:
			list = append(list, violations(t, at+"."+name, others, member)...)
		case keyword == "additionalProperties" && !named:
			list = append(list, at+": unknown name "+name)
		}
	}
	return list
}

func schemaType(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case uint64, int64:
		return "integer"
	case float64:
		return "number"
	}
	return "null"
}

func schemaViolations(t *testing.T, text string) []string {
	t.Helper()
	var schema map[string]any
	must.Succeed(t, json.Unmarshal(generate(t), &schema))
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return violations(t, "file", schema, doc)
}

// Every pipeline that the project ships or tests with is valid by the schema that editors read.
func TestOurPipelinesAreValid(t *testing.T) {
	texts := map[string]string{"base of these tests": base(t)}
	for _, name := range []string{"../../../pipeline/testdata/orders.yaml", "../../../pipeline/testdata/plain.yaml", "../../../" +
		sampleshop.Pipeline, "../../../ingottest/testdata/pipeline.yaml",
		"../../tool/demo/data/earthquakes.yaml", "../bench/orders.yaml", "../../../integration/crash/testdata/pipeline.yaml"} {
		text := must.Read(t, name)
		texts[name] = string(text)
	}
	for name, text := range texts {
		if v := schemaViolations(t, text); len(v) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(v, "\n"))
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ingot: 1", "ingot: 2", "file.ingot: is 2, not 1"},
		{"epoch: 2\n", "", "file: lacks epoch"},
		{"epoch: 2", "epoch: 0", "file.epoch: 0 is beyond the minimum 1"},
		{"epoch: 2", "epoch: x", "file.epoch: is string, not integer"},
		{"epoch: 2", "epoc: 2", "file: unknown name epoc"},
		{"retain: 90d", "retain: 90", "file.events.placed.retain: is integer, not string"},
		{"retain: 90d", "retain: 90y", `file.events.placed.retain: "90y" does not match`},
		{"retain: 90d", "schema: {type: object}", "file.events.placed.schema"},
		{"GSI1", "GSI0", `file.events.placed.indexes.GSI0: "GSI0" does not match`},
		{"mode: latest", "mode: newest", "file.events.moved.mode: newest is none of [insert latest]"},
		{`sk: "-"`, `sk: ""`, "file.events.moved.key.sk: is too short"},
		{"[trace]", "[1]", "file.events.placed.ignore[0]: is integer, not string"},
		{"spread: 4", "spread: 1001", "file.aggregates.daily.spread: 1001 is beyond the maximum 1000"},
		{"orders: count", "Orders: count", `file.aggregates.daily.from.placed.values.Orders: "Orders" does not match`},
	} {
		v := schemaViolations(t, strings.Replace(base(t), c.old, c.new, 1))
		must.Say(t, strings.Join(v, "\n"), c.want)
	}
}

func TestAValueMayBeAMapping(t *testing.T) {
	for _, mapping := range []string{`{count: true, where: "status in (\"a\", \"b\")"}`, "{sum: total?, where: total > 100}",
		"{max: length lines}", "{min: total}", "{sum: -2.5}"} {
		if v := schemaViolations(t, strings.Replace(base(t), "orders: count", "orders: "+mapping, 1)); len(v) > 0 {
			t.Errorf("%s: %q", mapping, v)
		}
	}
	if v := schemaViolations(t, strings.Replace(base(t), "orders: count", "orders: {avg: total}", 1)); len(v) == 0 {
		t.Error("an average is valid")
	}
}
