package send_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

var (
	secret = pipeline.Secret([]byte("a secret of sixteen bytes"))
	today  = must.Time("2026-03-01T09:00:00Z")
)

// wholesOf returns the types that come from the queue.
func wholesOf(p *pipeline.Pipeline) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Describe().Spec.Events)), p.IsPart)
}

// A sample of every type of every pipeline of this repository is stored, with parts if the type has
// any.
func TestSampleOfEveryPipeline(t *testing.T) {
	root, seen := os.DirFS("../../.."), 0
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		p, err := pipeline.Load(root, path, secret)
		if err != nil {
			return nil // another file, or one with mistakes for a test
		}
		for _, name := range wholesOf(p) {
			seen++
			text, err := send.Sample(p, name, nil, today, 77)
			if err != nil {
				t.Errorf("%s, %s: %v", path, name, err)
				continue
			}
			item, err := p.Plan(envelope.Message{Body: text})
			if err != nil || p.HasParts(name) && item.Parts.Count == 0 {
				t.Errorf("%s, %s: %v of %s", path, name, err, text)
			}
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d samples, %v", seen, err)
	}
}

const sampleHead = "ingot: 1\nepoch: 1\n"

// Each of these reads its payload in a way of its own.
func TestSampleOfOddTypes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // in the event
	}{
		{"a type of two fields", `
type: "{what.event}.{action}"
events: {order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}}`, []string{`"what":{"event":"order"}`, `"action":"placed"`}},
		{"a list of types", `
type: ["{kind}-{action}", "{kind}"]
events: {order-new: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}, order.placed: {id: "{id}", at: "{at}", key: {pk: "O#{id}", sk: "-"}}}`, []string{`"kind":"order.placed"`}},
		{"no type, no id and no time", `
events: {order.placed: {key: {pk: "ORDER#{@id}", sk: "-"}}}`, []string{`"specversion":"1.0"`, `"type":"order.placed"`}},
		{"the envelope's source", `
type: "{type}"
events: {order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "{@source}#{@id}"}}}`, []string{`"source":"ingot-send"`}},
		{"seconds", `
type: order.placed
events: {order.placed: {id: "{id}", at: "{at | unix}", key: {pk: "{id}", sk: "-"}}}`, []string{`"at":1772355600`}},
		{"milliseconds", `
type: order.placed
events: {order.placed: {id: "{id}", at: "{at | unixms}", key: {pk: "{id}", sk: "-"}}}`, []string{`"at":1772355600000`}},
		{"times and numbers in the key", `
type: order.placed
events: {order.placed: {id: "{id}#{line}#{sent}", at: "{at}", key: {pk: "{id}", sk: "{line | pad:4}#{line}#{sent | time}"}}}`,
			[]string{`"line":78`, `"sent":"2026-03-01T09:00:00Z"`}},
		{"elements and odd names", `
type: order.placed
events: {order.placed: {id: '{lines[1].sku}#{["odd.name"]}', at: "{at}", key: {pk: '{lines[1].sku}', sk: '{["odd.name"]}'}}}`,
			[]string{`"lines":[null,{"sku":"sku-77"}]`, `"odd.name":"odd.name-77"`}},
		{"parts that only their whole tells apart", `
type: order.placed
events:
  order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}
  line: {part: {of: order.placed, each: lines, with: [id]}, id: "{id}", key: {pk: "{id}", sk: "LINE"}}`, []string{`"lines":[{}]`}},
		{"a part with a time and a number of its whole", `
type: order.placed
events:
  order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}
  line: {part: {of: order.placed, each: lines, with: [id, sent, seq]}, id: "{id}#{sku}", key: {pk: "{id}", sk: "{sent | day}#{seq | pad:4}#{seq}#{sku}"}}`, []string{`"sent":"2026-03-01T09:00:00Z"`, `"seq":78`}},
		{"values that are given", `
type: order.placed
events: {order.placed: {id: "{order.id}", at: "{at}", key: {pk: "ORDER#{order.id}", sk: "X"}, mode: latest, revision: version number}}
aggregates:
  daily:
    since: 1
    onExpire: subtract
    by: {currency: "{currency}"}
    from: {order.placed: {values: {orders: count, revenue: sum total}}}`, []string{`"currency":"EUR"`, `"id":"id-77"`, `"note":"x"`, `"total":2.50`}},
		{"parts of several types, of which two share a list", `
type: order.placed
events:
  order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}
  line: {part: {of: order.placed, each: cart.lines, with: [id, shop]}, id: "{id}#{line}", key: {pk: "{id}", sk: "LINE#{line}"}}
  gift: {part: {of: order.placed, each: cart.lines, with: [id]}, id: "{id}#{line}", key: {pk: "{id}", sk: "GIFT#{line}"}}
  receipt: {part: {of: order.placed, with: [id]}, id: "{id}", key: {pk: "RECEIPT#{id}", sk: "-"}}
aggregates:
  sold: {since: 1, by: {shop: "{shop}"}, from: {line: {values: {sold: sum quantity}}}}`,
			[]string{`"lines":[{"line":"line-77","quantity":78},{"line":"line-78","quantity":79}]`, `"shop":"shop-77"`}},
		{"a schema", `
type: order.placed
events:
  order.placed:
    id: "{id}"
    at: "{at}"
    key: {pk: "{id}", sk: "-"}
    schema: '{"type": "object", "required": ["id", "mail", "state", "size", "tags", "to", "fine", "kind", "name"], "properties": {
      "id": {"type": "string", "maxLength": 4}, "mail": {"type": "string", "format": "email"}, "state": {"enum": ["new", "old"]}, "size": {"type": ["integer", "null"], "minimum": 500},
      "tags": {"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 20}}, "to": {"$ref": "#/$defs/place"}, "fine": {"type": "boolean"}, "kind": {"const": 7},
      "name": {"allOf": [{"type": "string"}, {"minLength": 9}]}},
      "$defs": {"place": {"type": "object", "required": ["zip"], "properties": {"zip": {"type": "number", "exclusiveMaximum": 10}}}}}'`,
			[]string{`"id":"d-77"`, `"mail":"sample-77@example.com"`, `"state":"new"`, `"size":500`, `"to":{"zip":9}`, `"kind":7`}},
		{"schemas of parts", `
type: order.placed
events:
  order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}
  line:
    part: {of: order.placed, each: cart.lines, with: [id, shop]}
    id: "{id}#{sku}"
    key: {pk: "{id}", sk: "{sku}"}
    schema: '{"required": ["shop", "color"], "properties": {"shop": {"type": "integer"}, "color": {"enum": ["red"]}, "sku": {"type": "integer"}}}'
  gift:
    part: {of: order.placed, with: [id, note]}
    id: "{id}"
    key: {pk: "GIFT#{id}", sk: "-"}
    schema: '{"required": ["note"]}'`, []string{`"shop":78`, `"color":"red"`, `"note":"note-77"`}},
	} {
		p := written.Pipeline(t, sampleHead+c.text, secret)
		var set map[string]any
		if c.name == "values that are given" {
			set = map[string]any{"currency": "EUR", "order": map[string]any{"note": "x"}, "total": json.RawMessage("2.50")}
		}
		text, err := send.Sample(p, "order.placed", set, today, 77)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, want := range c.want {
			must.Say(t, text, want)
		}
	}
}

// An event that would be Poison is not sent. The message says what is wrong and what to give.
func TestSampleThatCannotBe(t *testing.T) {
	const file = sampleHead + `
type: order.placed
events:
  order.placed: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}, schema: '{"properties": {"id": {"pattern": "^[A-Z]{3}$"}}}'}
  line: {part: {of: order.placed, each: lines, with: [id]}, id: "{id}", key: {pk: "{id}", sk: "LINE"}}
`
	p := written.Pipeline(t, file, secret)
	for name, want := range map[string]string{
		"order.placed": "the sample of order.placed would be Poison: id does not match the pattern",
		"line":         "line is a part of order.placed and comes only with it; send a sample of order.placed",
		"order":        `there is no event type "order"; there are line, order.placed`,
	} {
		if _, err := send.Sample(p, name, nil, today, 77); err == nil || !strings.HasPrefix(err.Error(), want) ||
			name == "order.placed" && !strings.Contains(err.Error(), "; give the right values with --set FIELD=VALUE") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := send.Sample(p, "order.placed", map[string]any{"id": "ABC"}, today, 77); err != nil {
		t.Errorf("the advice was followed: %v", err)
	}
}
