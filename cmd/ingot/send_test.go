package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

// Where no terminal is, send says how far it is at the beginning and at each quarter. With --skip,
// what was sent before counts.
func TestSendSaysHowFarItIs(t *testing.T) {
	w := newDevWorld(t)
	var lines strings.Builder
	for n := range 80 {
		fmt.Fprintf(&lines, `{"type":"sale","id":"p%d","cents":1,"at":"2026-03-01T09:00:00Z","customer":{"email":"a@b.example"}}`+"\n", n)
	}
	write(t, "sales.ndjson", lines.String())
	got := w.run(exitFine, "send", "sales.ndjson", "--local")
	_, said, _ := strings.Cut(got.errors, "sending …\n")
	last := 0
	for line := range strings.Lines(said) {
		var done, total int
		if _, err := fmt.Sscanf(line, "sending: %d of %d", &done, &total); err != nil || done <= last || total != 80 {
			t.Errorf("after %d it says %q", last, line)
		}
		last = done
	}
	if last != 80 || !strings.HasPrefix(got.out, "80 events sent") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitFine, "send", "sales.ndjson", "--skip", "70", "--local"); !strings.Contains(got.errors, "sending …\n") ||
		!strings.HasPrefix(got.out, "10 events sent") {
		t.Errorf("%s%s", got.out, got.errors)
	}
}

// How fast it was is said where it can be told: from a second on.
func TestSendSaysHowFastItWas(t *testing.T) {
	for _, c := range []struct {
		report sentReport
		want   string
	}{
		{sentReport{Sent: 1, Seconds: 0.002}, "1 event sent\n"},
		{sentReport{Sent: 400, Seconds: 0.99}, "400 events sent\n"},
		{sentReport{Sent: 100_000, Seconds: 2.5}, "100,000 events sent in 2.5 s, 40,000 a second\n"},
	} {
		var out strings.Builder
		if err := appOf(cli.IO{Stdout: &out}).sent(c.report); err != nil || out.String() != c.want {
			t.Errorf("%+v: %q, not %q (%v)", c.report, out.String(), c.want, err)
		}
	}
}

// Each line is sent as a message. So a file whose JSON is spread over several lines is refused
// before anything of it is sent, and so is a file of another kind. One array on one line is a
// message, and later lines may be anything.
func TestSendRefusesWhatIsNotLinesOfJSON(t *testing.T) {
	w := newDevWorld(t)
	write(t, "pretty.json", "{\n \"type\": \"sale\"\n}\n")
	write(t, "array.json", "[\n {\"type\": \"sale\"}\n]\n")
	write(t, "one.json", "[{}]\n{\n")
	write(t, "file.yaml", "# not events\ningot: 1\n")
	for file, want := range map[string]string{
		"pretty.json": "pretty.json: its first line is only the beginning of its JSON, and each line is sent as a message of its own; write one event on each line; jq -c . makes that of JSON over several lines\n",
		"file.yaml":   "file.yaml: its first line is not JSON, and each line is sent as a message of its own; write one event on each line\n",
		"array.json":  "write one event on each line; jq -c '.[]' makes that of an array\n",
	} {
		if got := w.run(exitUsage, "send", file, "--local"); !strings.Contains(got.errors, want) || got.out != "" {
			t.Errorf("%s: %s%s", file, got.out, got.errors)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.Replace(want, file, "standard input", 1)
		got := pipedWith(t, w.env, string(text), "send", "-", "--local")
		if got.code != exitUsage || !strings.Contains(got.errors, want) || got.out != "" || strings.Contains(got.errors, "--skip") {
			t.Errorf("%s as standard input: code %d\n%s%s", file, got.code, got.out, got.errors)
		}
	}
	if n := w.waiting(w.dev.Stack().Queue); n > 0 {
		t.Errorf("%d messages were sent", n)
	}
	w.run(exitFine, "send", "one.json", "--local")
}

// TestPlannedArrays waits for each event of a line that is an array.
func TestPlannedArrays(t *testing.T) {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Batches: true, Type: "e", Events: map[string]pipeline.EventSpec{
		"e": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "E#{id}", SK: "E"}}}})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
