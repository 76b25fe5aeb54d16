package scenario

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const (
	eventsTable = stack.Events
	totals      = stack.Aggregates
	bucket      = stack.Bucket

	functionTimeout = stack.FunctionTimeout
)

// origin is the time when every scenario begins. It is a Monday.
var origin = time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC)

// world is what a script plays in. Its time stands still, except for the clock command, for a
// function that waits before it asks again, and for a function that times out.
type world struct {
	*testworld.World
	files  fs.FS
	few    int // how many totals a batch writes one by one; 0 means the store's default
	names  *names
	outbox []*letter // what the producer has sent

	queue        *esm.Queue
	stream       *esm.Stream
	streamConfig esm.StreamConfig
	checkpoints  map[string]esm.Checkpoint

	plans       map[string]*pipeline.Pipeline // by function
	sandboxes   []*sandbox
	invocations []*invocation
	running     *invocation            // the invocation whose requests are being made
	trouble     *trouble               // of the command that is being played
	arriving    bool                   // a request that was under way while its function was frozen reaches the table
	passes      map[string]tables.Pass // touch passes, by aggregate
	out         *report                // of that command
}

// create runs the world command.
func (w *world) create(a *arguments, out *report) error {
	fifo, shards, receives := a.flag("fifo"), a.number("shards", 1), a.number("receives", 5)
	w.few = a.number("few", 0)
	batch, window := a.number("batch", 10), a.duration("window", 5*time.Minute)
	file := a.pair("pipeline")
	if file == "" {
		file = "shop"
	}
	counting := aggregate.Marks
	switch text := a.pair("counting"); text {
	case "", "marks":
	case "receipts":
		counting = aggregate.Receipts
	default:
		return fmt.Errorf("counting=%s: marks or receipts", text)
	}
	if err := a.done(); err != nil {
		return err
	}
	w.names, w.checkpoints = newNames(), map[string]esm.Checkpoint{}
	var err error
	w.World, err = testworld.New(context.Background(), testworld.Config{Start: origin, Counting: counting, Env: w.env,
		Stack:  stack.Config{FIFO: fifo, Receives: receives, Keep: 14 * 24 * time.Hour},
		Engine: embedded.Config{Partitions: shards, RollAfter: -1, Intercept: w.intercept}})
	if err != nil {
		return err
	}
	plan, err := w.load(file, "")
	if err != nil {
		return err
	}
	w.plans = map[string]*pipeline.Pipeline{"ingest": plan, "streams": plan}
	if err := w.mapFunctions(batch, window); err != nil {
		return err
	}
	out.linef("%s, pipeline %s.yaml at epoch %d, counting by %s", w.Clock.Now().Format("Monday 2006-01-02 15:04"), file, plan.Epoch(),
		w.Counting)
	return nil
}

func (w *world) mapFunctions(batch int, window time.Duration) (err error) {
	w.names.arn = w.StreamARN
	happens := func(word string) func(esm.Invocation) bool {
		return func(inv esm.Invocation) bool { return len(inv.IDs) > 0 && w.trouble.takes(word) } // not at the end of a window
	}
	faults := esm.Faults{Duplicate: happens("twice"), DropAnswer: happens("drop-answer"), Forget: happens("forget")}
	w.queue, err = w.MapQueue(context.Background(),
		esm.QueueConfig{BatchSize: batch, Function: esm.Function{Handler: w.ingest, Faults: faults}})
	if err != nil {
		return err
	}
	w.streamConfig = esm.StreamConfig{Client: observed{w}, BatchSize: batch, Window: window,
		Function: esm.Function{Handler: w.count, Faults: faults}}
	w.stream, err = w.MapStream(w.streamConfig)
	return err
}

// store returns access to the tables for commands. No trouble happens to it.
func (w *world) store(function string) (*store.Store, error) {
	c := w.StoreConfig(w.plans[function])
	c.OneByOne = w.few
	return store.New(c)
}

// close ends every invocation that is still frozen.
func (w *world) close() {
	for _, inv := range w.invocations {
		inv.stop()
	}
}
