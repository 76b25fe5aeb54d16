package integration

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

// TestSAM sends the files of events/ to the built functions in containers of Lambda.
//
// local is a local build (make build LOCAL=1), which needs no endpoint. Its engine ends with its
// container. So each file meets empty tables, and only the answer can be compared.
// internal/run/function sends the files to the same binaries and compares more. localstack is what
// is deployed. Each file has its own tables, queue and bucket, and the test also compares what
// became of those.
//
// Each file has its own container. sam local invoke, as events/README.md describes it, needs
// seconds to start, each time. So it gets one file of each function, and sam local start-lambda
// gets all files: it makes the same containers, but starts only once.
func TestSAM(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	cli := findSAM(t)
	all := readSamples(t)
	t.Run("local", func(t *testing.T) {
		template := cli.build(t, "lambda.norpc,ingotlocal")
		// These come before the others, so that sam makes its image only once.
		for _, file := range []string{"ingest-one.json", "streams-insert.json"} {
			t.Run("invoke "+file, func(t *testing.T) {
				s := all.of(t, file)[0]
				s.checkAnswer(t, cli.invoke(t, template, functionNames[s.Function], file, "env.json"))
			})
		}
		lambda := cli.startLambda(t, template, "env.json")
		for _, s := range all.Files {
			if !slices.Contains(s.ways(), "marks") { // env.json counts by marks
				continue
			}
			t.Run(s.File, func(t *testing.T) {
				t.Parallel()
				// The answer to a file does not depend on the files before it, though the verdicts
				// do.
				s.checkAnswer(t, lambda.invoke(t, functionNames[s.Function], s.File))
			})
		}
	})
	t.Run("localstack", func(t *testing.T) {
		services := openServices(t)
		var worlds []*samWorld
		for _, s := range all.Files {
			for _, counting := range s.ways() {
				worlds = append(worlds, services.world(t, s, all.Key, counting))
			}
		}
		template, environment := withFunctions(t, cli.build(t, "lambda.norpc"), worlds)
		lambda := cli.startLambda(t, template, environment)
		for _, w := range worlds {
			s := w.sample
			t.Run(s.File+"/"+w.counting.String(), func(t *testing.T) {
				t.Parallel()
				w.create(t)
				for _, before := range s.After {
					lambda.invoke(t, w.function, before)
				}
				s.checkAnswer(t, lambda.invoke(t, w.function, s.File))
				w.checkItems(t, all, s)
				w.checkLetters(t, s)
				w.checkTotals(t, s)
				w.checkArchive(t, s)
			})
		}
	})
}

// functionNames are the names of both functions in template.yaml.
var functionNames = map[string]string{"ingest": "IngestFunction", "streams": "StreamsFunction"}

// sentUnderReceipts lists the files that receipts treat differently. All other files are sent only
// under marks.
var sentUnderReceipts = []string{"streams-no-shard.json", "streams-pipe.json", "streams-redelivered.json", "streams-ttl-removal.json"}

// TestBuildFlags shows that these tests build the functions as make build does.
func TestBuildFlags(t *testing.T) {
	text := must.Read(t, "../Makefile")
	flags := slices.Clone(runtimeapi.ProductionFlags)
	flags[0] += "$(if $(LOCAL),$(comma)ingotlocal)"
	for _, line := range []string{"build: export CGO_ENABLED = 0\n", "build: export GOFLAGS = " + strings.Join(flags, " ") + "\n"} {
		must.Say(t, string(text), line)
	}
}

// samples is events/expected.json. events/README.md says what its members mean.
type samples struct {
	Key   string
	Files []*sample
}

type sample struct {
	File, Function  string
	Counting, After []string
	Messages        []struct {
		Verdict, Reason string
		Key             *struct{ PK, SK string }
		Quarantined     bool
	}
	Changes []struct {
		Sequence, Outcome string
	}
	Totals []struct {
		Aggregate string
		By        map[string]string
		Window    string
		N         int64
		Values    map[string]string
		Flagged   bool
	}
	Archived          []struct{ PK, SK string }
	State             bool
	BatchItemFailures []string
	WholeBatchFails   bool
}

func readSamples(t *testing.T) *samples {
	t.Helper()
	text := must.Read(t, "../events/expected.json")
	all := &samples{}
	if err := json.Unmarshal(text, all); err != nil || len(all.Files) < 20 {
		t.Fatalf("%d samples, %v", len(all.Files), err)
	}
	files, err := filepath.Glob("../events/*.json")
	must.Succeed(t, err)
	for _, file := range files {
		if name := filepath.Base(file); name != "expected.json" {
			all.of(t, name)
		}
	}
	return all
}

// of returns the entries of one file. There are two if the ways of counting have different answers.
func (a *samples) of(t *testing.T, file string) (found []*sample) {
	t.Helper()
	for _, s := range a.Files {
		if s.File == file {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s is not in expected.json", file)
	}
	return found
}

// ways returns the ways of counting under which to send a file. The ingest function does not count.
func (s *sample) ways() []string {
	if s.Function == "ingest" {
		return []string{"marks"}
	}
	return slices.DeleteFunc(slices.Clone(s.Counting), func(way string) bool {
		return way == "receipts" && !slices.Contains(sentUnderReceipts, s.File)
	})
}

// checkAnswer compares a whole answer, as Lambda would read it.
func (s *sample) checkAnswer(t *testing.T, answer []byte) {
	t.Helper()
	if s.WholeBatchFails {
		var failure struct{ ErrorMessage, ErrorType string }
		if err := json.Unmarshal(answer, &failure); err != nil || failure.ErrorMessage == "" || failure.ErrorType == "" {
			t.Errorf("answer %s; the whole batch should fail", answer)
		}
		return
	}
	failures := []any{}
	for _, id := range s.BatchItemFailures {
		failures = append(failures, map[string]any{"itemIdentifier": id})
	}
	want := map[string]any{"batchItemFailures": failures}
	if s.State {
		want["state"] = map[string]any{}
	}
	var got any
	if err := json.Unmarshal(answer, &got); err != nil || !equalJSON(got, want) {
		t.Errorf("answer %s, want %v: %v", answer, want, err)
	}
}

// equalJSON compares two values as JSON. Map members have no order, and json.Marshal sorts them.
func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
