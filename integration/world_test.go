package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
)

var ctx = context.Background()

// world is one deployment: tables, queues, a bucket, both functions.
type world struct {
	testing.TB
	*backend
	counting                aggregate.Counting
	events, totals, bucket  string
	stream                  string // ARN
	queue, dead, quarantine string // URLs
	spec                    pipeline.Spec
	concurrency             int // requests that one batch has in flight; 0: as many as in production
	plan                    *pipeline.Pipeline
	store                   *store.Store
	ingest                  *handler.Ingest
	streams                 *handler.Streams
	mu                      sync.Mutex // guards what follows
	verdicts                map[event.Verdict]int
	counted                 handler.StreamsReport // sums of Updates, Dropped, Archived, Received
	crash                   bool                  // the next call of ingest works, and its answer is lost
}

func newWorld(t testing.TB, b *backend, counting aggregate.Counting, change ...func(*world)) *world {
	t.Helper()
	w := &world{TB: t, backend: b, counting: counting, verdicts: map[event.Verdict]int{}, events: name(t), totals: name(t), bucket: name(t), spec: shop()}
	w.createTable(w.events, true)
	w.createTable(w.totals, false)
	if _, err := b.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &w.bucket}); err != nil {
		t.Fatal(err)
	}
	w.dead = w.createQueue(nil)
	w.quarantine = w.createQueue(nil)
	w.queue = w.createQueue(map[string]string{"VisibilityTimeout": "120", "RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":3}`, w.arn(w.dead))})
	for _, c := range change {
		c(w)
	}
	w.deploy(w.spec)
	return w
}

// deploy puts a pipeline into both functions, streams first.
func (w *world) deploy(spec pipeline.Spec) {
	w.Helper()
	var err error
	if w.plan, err = pipeline.New(spec); err != nil {
		w.Fatal(err)
	}
	if w.store, err = w.storeOf(w.plan); err != nil {
		w.Fatal(err)
	}
	if err := w.store.Start(ctx); err != nil {
		w.Fatal(err)
	}
	quarantine := handler.SQSIn(w.env, w.sqs, w.quarantine)
	w.streams = &handler.Streams{Plan: w.plan, Store: w.store, Quarantine: quarantine, Archive: handler.S3(w.s3, w.bucket), Env: w.env,
		OnBatch: func(_ context.Context, r handler.StreamsReport) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.counted.Received += r.Received
			w.counted.Updates += r.Updates
			w.counted.Dropped += r.Dropped
			w.counted.Archived += r.Archived
			w.counted.Behind += r.Behind
		}}
	w.ingest = &handler.Ingest{Plan: w.plan, Store: w.store, Quarantine: quarantine, Env: w.env,
		OnResult: func(_ context.Context, o handler.Outcome) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.verdicts[o.Verdict]++
		}}
}

func (w *world) storeOf(p *pipeline.Pipeline) (*store.Store, error) {
	return store.New(store.Config{Client: w.db, Pipeline: p, Events: w.events, Aggregates: w.totals, Counting: w.counting, Concurrency: w.concurrency, Env: w.env})
}

// quarantineAt points both functions at a quarantine queue.
func (w *world) quarantineAt(url string) {
	w.ingest.Quarantine = handler.SQSIn(w.env, w.sqs, url)
	w.streams.Quarantine = w.ingest.Quarantine
}

// createTable makes a table as template.yaml declares it: keys, index, stream, time to live.
func (w *world) createTable(name string, events bool) {
	w.Helper()
	keys := func(prefix string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: aws.String(prefix + "PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(prefix + "SK"), KeyType: types.KeyTypeRange}}
	}
	text := func(prefix string) []types.AttributeDefinition {
		return []types.AttributeDefinition{{AttributeName: aws.String(prefix + "PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String(prefix + "SK"), AttributeType: types.ScalarAttributeTypeS}}
	}
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keys(""), AttributeDefinitions: text("")}
	if events {
		in.AttributeDefinitions = append(in.AttributeDefinitions, text("GSI1")...)
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{IndexName: aws.String("GSI1"), KeySchema: keys("GSI1"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}}
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	}
	if _, err := w.db.CreateTable(ctx, in); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _, _ = w.db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}) })
	w.until("table active", func() bool {
		out, err := w.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			w.Fatal(err)
		}
		if events {
			w.stream = aws.ToString(out.Table.LatestStreamArn)
		}
		return out.Table.TableStatus == types.TableStatusActive && (!events || w.stream != "")
	})
	_, err := w.db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
	if err != nil {
		w.Fatal(err)
	}
}

// patience is how long a test waits for what happens by itself, by the clock of this machine: longer than the queues
// hide a message that was handed out, since one whose receipt was lost on the way is back only then.
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

// function is how the mappings run both functions: in the backend's time.
func (w *world) function(h esm.Handler) esm.Function {
	f := esm.Function{Handler: h, Timeout: time.Minute}
	if w.engine != nil {
		f.Now = w.now
	}
	return f
}

// mapping is a stream mapping from the first record on, with what it needs for the way of counting.
func (w *world) mapping(client esm.StreamClient) *esm.Stream {
	w.Helper()
	cfg := esm.StreamConfig{Client: client, ARN: w.stream, ReportBatchItemFailures: true, Function: w.function(lambda.NewHandler(w.streams.Handle).Invoke),
		OnFailure: func(inv esm.Invocation, err error) { w.Logf("stream batch of %d failed: %v", len(inv.IDs), err) }}
	if w.counting == aggregate.Marks {
		cfg.Window = time.Minute // only with a window does the event name its shard
	}
	s, err := esm.NewStream(cfg)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// drain polls until the mapping has passed on so many records, the stream has nothing more to give for now,
// and verify finds no difference. An empty answer alone does not say that a shard is at its end.
func (w *world) drain(s *esm.Stream, records int) *verify.Report {
	w.Helper()
	var report *verify.Report
	got := 0
	for deadline := time.Now().Add(patience); ; w.pass() {
		p, err := s.Poll(ctx)
		if err != nil {
			w.Fatal(err)
		}
		got += p.Records
		if p.Records > 0 {
			continue
		}
		if report, err = verify.Totals(ctx, w.plan, w.store, w.now()); err != nil {
			w.Fatal(err)
		}
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
