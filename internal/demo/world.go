package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// Names and settings of the demo's resources, as template.yaml has them where it matters.
const (
	eventsTable = "events"
	totalsTable = "totals"
	bucket      = "archive"

	functionTimeout = 30 * time.Second
	visibility      = 6 * functionTimeout
	maxReceives     = 10
	batchSize       = 100
	tumblingWindow  = time.Minute
)

// world is the whole pipeline in one process: engine, mappings and both functions, on one clock and one
// goroutine.
type world struct {
	clock    *clock
	engine   *embedded.Engine
	plan     *pipeline.Pipeline
	counting aggregate.Counting
	trouble  *trouble
	ledger   *ledger
	reader   *store.Store // for reading beside the functions, without trouble
	jitter   *rand.Rand

	began embedded.Usage // once all is set up: from here on it is the events' cost

	queueURL, quarantineURL, deadURL string

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
func newWorld(ctx context.Context, p *pipeline.Pipeline, counting aggregate.Counting, seed uint64, first time.Time) (*world, error) {
	w := &world{clock: &clock{now: first}, plan: p, counting: counting, ledger: newLedger(counting), jitter: source(seed, forJitter),
		perMessage: newNaive(p), perChange: newNaive(p)}
	w.trouble = &trouble{die: source(seed, forTrouble), ledger: w.ledger}
	w.engine = embedded.New(embedded.Config{Now: w.clock.time, Seed: seed, RollAfter: -1, Intercept: w.trouble.intercept})
	var err error
	if w.reader, err = w.open(); err != nil {
		return nil, err
	}
	arn, err := w.createTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("demo: creating tables: %w", err)
	}
	if err := w.createQueues(ctx); err != nil {
		return nil, fmt.Errorf("demo: creating queues: %w", err)
	}
	if _, err := w.engine.S3().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		return nil, fmt.Errorf("demo: creating the bucket: %w", err)
	}
	if err := w.reader.Start(ctx); err != nil {
		return nil, err
	}
	w.began = w.engine.Usage()
	return w, w.mapFunctions(ctx, arn)
}

// open makes a store as a function's cold start does.
func (w *world) open() (*store.Store, error) {
	return store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: w.plan, Events: eventsTable, Aggregates: totalsTable,
		Counting: w.counting, Env: w.env()})
}

func (w *world) env() store.Env { return w.clock.env(w.jitter.Float64) }

func (w *world) createTables(ctx context.Context) (streamARN string, err error) {
	for _, in := range []*dynamodb.CreateTableInput{eventsInput(w.plan.Indexes()), tableInput(totalsTable, nil)} {
		out, err := w.engine.DynamoDB().CreateTable(ctx, in)
		if err != nil {
			return "", err
		}
		if in.StreamSpecification != nil {
			streamARN = aws.ToString(out.TableDescription.LatestStreamArn)
		}
		_, err = w.engine.DynamoDB().UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: in.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
		if err != nil {
			return "", err
		}
	}
	return streamARN, nil
}

func eventsInput(indexes []string) *dynamodb.CreateTableInput {
	in := tableInput(eventsTable, indexes)
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	return in
}

func tableInput(name string, indexes []string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	in.KeySchema = keySchema(in, "PK", "SK")
	for _, index := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: aws.String(index),
			KeySchema: keySchema(in, index+"PK", index+"SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}})
	}
	return in
}

func keySchema(in *dynamodb.CreateTableInput, pk, sk string) []types.KeySchemaElement {
	for _, name := range []string{pk, sk} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
}

func (w *world) createQueues(ctx context.Context) error {
	create := func(name string, attributes map[string]string) (string, error) {
		out, err := w.engine.SQS().CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.QueueUrl), nil
	}
	var err error
	if w.quarantineURL, err = create("quarantine", nil); err != nil {
		return err
	}
	if w.deadURL, err = create("dead-letters", nil); err != nil {
		return err
	}
	w.queueURL, err = create("events", map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(visibility / time.Second)),
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead-letters","maxReceiveCount":%d}`, maxReceives),
	})
	return err
}

// mapFunctions connects queue and stream to the functions.
func (w *world) mapFunctions(ctx context.Context, streamARN string) (err error) {
	w.ingest, w.streams = newIngest(w), newStreams(w)
	function := func(s *sandbox, faults esm.Faults) esm.Function {
		return esm.Function{Handler: s.invoke, Timeout: functionTimeout, Now: w.clock.time, Deadline: w.clock.deadline, Faults: faults}
	}
	w.queue, err = esm.NewQueue(ctx, esm.QueueConfig{Client: w.engine.SQS(), URL: w.queueURL, BatchSize: batchSize,
		Function: function(w.ingest, w.trouble.queueFaults(&w.ingest.killed)), ReportBatchItemFailures: true, OnFailure: w.failed})
	if err != nil {
		return err
	}
	config := esm.StreamConfig{Client: w.engine.Streams(), ARN: streamARN, BatchSize: batchSize,
		Function: function(w.streams, w.trouble.streamFaults(&w.streams.killed)), ReportBatchItemFailures: true, OnFailure: w.failed}
	if w.counting == aggregate.Marks {
		config.Window = tumblingWindow // only a window tells the function its shard
	}
	w.stream, err = esm.NewStream(config)
	return err
}

func (w *world) failed(_ esm.Invocation, err error) {
	if err != nil {
		w.ledger.lastError = err
	}
}
