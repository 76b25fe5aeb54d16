package jsonschema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func node(t testing.TB, text string) event.Node {
	t.Helper()
	doc, err := event.ParseDocument(text)
	must.Succeed(t, err)
	return doc.Root()
}

func mustCompile(t testing.TB, text string) *Schema {
	t.Helper()
	s, bad := Compile(text)
	if bad != nil {
		t.Fatalf("%s: %s", text, bad)
	}
	return s
}

// A finding names the place and the rule, and no value of the payload.
func TestFindings(t *testing.T) {
	s := mustCompile(t, `{"type":"object","required":["id","lines"],"additionalProperties":false,"properties":{
		"id":{"type":"string","pattern":"^o-[0-9]+$","maxLength":10},
		"currency":{"enum":["EUR","USD"]},"kind":{"const":"order"},
		"total":{"type":"integer","minimum":0,"exclusiveMaximum":1e3,"multipleOf":0.5},
		"tags":{"uniqueItems":true,"maxItems":3,"items":{"minLength":2}},
		"lines":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/line"}},
		"either":{"oneOf":[{"type":"string"},{"minLength":1}]}, "not":{"not":{"type":"null"}}},
		"$defs":{"line":{"required":["sku"],"properties":{"qty":{"minimum":1}}}}}`)
	for _, c := range []struct{ payload, want string }{
		{`{"id":"o-1","lines":[{"sku":"a","qty":1}],"total":999.0,"currency":"\u0045UR"}`, ""},
		{`{}`, "the payload has no id, lines (#/required)"},
		{`{"id":"SECRET","lines":[{"sku":"a"}]}`, "id does not match the pattern (#/properties/id/pattern)"},
		{`{"id":"o-12345678901","lines":[{"sku":"a"}]}`, "id has more than 10 characters (#/properties/id/maxLength)"},
		{`{"id":"o-1","lines":[{"sku":"a"},{"qty":0}]}`,
			"lines[1] has no sku (#/$defs/line/required); lines[1].qty is below 1 (#/$defs/line/properties/qty/minimum)"},
		{`{"id":"o-1","lines":[]}`, "lines has fewer than 1 elements (#/properties/lines/minItems)"},
		{`{"id":"o-1","lines":[1],"total":1.5}`, "total is a number and must be integer (#/properties/total/type)"},
		{`{"id":"o-1","lines":[1],"total":1000}`, "total is not below 1000 (#/properties/total/exclusiveMaximum)"},
		{`{"id":"o-1","lines":[1],"currency":"SEK"}`, "currency is not one of the values that it may have (#/properties/currency/enum)"},
		{`{"id":"o-1","lines":[1],"kind":"x"}`, "kind is not the value that it must have (#/properties/kind/const)"},
		{`{"id":"o-1","lines":[1],"tags":["aa","\u0061a"]}`, "tags has element 1 twice (#/properties/tags/uniqueItems)"},
		{`{"id":"o-1","lines":[1],"either":"x"}`, "either fits more than one of the alternatives (#/properties/either/oneOf)"},
		{`{"id":"o-1","lines":[1],"not":null}`, "not is of a kind that is not allowed (#/properties/not/not)"},
		{`{"id":"o-1","lines":[1],"more":1}`, "more is not allowed (#/additionalProperties)"},
		{`[]`, "the payload is an array and must be object (#/type)"},
	} {
		findings, ok := s.Check(node(t, c.payload))
		var got []string
		for _, f := range findings {
			got = append(got, f.String())
		}
		if text := strings.Join(got, "; "); !ok || text != c.want {
			t.Errorf("%s:\n got %v %s\nwant %s", c.payload, ok, text, c.want)
		}
	}
	if findings, _ := s.Check(node(t, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`)); len(findings) != MaxFindings {
		t.Errorf("%d findings are named, want %d: %v", len(findings), MaxFindings, findings)
	}
}

// Numbers are compared exactly, and an exponent of 18 digits costs no more than another.
func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct {
		schema, number string
		valid          bool
	}{
		{`{"maximum":9007199254740992}`, "9007199254740993", false},
		{`{"maximum":9007199254740992}`, "9007199254740992.0", true},
		{`{"const":9007199254740993}`, "9007199254740992", false},
		{`{"const":100}`, "1e2", true},
		{`{"multipleOf":0.01}`, "19.99", true},
		{`{"multipleOf":0.01}`, "19.999", false},
		{`{"multipleOf":0.1}`, "0.30000000000000000000000000000000000000000000001", false},
		{`{"multipleOf":3}`, "1e999999999999999999", false},
		{`{"multipleOf":4}`, "1e999999999999999999", true},
		{`{"multipleOf":7}`, "7e999999999999999999", true},
		{`{"multipleOf":1e-17}`, "123456789012345678901234567890", true},
		{`{"multipleOf":0.3}`, "-0.9", true},
		{`{"multipleOf":3}`, "0.00", true},
		{`{"type":"integer"}`, "1e-999999999999999999", false},
		{`{"type":"integer"}`, "1.50e1", true},
		{`{"minimum":-1e999999999999999999}`, "-2e999999999999999999", false},
	} {
		findings, ok := mustCompile(t, c.schema).Check(node(t, c.number)) // a number that is written out would fill the memory
		if valid := ok && len(findings) == 0; valid != c.valid {
			t.Errorf("%s against %s: valid %v, want %v", c.number, c.schema, valid, c.valid)
		}
	}
}

func TestRefusedSchemas(t *testing.T) {
	deep := `{"$ref":"#/$defs/0"`
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]}`, i, i+1, i+1))
	}
	deep += `,"$defs":{` + strings.Join(append(defs, `"40":{}`), ",") + `}}`
	for _, c := range []struct{ schema, want string }{
		{`{`, "#: this is not JSON: "},
		{`[]`, "#: a schema is an array, and it must be an object; write an object"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`,
			`#/$schema: the schema is not of JSON Schema 2020-12; write "https://json-schema.org/draft/2020-12/schema"`},
		{`{"$ref":"https://example.com/order.json"}`,
			`#/$ref: the schema refers to "https://example.com/order.json", which is not in this file, and nothing else is read; write a place in this file, such as "#/$defs/address"`},
		{`{"$ref":"file:///etc/passwd"}`, `which is not in this file`},
		{`{"$ref":"other.json"}`, `which is not in this file`},
		{`{"$ref":"#/$defs/none"}`, `#/$ref: the reference "#/$defs/none" leads to nothing`},
		{`{"$ref":"#none"}`, "#/$ref: there is no $anchor none in the schema"},
		{`{"$ref":"#"}`, "refers to itself without going into a member or an element; write a reference below properties or items"},
		{`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "refers to itself"},
		{`{"if":{"$ref":"#"}}`, "refers to itself"},
		{`{"dependentSchemas":{"a":{"$ref":"#"}}}`, "refers to itself"},
		{deep, "over 2000 rules apply to one value, because references multiply; write fewer alternatives or references that lead to " +
			"references"},
		{`{"$dynamicRef":"#x"}`, "#/$dynamicRef: $dynamicRef is not read"},
		{`{"properties":{"a":{"$id":"https://example.com/a"}}}`, "#/properties/a/$id: $id stands below the root of the schema"},
		{`{"pattern":"(a+)+\\1"}`, "#/pattern: the regular expression cannot be used: "},
		{`{"pattern":"^(?=x)"}`, "#/pattern: the regular expression cannot be used: "},
		{`{"pattern":"(a{1,100}){1,9}(b{1,100}){1,9}(c{1,100}){1,9}(d{1,100}){1,9}"}`, "#/pattern: the regular expression takes"},
		{`{"requierd":["a"]}`, `#/requierd: "requierd" is not a keyword of JSON Schema 2020-12`},
		{`{"id":"https://example.com/a"}`, "#/id: id is not a keyword of JSON Schema 2020-12; write $id"},
		{`{"not":{"id":"https://example.com/a"}}`, "#/not/id: id is not a keyword of JSON Schema 2020-12; write the schema without it"},
		{`{"dependencies":{}}`, "write dependentRequired or dependentSchemas"},
		{`{"items":[{}]}`, "#/items: items is one schema for all elements; write prefixItems"},
		{`{"type":"strnig"}`, `#/type: "strnig" is not a type; write null, boolean,`},
		{`{"type":[]}`, "#/type: the list of types is empty"},
		{`{"type":["string","string"]}`, `"string" is there twice`},
		{`{"minimum":"1"}`, "#/minimum: this is a string, and it must be a number"},
		{`{"minLength":-1}`, "#/minLength: this must be a whole number from 0"},
		{`{"minLength":1.5}`, "#/minLength: this must be a whole number from 0"},
		{`{"multipleOf":0}`, "#/multipleOf: multipleOf must be above 0"},
		{`{"required":"a"}`, `#/required: this is a string, and it must be an array of strings; write ["…"]`},
		{`{"required":[1]}`, "#/required: this is a number, and it must be a string"},
		{`{"properties":[]}`, "#/properties: this is an array, and it must be an object"},
		{`{"properties":{"a":1}}`, "#/properties/a: a schema is a number, and it must be an object, true or false"},
		{`{"properties":{"a/b~c":1}}`, "#/properties/a~1b~0c: a schema is a number"},
		{`{"allOf":[]}`, "#/allOf: this must be an array of schemas"},
		{`{"enum":1}`, "#/enum: enum must be an array"},
		{`{"uniqueItems":1}`, "#/uniqueItems: this is a number, and it must be true or false"},
		{`{"then":{"type":"x"}}`, `#/then/type: "x" is not a type`},
		{`{"$anchor":"a","$defs":{"b":{"$anchor":"a"}}}`, "the anchor a is there twice"},
		{`{"title":"` + strings.Repeat("x", maxText) + `"}`, "bytes, and at most 262144 are read"},
	} {
		s, bad := Compile(c.schema)
		if bad == nil || !strings.Contains(bad.String(), c.want) || s != nil {
			t.Errorf("%.80s:\n got %v\nwant %s", c.schema, bad, c.want)
		}
	}
}

// These schemas, or payloads, are made to take long. A check of any of them takes no more steps
// than the size of the payload allows.
func TestHostileSchemas(t *testing.T) {
	zeros := "[" + strings.Repeat("0,", 100_000) + "0]"
	nested := strings.Repeat(`{"x":`, 200) + "0" + strings.Repeat("}", 200)
	text := `"` + strings.Repeat("a", 200_000) + `!"`
	for _, c := range []struct {
		name, schema, payload string
		ok                    bool
	}{
		{"doubles at each level",
			`{"$ref":"#/$defs/n","$defs":{"n":{"allOf":[{"properties":{"x":{"$ref":"#/$defs/n"}}},{"properties":{"x":{"$ref":"#/$defs/n"}}}]}}}`, nested, false},
		{"doubles in alternatives",
			`{"$ref":"#/$defs/n","$defs":{"n":{"oneOf":[{"properties":{"x":{"$ref":"#/$defs/n"}}},{"type":"null"},{"not":{"properties":{"x":{"$ref":"#/$defs/n"}}}}]}}}`, nested, false},
		{"an honest tree", `{"properties":{"x":{"$ref":"#"}},"type":["object","number"]}`, nested, true},
		{"many faults", `{"items":{"anyOf":[{"type":"string"},{"type":"null"},{"enum":["a"]}]}}`, zeros, true},
		{"unique at each level", `{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat("[", 200) + zeros + strings.Repeat("]", 200),
			true},
		{"a thousand rules for each element", `{"items":{"allOf":[` + strings.Repeat(`{"minimum":0},`, 999) + `{}]}}`, zeros, false},
		{"a slow pattern", `{"pattern":"^(a+)+$"}`, text, true},
		{"a large pattern", `{"pattern":"(a{1,30}){1,30}$"}`, text, false},
		{"large patterns", `{"allOf":[` + strings.Repeat(`{"pattern":"(.{0,30}){0,30}b"},`, 200) + `{}]}`, text, false},
		{"patterns of names", `{"patternProperties":{"(a|b|c|d)*x":{}},"propertyNames":{"pattern":"(x+x+)+y"}}`,
			`{` + strings.Repeat(`"a":0`, 1) + `}`, true},
		{"nothing is covered", `{"items":{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}}`,
			"[" + strings.Repeat(`{"a":1,"b":2},`, 10_000) + "{}]", true},
	} {
		s, root := mustCompile(t, c.schema), node(t, c.payload)
		began := time.Now()
		run := checker{tracks: s.tracks, left: freeSteps + stepsForByte*len(c.payload)}
		run.value(s.root, root, nil, nil)
		took := time.Since(began)
		if ok := run.left >= 0; ok != c.ok {
			t.Errorf("%s: within bounds %v, want %v (%d steps left)", c.name, ok, c.ok, run.left)
		}
		if findings, ok := s.Check(root); ok != c.ok || !ok && findings != nil || len(findings) > MaxFindings {
			t.Errorf("%s: ok %v, %d findings", c.name, ok, len(findings))
		}
		t.Logf("%s: %d bytes, %d steps, %s", c.name, len(c.payload), freeSteps+stepsForByte*len(c.payload)-run.left, took)
		if took > 30*time.Second { // a bound by steps alone would not show that a step has become slow
			t.Errorf("%s took %s", c.name, took)
		}
	}
}

// FuzzCheck shows that Compile and Check cope with any schema and payload. A refusal has a place
// and a reason, and two checks of the same payload have the same result.
func FuzzCheck(f *testing.F) {
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, schema, payload string) {
		s, bad := Compile(schema)
		if bad != nil {
			if bad.Where == "" || bad.What == "" {
				t.Errorf("%q is refused without a place or a reason: %+v", schema, bad)
			}
			return
		}
		doc, err := event.ParseDocument(payload)
		if err != nil {
			return
		}
		findings, ok := s.Check(doc.Root())
		again, okAgain := s.Check(doc.Root())
		if ok != okAgain || !slices.EqualFunc(findings, again, func(a, b Finding) bool { return a.String() == b.String() }) {
			t.Errorf("two checks differ: %v and %v", findings, again)
		}
		if len(findings) > MaxFindings {
			t.Errorf("%d findings", len(findings))
		}
	})
}
