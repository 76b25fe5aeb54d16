package schema

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
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

// violations lists where a file breaks the schema. The schema names draft-07, which editors know.
// Its keywords mean the same in the draft that the package jsonschema reads.
func violations(t *testing.T, text string) string {
	t.Helper()
	schema, bad := jsonschema.Compile(strings.Replace(string(generate(t)), "http://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft/2020-12/schema", 1))
	if bad != nil {
		t.Fatal(bad)
	}
	file, err := yaml.YAMLToJSON([]byte(text))
	must.Succeed(t, err)
	doc, err := event.ParseDocument(string(file))
	must.Succeed(t, err)
	findings, ok := schema.Check(doc.Root())
	must.Equal(t, ok, true)
	var list []string
	for _, f := range findings {
		list = append(list, f.String())
	}
	return strings.Join(list, "\n")
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
		must.Equal(t, violations(t, text), "", name)
	}
}

func TestSchemaRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ingot: 1", "ingot: 2", "ingot is not the value that it must have"},
		{"epoch: 2\n", "", "has no epoch"},
		{"epoch: 2", "epoch: 0", "epoch is below 1"},
		{"epoch: 2", "epoch: x", "epoch is a string and must be integer"},
		{"epoch: 2", "epoc: 2", "epoc is not allowed"},
		{"retain: 90d", "retain: 90", "events.placed.retain is a number and must be string"},
		{"retain: 90d", "retain: 90y", "events.placed.retain does not match the pattern"},
		{"retain: 90d", "schema: {type: object}", "events.placed.schema is an object and must be string"},
		{"GSI1", "GSI0", "events.placed.indexes.GSI0 has a name that is not allowed"},
		{"mode: latest", "mode: newest", "events.moved.mode is not one of the values that it may have"},
		{`sk: "-"`, `sk: ""`, "events.moved.key.sk has fewer than 1 characters"},
		{"[trace]", "[1]", "events.placed.ignore[0] is a number and must be string"},
		{"spread: 4", "spread: 1001", "aggregates.daily.spread is above 1000"},
		{"orders: count", "Orders: count", "aggregates.daily.from.placed.values.Orders has a name that is not allowed"},
	} {
		must.Say(t, violations(t, strings.Replace(base(t), c.old, c.new, 1)), c.want)
	}
}

func TestAValueMayBeAMapping(t *testing.T) {
	for _, mapping := range []string{`{count: true, where: "status in (\"a\", \"b\")"}`, "{sum: total?, where: total > 100}",
		"{max: length lines}", "{min: total}", "{sum: -2.5}"} {
		must.Equal(t, violations(t, strings.Replace(base(t), "orders: count", "orders: "+mapping, 1)), "", mapping)
	}
	must.Say(t, violations(t, strings.Replace(base(t), "orders: count", "orders: {avg: total}", 1)), "orders fits none of the alternatives")
}
