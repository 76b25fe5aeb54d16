package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

const spec = `ingot: 1
epoch: EPOCH
type: "{type}"
events:
  visit:
    id: "{id}"
    at: "{at}"
    key: {pk: "VISIT#{id}", sk: "-"}
aggregates:
  daily: {since: 1, by: {site: "{site | lower}"}, window: 1d, from: {visit: {values: {visits: count, paid: sum cents}}}}
`

const more = "  all: {since: 2, from: {visit: {values: {visits: count}}}}\n"

// world is a stack in this process.
type world struct {
	stack
	*testworld.World
	t      *testing.T
	stream *esm.Stream
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: time.Date(2099, 3, 1, 12, 0, 0, 0, time.UTC)})
	w.must(err)
	w.deploy(strings.Replace(spec, "EPOCH", "1", 1))
	w.stream, err = w.MapStream(esm.StreamConfig{Window: w.Window(), Function: esm.Function{Handler: w.count}})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	must.Succeed(w.t, err)
}

func (w *world) deploy(text string) {
	w.t.Helper()
	dir := w.t.TempDir()
	w.must(os.WriteFile(dir+"/pipeline.yaml", []byte(text), 0o644))
	var err error
	w.plan, err = pipeline.Load(os.DirFS(dir), "pipeline.yaml")
	w.must(err)
	w.store, err = w.Store(w.plan)
	w.must(err)
	w.must(w.store.Start(w.t.Context()))
}

// count runs the streams function.
func (w *world) count(ctx context.Context, payload []byte) ([]byte, error) {
	return lambda.NewHandler(w.Streams(w.store).Handle).Invoke(ctx, payload)
}

func (w *world) visit(id int) {
	w.t.Helper()
	item, err := w.plan.Plan(
		envelope.Message{Body: fmt.Sprintf(`{"type":"visit","id":%d,"at":"2099-03-01T10:00:00Z","site":"North","cents":250}`, id)})
	w.must(err)
	if results, _ := w.store.Put(w.t.Context(), []*event.Item{item}); results[0].Verdict != event.Inserted {
		w.t.Fatalf("%+v", results[0])
	}
}

func (w *world) drain() {
	w.t.Helper()
	for {
		polled, err := w.stream.Poll(w.t.Context())
		w.must(err)
		if polled.Records == 0 {
			return
		}
	}
}

// says runs a command line and compares what it prints. If the command returns an error, the error
// is the last line.
func (w *world) says(line, want string) {
	w.t.Helper()
	var out bytes.Buffer
	w.out = &out
	if err := w.command(w.t.Context(), strings.Fields(line)); err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	if out.String() != want {
		w.t.Errorf("totals %s prints\n%swant\n%s", line, out.String(), want)
	}
}

func TestCommands(t *testing.T) {
	w := newWorld(t)
	w.visit(1)
	w.visit(2)
	w.drain()
	w.says("verify", "2 items, 1 totals, 0 of them in part: 0 differences\n")
	w.says(`read daily {"site":"NORTH"} 2099-03-01 2099-03-02`, "2099-03-01T00:00:00Z paid=500 visits=2 building: false\n")

	w.says(`read daily {"site":"south"} 2099-03-01 2099-03-02`, "nothing is counted there\n")

	w.deploy(strings.Replace(spec, "EPOCH", "2", 1) + more)
	w.says("read all {}", "nothing is counted there\nbuilding: true\n")
	w.visit(3)
	w.drain()
	w.says("read all {}", "visits=1 building: true\n")
	w.says("verify", "building: all since 2\n3 items, 2 totals, 0 of them in part: 0 differences\n")
	w.says("finish all 0", "error: finish all since 2: 2 items are still stamped below it; run the touch pass again\n")
	w.says("touch all", "touched 2 of 3 items\nwhen the stream has brought them: totals finish all 0\n")
	w.says("finish all 0", "all since 2: fp is "+w.live(1)+", and its items add up to "+w.live(3)+
		"\nall since 2: n is 1, and its items add up to 3\n"+
		"all since 2: visits is 1, and its items add up to 3\nerror: all since 2 is not complete yet\n")
	w.drain()
	w.says("finish all 0", "all since 2 is complete\n")
	w.says("read all {}", "visits=3 building: false\n")

	objects := "archive objects: expired/" + event.Key{PK: "VISIT#3", SK: "-"}.Hash() + "/\n"
	w.says("erase VISIT#3 -", "erased, and its key is barred\n"+objects)
	w.says("erase VISIT#3 -", "no event is stored there; the key is barred\n"+objects)
	w.drain()
	w.says("read all {}", "visits=2 building: false\n")
	def, _ := w.plan.Definition("all")
	_, err := repair.Of(w.store).Flag(t.Context(), []*aggregate.Definition{def}, w.Clock.Now(), "odd")
	w.must(err)
	w.says("read all {}", "visits=2 building: false\nflagged: 2099-03-01T12:00:00Z odd\n")
	w.says("verify", "flagged: all since 2, all totals: 2099-03-01T12:00:00Z odd\n2 items, 2 totals, 0 of them in part: 0 differences\n")
	w.says("erase VISIT#3", "error: erase PK SK: both are part of the key\n")

	w.visit(4)
	w.says("touch nobody", "error: no aggregate nobody in pipeline.yaml\n")
	w.says("finish nobody 0", "error: no aggregate nobody in pipeline.yaml\n")
	w.says("finish all", "error: finish NAME BEHIND: BEHIND is the number that touch has printed\n")
	w.says("read daily {}", "error: Poison (missing-field): aggregate daily, by site: field site is missing\n")
	w.says("", "error: say verify, touch NAME, finish NAME BEHIND, read NAME FIELDS [FROM TO], or erase PK SK\n")
}

// live returns the fingerprint of the total of all, as it was stored when it had counted the last
// of so many visits, or all of them.
func (w *world) live(visits int) string {
	w.t.Helper()
	sum := event.Decimal{}
	def, _ := w.plan.Definition("all")
	for item, err := range w.store.Items(w.t.Context()) {
		w.must(err)
		if visits == 1 && item.Key.PK != "VISIT#3" {
			continue
		}
		for _, c := range w.plan.Contributions(item).List {
			if c.Def == def {
				sum = sum.Add(event.DecimalOf(c.Term))
			}
		}
	}
	return sum.String()
}

// The program reads the settings of a deployed stack before it sends any request.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "pipeline.yaml") {
		t.Errorf("without a pipeline: %v", err)
	}
	must.Succeed(t, os.WriteFile("pipeline.yaml", []byte(strings.Replace(spec, "EPOCH", "1", 1)), 0o644))
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("INGOT_TABLE", "events")
	t.Setenv("INGOT_AGGREGATES_TABLE", "totals")
	if err := run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "say verify") {
		t.Errorf("without a command: %v", err)
	}
}
