package integration

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
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
				s := of(t, all, file)[0]
				checkAnswer(t, s, cli.invoke(t, template, functionNames[s.Function], file, "env.json"))
			})
		}
		lambda := cli.startLambda(t, template, "env.json")
		for _, s := range all.Files {
			if !slices.Contains(waysOf(s), "marks") { // env.json counts by marks
				continue
			}
			t.Run(s.File, func(t *testing.T) {
				t.Parallel()
				// The answer to a file does not depend on the files before it, though the verdicts
				// do.
				checkAnswer(t, s, lambda.invoke(t, functionNames[s.Function], s.File))
			})
		}
	})
	t.Run("localstack", func(t *testing.T) {
		services := openServices(t)
		var worlds []*samWorld
		for _, s := range all.Files {
			for _, counting := range waysOf(s) {
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
				checkAnswer(t, s, lambda.invoke(t, w.function, s.File))
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

// readSamples also checks that no file is left out.
func readSamples(t *testing.T) *samples.Expected {
	t.Helper()
	all := samples.Read(t, "..")
	files, err := filepath.Glob("../events/*.json")
	must.Succeed(t, err)
	for _, file := range files {
		if name := filepath.Base(file); name != "expected.json" {
			of(t, all, name)
		}
	}
	return all
}

// of returns the entries of one file. There are two if the ways of counting have different answers.
func of(t *testing.T, all *samples.Expected, file string) (found []*samples.File) {
	t.Helper()
	for _, s := range all.Files {
		if s.File == file {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s is not in expected.json", file)
	}
	return found
}

// waysOf returns the ways of counting under which to send a file. The ingest function does not
// count.
func waysOf(s *samples.File) []string {
	if s.Function == "ingest" {
		return []string{"marks"}
	}
	return slices.DeleteFunc(slices.Clone(s.Counting), func(way string) bool {
		return way == "receipts" && !slices.Contains(sentUnderReceipts, s.File)
	})
}

// checkAnswer compares a whole answer, as Lambda would read it.
func checkAnswer(t *testing.T, s *samples.File, answer []byte) {
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
