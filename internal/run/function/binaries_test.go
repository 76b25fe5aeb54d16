package function_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

// buildLocal builds both functions as make build does, with the engine in them.
func buildLocal(t *testing.T) map[string]string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds binaries with the go command, which -short leaves out")
	}
	binaries, dir := map[string]string{}, t.TempDir()
	flags := slices.Clone(runtimeapi.ProductionFlags)
	flags[0] += ",ingotlocal"
	for _, name := range []string{"ingest", "streams"} {
		binaries[name] = filepath.Join(dir, name)
		args := append(append([]string{"run", "-exec", "cp"}, flags...), "../../../cmd/"+name, binaries[name])
		cmd := exec.Command("go", args...)
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return binaries
}

// sandbox is one running function. Its output may be read once the sandbox is closed.
type sandbox struct {
	*runtimeapi.Process
	output bytes.Buffer
}

func start(t *testing.T, binary string, env map[string]string) *sandbox {
	t.Helper()
	return startAs(t, runtimeapi.Config{Binary: binary, Name: "fn", Env: env})
}

func startAs(t *testing.T, c runtimeapi.Config) *sandbox {
	t.Helper()
	s := &sandbox{}
	c.Stdout, c.Stderr = &s.output, &s.output
	p, err := runtimeapi.Start(t.Context(), c)
	must.Succeed(t, err)
	s.Process = p
	t.Cleanup(p.Close)
	return s
}

// lines returns the lines that the function printed and that have the given member.
func (s *sandbox) lines(member string) []map[string]any {
	var found []map[string]any
	for _, text := range bytes.Split(s.output.Bytes(), []byte("\n")) {
		var line map[string]any
		if json.Unmarshal(text, &line) == nil && line[member] != nil {
			found = append(found, line)
		}
	}
	return found
}

