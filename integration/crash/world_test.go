package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// world is both functions as processes, with their tables at the endpoint and queues in this
// process.
type world struct {
	*testing.T
	seed            uint64
	clients         *endpoint.Clients
	plan            *pipeline.Pipeline
	store           *store.Store
	events, totals  string
	engine          *embedded.Engine
	offset          atomic.Int64 // how far the queues' clock is ahead of this machine's
	queueURL        string
	quarantineURL   string
	ingest, streams *sandbox
	queue           *esm.Queue
	stream          *esm.Stream
	moved           chan struct{} // holds one element if something was delivered to ingest since the stream was last idle
}

func newWorld(t *testing.T, e *endpoint.Endpoint, binaries map[string]string, counting aggregate.Counting, seed uint64) *world {
	t.Helper()
	w := &world{T: t, seed: seed, moved: make(chan struct{}, 1), clients: e.Clients(), events: fmt.Sprintf("events-%s-%x", counting, seed),
		totals: fmt.Sprintf("totals-%s-%x", counting, seed)}
	var err error
	w.plan, err = pipeline.Load(os.DirFS("testdata"), "pipeline.yaml")
	must.Succeed(t, err)
	streamARN := createTable(t, w.clients.DynamoDB, stack.Table{Name: w.events, Stream: true})
	createTable(t, w.clients.DynamoDB, stack.Table{Name: w.totals})
	w.store, err = store.New(tables.Config{Client: w.clients.DynamoDB, Pipeline: w.plan, Events: w.events, Aggregates: w.totals,
		Counting: counting})
	must.Succeed(t, err)
	w.engine = embedded.New(embedded.Config{Now: w.now, Seed: seed})
	w.quarantineURL = w.createQueue(stack.Queue{Name: "quarantine"})
	// No message may go to a dead-letter queue, however often its batch is killed.
	w.queueURL = w.createQueue(stack.Queue{Name: "queue", Visibility: visibility})

	queues := httptest.NewServer(wire.New(w.engine)) // through which the processes reach the quarantine queue
	t.Cleanup(queues.Close)
	path, err := filepath.Abs("testdata/pipeline.yaml")
	must.Succeed(t, err)
	env := map[string]string{"INGOT_PIPELINE": path, "INGOT_TABLE": w.events, "INGOT_AGGREGATES_TABLE": w.totals,
		"INGOT_COUNTING":       counting.String(),
		"INGOT_QUARANTINE_URL": queues.URL + "/000000000000/quarantine", "AWS_REGION": endpoint.Region,
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL_DYNAMODB": e.URL,
		"AWS_ENDPOINT_URL_SQS": queues.URL}
	w.ingest, w.streams = newSandbox(t, source(seed, forIngest), binaries["ingest"], env),
		newSandbox(t, source(seed, forStreams), binaries["streams"], env)
	w.mapFunctions(streamARN, counting)
	return w
}

// source returns a die for one concern, so that each depends on the seed alone.
func source(seed, concern uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, concern)) }

const (
	forEvents = iota + 1
	forIngest
	forStreams
	forCheckpoints
)

const visibility = 3 * time.Minute

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }

func (w *world) createQueue(q stack.Queue) string {
	w.Helper()
	url, err := q.Create(w.Context(), w.engine.SQS())
	must.Succeed(w, err)
	return url
}

// mapFunctions connects queue and stream to the processes.
func (w *world) mapFunctions(streamARN string, counting aggregate.Counting) {
	w.Helper()
	var err error
	w.queue, err = esm.NewQueue(w.Context(), esm.QueueConfig{Client: w.engine.SQS(), URL: w.queueURL, BatchSize: 20,
		Function: esm.Function{Handler: w.ingest.invoke, Timeout: time.Minute, Now: w.now}, ReportBatchItemFailures: true})
	must.Succeed(w, err)
	config := esm.StreamConfig{Client: numbered{w.clients.Streams}, ARN: streamARN, BatchSize: 25,
		Function: esm.Function{Handler: w.streams.invoke, Timeout: time.Minute}, ReportBatchItemFailures: true}
	if counting == aggregate.Marks {
		config.Window = stack.Window // only a window tells the function its shard
	}
	w.stream, err = esm.NewStream(config)
	must.Succeed(w, err)
}

func (w *world) send(bodies []string) {
	w.Helper()
	for _, body := range bodies {
		_, err := w.engine.SQS().SendMessage(w.Context(), &sqs.SendMessageInput{QueueUrl: &w.queueURL, MessageBody: &body})
		must.Succeed(w, err)
	}
}

// depth returns how many messages are in the queue, including those in flight.
func (w *world) depth() int {
	w.Helper()
	n, err := stack.Depth(w.Context(), w.engine.SQS(), w.queueURL)
	must.Succeed(w, err)
	return n
}

// remove lets a person delete a sale.
func (w *world) remove(id string) {
	w.Helper()
	_, err := w.clients.DynamoDB.DeleteItem(w.Context(),
		&dynamodb.DeleteItemInput{TableName: &w.events, Key: testworld.Key("SALE#"+id, "SALE")})
	must.Succeed(w, err)
}

// letters returns the bodies in quarantine, and removes them from it.
func (w *world) letters() map[string]int {
	w.Helper()
	bodies := map[string]int{}
	for {
		out, err := w.engine.SQS().ReceiveMessage(w.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &w.quarantineURL, MaxNumberOfMessages: 10})
		must.Succeed(w, err)
		if len(out.Messages) == 0 {
			return bodies
		}
		for _, m := range out.Messages {
			bodies[aws.ToString(m.Body)]++
			_, err := w.engine.SQS().DeleteMessage(w.Context(),
				&sqs.DeleteMessageInput{QueueUrl: &w.quarantineURL, ReceiptHandle: m.ReceiptHandle})
			must.Succeed(w, err)
		}
	}
}
