package pipeline

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// withSchema declares a schema in a file of its own, and a second one beside other members.
const withSchema = `ingot: 1
epoch: 1
type: "{type}"
events:
  a: {id: "{id}", at: "{at}", schema: schemas/a.json, key: {pk: "A#{id}", sk: "A"}}
  b:
    id: "{id}"
    at: "{at}"
    key: {pk: "B#{id}", sk: "B"}
    schema: "b'ü.json"   # in quotes
  c:
    part: {of: a, each: lines, with: [id]}
    id: "{id}#{n}"
    key: {pk: "A#{id}", sk: "C#{n}"}
    schema: '{"properties": {"n": {"maximum": 5}}}'
`

var schemaFiles = fstest.MapFS{
	"sub/p.yaml": {Data: []byte(withSchema)},
	"sub/schemas/a.json": {Data: []byte(
		"{\n  \"required\": [\"id\"],\n  \"properties\": {\"total\": {\"minimum\": 0}, \"o'clock\": {\"type\": \"string\"}}\n}\n")},
	"sub/b'ü.json": {Data: []byte(`{"additionalProperties": {"maxLength": 30}}`)},
}

func TestSchema(t *testing.T) {
	for name, load := range map[string]func() (*Pipeline, error){
		"the tool":   func() (*Pipeline, error) { return Load(schemaFiles, "sub/p.yaml") },
		"the ingest": func() (*Pipeline, error) { return LoadForIngest(schemaFiles, "sub/p.yaml") },
		"its own text": func() (*Pipeline, error) {
			p, err := Load(schemaFiles, "sub/p.yaml")
			if err != nil {
				return nil, err
			}
			return Load(fstest.MapFS{"other.yaml": {Data: p.Text()}}, "other.yaml")
		},
		"its own Spec": func() (*Pipeline, error) {
			p, err := Load(schemaFiles, "sub/p.yaml")
			if err != nil {
				return nil, err
			}
			return New(p.Describe().Spec)
		},
	} {
		p, err := load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, c := range []struct{ body, want string }{
			{`{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","total":0,"lines":[{"n":5}]}`, ""},
			{`{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","total":-7125,"o'clock":8,"lines":[]}`,
				"Poison (schema): total is below 0 (#/properties/total/minimum); [\"o'clock\"] is a number and must be string " +
					"(#/properties/o'clock/type)"},
			{`{"type":"a","total":-7125}`,
				"Poison (schema): the payload has no id (#/required); total is below 0 (#/properties/total/minimum)"},
			{`{"type":"b","id":"1","at":"2026-01-01T00:00:00Z"}`, ""},
			{`{"type":"b","id":"1","at":"2026-01-01T00:00:00.0000000000000Z"}`,
				"Poison (schema): at has more than 30 characters (#/additionalProperties/maxLength)"},
			{`{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","lines":[{"n":1},{"n":6}]}`,
				"Poison (schema): part c, lines[1]: n is above 5 (#/properties/n/maximum)"},
		} {
			_, err := p.Plan(envelope.Message{Body: c.body})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %s: %v", name, c.body, err)
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("%s: %s:\n got %v\nwant %s", name, c.body, err, c.want)
			case c.want != "" && refusal(t, err).Type != c.body[9:10]:
				t.Errorf("%s: %s: the refusal says type %q", name, c.body, refusal(t, err).Type)
			case c.want != "" && strings.Contains(err.Error(), "7125"):
				t.Errorf("%s: a value of the payload is shown: %v", name, err)
			}
		}
	}
}

// The streams function checks nothing, and so needs no validator. It keeps the text with the
// schemas.
func TestSchemaOfTheStreamsFunction(t *testing.T) {
	p, err := LoadForStreams(schemaFiles, "sub/p.yaml")
	must.Succeed(t, err)
	full, err := Load(schemaFiles, "sub/p.yaml")
	must.Succeed(t, err)
	if !bytes.Equal(p.Text(), full.Text()) {
		t.Errorf("its text is\n%s\nwant\n%s", p.Text(), full.Text())
	}
	want := strings.NewReplacer("schemas/a.json", `'{"required":["id"],"properties":{"total":{"minimum":0},"o''clock":{"type":"string"}}}'`,
		`"b'ü.json"`, `'{"additionalProperties":{"maxLength":30}}'`).Replace(withSchema)
	if string(p.Text()) != want {
		t.Errorf("the text with its schemas is\n%s\nwant\n%s", p.Text(), want)
	}
	if _, err := p.Plan(envelope.Message{Body: `{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","total":-1,"lines":[]}`}); err != nil {
		t.Errorf("the streams function checks a payload: %v", err)
	}
}

