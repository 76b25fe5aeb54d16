package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/demo"
	"github.com/ingot-events/ingot/internal/tool/show"
)

const readings = `ingot: 1
epoch: 1
type: reading
events:
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "SENSOR#{sensor}", sk: "{@id}"}
    retain: 7d
aggregates:
  hourly:
    since: 1
    by: {sensor: "{sensor}"}
    window: 1h
    from:
      reading: {values: {readings: count, warmth: sum celsius, hottest: max celsius}}
`

// inDirectory gives the test a directory of its own with the example's files.
func inDirectory(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must.Succeed(t, writeReadings("."))
}

// writeReadings writes a pipeline of readings and events for it.
func writeReadings(dir string) error {
	var events strings.Builder
	for i := range 40 {
		line, err := json.Marshal(map[string]any{"id": i, "sensor": []string{"roof", "cellar"}[i%2], "celsius": float64(i)/4 - 3,
			"at": "2024-05-01T10:" + []string{"00", "15", "30", "45"}[i/10] + ":00Z"})
		if err != nil {
			return err
		}
		events.Write(append(line, '\n'))
	}
	return writeInto(dir, map[string]string{"events.ndjson": events.String(), "pipeline.yaml": readings})
}

// content returns what is in a file.
func content(t *testing.T, name string) string {
	t.Helper()
	return string(must.Read(t, name))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
}

func TestDemoJSON(t *testing.T) {
	inDirectory(t)
	o := tool(t, "demo events.ndjson --output json --seed 5 --counting receipts --repeat 3")
	o.says(t, exitFine, "sending events through trouble")
	var s demo.Summary
	decoder := json.NewDecoder(strings.NewReader(o.out))
	decoder.DisallowUnknownFields()
	must.Succeed(t, decoder.Decode(&s))
	if s.Summary != demo.SummaryVersion || s.Seed != 5 || s.Counting != "receipts" || s.Data.Name != "events" || s.Data.Events != 120 ||
		s.Data.Copies != 3 || !s.Same {
		t.Errorf("%+v", s.Data)
	}
	again := tool(t, "demo events.ndjson --output json --seed 5 --counting receipts --repeat 3")
	must.Equal(t, again.out, o.out)
}

