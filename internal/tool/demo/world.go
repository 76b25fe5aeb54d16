package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// batchSize is the size of the batches of the queue and the stream.
const batchSize = 100

// world is the whole pipeline in one process: engine, mappings and both functions. It has one clock
// and one goroutine.
type world struct {
	*testworld.World
	plan    *pipeline.Pipeline
	batches []envelope.Batch // where a message may have several events
	trouble *trouble
	ledger  *ledger
	bounds  *bounds
	reader  *store.Store // reads independently of the functions and without trouble

	began  embedded.Usage // the usage once everything is set up; what comes after is the cost of the events
	rolled time.Time      // when the shards of the stream last rolled; zero if never

	queue   *esm.Queue
	stream  *esm.Stream
	ingest  *sandbox
	streams *sandbox

	perMessage, perChange *naive
}

// source returns a seeded die for one purpose. So an additional throw for one purpose does not
// change the throws for another.
func source(seed uint64, concern uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, concern)) }

const (
	forTrouble = iota + 1
	forJitter
	forProducer
)

// newWorld builds everything, at the time of the first event.
func newWorld(ctx context.Context, c Config, first time.Time) (*world, error) {
	p, counting, seed := c.Plan, c.Counting, c.Seed
	jitter := source(seed, forJitter)
	w := &world{plan: p, batches: p.Batches(), ledger: newLedger(counting), bounds: newBounds(p), perMessage: newNaive(p),
		perChange: newNaive(p)}
	w.trouble = &trouble{calm: c.Calm, die: source(seed, forTrouble), ledger: w.ledger, items: w.items, watch: w.watch}
	var err error
	if w.World, err = testworld.New(ctx,
		testworld.Config{Start: first, Counting: counting, Stack: stack.Config{Indexes: p.Indexes(), Offload: p.UsesOffload()},
			Engine: embedded.Config{Seed: seed, RollAfter: -1, Intercept: w.trouble.intercept},
			Env:    func(c *testworld.Clock) env.Env { return c.Env(jitter.Float64) }}); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	if w.reader, err = w.Store(p); err != nil {
		return nil, err
	}
	if err := w.reader.Start(ctx); err != nil {
		return nil, err
	}
	w.began = w.Engine.Usage()
	return w, w.mapFunctions(ctx)
}

// mapFunctions connects queue and stream to the functions.
func (w *world) mapFunctions(ctx context.Context) (err error) {
	w.ingest, w.streams = newIngest(w), newStreams(w)
	w.queue, err = w.MapQueue(ctx, esm.QueueConfig{BatchSize: batchSize, OnFailure: w.failed,
		Function: esm.Function{Handler: w.ingest.invoke, Faults: w.trouble.queueFaults(&w.ingest.Killed)}})
	if err != nil {
		return err
	}
	w.stream, err = w.MapStream(esm.StreamConfig{BatchSize: batchSize, Window: w.Window(), OnFailure: w.failed,
		Function: esm.Function{Handler: w.streams.invoke, Faults: w.trouble.streamFaults(&w.streams.Killed)}})
	return err
}

func (w *world) failed(_ esm.Invocation, err error) {
	if err != nil {
		w.ledger.lastError = err
	}
}
