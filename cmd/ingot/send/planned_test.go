package send

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

// TestPlannedArrays waits for each event of a line that is an array.
func TestPlannedArrays(t *testing.T) {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Batches: []pipeline.BatchSpec{{Each: "."}}, Type: "e",
		Events: map[string]pipeline.EventSpec{
			"e": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "E#{id}", SK: "E"}}}})
	must.Succeed(t, err)
	waiting, none, lines := send.Waiting{}, keyless{}, 0
	const at = `"at":"2026-03-01T10:00:00Z"`
	for range planned(ndjson.Lines(strings.NewReader(`[{"id":1,`+at+`},{"id":2,`+at+`},7]
{"id":3,`+at+`}
[]
`)), p, waiting, &none) {
		lines++
	}
	if len(waiting) != 3 || none.refused != 2 || none.elsewhere != 0 || lines != 3 {
		t.Errorf("it waits for %d events, %d are refused, %d lines", len(waiting), none.refused, lines)
	}
	if want := "line 1, Poison (not-an-object): "; !strings.HasPrefix(none.first, want) {
		t.Errorf("the first that is refused is %q, want %q", none.first, want)
	}
}

// TestPlannedTooFarAhead does not wait for an event that goes to quarantine, because it is too far
// ahead for the payload bucket.
func TestPlannedTooFarAhead(t *testing.T) {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "e", Events: map[string]pipeline.EventSpec{
		"e": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "E#{id}", SK: "E"}, Offload: pipeline.OffloadSpec{Over: 1 << 10}}}})
	must.Succeed(t, err)
	waiting, none, text := send.Waiting{}, keyless{}, strings.Repeat("x", 2000)
	for range planned(ndjson.Lines(strings.NewReader(`{"id":1,"at":"2026-03-01T10:00:00Z","text":"`+text+`"}
{"id":2,"at":"9000-01-01T00:00:00Z","text":"`+text+`"}
{"id":3,"at":"9000-01-01T00:00:00Z"}
`)), p, waiting, &none) {
		continue
	}
	if len(waiting) != 2 || none.refused != 1 || !strings.HasPrefix(none.first, "line 2, Poison (too-far-ahead): ") {
		t.Errorf("it waits for %d events, %d are refused: %s", len(waiting), none.refused, none.first)
	}
}
