package integration

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

var ctx = context.Background()

// world is one deployment: tables, queues, a bucket and both functions.
type world struct {
	testing.TB
	*backend
	counting                aggregate.Counting
	events, totals, bucket  string
	stream                  string // ARN
	queue, dead, quarantine string // URLs
	spec                    pipeline.Spec
	payloads                string // the payload bucket; empty: there is none
	concurrency             int    // requests that one batch has in flight; 0: the default of production
	plan                    *pipeline.Pipeline
	store                   *store.Store
	ingest                  *handler.Ingest
	streams                 *handler.Streams
	mu                      sync.Mutex // guards what follows
	verdicts                map[event.Verdict]int
	counted                 handler.StreamsReport // sums of Updates, Dropped, Archived, Received
	crash                   bool                  // the next call of ingest works, but its answer is lost
}

func newWorld(t testing.TB, b *backend, counting aggregate.Counting, change ...func(*world)) *world {
	t.Helper()
	w := &world{TB: t, backend: b, counting: counting, verdicts: map[event.Verdict]int{}, events: name(t), totals: name(t), bucket: name(t),
		spec: shop()}
	w.stream = w.createTable(stack.EventsTable(w.events, "GSI1"))
	w.createTable(stack.AggregatesTable(w.totals))
	must.Succeed(t, stack.CreateArchive(ctx, b.s3, w.bucket))
	w.dead = w.createQueue(stack.Queue{})
	w.quarantine = w.createQueue(stack.Queue{})
	w.queue = w.createQueue(stack.Queue{Visibility: 2 * time.Minute, DeadLetters: w.dead, MaxReceives: 3})
	for _, c := range change {
		c(w)
	}
	w.deploy(w.spec)
	return w
}

// deploy puts a pipeline into both functions, the streams function first.
func (w *world) deploy(spec pipeline.Spec) {
	w.Helper()
	var err error
	w.plan, err = pipeline.New(spec)
	must.Succeed(w, err)
	w.store, err = w.storeOf(w.plan)
	must.Succeed(w, err)
	quarantine := quarantine.New(w.sqs, w.quarantine)
	w.streams, err = handler.NewStreams(w.store.Config())
	must.Succeed(w, err)
	must.Succeed(w, w.streams.Start(ctx))
	w.streams.Quarantine, w.streams.Archive = quarantine, handler.NewArchive(w.s3, w.bucket)
	w.streams.OnBatch = func(_ context.Context, r handler.StreamsReport) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.counted.Received += r.Received
		w.counted.Updates += r.Updates
		w.counted.Dropped += r.Dropped
		w.counted.Archived += r.Archived
		w.counted.Behind += r.Behind
	}
	w.ingest, err = handler.NewIngest(w.store.Config())
	must.Succeed(w, err)
	w.ingest.Quarantine = quarantine
	w.ingest.OnResult = func(_ context.Context, o handler.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.verdicts[o.Verdict]++
	}
}

func (w *world) storeOf(p *pipeline.Pipeline) (*store.Store, error) {
	return store.New(tables.Config{Client: w.db, Pipeline: p, Events: w.events, Aggregates: w.totals, Counting: w.counting,
		Concurrency: w.concurrency, Env: w.env,
		Objects: w.s3, PayloadBucket: w.payloads})
}

// quarantineAt points both functions at a quarantine queue.
func (w *world) quarantineAt(url string) {
	w.ingest.Quarantine = quarantine.New(w.sqs, url)
	w.streams.Quarantine = w.ingest.Quarantine
}

// createTable makes a table that is deleted when the test ends. It returns the ARN of the stream if
// the table has one.
func (w *world) createTable(t stack.Table) (stream string) {
	w.Helper()
	stream, err := t.Create(ctx, w.db)
	must.Succeed(w, err)
	w.Cleanup(func() { _, _ = w.db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &t.Name}) })
	return stream
}

// patience is how long a test waits for something that happens by itself, by the clock of this
// machine. It is longer than the time for which the queues hide a message that was handed out. A
// message whose receipt was lost on the way comes back only after that time.
const patience = 3 * time.Minute

// until waits until done reports true.
func (w *world) until(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(patience); !done(); w.pass() {
		if time.Now().After(deadline) {
			w.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// function returns how the mappings run both functions: in the time of the backend.
func (w *world) function(h esm.Handler) esm.Function {
	f := esm.Function{Handler: h, Timeout: time.Minute}
	if w.engine != nil {
		f.Now = w.now
	}
	return f
}

// mapping returns a stream mapping from the first record on, with what the way of counting needs.
func (w *world) mapping(client esm.StreamClient) *esm.Stream {
	w.Helper()
	cfg := esm.StreamConfig{Client: client, ARN: w.stream, ReportBatchItemFailures: true,
		Function:  w.function(lambda.NewHandler(w.streams.Handle).Invoke),
		OnFailure: func(inv esm.Invocation, err error) { w.Logf("stream batch of %d failed: %v", len(inv.IDs), err) }}
	if w.counting == aggregate.Marks {
		cfg.Window = time.Minute // an event names its shard only with a window
	}
	s, err := esm.NewStream(cfg)
	must.Succeed(w, err)
	return s
}

// drain polls until the mapping has passed on so many records, the stream has nothing more to give
// for now, and verify finds no difference. An empty answer alone does not mean that a shard is at
// its end.
func (w *world) drain(s *esm.Stream, records int) *verify.Report {
	w.Helper()
	var report *verify.Report
	got := 0
	for deadline := time.Now().Add(patience); ; w.pass() {
		p, err := s.Poll(ctx)
		must.Succeed(w, err)
		got += p.Records
		if p.Records > 0 {
			continue
		}
		report, err = verify.Totals(ctx, w.plan, w.store, w.now())
		must.Succeed(w, err)
		if report.OK() && got >= records {
			return report
		}
		if time.Now().After(deadline) {
			w.Errorf("%d records of at least %d within %v", got, records, patience)
			for _, d := range report.Differences {
				w.Error(d)
			}
			w.FailNow()
		}
	}
}
