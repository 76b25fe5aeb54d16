package testworld

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Config describes a world.
type Config struct {
	Start    time.Time // where the clock begins
	Stack    stack.Config
	Engine   embedded.Config // its Now is replaced by that of Env
	Counting aggregate.Counting
	// Env returns what the functions take from the world, and the time of everything. nil means
	// that of the clock, with one half for every chance.
	Env func(*Clock) env.Env
}

// World is a world with one deployment in it.
type World struct {
	*stack.Stack
	Clock    *Clock
	Env      env.Env
	Counting aggregate.Counting

	// These are the roles of the functions that were made last. Calls are judged by them where the
	// mappings of the world run the functions. Elsewhere see [iam.As].
	IngestRole, StreamsRole *iam.Role
}

// New makes a world with empty tables and queues.
func New(ctx context.Context, c Config) (*World, error) {
	w := &World{Clock: NewClock(c.Start), Counting: c.Counting}
	if c.Env == nil {
		c.Env = func(clock *Clock) env.Env { return clock.Env(func() float64 { return 0.5 }) }
	}
	w.Env = c.Env(w.Clock)
	c.Engine.Now, c.Engine.Intercept = w.Env.Now, iam.Judged(c.Engine.Intercept)
	var err error
	w.Stack, err = stack.New(ctx, embedded.New(c.Engine), c.Stack)
	return w, err
}

// Store opens the tables as a function's cold start does.
func (w *World) Store(p *pipeline.Pipeline) (*store.Store, error) {
	return store.New(w.StoreConfig(p))
}

// StoreConfig returns the configuration with which [World.Store] opens the tables.
func (w *World) StoreConfig(p *pipeline.Pipeline) tables.Config {
	return tables.Config{Client: w.Engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates, Counting: w.Counting,
		Objects: w.Engine.S3(), PayloadBucket: stack.Payloads, Env: w.Env}
}

// Ingest returns an ingest function without hooks, on the tables of a store.
func (w *World) Ingest(st *store.Store) *handler.Ingest {
	in, err := handler.NewIngest(st.Config())
	if err != nil {
		panic(err) // the store has accepted the same
	}
	in.Quarantine, w.IngestRole = w.Letters(), iam.Ingest(st.Config().Pipeline)
	return in
}

// Streams returns a streams function without hooks, on the tables of a store.
func (w *World) Streams(st *store.Store) *handler.Streams {
	s, err := handler.NewStreams(st.Config())
	if err != nil {
		panic(err) // the store has accepted the same
	}
	s.Quarantine, s.Archive = w.Letters(), handler.NewArchive(w.Engine.S3(), stack.Bucket)
	w.StreamsRole = iam.Streams(st.Config().Pipeline)
	return s
}

// Writers opens the tables of a store as the functions use them.
func Writers(st *store.Store) *table.Writers {
	t, err := table.Open(st.Config())
	if err != nil {
		panic(err) // the store has accepted the same
	}
	return t
}

// Letters returns the way into the quarantine queue.
func (w *World) Letters() quarantine.Queue {
	return quarantine.New(w.Engine.SQS(), w.Quarantine)
}

// MapQueue connects the queue to a function. If c leaves out its client, its queue, or the timeout
// or clock of its function, those of the world are used.
func (w *World) MapQueue(ctx context.Context, c esm.QueueConfig) (*esm.Queue, error) {
	if c.Client == nil {
		c.Client = w.Engine.SQS()
	}
	if c.URL == "" {
		c.URL = w.Queue
	}
	c.Function, c.ReportBatchItemFailures = w.function(c.Function, func() *iam.Role { return w.IngestRole }), true
	return esm.NewQueue(ctx, c)
}

// MapStream connects the stream to a function. What c leaves out is taken from the world, as in
// [World.MapQueue], except for the window: see [World.Window].
func (w *World) MapStream(c esm.StreamConfig) (*esm.Stream, error) {
	if c.Client == nil {
		c.Client = w.Engine.Streams()
	}
	if c.ARN == "" {
		c.ARN = w.StreamARN
	}
	c.Function, c.ReportBatchItemFailures = w.function(c.Function, func() *iam.Role { return w.StreamsRole }), true
	return esm.NewStream(c)
}

// Window returns the window of the stream's mapping in template.yaml. If totals are counted by
// marks, there must be a window, because only a mapping with a window tells the function its shard.
func (w *World) Window() time.Duration {
	if w.Counting == aggregate.Marks {
		return stack.Window
	}
	return 0
}

// function completes a function. If its handler does not say who it is, it has the role.
func (w *World) function(f esm.Function, role func() *iam.Role) esm.Function {
	handle := f.Handler
	f.Handler = func(ctx context.Context, payload []byte) ([]byte, error) { return handle(iam.As(ctx, role()), payload) }
	if f.Timeout == 0 {
		f.Timeout = stack.FunctionTimeout
	}
	if f.Deadline == nil {
		f.Deadline = w.Env.Deadline
	}
	f.Now = w.Env.Now
	return f
}
