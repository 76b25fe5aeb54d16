package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
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

// shared is a folder that knows versions, as a bucket does.
type shared struct {
	mu    sync.Mutex
	files map[string][]byte
	// before is called before each conditional write.
	before func(name string)
}

func (s *shared) String() string { return "shared" }

func (s *shared) Write(ctx context.Context, name string, from func(io.Writer) error) error {
	var b bytes.Buffer
	if err := from(&b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = b.Bytes()
	return nil
}

func (s *shared) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	f, _, err := s.ReadVersion(ctx, name)
	return f, err
}

func versionOf(text []byte) string { sum := sha256.Sum256(text); return hex.EncodeToString(sum[:]) }

func (s *shared) ReadVersion(_ context.Context, name string) (io.ReadCloser, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, there := s.files[name]
	if !there {
		return nil, "", fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(text)), versionOf(text), nil
}

func (s *shared) WriteVersion(ctx context.Context, name, version string, from func(io.Writer) error) (string, error) {
	if s.before != nil {
		s.before(name)
	}
	s.mu.Lock()
	text, there := s.files[name]
	s.mu.Unlock()
	if there != (version != "") || there && versionOf(text) != version {
		return "", sums.ErrReplaced
	}
	if err := s.Write(ctx, name, from); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return versionOf(s.files[name]), nil
}

func (s *shared) Remove(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, name)
	return nil
}

const events = 40

// filled is a table of events without totals, so each total of them differs.
func filled(t *testing.T) (*worker.Worker, *shared, *testworld.World) {
	t.Helper()
	w, err := testworld.New(t.Context(), testworld.Config{Start: time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(visits)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	st, err := w.Store(p)
	if err != nil {
		t.Fatal(err)
	}
	for n := range events {
		item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":"v%d","site":"s%d","at":"2031-05-05T06:00:00Z"}`, n, n%5)})
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := st.Put(t.Context(), []*event.Item{item}); !r[0].Verdict.Stored() {
			t.Fatal(r)
		}
	}
	folder := &shared{files: map[string][]byte{}}
	return &worker.Worker{Pipeline: p, Source: verify.SourceOf(st), Env: w.Env, Open: func(place string) (sums.Folder, error) {
		if place != "s3://b/w" {
			return nil, fmt.Errorf("there is no %s", place)
		}
		return folder, nil
	}}, folder, w
}

func task(step string, part int) worker.Task {
	return worker.Task{Step: step, Part: part, Segments: 2, Buckets: 2, Work: "s3://b/w", About: "tables"}
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
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// All parts together find what one process finds. A part that is done again does nothing.
func TestParts(t *testing.T) {
	w, folder, _ := filled(t)
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
	if err := verify.Clear(t.Context(), c); err != nil {
		t.Error(err)
	}
	if done, err := verify.Done(t.Context(), c); done != (sums.Done{}) || err != nil {
		t.Errorf("after that, %+v, %v", done, err)
	}
}

// A process that was given up, and goes on after another one has taken its place, adds nothing
// twice.
func TestZombie(t *testing.T) {
	w, folder, _ := filled(t)
	taken := false
	folder.before = func(name string) {
		if taken || !strings.Contains(name, "segment-0000") {
			return
		}
		taken = true // another one reads the whole segment while the first is about to write its manifest
		if a, err := w.Handle(t.Context(), task(worker.Segment, 0)); err != nil || a.More {
			t.Errorf("%+v, %v", a, err)
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
	if _, err := w.Handle(t.Context(), task(worker.Segment, 1)); err != nil {
		t.Fatal(err)
	}
	if r := collect(t, w, folder); r.Items != events || calls < 2 {
		t.Errorf("%d items after %d calls", r.Items, calls)
	}
}

// What cannot work is an error that says what to do.
func TestRefused(t *testing.T) {
	w, _, world := filled(t)
	short, stop := world.Env.Deadline(t.Context(), world.Clock.Now().Add(3*time.Second))
	defer stop()
	elsewhere := task(worker.Segment, 0)
	elsewhere.Work = "s3://other/w"
	for name, c := range map[string]struct {
		ctx  context.Context
		task worker.Task
		says string
	}{
		"no time":        {short, task(worker.Segment, 0), "give the function a longer timeout"},
		"no such step":   {t.Context(), task("result", 0), `there is no step "result"`},
		"no such part":   {t.Context(), task(worker.Segment, 2), "there is no segment 2"},
		"no bucket":      {t.Context(), elsewhere, "there is no s3://other/w"},
		"merge too soon": {t.Context(), task(worker.Merge, 0), "is not read to its end yet"},
	} {
		if _, err := w.Handle(c.ctx, c.task); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The JSON of a task is what the state machine passes on.
func TestTask(t *testing.T) {
	text, err := json.Marshal(task(worker.Segment, 1))
	const want = `{"step":"segment","part":1,"segments":2,"buckets":2,"work":"s3://b/w","about":"tables","rate":0}`
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
