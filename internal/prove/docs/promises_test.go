package docs

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
)

const guarantees = "docs/guarantees.md"

// breaks returns what breaks a promise, according to the table of docs/guarantees.md.
func breaks(t *testing.T, promise string) string {
	t.Helper()
	for _, row := range table(t, guarantees, "guarantees") {
		if strings.HasPrefix(row[1], promise) {
			return row[3]
		}
	}
	t.Fatalf("no promise begins with %q", promise)
	return ""
}

var retention = regexp.MustCompile(`(?s)\n  (\w+Queue):.*?MessageRetentionPeriod: (\d+)`)

// TestRetentionIsSaid shows that the promise says what SQS deletes by itself, with the number of
// days that the template sets.
func TestRetentionIsSaid(t *testing.T) {
	days := map[string]int{}
	for _, m := range retention.FindAllStringSubmatch(read(t, sampleshop.Template), -1) {
		seconds, err := strconv.Atoi(m[2])
		must.Succeed(t, err)
		days[m[1]] = seconds / 86400
	}
	if len(days) != 3 || days["DeadLetterQueue"] != days["QuarantineQueue"] {
		t.Fatalf("retention in days: %v", days)
	}
	says := fmt.Sprintf("%d days (ingest queue) or %d days (dead-letter and quarantine queue)", days["IngestQueue"],
		days["QuarantineQueue"])
	must.Say(t, breaks(t, "A message is deleted from the queue only"), "SQS deletes what it has held for "+says)
}

// TestWhatVerifyCannotSee shows that verify does not see what the guarantees say that it cannot
// see. It sees the same damage before anything has expired.
func TestWhatVerifyCannotSee(t *testing.T) {
	text := breaks(t, "If a total is wrong all the same")
	must.Say(t, text, "Once some of its events have expired, its values are not compared",
		"Once all of them have expired, verify does not notice a deleted total")
	day := 24 * time.Hour
	for _, test := range []struct {
		name   string
		after  time.Duration // since the first of two events; they are four days apart and kept for seven
		damage func(*keptWorld)
		seen   string
	}{
		{"nothing expired, altered", 5 * day, (*keptWorld).alter, "orders"},
		{"nothing expired, deleted", 5 * day, (*keptWorld).remove, "missing"},
		{"some expired, altered", 8 * day, (*keptWorld).alter, ""},
		{"some expired, deleted", 8 * day, (*keptWorld).remove, "missing"},
		{"all expired, altered", 12 * day, (*keptWorld).alter, ""},
		{"all expired, deleted", 12 * day, (*keptWorld).remove, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newKeptWorld(t, nil)
			w.put("a")
			w.drain() // the stream forgets after a day
			w.Clock.Reach(keptStart.Add(4 * day))
			w.put("b")
			w.drain()
			w.Clock.Reach(keptStart.Add(test.after))
			w.Engine.SweepExpired()
			w.drain()
			if d := w.verify(); len(d) > 0 {
				t.Fatalf("before the damage: %v", d)
			}
			must.Equal(t, len(w.Get(t, stack.Aggregates, keptKey)) > 0, true)
			test.damage(w)
			found := w.verify()
			if test.seen == "" && len(found) > 0 {
				t.Errorf("it is found: %v; say so in docs/guarantees.md", found)
			}
			if test.seen != "" && (len(found) != 1 || found[0].What != test.seen) {
				t.Errorf("found %v, want a difference in %q", found, test.seen)
			}
		})
	}
}

var keptStart = must.Time("2026-03-01T00:00:00Z")

// keptWorld is both tables, with one total that keeps what expires.
type keptWorld struct {
	*testworld.World
	t      *testing.T
	plan   *pipeline.Pipeline
	store  *store.Store
	stream *esm.Stream
}

