package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/pipeline"
)

// localKey returns INGOT_PII_KEY of env.json, with which sam local invoke runs the functions.
func localKey() string {
	var env struct{ Parameters map[string]string }
	text, err := os.ReadFile("../env.json")
	if err == nil {
		err = json.Unmarshal(text, &env)
	}
	if err != nil {
		panic(err)
	}
	return env.Parameters["INGOT_PII_KEY"]
}

func load(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	sampleshop.PipelineAtRoot(t, "..")
	p, err := pipeline.Load(os.DirFS(".."), "pipeline.yaml", pipeline.Secret([]byte(localKey())))
	must.Succeed(t, err)
	if warnings := p.Describe().Warnings; len(warnings) > 0 {
		t.Errorf("pipeline.yaml: %v", warnings)
	}
	return p
}

// TestFiles compares every file with its sample, and with what the pipeline makes of it today.
func TestFiles(t *testing.T) {
	p := load(t)
	want := files(t, p)
	want["expected.json"], want["README.md"] = encode(t, expectations(t, p)), readme(t)
	for name, text := range want {
		golden.File(t, name, string(text))
	}
	found, err := filepath.Glob("*.json")
	must.Succeed(t, err)
	for _, name := range found {
		if want[name] == nil {
			t.Errorf("%s belongs to no sample", name)
		}
	}
	if len(found) < 21 {
		t.Errorf("%d files", len(found))
	}
}

// files returns the file of each sample, by name.
func files(t *testing.T, p *pipeline.Pipeline) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, s := range ingestSamples() {
		all[s.file] = encode(t, s.event())
	}
	for _, s := range streamSamples() {
		all[s.file] = encode(t, s.payload(t, p))
	}
	return all
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.Succeed(t, e.Encode(v))
	return b.Bytes()
}

// readme returns README.md with its two tables written from the samples.
func readme(t *testing.T) []byte {
	t.Helper()
	text := must.Read(t, "README.md")
	var ingest, streams strings.Builder
	for _, s := range ingestSamples() {
		ingest.WriteString(row(s.file, s.about, s.answer, s.after))
	}
	for _, s := range streamSamples() {
		streams.WriteString(row(s.file, s.about, s.answer, s.after))
	}
	return between(t, between(t, text, "ingest", ingest.String()), "streams", streams.String())
}

func row(file, about, answer string, after []string) string {
	if len(after) > 0 {
		about += " (after " + strings.Join(after, ", ") + ")"
	}
	return "| [" + file + "](" + file + ") | " + about + " | " + answer + " |\n"
}

// between replaces the text between two comments.
func between(t *testing.T, text []byte, name, rows string) []byte {
	t.Helper()
	table := regexp.MustCompile(`(?s)(<!-- ` + name + ` files -->\n).*?(<!-- end -->)`)
	if !table.Match(text) {
		t.Fatalf("README.md has no place for the %s files", name)
	}
	return table.ReplaceAllFunc(text, func(old []byte) []byte {
		begin, _, _ := bytes.Cut(old, []byte("\n"))
		return slices.Concat(begin, []byte("\n| file | what it is | answer to expect |\n| --- | --- | --- |\n"+rows+"<!-- end -->"))
	})
}

// TestQueueFilesAreLambdas reads each file with AWS's own types. They must know every member.
func TestQueueFilesAreLambdas(t *testing.T) {
	for _, s := range ingestSamples() {
		var e events.SQSEvent
		strict(t, s.file, encode(t, s.event()), &e)
		must.Equal(t, len(e.Records), len(s.messages), s.file)
		for i, r := range e.Records {
			if r.Body != s.messages[i].body || len(r.MessageAttributes) != len(s.messages[i].attributes) {
				t.Errorf("%s: message %d lost its body or attributes", s.file, i)
			}
		}
	}
}

func TestStreamFilesAreLambdas(t *testing.T) {
	p := load(t)
	for _, s := range streamSamples() {
		text := encode(t, s.payload(t, p))
		if s.file == "streams-undecodable.json" {
			if err := json.Unmarshal(text, &events.DynamoDBEvent{}); err == nil {
				t.Errorf("%s: AWS's own types understand it; the sample shows nothing", s.file)
			}
			continue
		}
		var e events.DynamoDBTimeWindowEvent
		if s.piped {
			strict(t, s.file, text, &e.Records)
		} else {
			strict(t, s.file, text, &e)
		}
		if len(e.Records) != len(s.records) || (e.ShardID != "") != (s.shard != "") || e.IsFinalInvokeForWindow != s.final {
			t.Errorf("%s: read as %+v", s.file, e)
		}
	}
}

func strict(t *testing.T, file string, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// TestTimes checks that every time is in 2099, so that no sample becomes Expired one day.
func TestTimes(t *testing.T) {
	years := regexp.MustCompile(`\b(\d{4})-\d\d-\d\dT`)
	for file, text := range files(t, load(t)) {
		for _, m := range years.FindAllSubmatch(text, -1) {
			if expired := file == "ingest-expired.json"; (string(m[1]) == "2099") == expired {
				t.Errorf("%s: a time in %s", file, m[1])
			}
		}
	}
}

// TestChecksum compares with the checksum of this attribute in the tests of moto, an SQS emulator.
func TestChecksum(t *testing.T) {
	must.Equal(t, attributesMD5([]attribute{{"timestamp", "Number", "1493147359900"}}), "235c5c510d26fb653d073faed50ae77c")
}

func checkRefusal(t *testing.T, file string, i int, err error, reason event.Reason) {
	t.Helper()
	var refusal *event.Refusal
	if !errors.As(err, &refusal) || refusal.Verdict != event.Poison || refusal.Reason != reason {
		t.Errorf("%s: message %d: %v, want Poison (%s)", file, i, err, reason)
	}
}
