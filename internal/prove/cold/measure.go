package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

// function is one of the two functions that are measured.
type function struct {
	pkg    string // what to build
	dir    string // where the binaries go
	name   string // unique in dir
	binary string // the one that is run
	sizes  []int64
	times  []timing
}

// timing holds the times of one cold start: until the process asked for work, and until its answer
// was complete.
type timing struct{ init, answer time.Duration }

// build compiles the binary that runs on this machine, and one for each of arches to take its size.
func (f *function) build(ctx context.Context, arches []string) error {
	f.binary = filepath.Join(f.dir, f.name+".exe")
	if err := runtimeapi.Build(ctx, f.pkg, f.binary, ""); err != nil {
		return err
	}
	for _, arch := range arches {
		binary := filepath.Join(f.dir, f.name+"-"+arch)
		if err := runtimeapi.Build(ctx, f.pkg, binary, arch); err != nil {
			return err
		}
		info, err := os.Stat(binary)
		if err != nil {
			return err
		}
		f.sizes = append(f.sizes, info.Size())
	}
	return nil
}

// once starts the function, sends it its first batch and takes the times. It returns an error if
// the function did not store the event, because the times mean nothing then.
func (f *function) once(ctx context.Context, db *database, event []byte) (timing, error) {
	var output bytes.Buffer
	db.reset()
	p, err := runtimeapi.Start(ctx, runtimeapi.Config{Binary: f.binary, Name: f.name, Env: environment(db.url()), Stdout: &output,
		Stderr: &output})
	if err != nil {
		return timing{}, err
	}
	answer, err := p.Invoke(ctx, event, 0)
	p.Close() // this must be done before output is read, because the process writes to it
	if err == nil {
		err = stored(answer, db)
	}
	if err != nil {
		return timing{}, fmt.Errorf("%w; the function printed:\n%s", err, output.Bytes())
	}
	return timing{init: p.Init(), answer: p.ColdStart()}, nil
}

// environment returns the environment variables that template.yaml gives the function, with the
// endpoint for every service.
func environment(endpoint string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL":       endpoint,
		"INGOT_TABLE":            "events",
		"INGOT_AGGREGATES_TABLE": "totals",
		"INGOT_QUARANTINE_URL":   endpoint + "/123456789012/quarantine",
		"INGOT_ARCHIVE_BUCKET":   "archive",
		"INGOT_PII_KEY":          "a key for the cold-start bench",
	}
}

// stored returns an error unless the answer says that the batch succeeded, and the event was
// written to the table.
func stored(answer []byte, db *database) error {
	var response struct {
		BatchItemFailures []json.RawMessage `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return fmt.Errorf("the answer %q is not JSON: %w", answer, err)
	}
	if len(response.BatchItemFailures) > 0 {
		return fmt.Errorf("the event was not stored; the answer was %s after the requests %v", answer, db.seen())
	}
	if !db.wrote() {
		return fmt.Errorf("the event was not stored: no write among the requests %v", db.seen())
	}
	return nil
}

func summary(times []timing, part func(timing) time.Duration) (least, median time.Duration) {
	sorted := make([]time.Duration, len(times))
	for i, t := range times {
		sorted[i] = part(t)
	}
	slices.Sort(sorted)
	n := len(sorted)
	return sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (t timing) untilInit() time.Duration   { return t.init }
func (t timing) untilAnswer() time.Duration { return t.answer }

// writeTable prints both functions and how they compare. It returns the ratio of their median cold
// starts.
func writeTable(w io.Writer, arches []string, ours, reference *function) (float64, error) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\t")
	for _, arch := range arches {
		fmt.Fprintf(table, "%s MB\t", arch)
	}
	fmt.Fprint(table, "init median\tcold start min\tcold start median\t\n")
	for _, f := range []*function{ours, reference} {
		fmt.Fprintf(table, "%s\t", f.pkg)
		for _, size := range f.sizes {
			fmt.Fprintf(table, "%.2f\t", float64(size)/1e6)
		}
		_, init := summary(f.times, timing.untilInit)
		least, median := summary(f.times, timing.untilAnswer)
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", ms(init), ms(least), ms(median))
	}
	fmt.Fprint(table, "ratio\t")
	for i := range ours.sizes {
		fmt.Fprintf(table, "%.2f\t", float64(ours.sizes[i])/float64(reference.sizes[i]))
	}
	_, init := summary(ours.times, timing.untilInit)
	_, refInit := summary(reference.times, timing.untilInit)
	least, median := summary(ours.times, timing.untilAnswer)
	refLeast, refMedian := summary(reference.times, timing.untilAnswer)
	ratio := float64(median) / float64(refMedian)
	fmt.Fprintf(table, "%.2f\t%.2f\t%.2f\t\n", float64(init)/float64(refInit), float64(least)/float64(refLeast), ratio)
	return ratio, table.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