func TestDemoRefuses(t *testing.T) {
	inDirectory(t)
	write(t, "broken.ndjson", `{"id":1,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}`+"\n"+
		`{"id":2,"sensor":"roof","celsius":"hot","at":"2024-05-01T10:00:00Z"}`)
	write(t, "empty.ndjson", "\n")
	write(t, "marked.ndjson", "\ufeff"+`{"id":1,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}`+
		"\r\n") // as Windows programs begin and end lines
	must.Succeed(t, os.Mkdir("sub", 0o700))
	write(t, filepath.Join("sub", "wrong.yaml"), strings.Replace(strings.Replace(readings, "window: 1h", "windw: 1h", 1), "retain: 7d",
		"retain: 7 days", 1))
	demo := func(line string) ran { return tool(t, "demo "+line) }
	tool(t, "demo --example nonsense").says(t, exitUsage, `--example "nonsense"`,
		"write one of earthquakes, shop, leaderboard, feed, ledger, sensors, or")
	tool(t, "demo --counting fingers").says(t, exitUsage, `counting "fingers"`, "write marks or receipts")
	tool(t, "demo --repeat 0").says(t, exitUsage, "--repeat 0: write 1 or more")
	for _, seed := range []string{"minus", "-1", "1.5", "18446744073709551616"} {
		o := demo("--seed "+seed).says(t, exitUsage, fmt.Sprintf("--seed %q: write a whole number from 0 to 18446744073709551615", seed))
		o.lacks(t, "strconv")
	}
	tool(t, "demo --totals all").says(t, exitUsage, `--totals "all": write a whole number`)
	tool(t, "demo --pipeline pipeline.yaml").says(t, exitUsage,
		"--pipeline is for your own events; name their file too: ingot demo FILE --pipeline FILE")
	tool(t, "demo events.ndjson more.ndjson").says(t, exitUsage,
		"ingot demo takes one file of events, or - for standard input; see ingot demo --help")
	tool(t, "demo", "").says(t, exitUsage, "takes one file of events")
	tool(t, "demo events.ndjson --example shop").says(t, exitUsage,
		"--example and the file events.ndjson were both given; write one of them")
	tool(t, "demo events.ndjson --pipeline nowhere.yaml").says(t, exitUsage,
		"nowhere.yaml: no such file or directory; name the pipeline for these events with --pipeline FILE")
	demo("nowhere.ndjson").says(t, exitUsage, "nowhere.ndjson", "no such file")
	demo("sub").says(t, exitUsage, "sub: it is a directory; name a file with one JSON event a line")
	demo("-").says(t, exitUsage, "standard input: there is no event in it")
	demo("events.ndjson --attribute a").says(t, exitUsage, `--attribute "a": write NAME=VALUE`)
	tool(t, "demo --attribute a=b").says(t, exitUsage, "--attribute is for your own events")
	demo("events.ndjson --pipeline sub").says(t, exitUsage,
		"sub: it is a directory; name the pipeline for these events with --pipeline FILE")
	demo("events.ndjson --totals -5").says(t, exitUsage, "--totals -5: write how many", "or -1 for all")
	demo("broken.ndjson").says(t, exitUsage, "broken.ndjson:2:", "celsius", "correct that line")
	write(t, "wrapped.ndjson",
		`{"specversion":"1.0","id":"1","source":"s","type":"reading","data":{"id":1,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}}`)
	o := demo("wrapped.ndjson --repeat 2")
	o.says(t, exitUsage, "wrapped.ndjson:1: it cannot be repeated: it comes in an envelope (CloudEvent (structured))",
		"leave --repeat away")
	o.lacks(t, "correct that line")
	demo("empty.ndjson").says(t, exitUsage, "there is no event in it")
	demo("events.ndjson --pipeline nowhere.yaml").says(t, exitUsage, "nowhere.yaml")
	demo("events.ndjson --pipeline sub/wrong.yaml").says(t, exitUsage, "sub/wrong.yaml:9:", "sub/wrong.yaml:14:", "windw", "window")
	demo("marked.ndjson").says(t, exitFine)
}

// A pipeline with hmac runs without a secret of one's own. The demo then says which key it takes.
func TestDemoWithoutASecret(t *testing.T) {
	inDirectory(t)
	write(t, "secret.yaml", strings.Replace(readings, `"{sensor}"}`, `"{sensor | hmac}"}`, 1))
	const said = `ingot demo: INGOT_PII_KEY is not set: keyed hashes are made with the key "` + show.StandIn + `"`
	stand := tool(t, "demo events.ndjson --pipeline secret.yaml").says(t, exitFine, said)
	a := appOf(cli.IO{Env: func(name string) (string, bool) { return "k", name == "INGOT_PII_KEY" }})
	own := toolIn(context.Background(), a, "demo events.ndjson --pipeline secret.yaml")
	if own.says(t, exitFine); strings.Contains(own.errors, "INGOT_PII_KEY") || own.out == stand.out {
		t.Errorf("with a secret of its own it says %s\nand its hashes differ: %v", own.errors, own.out != stand.out)
	}
	tool(t, "demo events.ndjson --pipeline pipeline.yaml").lacks(t, "INGOT_PII_KEY")
	tool(t, "demo --example shop").lacks(t, "INGOT_PII_KEY")
}

func TestDemoInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := toolIn(ctx, bare(), "demo").says(t, exitInterrupted, "interrupted")
	must.Equal(t, o.out, "")
}

