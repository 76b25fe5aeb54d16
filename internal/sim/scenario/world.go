package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

const (
	eventsTable = "events"
	totals      = "totals"
	bucket      = "archive"

	functionTimeout = 30 * time.Second
	visibility      = 3 * time.Minute
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
	arn, err := w.createTables()
	if err == nil {
		err = w.createQueues(fifo, receives)
	}
	if err == nil {
		err = w.mapFunctions(arn, batch, window)
	}
	if err != nil {
		return err
	}
	out.linef("%s, pipeline %s.yaml at epoch %d, counting by %s", w.now.Format("Monday 2006-01-02 15:04"), file, plan.Epoch(), w.counting)
	return nil
}

func (w *world) clock() time.Time { return w.now }

func (w *world) createTables() (arn string, err error) {
	ctx := context.Background()
	for _, name := range []string{eventsTable, totals} {
		in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}}}
		if name == eventsTable {
			in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
		}
		out, err := w.engine.DynamoDB().CreateTable(ctx, in)
		if err != nil {
			return "", err
		}
		if name == eventsTable {
			arn = *out.TableDescription.LatestStreamArn
		}
		_, err = w.engine.DynamoDB().UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
		if err != nil {
			return "", err
		}
	}
	_, err = w.engine.S3().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	return arn, err
}

func (w *world) createQueues(fifo bool, receives int) error {
	suffix, kind := "", map[string]string{}
	if fifo {
		suffix, kind["FifoQueue"] = ".fifo", "true"
	}
	var errs []error
	create := func(name string, attributes map[string]string) string {
		out, err := w.engine.SQS().CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			errs = append(errs, err)
			return ""
		}
		return *out.QueueUrl
	}
	w.quarantineURL = create("quarantine", map[string]string{"MessageRetentionPeriod": "1209600"})
	kind["MessageRetentionPeriod"] = "1209600"
	w.deadURL = create("dead"+suffix, kind)
	attributes := map[string]string{"VisibilityTimeout": fmt.Sprint(int(visibility / time.Second)), "MessageRetentionPeriod": "1209600",
		"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead%s","maxReceiveCount":%d}`, suffix, receives)}
	if fifo {
		attributes["FifoQueue"] = "true"
	}
	w.queueURL = create("events"+suffix, attributes)
	return errors.Join(errs...)
}

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
	return store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: w.plans[function], Events: eventsTable, Aggregates: totals, Counting: w.counting, Env: w.env()})
}

// close ends what is still frozen.
func (w *world) close() {
	for _, inv := range w.invocations {
		inv.stop()
	}
}
