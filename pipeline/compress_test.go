package pipeline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/packed"
)

const withCompress = `ingot: 1
epoch: 2
type: a
events:
  a: {id: "{id}", at: "{at}", compress: true, key: {pk: "A#{id}", sk: "A"}}
  row:
    part: {of: a, each: rows, with: [id]}
    id: "{id}#{n}"
    key: {pk: "A#{id}", sk: "ROW#{n}"}
    compress: true
aggregates:
  sums: {since: 1, from: {a: {values: {cents: sum cents}}}}
`

// large is a payload that takes some KB.
func large(id, text string) envelope.Message {
	return envelope.Message{Body: fmt.Sprintf(`{"id":%q,"at":"2099-01-01T00:00:00Z","cents":1,"rows":[],"text":%q}`, id, text)}
}

// A payload is compressed where that saves a write unit, and nothing else of the item depends on
// it.
func TestCompress(t *testing.T) {
	with, plain := mustLoad(t, withCompress),
		mustLoad(t, strings.ReplaceAll(strings.ReplaceAll(withCompress, ", compress: true", ""), "    compress: true\n", ""))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte('!' + rand.IntN(90))
	}
	for _, c := range []struct {
		name, text string
		packed     bool
	}{
		{"small", "x", false},
		{"under 1 KB", strings.Repeat("x", 700), false},
		{"over 1 KB", strings.Repeat("x", 1200), true},
		{"4 KB of JSON", strings.Repeat(`{"sku":"a","quantity":1},`, 160), true},
		{"noise", string(noise), false},
		{"300 KB", strings.Repeat("abcdefgh", 300<<7), true},
	} {
		a, err := with.Plan(large("1", c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b, err := plain.Plan(large("1", c.text))
		must.Succeed(t, err)
		before, after := itemform.WriteUnits(b.Size()), itemform.WriteUnits(a.Size())
		if (a.Packed != nil) != c.packed || b.Packed != nil || c.packed != (after < before) {
			t.Errorf("%s: packed into %d bytes, %d units and %d without", c.name, len(a.Packed), after, before)
		}
		if a.Digest != b.Digest || a.Data != b.Data || a.Key != b.Key || a.ID != b.ID {
			t.Errorf("%s: the item is another one: %+v", c.name, a)
		}
		if c.packed {
			if text, err := packed.Unpack(a.Packed); err != nil || text != a.Data {
				t.Errorf("%s: the packed form is of another text (%v)", c.name, err)
			}
		}
		sum := func(p *Pipeline, item *event.Item) string { return fmt.Sprint(p.Contributions(item)) }
		if sum(with, a) == "" || len(with.Contributions(a).List) != 1 {
			t.Errorf("%s: it contributes %s", c.name, sum(with, a))
		}
	}
}

// What DynamoDB would not store as it is stays Poison, however small it packs. A reader of many
// items would need room for it.
func TestCompressMakesNoItemStorable(t *testing.T) {
	_, err := mustLoad(t, withCompress).Plan(large("1", strings.Repeat(" ", event.MaxItem)))
	if r := refusal(t, err); r.Reason != event.ItemTooLarge {
		t.Errorf("%v", r)
	}
}

// A part is compressed as its own type says, also when it is made again from the stored whole.
func TestCompressedParts(t *testing.T) {
	p := mustLoad(t, withCompress)
	whole, err := p.Plan(envelope.Message{Body: `{"id":"1","at":"2099-01-01T00:00:00Z","cents":1,"rows":[{"n":1,"text":"` +
		strings.Repeat("ab", 2000) + `"},{"n":2}]}`})
	must.Succeed(t, err)
	again, err := p.Parts(whole)
	must.Succeed(t, err)
	for _, parts := range [][]*event.Item{whole.Parts.Items, again} {
		if len(parts) != 2 || parts[0].Packed == nil || parts[1].Packed != nil {
			t.Errorf("the parts are %+v", parts)
		}
	}
}

func TestCompressIsRefused(t *testing.T) {
	text := strings.Replace(withCompress, "compress: true,", "compress: true, mode: latest, revision: n number,", 1)
	refused(t, text[:strings.Index(text, "  row:")], "p.yaml:5:41: compress does not go with mode latest")
	refused(t, strings.Replace(withCompress, "compress: true", "compress: zstd", 1),
		"compress is text, not true or false; write true, or leave compress out")
}
