package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/worker"
)

const visits = `ingot: 1
epoch: 1
type: visit
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: "VISIT"}}
aggregates:
  sites: {since: 1, by: {site: "{site}"}, from: {visit: {values: {visits: count}}}}
`

const events = 40

// filled is a table of events without totals, so each total of them differs.
func filled(t *testing.T) (*worker.Worker, *testworld.Folder, *testworld.World) {
	t.Helper()
	return filledWith(t, nil)
}

// filledWith is filled with a function around each request.
func filledWith(t *testing.T, around func(context.Context, string, any, func() (any, error)) (any, error)) (*worker.Worker,
	*testworld.Folder, *testworld.World) {
	t.Helper()
	w, err := testworld.New(t.Context(), testworld.Config{Start: must.Time("2031-05-05T06:00:00Z"),
		Engine: embedded.Config{Intercept: around}})
	must.Succeed(t, err)
	p := written.Pipeline(t, visits)
	st, err := w.Store(p)
	must.Succeed(t, err)
	for n := range events {
		item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":"v%d","site":"s%d","at":"2031-05-05T06:00:00Z"}`, n, n%5)})
		must.Succeed(t, err)
		if r, _ := st.Put(t.Context(), []*event.Item{item}); !r[0].Verdict.Stored() {
			t.Fatal(r)
		}
	}
	folder := &testworld.Folder{}
	return &worker.Worker{Pipeline: p, Source: verify.SourceOf(st), Env: w.Env, Open: func(place string) (sums.Folder, error) {
		if place != "s3://b/w" {
			return nil, fmt.Errorf("there is no %s", place)
		}
		return folder, nil
	}}, folder, w
}

func task(step string, part int) worker.Task {
	return worker.Task{Job: worker.Verify, Step: step, Part: part, Segments: 2, Buckets: 2, Work: "s3://b/w", About: "tables"}
}

func configOf(w *worker.Worker, folder sums.Folder) verify.Config {
	return verify.Config{Pipeline: w.Pipeline, Source: w.Source,
		Config: sums.Config{Segments: 2, Buckets: 2, Work: folder, About: "tables", Env: w.Env}}
}