// TestBuiltBinaries runs the built functions as Lambda does. The engine in their process takes the
// place of the services.
func TestBuiltBinaries(t *testing.T) {
	binaries := buildLocal(t)
	t.Run("samples", func(t *testing.T) { testSamples(t, binaries) })
	t.Run("ahead", func(t *testing.T) { testAhead(t, binaries["ingest"]) })
	t.Run("own pipeline", func(t *testing.T) { testOwnPipeline(t, binaries) })
	for name, binary := range binaries {
		t.Run("wrong environment/"+name, func(t *testing.T) {
			refuses(t, binary, map[string]string{"INGOT_COUNTING": "mark"}, `INGOT_COUNTING is "mark"`, "TABLE is not set")
		})
		// A local build that is deployed by mistake must not acknowledge what it cannot keep.
		t.Run("deployed/"+name, func(t *testing.T) {
			refuses(t, binary, map[string]string{"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "totals", "INGOT_PII_KEY": "k"},
				"ingotlocal")
		})
	}
}

// testSamples sends every file of events/ to a fresh process, after the files that it follows.
func testSamples(t *testing.T, binaries map[string]string) {
	sampleshop.PipelineAtRoot(t, "../../..")
	all := samples.Read(t, "../../..")
	for _, s := range all.Files {
		ways := s.Counting
		if s.Function == "ingest" {
			ways = []string{"marks"}
		}
		for _, counting := range ways {
			t.Run(s.File+"/"+counting, func(t *testing.T) {
				box := start(t, binaries[s.Function], environment(all.Key, counting, os.Getenv("INGOT_TEST_CLOCK_AHEAD")))
				for _, file := range append(slices.Clone(s.After), s.File) {
					answer, err := box.Invoke(t.Context(), read(t, file), 0)
					if file == s.File {
						checkAnswer(t, s, answer, err)
					} else if err != nil {
						t.Fatal(err)
					}
				}
				box.Close()
				checkLines(t, s, box)
				if t.Failed() {
					t.Logf("it printed:\n%s", box.output.Bytes())
				}
			})
		}
	}
}

func environment(key, counting, ahead string) map[string]string {
	return map[string]string{
		"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "aggregates", "INGOT_ARCHIVE_BUCKET": "archive", "INGOT_COUNTING": counting,
		"INGOT_QUARANTINE_URL": "http://host.docker.internal:4566/000000000000/quarantine", "INGOT_PII_KEY": key,
		"INGOT_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_SAM_LOCAL": "true",
		"INGOT_TEST_CLOCK_AHEAD": ahead,
	}
}

// testAhead shows that a local build's clock can be moved. Otherwise a test of a year ahead would
// find nothing.
func testAhead(t *testing.T, binary string) {
	sampleshop.PipelineAtRoot(t, "../../..")
	key := samples.Read(t, "../../..").Key
	box := start(t, binary, environment(key, "marks", "876000h")) // in a hundred years, all samples are past their time
	_, err := box.Invoke(t.Context(), read(t, "ingest-one.json"), 0)
	must.Succeed(t, err)
	box.Close()
	if metrics := box.lines("_aws"); len(metrics) != 1 || metrics[0]["Expired"] != 1.0 {
		t.Errorf("it printed:\n%s", box.output.Bytes())
	}
	refuses(t, binary, environment(key, "marks", "a year"), `INGOT_TEST_CLOCK_AHEAD is "a year"`, "write a duration such as 8760h")
}

const visits = `ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: "VISIT"}}
`

// testOwnPipeline shows that the built functions work by the file that INGOT_PIPELINE names, in a
// layer or beside the binary, and by that file alone. If the file has mistakes, they do not fall
// back to the pipeline in the binary.
func testOwnPipeline(t *testing.T, binaries map[string]string) {
	layer := filepath.Join(t.TempDir(), "pipeline.yaml")
	for _, file := range []string{layer, filepath.Join(filepath.Dir(binaries["ingest"]), "beside.yaml")} {
		must.Write(t, file, visits)
	}
	for _, named := range []string{layer, "beside.yaml"} {
		env := environment("", "marks", "")
		env["INGOT_PIPELINE"] = named
		box := start(t, binaries["ingest"], env)
		_, err := box.Invoke(t.Context(), []byte(`{"Records":[
			{"messageId":"1","eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:q",
			"body":"{\"type\":\"visit\",\"id\":\"v1\",\"at\":\"2099-03-01T09:00:00Z\"}"},
			{"messageId":"2","eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:q",
			"body":"{\"type\":\"order.placed\",\"merchant_id\":\"m\",\"order_id\":\"o\",\"placed_at\":\"2099-03-01T09:00:00Z\"}"}]}`), 0)
		must.Succeed(t, err)
		box.Close()
		metrics, told := box.lines("_aws"), box.lines("file")
		if len(metrics) != 1 || metrics[0]["Inserted"] != 1.0 || metrics[0]["Poison"] != 1.0 || len(told) != 1 || told[0]["file"] != named {
			t.Errorf("%s: it printed:\n%s", named, box.output.Bytes())
		}
	}
	for _, binary := range binaries {
		env := environment("", "marks", "")
		env["INGOT_PIPELINE"] = "absent.yaml"
		refuses(t, binary, env, "INGOT_PIPELINE names absent.yaml, and there is no such file")
		must.Write(t, layer, strings.Replace(visits, "id:", "ident:", 1))
		env["INGOT_PIPELINE"] = layer
		refuses(t, binary, env, "INGOT_PIPELINE names "+layer, "pipeline.yaml:5:11: ")
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text := must.Read(t, filepath.Join("../../../events", file))
	return text
}

// checkAnswer checks that the answer's bytes have the form that Lambda reads. A wrong outer key
// would delete messages.
func checkAnswer(t *testing.T, s *samples.File, answer []byte, err error) {
	t.Helper()
	if s.WholeBatchFails {
		var refusal *runtimeapi.FunctionError
		if !errors.As(err, &refusal) {
			t.Errorf("answer %s, error %v; the whole batch should fail", answer, err)
		}
		return
	}
	must.Succeed(t, err)
	failures := []string{}
	for _, id := range s.BatchItemFailures {
		failures = append(failures, `{"itemIdentifier":"`+id+`"}`)
	}
	want := `{"batchItemFailures":[` + strings.Join(failures, ",") + `]`
	if s.State {
		want += `,"state":{}`
	}
	if want += "}"; string(answer) != want {
		t.Errorf("answer %s, want %s", answer, want)
	}
}

// checkLines compares what the function printed with what became of its last batch.
func checkLines(t *testing.T, s *samples.File, box *sandbox) {
	t.Helper()
	metrics := box.lines("_aws")
	if s.WholeBatchFails {
		if len(metrics) != len(s.After)+1 || !slices.ContainsFunc(box.lines("level"), func(l map[string]any) bool {
			return l["level"] == "ERROR" && l["requestId"] != nil
		}) {
			t.Fatalf("%d lines of metrics, or no ERROR with its request id", len(metrics))
		}
		if last := metrics[len(metrics)-1]; last["BatchesUnproven"] != 1.0 || last["ChangesReceived"] != float64(len(s.Changes)) ||
			last["WriteUnits"] != 0.0 {
			t.Errorf("metrics of a batch that failed whole: %v", last)
		}
		return
	}
	if s.Function == "streams" && len(s.Changes) == 0 {
		return // the end of a window is not reported
	}
	if len(metrics) != len(s.After)+1 {
		t.Fatalf("%d lines of metrics for %d batches", len(metrics), len(s.After)+1)
	}
	last := metrics[len(metrics)-1]
	want := map[string]float64{"ColdStart": 0}
	if len(metrics) == 1 {
		want["ColdStart"] = 1
	}
	if s.Function == "ingest" {
		countMessages(t, s, box, want)
	} else {
		want["ChangesReceived"], want["Archived"] = float64(len(s.Changes)), float64(len(s.Archived))
		for _, c := range s.Changes {
			switch c.Outcome {
			case "quarantined":
				want["Quarantined"]++
			case "ignored":
				want["ChangesForeign"]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		must.Equal(t, last[name], any(want[name]), name)
	}
}

// countMessages adds the counts of an ingest batch to want. It looks for the line of each
// quarantined message.
func countMessages(t *testing.T, s *samples.File, box *sandbox, want map[string]float64) {
	want["EventsReceived"], want["Returned"] = float64(len(s.Messages)), float64(len(s.BatchItemFailures))
	for _, v := range event.Verdicts {
		if !v.Seldom() { // it is written only where there is one
			want[v.String()] = 0
		}
	}
	for _, m := range s.Messages {
		want[m.Verdict]++
		told := slices.ContainsFunc(box.lines("messageId"), func(l map[string]any) bool {
			return l["messageId"] == m.ID && l["message"] == "quarantined" && l["verdict"] == m.Verdict && l["reason"] == m.Reason &&
				l["requestId"] != nil
		})
		must.Equal(t, told, m.Quarantined, m.ID)
	}
}

// refuses checks that a function that cannot work says why in one line of its log, and ends.
func refuses(t *testing.T, binary string, env map[string]string, says ...string) {
	t.Helper()
	env["AWS_LAMBDA_LOG_FORMAT"] = "JSON"
	box := start(t, binary, env)
	_, err := box.Invoke(t.Context(), []byte("{}"), 0)
	var exit *runtimeapi.ExitError
	if !errors.As(err, &exit) || exit.State.ExitCode() != 1 {
		t.Errorf("error %v, want exit code 1", err)
	}
	box.Close()
	lines := box.lines("error")
	if len(lines) != 1 || lines[0]["level"] != "ERROR" {
		t.Fatalf("it printed %s", box.output.Bytes())
	}
	for _, text := range says {
		must.Say(t, lines[0]["error"].(string), text)
	}
}
