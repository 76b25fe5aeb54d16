package ingottest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// TB is what a world needs of a test. *testing.T, *testing.B and *testing.F are all a TB.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	// Fatalf must not return.
	Fatalf(format string, args ...any)
}

// Config says what is deployed. Only Pipeline is required.
type Config struct {
	Pipeline *pipeline.Pipeline
	// Start is the time at which the clock begins, from 1970-01-02 to 2100-01-01. If it is zero,
	// the clock begins at the time of the first event that is sent. You can then use events of any
	// year, and they have not expired.
	Start time.Time
	// Counting is how totals are counted: by marks (the default) or by receipts.
	Counting aggregate.Counting
	// FIFO makes the queue a FIFO queue. See Message.Group.
	FIFO bool
	// BatchSize is the largest number of messages, or of changes, for one invocation. 0 means 10.
	// It may be at most 10 with FIFO, and at most 10,000 otherwise.
	BatchSize int
	// Seed decides everything that the services choose at random: ids, sequence numbers, the waits
	// of retries.
	Seed uint64
	// OnResult is the ingest function's hook: see [handler.Ingest].
	OnResult func(context.Context, handler.Outcome)
	// OnChange is the streams function's hook: see [handler.Streams]. Unlike in Lambda, what the
	// hook keeps in memory outlives a crash here.
	OnChange func(context.Context, event.Change) error
}

// World is one deployment. Only one goroutine may use it.
type World struct {
	t      TB
	ctx    context.Context
	config Config

	world   *testworld.World
	dated   bool // the clock has been set
	plan    *pipeline.Pipeline
	reader  *store.Store // separate from the functions, and without their faults
	queue   *esm.Queue
	stream  *esm.Stream
	ingest  testworld.Sandbox
	streams testworld.Sandbox
	faults  faults
	lags    *rand.Rand // how far indexes lag

	payloads  map[envelope.Pointer]string // what PutPayload has put and RemovePayload has not removed
	sent      []Message
	waiting   []Message // sent before the clock was set
	posted    int       // how many were sent to a FIFO queue
	objects   int       // how many payloads were put into S3
	verdicts  map[event.Verdict]int
	letters   []Letter  // taken out of the quarantine queue so far
	dead      []Message // taken out of the dead-letter queue so far
	accepted  int       // messages that the queue took
	deleted   int       // how many of these the mapping deleted, because they were done
	lastError error     // the last error of a function
}

// The clock must stay between these times. A stream's records hold the time when they were made in
// four bytes, as seconds since 1970.
var (
	earliest = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

const defaultBatch = 10

// New deploys a pipeline: empty tables and queues, and both functions before their first start.
func New(t TB, c Config) *World {
	t.Helper()
	if c.Pipeline == nil {
		t.Fatalf("ingottest: Config.Pipeline is nil: give it the result of pipeline.Load or pipeline.New")
	}
	w := &World{t: t, ctx: context.Background(), config: c, dated: !c.Start.IsZero(),
		verdicts: map[event.Verdict]int{}, lags: rand.New(rand.NewPCG(c.Seed, 1))}
	start := earliest
	if w.dated {
		start = c.Start.UTC()
	}
	if start.Before(earliest) || start.After(latest) {
		t.Fatalf("ingottest: Config.Start is %s: give a time from 1970-01-02 to 2100-01-01", start.Format(time.RFC3339))
	}
	if c.BatchSize == 0 {
		w.config.BatchSize = defaultBatch
	}
	jitter := rand.New(rand.NewPCG(c.Seed, 0))
	var err error
	w.world, err = testworld.New(w.ctx,
		testworld.Config{Start: start, Counting: c.Counting, Stack: stack.Config{Indexes: c.Pipeline.Indexes(), FIFO: c.FIFO,
			Offload: c.Pipeline.UsesOffload()},
			Engine: embedded.Config{Seed: c.Seed, RollAfter: -1, Intercept: w.faults.intercept, Behind: w.faults.behind},
			Env:    func(c *testworld.Clock) env.Env { return c.Env(jitter.Float64) }})
	if err != nil {
		t.Fatalf("ingottest: %v", err)
	}
	w.Deploy(c.Pipeline)
	w.mapFunctions()
	return w
}

// must ends the test if the world itself fails.
func (w *World) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("ingottest: %v", err)
	}
}

// Deploy replaces the pipeline, as a deployment does: both functions start again with the new one,
// the streams function first. If a function would refuse to start, the test ends. What is stored
// stays as it is.
//
// The events table keeps the indexes that the first pipeline names. If p adds an index, new items
// get its key, as Items shows, but there is no index to query. The same happens if template.yaml
// lacks the index. If p drops an index, the index stays, with the items that are in it.
func (w *World) Deploy(p *pipeline.Pipeline) {
	w.t.Helper()
	if p.UsesOffload() {
		w.must(stack.CreatePayloads(w.ctx, w.world.Engine.S3()))
	}
	reader, err := w.world.Store(p)
	if err == nil {
		err = reader.Start(w.ctx)
	}
	w.must(err)
	w.plan, w.reader = p, reader
	w.ingest, w.streams = testworld.Sandbox{Cold: w.coldIngest}, testworld.Sandbox{Cold: w.coldStreams}
}

// mapFunctions connects queue and stream to the functions.
func (w *World) mapFunctions() {
	w.t.Helper()
	failed := func(_ esm.Invocation, err error) {
		if err != nil {
			w.lastError = err
		}
	}
	var err error
	w.queue, err = w.world.MapQueue(w.ctx, esm.QueueConfig{Client: deletes{w.world.Engine.SQS(), &w.deleted}, BatchSize: w.config.BatchSize,
		Function: esm.Function{Handler: w.invoked(Ingest, &w.ingest)}, OnFailure: failed})
	w.must(err)
	w.stream, err = w.world.MapStream(esm.StreamConfig{BatchSize: w.config.BatchSize, Window: w.world.Window(),
		Function: esm.Function{Handler: w.invoked(Streams, &w.streams)}, OnFailure: failed})
	w.must(err)
}

// Store returns a store that reads and writes the tables. It is separate from the functions, and
// faults do not affect it.
func (w *World) Store() *store.Store { return w.reader }

// Reader returns a reader of the tables. It reads without the functions' faults.
func (w *World) Reader() *query.Reader { return query.Of(w.reader) }

// These are the names of the two tables: "events" and "totals".
const (
	EventsTable     = stack.Events
	AggregatesTable = stack.Aggregates
)

// DynamoDB returns the client of the two tables, for hooks and programs of yours that send their
// own requests. What a hook sends counts as a request of its function, and meets the faults that
// are asked for. A read outside of the functions is always current.
func (w *World) DynamoDB() tables.Client { return w.world.Engine.DynamoDB() }

// Now returns the time on the world's clock.
func (w *World) Now() time.Time { return w.world.Clock.Now() }