// TestDemoReadsStandardInput checks that the demo reads standard input as it reads a file, however
// often it needs it.
func TestDemoReadsStandardInput(t *testing.T) {
	inDirectory(t)
	t.Setenv("TMPDIR", t.TempDir())
	file := tool(t, "demo events.ndjson --repeat 2")
	stdin := piped(t, content(t, "events.ndjson"), "demo - --repeat 2").says(t, exitFine)
	must.Equal(t, stdin.out, strings.Replace(file.out, "events.ndjson", "standard input", 1))
	piped(t, "{}\n", "demo -").says(t, exitUsage, "standard input:1: ")
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// TestDemoTakesMessageAttributes checks both ways to give attributes: for all lines by --attribute,
// or for each line by a batch as explain reads it.
func TestDemoTakesMessageAttributes(t *testing.T) {
	inDirectory(t)
	write(t, "pipeline.yaml", strings.Replace(readings, "type: reading", `type: "{@attribute.kind}"`, 1))
	body := `{"id":1,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}`
	write(t, "events.ndjson", body)
	demo := func(more ...string) ran {
		return tool(t, "demo events.ndjson --totals -1", more...)
	}
	demo().says(t, exitUsage, "events.ndjson:1: Poison (missing-field)", "attribute")
	demo("--attribute", "kind=reading").says(t, exitFine)
	quoted, err := json.Marshal(body)
	must.Succeed(t, err)
	other := strings.Replace(string(quoted), `:1,`, `:2,`, 1)
	const of = `"messageAttributes":{"kind":{"dataType":"String","stringValue":"reading"}}`
	write(t, "events.ndjson", fmt.Sprintf(`{"Records":[{"eventSource":"aws:sqs","body":%s,%s},{"eventSource":"aws:sqs","body":%s,%s}]}`,
		quoted, of, other, of))
	o := demo().says(t, exitFine)
	if !strings.Contains(o.out, "INGOT DEMO  2 events") || !strings.Contains(o.out, "  2  no difference") &&
		!strings.Contains(o.out, "  1  no difference") {
		t.Errorf("two messages of one line:\n%s", o.out)
	}
	demo("--attribute", "kind=reading").says(t, exitUsage,
		"events.ndjson:1: it is a batch, whose messages have attributes of their own; leave out --attribute")
}

// TestDemoListsAllBadLines checks that the first bad lines are listed with their errors, and the
// others by number.
func TestDemoListsAllBadLines(t *testing.T) {
	inDirectory(t)
	var lines strings.Builder
	for i := range 100 {
		switch {
		case i%10 == 3:
			fmt.Fprintf(&lines, `{"id":%d,"sensor":"roof","celsius":"hot","at":"2024-05-01T10:00:00Z"}`+"\n", i)
		case i == 90:
			lines.WriteString(strings.Repeat("x", 3<<20) + "\n") // longer than one read
		case i > 90:
			lines.WriteString("x\n")
		default:
			fmt.Fprintf(&lines, `{"id":%d,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}`+"\n", i)
		}
	}
	write(t, "broken.ndjson", lines.String())
	o := tool(t, "demo broken.ndjson")
	o.says(t, exitUsage, "broken.ndjson: 19 of 100 lines cannot be used:\n  broken.ndjson:4: Poison (wrong-type)",
		"\n  broken.ndjson:91: it has more than 2097152 bytes", "\n  and 9 more: lines 92-100")
	if n := strings.Count(o.errors, "\n"); n > 14 || o.out != "" {
		t.Errorf("%d lines on stderr, stdout %q", n, o.out)
	}
}

// Events that are not in order of time are sent all the same, and the demo says so.
func TestDemoSaysThatEventsAreNotInOrder(t *testing.T) {
	inDirectory(t)
	const line = `{"id":%d,"sensor":"roof","celsius":1,"at":"2024-05-01T%02d:00:00Z"}` + "\n"
	var text [2]string
	for i, hour := range []int{10, 12, 12, 11, 13, 9} {
		text[0] += fmt.Sprintf(line, i, hour)
		text[1] += fmt.Sprintf(line, i, 8+i)
	}
	for i, want := range []string{"ingot: mixed.ndjson is not in order of time: 2 of 6 events are older than an event before them, the " +
		"first on line 4; they are sent in the order of the file", ""} {
		write(t, "mixed.ndjson", text[i])
		o := tool(t, "demo mixed.ndjson --repeat 2")
		if o.says(t, exitFine, want); strings.Count(o.errors, "not in order") != 1-i {
			t.Errorf("%s", o.errors)
		}
	}
}

// With --skip-unusable, lines that cannot be used are named and left out. Without it, the error
// names the option.
func TestDemoSkipsBadLines(t *testing.T) {
	inDirectory(t)
	good := `{"id":%d,"sensor":"roof","celsius":1,"at":"2024-05-01T10:00:00Z"}` + "\n"
	write(t, "some.ndjson", fmt.Sprintf(good, 1)+"nope\n"+fmt.Sprintf(good, 2)+`{"id":3}`+"\n"+fmt.Sprintf(good, 4))
	demo := func(line string) ran { return tool(t, "demo "+line) }
	demo("some.ndjson").says(t, exitUsage, "or leave them out with --skip-unusable.")
	o := demo("some.ndjson --skip-unusable")
	o.says(t, exitFine, "ingot: some.ndjson: 2 of 5 lines cannot be used:\n  some.ndjson:2: Poison (undecodable)",
		"\n  some.ndjson:4: Poison (missing-field)", "\nThey are left out.\n")
	o.prints(t, "INGOT DEMO  3 events", "Every event is stored once and counted once.")
	write(t, "one.ndjson", fmt.Sprintf(good, 1)+"nope\n")
	demo("one.ndjson").says(t, exitUsage, "one.ndjson:2: Poison (undecodable)", "; leave it out with --skip-unusable")
	demo("one.ndjson --skip-unusable").says(t, exitFine, "one.ndjson: 1 of 2 lines cannot be used:\n  one.ndjson:2: ",
		"\nIt is left out.\n")
	write(t, "none.ndjson", "nope\n")
	demo("none.ndjson --skip-unusable").says(t, exitUsage, "none.ndjson:1: Poison (undecodable)")
	tool(t, "demo --skip-unusable").says(t, exitUsage,
		"--skip-unusable is for your own events: the examples have no lines that cannot be used")
}

// TestDemoReadsAPipe checks that the demo reads a pipe, whatever its name. A pipe can be read only
// once.
func TestDemoReadsAPipe(t *testing.T) {
	inDirectory(t)
	events, err := os.ReadFile("events.ndjson")
	must.Succeed(t, err)
	r, w, err := os.Pipe()
	must.Succeed(t, err)
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() {
		t.Skip("this system has no /dev/fd")
	}
	written := make(chan error)
	go func() {
		_, err := w.Write(events)
		written <- errors.Join(err, w.Close())
	}()
	o := tool(t, "demo", name).says(t, exitFine)
	if err := <-written; err != nil || !strings.Contains(o.out, "INGOT DEMO  40 events: "+name) {
		t.Errorf("%v: %s", err, o.out)
	}
	t.Setenv("TMPDIR", "/nonexistent")
	tool(t, "demo -").says(t, exitFailed, "set TMPDIR to a folder that can be written to")
}

// Even if nothing is typed into a terminal, the tool stops when it is interrupted.
func TestInterruptedWhileItReads(t *testing.T) {
	atRoot(t)
	for _, args := range [][]string{{"explain", "-"}, {"demo", "-"}} {
		silent, end := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		reading := &signalling{r: silent, began: cancel}
		var stdout, stderr bytes.Buffer
		code := run(ctx, args, func(string) (string, bool) { return "", false }, reading, &stdout, &stderr)
		if code != exitInterrupted || !strings.HasSuffix(stderr.String(), "ingot: interrupted\n") {
			t.Errorf("%v: exit code %d, %s", args, code, &stderr)
		}
		_ = end.Close() // for the read that continued
	}
}

// signalling signals that it is being read.
type signalling struct {
	r     io.Reader
	began func()
}

func (s *signalling) Read(p []byte) (int, error) {
	s.began()
	return s.r.Read(p)
}
