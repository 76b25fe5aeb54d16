package handler_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
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
		body   string
		reason event.Reason // empty: it is stored
		items  int
	}{
		"each is an object":              {of("basket", `{"n":1}`), event.WrongType, 0},
		"each is a text":                 {of("basket", `"n"`), event.WrongType, 0},
		"each is null":                   {of("basket", `null`), event.MissingField, 0},
		"a scalar among elements":        {of("basket", `[{"n":1},7]`), event.MissingField, 0},
		"null among elements":            {of("basket", `[{"n":1},null]`), event.WrongType, 0},
		"10,000 elements":                {of("basket", numbered(10_000)), event.TooManyParts, 0},
		"1,000 elements":                 {of("basket", numbered(1_000)), "", 1_001},
		"two elements with one id":       {of("basket", `[{"n":1},{"n":2},{"n":1.0}]`), event.PartsClash, 0},
		"a name in whole and element":    {of("basket", `[{"n":1},{"n":2,"id":"2"}]`), event.PartsClash, 0},
		"an atomic whole with 101 items": {of("crate", numbered(100)), event.TooManyParts, 0},
		"an atomic whole with 100 items": {of("crate", numbered(99)), "", 100},
		"an atomic whole of over 4 MB":   {noted("crate", numbered(90), strings.Repeat("x", 45_000)), event.TooManyParts, 0},
		"an array among elements":        {of("crate", `[[]]`), event.WrongType, 0},
		"what breaks the schema":         {`{"type":"leaf","id":"1",` + at + `}`, event.BreaksSchema, 0},
		"a schema that takes too long": {`{"type":"leaf","id":"1",` + at + `,` + strings.Repeat(`"tree":{`, 60) + `"n":1` +
			strings.Repeat("}", 60) + `}`, event.BreaksSchema, 0},
		"1e300 in a histogram": {level(`"x":1e300`), event.NumberOutOfRange, 0},
		"0 in a histogram":     {level(`"x":0`), "", 1},
		"-5 in a histogram":    {level(`"x":-5`), "", 1},
		"an object as newest":  {level(`"y":{"a":1}`), event.WrongType, 0},
		"2 KB as newest":       {level(fmt.Sprintf(`"y":%q`, strings.Repeat("y", 2048))), event.ValueTooLong, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, baskets)
			w.receive(messages(order("before", 1), c.body, order("after", 2)))
			o := w.outcomes[1]
			if stored := c.reason == ""; stored != (o.Verdict == event.Inserted) || !stored &&
				(o.Verdict != event.Poison || o.Refusal.Reason != c.reason || o.Failed) {
				t.Errorf("%s, %v; want %s", o.Verdict, o.Refusal, c.reason)
			}
			if w.outcomes[0].Verdict != event.Inserted || w.outcomes[2].Verdict != event.Inserted || len(w.items()) != 2+c.items {
				t.Errorf("%s, and %d items: %v", w.verdicts(), len(w.items()), maps.Keys(w.items()))
			}
			letters := w.quarantined()
			if (c.reason != "") != (len(letters) == 1) || len(letters) == 1 && *letters[0].Body != c.body {
				t.Errorf("%d letters", len(letters))
			}
		})
	}
}
