package worker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/watched"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/worker"
)

const parcels = `ingot: 1
epoch: 1
type: parcel
events:
  parcel: {mode: latest, revision: rev number, id: "{id}", at: "{at}", key: {pk: "P#{id}", sk: "P"}}
aggregates:
  open: {since: 1, by: {shop: "{shop}"}, from: {parcel: {where: status = "open", values: {parcels: count}}}, onExpire: subtract}
`

const scheduled = "2031-05-12T06:00:00Z"

// week is a stack with a schedule.
type week struct {
	*testworld.World
	*testing.T
	worker  *worker.Worker
	plan    *pipeline.Pipeline
	store   *store.Store
	mapping *esm.Stream
	state   string // of the mapping
	rev     int
	found   []worker.Found
	folders map[string]*testworld.Folder
	before  func(worker.Task) // each stage
	role    *iam.Role         // of the worker; nil: everything is allowed
}

func newWeek(t *testing.T, counting aggregate.Counting) *week {
	t.Helper()
	w := &week{T: t, state: "Enabled", folders: map[string]*testworld.Folder{}, before: func(worker.Task) {}}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: must.Time("2031-05-05T06:00:00Z"), Counting: counting})
	must.Succeed(t, err)
	streams := w.deploy(parcels)
	w.mapping, err = w.MapStream(esm.StreamConfig{BatchSize: 7, Window: w.Window(),
		Function: esm.Function{Handler: func(ctx context.Context, payload []byte) ([]byte, error) {
			return lambda.NewHandler(streams.Handle).Invoke(ctx, payload)
		}}})
	must.Succeed(t, err)
	for id := range 12 {
		w.put(id, "open")
	}
	w.deliver()
	of := w.StoreConfig(nil)
	w.worker = &worker.Worker{Env: w.Env, Open: func(place string) (sums.Folder, error) {
		if w.folders[place] == nil {
			w.folders[place] = &testworld.Folder{}
		}
		return w.folders[place], nil
	}, Watching: &worker.Watching{Tables: of, Work: "s3://b/watch", Counted: w.counted,
		Found: func(_ context.Context, f worker.Found) { w.found = append(w.found, f) }}}
	return w
}

// deploy starts a streams function, which keeps its file.
func (w *week) deploy(text string) *handler.Streams {
	w.Helper()
	w.plan = written.Pipeline(w.T, text)
	var err error
	w.store, err = w.Store(w.plan)
	must.Succeed(w.T, err)
	streams := w.Streams(w.store)
	must.Succeed(w.T, streams.Start(w.Context()))
	streams.KeepFile(w.Context())
	return streams
}

func (w *week) put(id int, status string) {
	w.Helper()
	w.rev++
	item, err := w.plan.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":"%d","rev":%d,"status":%q,"shop":"s%d","at":"2031-05-05T06:00:00Z"}`,
		id, w.rev, status, id%3)})
	must.Succeed(w.T, err)
	if r, _ := w.store.Put(w.Context(), []*event.Item{item}); !r[0].Verdict.Stored() {
		w.Fatal(r)
	}
}

func (w *week) deliver() {
	w.Helper()
	for idle := 0; idle < 2; idle++ {
		for {
			p, err := w.mapping.Poll(w.Context())
			must.Succeed(w.T, err)
			if p.Idle() {
				break
			}
			idle = 0
		}
		w.Clock.Pass(2 * time.Minute)
	}
}

// counted asks as a worker does, while the mapping delivers.
func (w *week) counted(ctx context.Context) (time.Time, error) {
	e := w.Env
	e.Sleep = func(ctx context.Context, d time.Duration) error {
		if w.state == "Enabled" {
			w.deliver()
		}
		return w.Env.Sleep(ctx, d)
	}
	return drained.Question{Tables: w.Engine.DynamoDB(), Shards: w.Engine.Streams(), Events: stack.Events, Aggregates: stack.Aggregates,
		Function: "streams", Notes: fences.Streams, Patience: 10 * time.Minute, Env: e,
		Mappings: func(context.Context) ([]pause.Mapping, error) {
			return []pause.Mapping{{Source: w.StreamARN, State: w.state, Factor: 1}}, nil
		}}.Ask(ctx)
}

