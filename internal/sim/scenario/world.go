package scenario

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/internal/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

const (
	eventsTable = stack.Events
	totals      = stack.Aggregates
	bucket      = stack.Bucket

	functionTimeout = stack.FunctionTimeout
	visibility      = stack.Visibility
)

// origin is when every scenario begins: a Monday.
var origin = time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC)

// world is what a script plays in. Its time stands still but for the clock command, a function that waits
// before it asks again, and one that times out.
type world struct {
	files    fs.FS
	now      time.Time
	engine   *embedded.Engine
	counting aggregate.Counting
	few      int // how many totals a batch writes one by one; 0: as many as the store does
	names    *names
	outbox   []*letter // what the producer has sent

	queueURL, deadURL, quarantineURL string
	queue                            *esm.Queue
	stream                           *esm.Stream
	streamConfig                     esm.StreamConfig
	checkpoints                      map[string]esm.Checkpoint

	plans       map[string]*pipeline.Pipeline // by function
	sandboxes   []*sandbox
	invocations []*invocation
	running     *invocation      // whose requests are being made
	trouble     *trouble         // of the command that is being played
	arriving    bool             // a request that was under way while its function was frozen reaches the table
	behind      map[string]int64 // by aggregate: what its head said before the touch pass
	out         *report          // of that command
}

// create is the world command.
func (w *world) create(a *arguments, out *report) error {
	fifo, shards, receives := a.flag("fifo"), a.number("shards", 1), a.number("receives", 5)
	w.few = a.number("few", 0)
	batch, window := a.number("batch", 10), a.duration("window", 5*time.Minute)
	file := a.pair("pipeline")
	if file == "" {
		file = "shop"
	}
	switch text := a.pair("counting"); text {
	case "", "marks":
	case "receipts":
		w.counting = aggregate.Receipts
	default:
		return fmt.Errorf("counting=%s: marks or receipts", text)
	}
	if err := a.done(); err != nil {
		return err
	}
	w.now, w.names, w.checkpoints = origin, newNames(), map[string]esm.Checkpoint{}
	w.engine = embedded.New(embedded.Config{Now: w.clock, Partitions: shards, RollAfter: -1, Intercept: w.intercept})
	plan, err := w.load(file, "")
	if err != nil {
		return err
	}
	w.plans = map[string]*pipeline.Pipeline{"ingest": plan, "streams": plan}
	s, err := stack.New(context.Background(), w.engine, stack.Config{FIFO: fifo, Receives: receives, Keep: 14 * 24 * time.Hour})
	if err != nil {
		return err
	}
	w.queueURL, w.quarantineURL, w.deadURL = s.Queue, s.Quarantine, s.DeadLetters
	if err := w.mapFunctions(s.StreamARN, batch, window); err != nil {
		return err
	}
	out.linef("%s, pipeline %s.yaml at epoch %d, counting by %s", w.now.Format("Monday 2006-01-02 15:04"), file, plan.Epoch(), w.counting)
	return nil
}

func (w *world) clock() time.Time { return w.now }

func (w *world) mapFunctions(arn string, batch int, window time.Duration) (err error) {
	w.names.arn = arn
	happens := func(word string) func(esm.Invocation) bool {
		return func(inv esm.Invocation) bool { return len(inv.IDs) > 0 && w.trouble.takes(word) } // not at the end of a window
	}
	faults := esm.Faults{Duplicate: happens("twice"), DropAnswer: happens("drop-answer"), Forget: happens("forget")}
	function := func(run esm.Handler) esm.Function {
		return esm.Function{Handler: run, Timeout: functionTimeout, Now: w.clock, Faults: faults}
	}
	w.queue, err = esm.NewQueue(context.Background(), esm.QueueConfig{Client: w.engine.SQS(), URL: w.queueURL, BatchSize: batch, ReportBatchItemFailures: true, Function: function(w.ingest)})
	if err != nil {
		return err
	}
	w.streamConfig = esm.StreamConfig{Client: observed{w}, ARN: arn, BatchSize: batch, Window: window, ReportBatchItemFailures: true, Function: function(w.count)}
	w.stream, err = esm.NewStream(w.streamConfig)
	return err
}

// store is a way to the tables for commands: no trouble befalls it.
func (w *world) store(function string) (*store.Store, error) {
	return store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: w.plans[function], Events: eventsTable, Aggregates: totals, Counting: w.counting, OneByOne: w.few, Env: w.env()})
}

// close ends what is still frozen.
func (w *world) close() {
	for _, inv := range w.invocations {
		inv.stop()
	}
}
