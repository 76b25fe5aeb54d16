package ingot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

const visits = `ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{visit_id}", at: "{at}", key: {pk: "VISIT#{visit_id}", sk: "VISIT"}}
`

// A function is made of the pipeline that it is given, under the name that it is given.
func TestNewIngestReadsItsFiles(t *testing.T) {
	t.Setenv("INGOT_TABLE", "events")
	t.Setenv("AWS_REGION", "eu-central-1")
	good := fstest.MapFS{"pipeline.yaml": {Data: []byte(visits)}, "other.yaml": {Data: []byte(visits)},
		"bad.yaml": {Data: []byte("ingot: 1")}}
	if _, err := ingot.NewIngest(context.Background(), good); err != nil {
		t.Error(err)
	}
	named := func(name string) func(*ingot.IngestOptions) {
		return func(o *ingot.IngestOptions) { o.Pipeline = name }
	}
	if _, err := ingot.NewIngest(context.Background(), good, named("other.yaml")); err != nil {
		t.Error(err)
	}
	var mistakes pipeline.Mistakes
	if _, err := ingot.NewIngest(context.Background(), good, named("bad.yaml")); !errors.As(err, &mistakes) ||
		!strings.Contains(err.Error(), "bad.yaml") {
		t.Errorf("a pipeline with mistakes: %v", err)
	}
	if _, err := ingot.NewIngest(context.Background(), fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no pipeline: %v", err)
	}
}

// If a program gives a log, the function uses it, also for what it says about a batch.
func TestOptionsReachTheHandler(t *testing.T) {
	t.Setenv("INGOT_TABLE", "events")
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	table := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Item":{"region":{"S":"eu-central-1"}}}`) // the home
	}))
	defer table.Close()
	t.Setenv("AWS_ENDPOINT_URL", table.URL)
	var log bytes.Buffer
	batches := 0
	handle, err := ingot.NewIngest(context.Background(), fstest.MapFS{"pipeline.yaml": {Data: []byte(visits)}},
		func(o *ingot.IngestOptions) {
			o.Log, o.Namespace = slog.New(slog.NewTextHandler(&log, nil)), "Shop"
			o.OnBatch = func(context.Context, handler.IngestReport) { batches++ }
		})
	must.Succeed(t, err)
	if _, err := handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{}}); err != nil || batches != 1 {
		t.Errorf("an empty batch: error %v, reported %d times", err, batches)
	}
	if _, err := handle(context.Background(), events.SQSEvent{Records: make([]events.SQSMessage, 1)}); err == nil ||
		!strings.Contains(log.String(), "the whole batch failed") {
		t.Errorf("error %v, log %q", err, &log)
	}
}

func TestMetricsAreDescribed(t *testing.T) {
	for _, of := range []struct {
		metrics []ingot.Metric
		last    string // written only for some batches
	}{{ingot.IngestMetrics(), "ArrayEvents"}, {ingot.StreamsMetrics(), "PayloadsLost"}} {
		listed := make(map[string]bool)
		for _, m := range of.metrics {
			if m.Name == "" || m.Unit == "" || m.About == "" || listed[m.Name] {
				t.Errorf("metric %+v, listed before: %t", m, listed[m.Name])
			}
			listed[m.Name] = true
		}
		if !listed[of.last] {
			t.Errorf("%s is not listed", of.last)
		}
	}
}
