package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/internal/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// batchSize is of the queue's batches and the stream's.
const batchSize = 100

// world is the whole pipeline in one process: engine, mappings and both functions, on one clock and one
// goroutine.
type world struct {
	*stack.Stack
	clock    *stack.Clock
	engine   *embedded.Engine
	plan     *pipeline.Pipeline
	counting aggregate.Counting
	trouble  *trouble
	ledger   *ledger
	reader   *store.Store // for reading beside the functions, without trouble
	jitter   *rand.Rand

	began  embedded.Usage // once all is set up: from here on it is the events' cost
	rolled time.Time      // when the shards of the stream rolled last; zero: never

	queue   *esm.Queue
	stream  *esm.Stream
	ingest  *sandbox
	streams *sandbox

	perMessage, perChange *naive
}

// source is a seeded die for one concern: throwing one more in one place shifts nothing in another.
func source(seed uint64, concern uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, concern)) }

const (
	forTrouble = iota + 1
	forJitter
	forProducer
	forBursts
	forOrders
)

// newWorld builds everything at the time of the first event.
func newWorld(ctx context.Context, c Config, first time.Time) (*world, error) {
	p, counting, seed := c.Plan, c.Counting, c.Seed
	w := &world{clock: stack.NewClock(first), plan: p, counting: counting, ledger: newLedger(counting), jitter: source(seed, forJitter),
		perMessage: newNaive(p), perChange: newNaive(p)}
	w.trouble = &trouble{calm: c.Calm, die: source(seed, forTrouble), ledger: w.ledger, items: w.items}
	w.engine = embedded.New(embedded.Config{Now: w.clock.Now, Seed: seed, RollAfter: -1, Intercept: w.trouble.intercept})
	var err error
	if w.reader, err = w.open(); err != nil {
		return nil, err
	}
	if w.Stack, err = stack.New(ctx, w.engine, stack.Config{Indexes: p.Indexes()}); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	if err := w.reader.Start(ctx); err != nil {
		return nil, err
	}
	w.began = w.engine.Usage()
	return w, w.mapFunctions(ctx)
}

// open makes a store as a function's cold start does.
func (w *world) open() (*store.Store, error) {
	return store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: w.plan, Events: stack.Events, Aggregates: stack.Aggregates,
		Counting: w.counting, Env: w.env()})
}

func (w *world) env() env.Env { return w.clock.Env(w.jitter.Float64) }

// mapFunctions connects queue and stream to the functions.
func (w *world) mapFunctions(ctx context.Context) (err error) {
	w.ingest, w.streams = newIngest(w), newStreams(w)
	function := func(s *sandbox, faults esm.Faults) esm.Function {
		return esm.Function{Handler: s.invoke, Timeout: stack.FunctionTimeout, Now: w.clock.Now, Deadline: w.clock.Deadline, Faults: faults}
	}
	w.queue, err = esm.NewQueue(ctx, esm.QueueConfig{Client: w.engine.SQS(), URL: w.Queue, BatchSize: batchSize,
		Function: function(w.ingest, w.trouble.queueFaults(&w.ingest.killed)), ReportBatchItemFailures: true, OnFailure: w.failed})
	if err != nil {
		return err
	}
	config := esm.StreamConfig{Client: w.engine.Streams(), ARN: w.StreamARN, BatchSize: batchSize,
		Function: function(w.streams, w.trouble.streamFaults(&w.streams.killed)), ReportBatchItemFailures: true, OnFailure: w.failed}
	if w.counting == aggregate.Marks {
		config.Window = stack.Window // only a window tells the function its shard
	}
	w.stream, err = esm.NewStream(config)
	return err
}

func (w *world) failed(_ esm.Invocation, err error) {
	if err != nil {
		w.ledger.lastError = err
	}
}