// newKeptWorld returns a world with nothing in it. intercept is called around each call, as that of
// [embedded.Config].
func newKeptWorld(t *testing.T, intercept func(context.Context, string, any, func() (any, error)) (any, error)) *keptWorld {
	t.Helper()
	w := &keptWorld{t: t}
	var err error
	w.World, err = testworld.New(t.Context(),
		testworld.Config{Start: keptStart, Engine: embedded.Config{RollAfter: -1, Intercept: intercept}})
	w.must(err)
	w.start(keptSpec())
	handle := func(ctx context.Context, payload []byte) ([]byte, error) { // it uses the plan and the store of its day
		return lambda.NewHandler(w.Streams(w.store).Handle).Invoke(ctx, payload)
	}
	w.stream, err = w.MapStream(esm.StreamConfig{BatchSize: 100, Window: w.Window(), Function: esm.Function{Handler: handle}})
	w.must(err)
	return w
}

// start plans and stores from now on by this pipeline.
func (w *keptWorld) start(spec pipeline.Spec) {
	w.t.Helper()
	var err error
	w.plan, err = pipeline.New(spec)
	w.must(err)
	w.store, err = w.Store(w.plan)
	w.must(err)
	w.must(w.store.Start(w.t.Context()))
}

func keptSpec() pipeline.Spec {
	return pipeline.Spec{Ingot: 1, Epoch: 1, Type: "order",
		Events: map[string]pipeline.EventSpec{"order": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "{id}", SK: "-"},
			Retain: 7 * 24 * time.Hour}},
		Aggregates: map[string]pipeline.AggregateSpec{"all": {Since: 1,
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}}}
}

func (w *keptWorld) must(err error) {
	w.t.Helper()
	must.Succeed(w.t, err)
}

func (w *keptWorld) put(id string) {
	w.t.Helper()
	item, err := w.plan.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":%q,"at":%q}`, id, w.Clock.Now().Format(time.RFC3339))})
	w.must(err)
	if results, _ := w.store.Put(w.t.Context(), []*event.Item{item}); results[0].Verdict != event.Inserted {
		w.t.Fatalf("%+v", results[0])
	}
}

func (w *keptWorld) drain() {
	w.t.Helper()
	for range 20 {
		polled, err := w.stream.Poll(w.t.Context())
		w.must(err)
		if polled.Idle() {
			return
		}
	}
	w.t.Fatal("the stream is never read to its end")
}

func (w *keptWorld) verify() []verify.Difference {
	w.t.Helper()
	report, err := verify.Totals(w.t.Context(), w.plan, w.store, w.Clock.Now())
	w.must(err)
	return report.Differences
}

var keptKey = testworld.Key("A#all#1#0", "-")

func (w *keptWorld) alter() {
	w.t.Helper()
	w.Alter(w.t, stack.Aggregates, keptKey, "ADD orders :v", &types.AttributeValueMemberN{Value: "1"})
}

func (w *keptWorld) remove() {
	w.t.Helper()
	w.Delete(w.t, stack.Aggregates, keptKey)
}

// TestToolIsInstalledBeforeItIsUsed reads the README from top to bottom, as a newcomer types it. No
// command uses ingot before it is installed, and the README says where it is then.
func TestToolIsInstalledBeforeItIsUsed(t *testing.T) {
	installed := false
	for _, b := range blocks(t, "README.md") {
		if b.info != "sh" {
			continue
		}
		for line := range strings.Lines(b.text) {
			installed = installed || strings.HasPrefix(line, "go install ./cmd/ingot")
			if strings.HasPrefix(line, "ingot ") && !installed {
				t.Errorf("README.md: %q stands before go install", strings.TrimSpace(line))
			}
		}
	}
	if text := read(t, "README.md"); !installed || strings.Count(text, "$(go env GOPATH)/bin") != 1 {
		t.Error("the README does not say once where go install puts the tool")
	}
}

// TestLoweringTheEpochIsSaid shows that what docs/deploy.md forbids breaks a promise, and that
// the promise says so.
func TestLoweringTheEpochIsSaid(t *testing.T) {
	must.Say(t, breaks(t, "A total equals the sum"), "lowering `epoch`")
	must.Say(t, read(t, "docs/deploy.md"), "**An epoch is only ever raised.**")
}