// collect does both merges, and returns what all parts have found.
func collect(t *testing.T, w *worker.Worker, folder sums.Folder) *verify.Report {
	t.Helper()
	for part := range 2 {
		if a, err := w.Handle(t.Context(), task(worker.Merge, part)); err != nil || a.More {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	r, err := verify.Collect(t.Context(), configOf(w, folder))
	must.Succeed(t, err)
	return r
}

// All parts together find what one process finds. A part that is done again does nothing. A merge
// that comes after its pass was cleared is none of the next pass.
func TestParts(t *testing.T) {
	w, folder, world := filled(t)
	for range 2 {
		for part := range 2 {
			if a, err := w.Handle(t.Context(), task(worker.Segment, part)); err != nil || a.More {
				t.Fatalf("%+v, %v", a, err)
			}
		}
	}
	if r := collect(t, w, folder); r.Items != events || len(r.Differences) != 5 {
		t.Errorf("%d items, %d differences", r.Items, len(r.Differences))
	}
	c := configOf(w, folder)
	if done, err := verify.Done(t.Context(), c); done != (sums.Done{Stored: 2, Segments: 2, Buckets: 2}) || err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	const paper = "merged-0000-of-0002.result"
	file, err := folder.Read(t.Context(), paper)
	must.Succeed(t, err)
	if err := verify.Clear(t.Context(), c); err != nil {
		t.Error(err)
	}
	if done, err := verify.Done(t.Context(), c); done != (sums.Done{}) || err != nil {
		t.Errorf("after that, %+v, %v", done, err)
	}
	must.Succeed(t, folder.Write(t.Context(), paper, func(to io.Writer) error { _, err := io.Copy(to, file); return err }))
	world.Clock.Pass(time.Minute)
	for part := range 2 {
		if a, err := w.Handle(t.Context(), task(worker.Segment, part)); err != nil || a.More {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	_, err = verify.Collect(t.Context(), c)
	must.Fail(t, err, "bucket 0 of 2 is not merged yet")
}

// A process that was given up, and goes on after another one has taken its place, adds nothing
// twice, and nothing to the next pass.
func TestZombie(t *testing.T) {
	for _, cleared := range []bool{false, true} {
		zombie(t, cleared)
	}
}

func zombie(t *testing.T, cleared bool) {
	t.Helper()
	w, folder, _ := filled(t)
	taken := false
	folder.Before = func(name string) {
		if taken || !strings.Contains(name, "segment-0000") {
			return
		}
		taken = true // another one reads the whole segment while the first is about to write its manifest
		if a, err := w.Handle(t.Context(), task(worker.Segment, 0)); err != nil || a.More {
			t.Errorf("%+v, %v", a, err)
		}
		if cleared {
			if err := verify.Clear(t.Context(), configOf(w, folder)); err != nil {
				t.Error(err)
			}
		}
	}
	a, err := w.Handle(t.Context(), task(worker.Segment, 0))
	if err != nil || !a.More || !taken {
		t.Fatalf("%+v, %v", a, err)
	}
	for part := range 2 { // the next call finds that it is done
		if a, err := w.Handle(t.Context(), task(worker.Segment, part)); err != nil || a.More {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if r := collect(t, w, folder); r.Items != events || len(r.Differences) != 5 {
		t.Errorf("%d items, %d differences", r.Items, len(r.Differences))
	}
}

// A worker whose time is nearly over says that there is more, and the next call goes on.
func TestMore(t *testing.T) {
	w, folder, world := filled(t)
	calls := 0
	for more := true; more; calls++ {
		ctx, stop := world.Env.Deadline(t.Context(), world.Clock.Now().Add(time.Minute))
		e := world.Env
		e.Now = func() time.Time { // each look at the clock takes nine seconds
			world.Clock.Pass(9 * time.Second)
			return world.Clock.Now()
		}
		w.Env = e
		a, err := w.Handle(ctx, task(worker.Segment, 0))
		stop()
		if err != nil || calls > 50 {
			t.Fatalf("%+v, %v after %d calls", a, err, calls)
		}
		more = a.More
	}
	w.Env = world.Env
	_, err := w.Handle(t.Context(), task(worker.Segment, 1))
	must.Succeed(t, err)
	if r := collect(t, w, folder); r.Items != events || calls < 2 {
		t.Errorf("%d items after %d calls", r.Items, calls)
	}
}

// A look reads the totals of all segments before the first item, and refuses another order.
func TestLook(t *testing.T) {
	w, folder, _ := filled(t)
	look := func(step string, part int) error {
		of := task(step, part)
		of.Job = worker.Look
		a, err := w.Handle(t.Context(), of)
		if a.More {
			t.Errorf("%s %d has more", step, part)
		}
		return err
	}
	must.Fail(t, look(worker.Segment, 0), "read that first, in all segments")
	for _, step := range worker.StepsOf(worker.Look) {
		for part := range 2 {
			for range 2 {
				if err := look(step, part); err != nil {
					t.Errorf("%s %d: %v", step, part, err)
				}
			}
		}
	}
	c := configOf(w, folder)
	_, err := verify.Collect(t.Context(), c)
	must.Fail(t, err, "--twice")
	_, err = verify.Done(t.Context(), c)
	must.Fail(t, err, "use an empty folder")
	c.Looks = true
	if r, err := verify.Collect(t.Context(), c); err != nil || r.Items != events || len(r.Differences) != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A worker that has a migration.yaml compares copies with rows.
func TestCompare(t *testing.T) {
	w, folder, world := filled(t)
	of := task(worker.Segment, 0)
	of.Job = worker.Compare
	_, err := w.Handle(t.Context(), of)
	must.Fail(t, err, "build it with the one that moves the table")
	s := moving(t, world)
	w.Moving = func(context.Context) (*migrate.Migration, error) { return s, nil }
	for _, step := range worker.StepsOf(worker.Compare) {
		for of.Step, of.Part = step, 0; of.Part < 2; of.Part++ {
			for range 2 {
				if a, err := w.Handle(t.Context(), of); err != nil || a.More {
					t.Errorf("%+v: %+v, %v", of, a, err)
				}
			}
		}
	}
	c, err := s.Comparison(t.Context(), sums.Config{Segments: 2, Buckets: 2, Work: folder, About: "tables"})
	must.Succeed(t, err)
	found, err := c.Finish(t.Context(), lag{world})
	if err != nil || found.Rows != 7 || found.Copies != 0 || len(found.Differences) != 7 {
		t.Errorf("%+v, %v", found, err)
	}
}

// lag is a capture that has done everything.
type lag struct{ *testworld.World }

func (l lag) Counted(context.Context) (time.Time, error) { return l.Clock.Now(), nil }

const sales = `ingot: 1
epoch: 1
type: sale
events:
  sale: {id: "{id}", at: "{at}", migrated: sales, key: {pk: "SALE#{id}", sk: "SALE"}}
`

// moving is a migration with seven rows, of which none is copied.
func moving(t *testing.T, w *testworld.World) *migrate.Migration {
	t.Helper()
	p := written.Pipeline(t, sales)
	db := w.Engine.DynamoDB()
	_, err := (stack.Table{Name: "old", Keys: [2]string{"id", "at"}}).Create(t.Context(), db)
	must.Succeed(t, err)
	for n := range 7 {
		w.Put(t, "old", migrate.Row{"id": rows.Text(fmt.Sprint(n)), "at": rows.Text("2031-05-05T06:00:00Z")})
	}
	s, err := open(t.Context(), w, p)
	if err == nil {
		_, err = s.Begin(t.Context())
	}
	must.Succeed(t, err)
	return s
}

// open opens the migration, as each call of the worker does.
func open(ctx context.Context, w *testworld.World, p *pipeline.Pipeline) (*migrate.Migration, error) {
	text := "migration: 1\nname: sales\nfrom: {table: old}\nrows: [{type: sale}]\n"
	return migrate.Open(ctx, fstest.MapFS{"m.yaml": {Data: []byte(text)}}, "m.yaml", tables.Config{Client: w.Engine.DynamoDB(),
		Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates, Env: w.Env})
}

// What cannot work is an error that says what to do.
func TestRefused(t *testing.T) {
	w, _, world := filled(t)
	short, stop := world.Env.Deadline(t.Context(), world.Clock.Now().Add(3*time.Second))
	defer stop()
	elsewhere := task(worker.Segment, 0)
	elsewhere.Work = "s3://other/w"
	for _, c := range map[string]struct {
		ctx  context.Context
		task worker.Task
		says string
	}{
		"no time":        {short, task(worker.Segment, 0), "give the function a longer timeout"},
		"no such step":   {t.Context(), task("result", 0), `verify has no step "result"`},
		"no such job":    {t.Context(), worker.Task{Job: "x", Work: "s3://b/w"}, `there is no job "x"`},
		"no such part":   {t.Context(), task(worker.Segment, 2), "there is no segment 2"},
		"no bucket":      {t.Context(), elsewhere, "there is no s3://other/w"},
		"merge too soon": {t.Context(), task(worker.Merge, 0), "is not read to its end yet"},
	} {
		_, err := w.Handle(c.ctx, c.task)
		must.Fail(t, err, c.says)
	}
}

// The JSON of a task is what the state machine passes on.
func TestTask(t *testing.T) {
	text, err := json.Marshal(task(worker.Segment, 1))
	const want = `{"job":"verify","step":"segment","part":1,"segments":2,"buckets":2,"work":"s3://b/w","about":"tables","rate":0}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func Example() {
	_, err := worker.New(context.Background(), fstest.MapFS{}, func(o *worker.Options) { o.Log = slog.New(slog.DiscardHandler) })
	fmt.Println(err)
	// Output:
	// environment:
	//   INGOT_TABLE is not set: set it to the name of the events table
	//   INGOT_AGGREGATES_TABLE is not set: set it to the name of the aggregates table
}
