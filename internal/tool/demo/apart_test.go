package demo

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

// Events of messages with several are sent each in its own way, and together again, and what nobody
// wants is left out.
func TestSeveralEventsInALine(t *testing.T) {
	const file = `ingot: 1
epoch: 1
batches: [{each: "days[].readings", with: {day: "days[].day"}}]
drop: [ping]
type: "{type}"
events:
  reading: {id: "{day}#{n}", at: "{day}", key: {pk: "DAY#{day}", sk: "#{n | pad:4}"}}
aggregates:
  daily: {since: 1, window: 1d, from: {reading: {values: {readings: count}}}}
`
	p := written.Pipeline(t, file)
	var lines []string
	for day := range 20 {
		at := "2026-03-" + string(rune('0'+(day+1)/10)) + string(rune('0'+(day+1)%10)) + "T00:00:00Z"
		lines = append(lines, `{"days":[{"day":"`+at+`","readings":[{"type":"reading","n":1},{"type":"ping"},{"type":"reading","n":2}]}]}`,
			`{"type":"ping"}`)
	}
	name := filepath.Join(t.TempDir(), "events.ndjson")
	must.Write(t, name, strings.Join(lines, "\n"))
	s, err := Run(t.Context(), Config{Plan: p, Data: File(name, "events.ndjson", nil), Seed: 7, Repeat: 1})
	if err != nil || s.Data.Events != 40 || s.Kept.Items != 40 || s.Deliveries.Arrays < 2 {
		t.Fatalf("%v: %+v", err, s)
	}
	for _, c := range s.Checks {
		if len(c.Differences) > 0 {
			t.Errorf("%+v", c)
		}
	}
	for i := range 2 { // lines 1 and 3; the second one has only what is dropped
		lines[2*i] = strings.Replace(lines[2*i], `"n":1`, `"n":null`, 1)
	}
	must.Write(t, name, strings.Join(lines, "\n"))
	_, err = Run(t.Context(), Config{Plan: p, Data: File(name, "events.ndjson", nil), Seed: 7, Repeat: 1})
	must.Fail(t, err, "events.ndjson: 2 of 20 lines that drop does not name cannot be used")
}