// damage spoils the total of a shop.
func (w *week) damage(shop string) {
	w.Helper()
	def, _ := w.plan.Definition("open")
	key := lanes.Key(def, 0, []string{shop}, aggregate.NoWindow)
	w.Alter(w, stack.Aggregates, rows.KeyImage(key), "ADD parcels :v", rows.Number("1"))
}

// execute is the state machine: it passes everything on as JSON.
func (w *week) execute(scheduled string) error {
	w.Helper()
	ctx := w.Context()
	if w.role != nil {
		ctx = iam.As(ctx, w.role)
	}
	call := func(task any) (a worker.Answer, err error) {
		text, err := json.Marshal(task)
		must.Succeed(w.T, err)
		var of worker.Task
		must.Succeed(w.T, json.Unmarshal(text, &of))
		if a, err = w.worker.Handle(ctx, of); err != nil {
			return a, err
		}
		text, err = json.Marshal(a)
		must.Succeed(w.T, err)
		a = worker.Answer{}
		return a, json.Unmarshal(text, &a)
	}
	a, err := call(map[string]string{"job": "watch", "step": "begin", "scheduled": scheduled})
	if err != nil {
		return err
	}
	for stage := a.Stage; stage != nil; stage = stage.Next {
		if stage.AtOnce < 1 || stage.Tasks == nil {
			w.Fatalf("%+v", stage)
		}
		for i, part := range stage.Tasks {
			if i == 0 {
				w.before(part.Task)
			}
			for n := 0; ; n++ {
				if a, err = call(part.Task); err != nil || !a.More {
					break
				}
				if n > 1000 {
					w.Fatalf("%+v does not end", part.Task)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *week) run() worker.Found {
	w.Helper()
	must.Succeed(w.T, w.execute(scheduled))
	return w.found[len(w.found)-1]
}

func (w *week) last() watched.Last {
	w.Helper()
	last, err := watched.Read(w.Context(), w.Engine.DynamoDB(), stack.Aggregates)
	must.Succeed(w.T, err)
	return *last
}

// A sound week compares everything with one look. Its run is known by its time: if it is started
// again, it does nothing.
func TestSoundWeek(t *testing.T) {
	w := newWeek(t, aggregate.Marks)
	stages := 0
	w.before = func(worker.Task) { stages++ }
	want := worker.Found{Scheduled: scheduled, Totals: 3, Events: 12}
	must.Match(t, w.run(), want)
	must.Match(t, w.last(), watched.Last{At: scheduled, Totals: 3, Events: 12})
	before := stages
	must.Succeed(t, w.execute(scheduled))
	must.Equal(t, len(w.found), 1)
	must.Equal(t, stages, before)
	for place := range w.folders {
		if strings.HasSuffix(place, "/second") && w.folders[place].Len() > 0 {
			t.Errorf("%s has files of a second look", place)
		}
	}
}

// A difference in a total at rest is found in one run, also while other totals move, and whatever
// the last run was.
func TestPlantedDifference(t *testing.T) {
	w := newWeek(t, aggregate.Marks)
	w.damage("s1")
	w.before = func(of worker.Task) {
		if of.Step == worker.Segment {
			w.put(map[string]int{"first": 3, "second": 6}[of.Look], "closed") // both of shop s0
		}
	}
	f := w.run()
	if f.Differing != 1 || f.Undecided != 1 || !slices.Equal(f.Damaged, []string{"open since 1"}) {
		t.Errorf("%+v", f)
	}
	must.Equal(t, w.last().Differing, 1)
}

// The same event is on its way in the same direction at both looks, and comes back in between. The
// total never was wrong.
func TestStateThatFlaps(t *testing.T) {
	w := newWeek(t, aggregate.Marks)
	w.before = func(of worker.Task) {
		switch of.Step + " " + of.Look {
		case "segment first", "segment second":
			w.put(3, "closed")
		case "hold ", "drain ":
			w.put(3, "open")
			if of.Step == worker.Drain {
				return
			}
			w.deliver()
		}
	}
	if f := w.run(); f.Differing != 0 || f.Undecided != 1 {
		t.Errorf("%+v", f)
	}
}

// Under receipts nothing says whether an event was on its way, so nothing is called wrong.
func TestReceiptsProveNothing(t *testing.T) {
	w := newWeek(t, aggregate.Receipts)
	w.damage("s1")
	if f := w.run(); f.Differing != 0 || f.Undecided != 1 {
		t.Errorf("%+v", f)
	}
}

// A run waits while the streams function is paused, and fails if that takes too long.
func TestPausedStream(t *testing.T) {
	for name, resume := range map[string]bool{"for a while": true, "for long": false} {
		t.Run(name, func(t *testing.T) {
			w := newWeek(t, aggregate.Marks)
			w.damage("s1")
			w.state = "Disabled"
			asked := 0
			counted := w.worker.Watching.Counted
			w.worker.Watching.Counted = func(ctx context.Context) (time.Time, error) {
				if asked++; asked == 5 && resume {
					w.state = "Enabled"
				}
				return counted(ctx)
			}
			err := w.execute(scheduled)
			if resume {
				must.Succeed(t, err)
				must.Equal(t, w.found[0].Differing, 1)
				return
			}
			must.Fail(t, err, "nothing calls it")
			must.Equal(t, len(w.found), 0)
			w.state = "Enabled"
			must.Succeed(t, w.execute("2031-05-19T06:00:00Z"))
			must.Equal(t, w.found[0].Differing, 1)
		})
	}
}

// What is building is named, and not compared. Another pipeline.yaml in the middle of a run makes
// it fail: it proves nothing.
func TestWeekOfADeployment(t *testing.T) {
	w := newWeek(t, aggregate.Marks)
	second := strings.Replace(strings.Replace(parcels, "epoch: 1", "epoch: 2", 1), "{since: 1", "{since: 2", 1)
	once := true
	w.before = func(of worker.Task) {
		if of.Step == worker.Hold && once {
			once = false
			w.deploy(second)
		}
	}
	must.Fail(t, w.execute(scheduled), "another pipeline.yaml was deployed during the run")
	must.Succeed(t, w.execute("2031-05-19T06:00:00Z"))
	must.Match(t, w.found[0].LeftOut, []string{"open since 2 is building"})
	must.Equal(t, w.found[0].Differing+w.found[0].Undecided, 0)
}

// What cannot be known is an error with words.
func TestRunsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *week)
		says  string
	}{
		"no file": {func(w *week) { w.Delete(w, stack.Aggregates, testworld.Key("F#", "-")) }, "has no pipeline.yaml"},
		"a newer file": {func(w *week) {
			text := []byte(strings.Replace(parcels, "ingot: 1", "ingot: 2", 1))
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			_, _ = zip.Write(text)
			must.Succeed(w.T, zip.Close())
			item := testworld.Key("F#", "-")
			item["file"] = rows.Binary(packed.Bytes())
			item["digest"] = rows.Text(fmt.Sprintf("%x", sha256.Sum256(text)))
			w.Put(w, stack.Aggregates, item)
		}, "it cannot read the deployed pipeline.yaml; build it from the version"},
		"no schedule": {func(w *week) { w.worker.Watching = nil }, "it has no schedule"},
		"the stream": {func(w *week) {
			w.damage("s1")
			w.worker.Watching.Counted = func(context.Context) (time.Time, error) { return time.Time{}, errors.New("nobody knows") }
		}, "nobody knows"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeek(t, aggregate.Marks)
			c.spoil(w)
			must.Fail(t, w.execute(scheduled), c.says)
			must.Equal(t, len(w.found), 0)
		})
	}
	w := newWeek(t, aggregate.Marks)
	must.Fail(t, w.execute("<aws.scheduler.scheduled-time>"), "which is not a time")
	_, err := w.worker.Handle(t.Context(), worker.Task{Job: worker.Watch, Step: worker.Hold, Work: "s3://b/nothing"})
	must.Fail(t, err, "no run has begun")
}
