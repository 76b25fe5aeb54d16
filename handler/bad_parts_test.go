package handler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// baskets adds a message with lines, one that is atomic, one with a schema that takes long on
// purpose, and readings whose totals keep what not every value fits.
func baskets(s *setup) {
	const at = "{at}"
	whole := func(kind string, atomic bool) {
		s.spec.Events[kind] = pipeline.EventSpec{ID: "{id}", At: at,
			Key: pipeline.KeySpec{PK: strings.ToUpper(kind) + "#{id}", SK: "WHOLE"}, Atomic: atomic}
		s.spec.Events[kind+".line"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: kind, Each: "lines", With: []string{"id", "note"}},
			ID:  "{id}#{n}",
			Key: pipeline.KeySpec{PK: strings.ToUpper(kind) + "#{id}", SK: "LINE#{n}"}}
	}
	whole("basket", false)
	whole("crate", true)
	tree := `{"required":["tree"],"$ref":"#/$defs/n","$defs":{"n":{"allOf":[{"properties":{"tree":{"$ref":"#/$defs/n"}}},{"properties":{"tree":{"$ref":"#/$defs/n"}}}]}}}`
	s.spec.Events["leaf"] = pipeline.EventSpec{ID: "{id}", At: at, Key: pipeline.KeySpec{PK: "LEAF#{id}", SK: "-"}, Schema: tree}
	s.spec.Events["level"] = pipeline.EventSpec{ID: "{id}", At: at, Key: pipeline.KeySpec{PK: "LEVEL#{id}", SK: "-"}}
	s.spec.Aggregates["lines"] = pipeline.AggregateSpec{Since: 1, From: map[string]pipeline.FromSpec{
		"basket.line": {Values: map[string]string{"lines": "count"}}, "crate.line": {Values: map[string]string{"lines": "count"}}}}
	s.spec.Aggregates["levels"] = pipeline.AggregateSpec{Since: 1, From: map[string]pipeline.FromSpec{
		"level": {Values: map[string]string{"all": "histogram x?", "last": "newest y?"}}}}
}

// What can never be stored is Poison with the reason that says why, and nothing of it is stored: no
// whole without its parts, and no part. It is in quarantine unchanged, and its neighbours are
// stored.
func TestNothingOfBadInputIsStored(t *testing.T) {
	const at = `"at":"2099-03-01T10:00:00Z"`
	noted := func(kind, lines, note string) string {
		return fmt.Sprintf(`{"type":%q,"id":"1",%s,"note":%q,"lines":%s}`, kind, at, note, lines)
	}
	of := func(kind, lines string) string { return noted(kind, lines, "") }
	numbered := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"n":%d}`, i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	level := func(member string) string { return `{"type":"level","id":"1",` + at + `,` + member + `}` }
	for name, c := range map[string]struct {
		body  string
		want  string // its verdict, and the reason
		items int
	}{
		"each is an object":              {of("basket", `{"n":1}`), "Poison: wrong-type", 0},
		"each is a text":                 {of("basket", `"n"`), "Poison: wrong-type", 0},
		"each is null":                   {of("basket", `null`), "Poison: missing-field", 0},
		"a scalar among elements":        {of("basket", `[{"n":1},7]`), "Poison: missing-field", 0},
		"null among elements":            {of("basket", `[{"n":1},null]`), "Poison: wrong-type", 0},
		"10,000 elements":                {of("basket", numbered(10_000)), "Poison: too-many-parts", 0},
		"1,000 elements":                 {of("basket", numbered(1_000)), "Inserted", 1_001},
		"two elements with one id":       {of("basket", `[{"n":1},{"n":2},{"n":1.0}]`), "Poison: parts-clash", 0},
		"a name in whole and element":    {of("basket", `[{"n":1},{"n":2,"id":"2"}]`), "Poison: parts-clash", 0},
		"an atomic whole with 101 items": {of("crate", numbered(100)), "Poison: too-many-parts", 0},
		"an atomic whole with 100 items": {of("crate", numbered(99)), "Inserted", 100},
		"an atomic whole of over 4 MB":   {noted("crate", numbered(90), strings.Repeat("x", 45_000)), "Poison: too-many-parts", 0},
		"an array among elements":        {of("crate", `[[]]`), "Poison: wrong-type", 0},
		"what breaks the schema":         {`{"type":"leaf","id":"1",` + at + `}`, "Poison: schema", 0},
		"a schema that takes too long": {`{"type":"leaf","id":"1",` + at + `,` + strings.Repeat(`"tree":{`, 60) + `"n":1` +
			strings.Repeat("}", 60) + `}`, "Poison: schema", 0},
		"1e300 in a histogram": {level(`"x":1e300`), "Poison: number-range", 0},
		"0 in a histogram":     {level(`"x":0`), "Inserted", 1},
		"-5 in a histogram":    {level(`"x":-5`), "Inserted", 1},
		"an object as newest":  {level(`"y":{"a":1}`), "Poison: wrong-type", 0},
		"2 KB as newest":       {level(fmt.Sprintf(`"y":%q`, strings.Repeat("y", 2048))), "Poison: value-too-long", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, baskets)
			w.gets(messages(order("before", 1), c.body, order("after", 2)), "Inserted; "+c.want+"; Inserted")
			must.Equal(t, len(w.items()), 2+c.items)
			if c.want == "Inserted" {
				must.Equal(t, len(w.quarantined()), 0)
				return
			}
			letter, _ := w.letter()
			must.Equal(t, *letter.Body, c.body)
		})
	}
}
