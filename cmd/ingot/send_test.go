package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
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
	got := w.run(exitFine, "send sales.ndjson --local")
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
	if got := w.run(exitFine, "send sales.ndjson --skip 70 --local"); !strings.Contains(got.errors, "sending …\n") ||
		!strings.HasPrefix(got.out, "10 events sent") {
		t.Errorf("%s%s", got.out, got.errors)
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
		got := w.run(exitUsage, "send --local", file).says(t, exitUsage, want)
		must.Equal(t, got.out, "")
		text := must.Read(t, file)
		want = strings.Replace(want, file, "standard input", 1)
		got = pipedWith(t, w.env, string(text), "send - --local")
		got.says(t, exitUsage, want).lacks(t, "--skip")
		must.Equal(t, got.out, "")
	}
	if n := w.queued(); n > 0 {
		t.Errorf("%d messages were sent", n)
	}
	w.run(exitFine, "send one.json --local")
}