// A schema changes no digest, no key and nothing else of an item.
func TestSchemaIsNoPartOfAnItem(t *testing.T) {
	with, err := Load(schemaFiles, "sub/p.yaml")
	must.Succeed(t, err)
	plain := mustLoad(t, strings.NewReplacer(", schema: schemas/a.json", "", "    schema: \"b'ü.json\"   # in quotes\n", "",
		"    schema: '{\"properties\": {\"n\": {\"maximum\": 5}}}'\n", "").Replace(withSchema))
	m := envelope.Message{Body: `{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","lines":[{"n":1}]}`}
	a, err := with.Plan(m)
	must.Succeed(t, err)
	b, err := plain.Plan(m)
	must.Succeed(t, err)
	if a.Digest != b.Digest || a.Key != b.Key || a.Size() != b.Size() || a.Parts.Items[0].Digest != b.Parts.Items[0].Digest {
		t.Errorf("with a schema %+v, without one %+v", a, b)
	}
}

// What is stored is not checked again: a stricter schema of a part must not keep the parts of a
// stored whole from being counted as missing and put.
func TestStoredPartsAreNotCheckedAgain(t *testing.T) {
	loose := mustLoad(t, strings.NewReplacer(", schema: schemas/a.json", "", "    schema: \"b'ü.json\"   # in quotes\n", "",
		"    schema: '{\"properties\": {\"n\": {\"maximum\": 5}}}'\n", "").Replace(withSchema))
	whole, err := loose.Plan(envelope.Message{Body: `{"type":"a","id":"1","at":"2026-01-01T00:00:00Z","lines":[{"n":6}]}`})
	must.Succeed(t, err)
	strict, err := Load(schemaFiles, "sub/p.yaml")
	must.Succeed(t, err)
	parts, err := strict.Parts(whole)
	if err != nil || len(parts) != 1 || parts[0].Digest != whole.Parts.Items[0].Digest {
		t.Errorf("the parts of a stored whole are %v, %v", parts, err)
	}
}

func TestRefusedSchemaMembers(t *testing.T) {
	hostile := `{"allOf":[` + strings.Repeat(`{"minimum":1},`, 2001) + `{}]}`
	for _, c := range []struct{ name, member, file, want string }{
		{"no file", "none.json", `{}`,
			`p.yaml:5:39: the schema none.json cannot be read: there is no such file; a program that embeds the pipeline must embed its schemas too, as in //go:embed pipeline.yaml schemas; write`},
		{"above the folder", "../a.json", `{}`, `p.yaml:5:39: "../a.json" is not a path from the folder of the pipeline down`},
		{"absolute", "/etc/a.json", `{}`, `"/etc/a.json" is not a path`},
		{"not JSON", "s.json", `{`, "the schema s.json is not JSON"},
		{"a name twice", "s.json", `{"type":"object","type":"array"}`, "the schema s.json is not JSON"},
		{"not an object", "s.json", `true`, "the schema s.json is not an object"},
		{"not a schema", "s.json", `{"type":"strnig"}`,
			`p.yaml:5:39: in the schema, at #/type: "strnig" is not a type; write null, boolean`},
		{"elsewhere", "s.json", `{"$ref":"https://example.com/x.json"}`, "which is not in this file"},
		{"itself", "s.json", `{"$ref":"#"}`, "refers to itself"},
		{"too often", "s.json", hostile, "over 2000 rules apply to one value"},
		{"a number", "7", ``, "schema is a number, not text"},
		{"escapes", `"s\u002ejson"`, `{}`, "the path of a schema must be on one line and without escapes"},
	} {
		text := strings.Replace(
			"ingot: 1\nepoch: 1\ntype: a\nevents:\n  a: {id: \"{id}\", at: \"{at}\", schema: X, key: {pk: \"A#{id}\", sk: \"A\"}}\n", "X",
			c.member, 1)
		_, err := Load(fstest.MapFS{"p.yaml": {Data: []byte(text)}, "s.json": {Data: []byte(c.file)}}, "p.yaml")
		must.Fail(t, err, c.want)
	}
}

// Whatever takes too many steps is Poison and says so.
func TestSchemaThatTakesTooLong(t *testing.T) {
	p := mustLoad(t,
		"ingot: 1\nepoch: 1\ntype: a\nevents:\n  a:\n    id: \"{id}\"\n    at: \"{at}\"\n    key: {pk: \"A#{id}\", sk: \"A\"}\n"+
			`    schema: '{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}'`+"\n")
	_, err := p.Plan(envelope.Message{Body: `{"id":"1","at":"2026-01-01T00:00:00Z","x":` + strings.Repeat(`{"x":`, 100) + "1" +
		strings.Repeat("}", 101)})
	if r := refusal(t, err); r.Reason != event.BreaksSchema || !strings.Contains(r.Detail, "takes too many steps") {
		t.Errorf("%v", r)
	}
}

func TestSchemaFiles(t *testing.T) {
	if got := SchemaFiles([]byte(withSchema)); !maps.Equal(got, map[string]string{"a": "schemas/a.json", "b": "b'ü.json"}) {
		t.Errorf("it names %v", got)
	}
	if got := SchemaFiles([]byte("{")); len(got) > 0 {
		t.Errorf("a broken file names %v", got)
	}
}
