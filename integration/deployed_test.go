package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// deployed is a deployment of a template.yaml at the endpoint. CloudFormation there has made the
// tables, queues, bucket and secret. This process stands in only for Lambda. It runs both built
// binaries in the environment that the template gives them, and delivers messages and changes to
// them.
type deployed struct {
	*testing.T
	stack                   string // its name
	secret                  string // of hmac
	clients                 *endpoint.Clients
	plan                    *pipeline.Pipeline
	store                   *store.Store
	queueURL, quarantine    string
	events, totals, archive string // tables, and the bucket
	streamARN               string // of the events table
	window                  time.Duration
	tolerant                bool             // batches may fail
	switches                *mappings.Server // of the functions' mappings; nil: they stay on
	used                    map[string]bool  // commands of the tool that were run
	restart                 func()           // starts both functions and their mappings again
	queue                   *esm.Queue       // nil, like everything below, if the endpoint's own Lambda does it
	stream                  *esm.Stream
	ingest, streams         *runtimeapi.Process
	ingestSaid, streamsSaid output
}

// output is what a function prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// sum adds up a metric over all batches so far.
func (o *output) sum(metric string) (sum float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range bytes.Lines(o.text.Bytes()) {
		var values map[string]any
		if json.Unmarshal(line, &values) == nil && values["_aws"] != nil {
			n, _ := values[metric].(float64)
			sum += n
		}
	}
	return sum
}

// deployment says what to deploy and how.
type deployment struct {
	dir        string            // the folder with template.yaml, and with pipeline.yaml unless the template names another
	binaries   map[string]string // the built functions, by their names in the template
	parameters map[string]string // of the template
	lambda     map[string]string // what Lambda adds to the environment besides the template's variables
	window     time.Duration     // of the stream's mapping, which counting by marks needs
}

// deploy makes the resources of a template and starts the functions.
func deploy(t *testing.T, c deployment) *deployed {
	t.Helper()
	e, clients := open(t)
	if clients.SQS == nil || clients.S3 == nil {
		t.Skipf("%s has no queues or no buckets, and the template declares both", e.URL)
	}
	text := must.Read(t, filepath.Join(c.dir, "template.yaml"))
	declared := readTemplate(t, text)
	stack := name(t)
	outputs := cloudFormation{e.URL}.create(t, stack, declared.withNames(t, standInNames(stack)), c.parameters)
	d := &deployed{T: t, stack: stack, clients: clients, archive: outputs["ArchiveBucketName"], queueURL: outputs["QueueUrl"],
		quarantine: outputs["QuarantineQueueUrl"], streamARN: outputs["EventsStreamArn"],
		events: outputs["EventsTableName"], totals: outputs["AggregatesTableName"], window: c.window,
		used: map[string]bool{"console": true}} // it serves until it is ended; its views read as the other commands do
	if bucket := outputs["PayloadBucketName"]; c.parameters["Payloads"] == "keep" {
		if _, err := clients.S3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket}); err != nil {
			t.Errorf("payload bucket %q: %v", bucket, err)
		}
	}
	env := map[string]map[string]string{}
	for function, variables := range declared.variables {
		env[function] = environment(c.lambda)
		for name, output := range variables {
			env[function][name] = outputs[output]
		}
		if file, ok := strings.CutPrefix(env[function]["INGOT_PIPELINE"], "/opt/"); ok && declared.layer != "" {
			layer := filepath.Join(c.dir, declared.layer) // where Lambda would unpack the layer
			if filepath.Base(layer) != file {             // SAM makes a layer of a single file, too
				layer = filepath.Join(layer, file)
			}
			env[function]["INGOT_PIPELINE"] = layer
		}
	}
	d.secret = env["StreamsFunction"]["INGOT_PII_KEY"]
	d.read(c.dir, env["StreamsFunction"])
	d.restart = func() {
		d.ingest = d.start(c.binaries["IngestFunction"], env["IngestFunction"], &d.ingestSaid)
		d.streams = d.start(c.binaries["StreamsFunction"], env["StreamsFunction"], &d.streamsSaid)
		d.mapFunctions()
	}
	d.restart()
	return d
}

// environment returns what Lambda puts into a function's environment, and more.
func environment(more ...map[string]string) map[string]string {
	env := map[string]string{"AWS_REGION": endpoint.Region, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_LAMBDA_LOG_FORMAT": "JSON"}
	for _, variables := range more {
		maps.Copy(env, variables)
	}
	return env
}

// beside returns the environment of another function on the same tables, with the files of a tool,
// and more.
func (d *deployed) beside(w tool, url string, more map[string]string) map[string]string {
	return environment(map[string]string{"INGOT_ENDPOINT_URL": url, "INGOT_TABLE": d.events, "INGOT_AGGREGATES_TABLE": d.totals,
		"INGOT_PIPELINE": filepath.Join(w.dir, "pipeline.yaml")}, more)
}

// read opens the store on the tables that the streams function is told of.
func (d *deployed) read(dir string, env map[string]string) {
	d.Helper()
	if file := env["INGOT_PIPELINE"]; file != "" {
		dir = filepath.Dir(file)
	}
	var err error
	d.plan, err = pipeline.Load(os.DirFS(dir), "pipeline.yaml", pipeline.Secret([]byte(env["INGOT_PII_KEY"])))
	must.Succeed(d, err)
	counting, err := aggregate.ParseCounting(env["INGOT_COUNTING"])
	must.Succeed(d, err)
	d.store, err = store.New(tables.Config{Client: d.clients.DynamoDB, Pipeline: d.plan, Counting: counting,
		Events: env["INGOT_TABLE"], Aggregates: env["INGOT_AGGREGATES_TABLE"]})
	must.Succeed(d, err)
}

func (d *deployed) start(binary string, env map[string]string, said *output) *runtimeapi.Process {
	d.Helper()
	p, err := runtimeapi.Start(d.Context(), runtimeapi.Config{Binary: binary, Env: env, Stdout: said, Stderr: said})
	must.Succeed(d, err)
	d.Cleanup(func() {
		p.Close()
		if d.Failed() {
			d.Logf("%s printed:\n%s", filepath.Base(binary), said)
		}
	})
	return p
}

// invoked is the function that a process runs.
func invoked(p *runtimeapi.Process) esm.Function {
	return esm.Function{Timeout: time.Minute, Handler: func(ctx context.Context, payload []byte) ([]byte, error) {
		return p.Invoke(ctx, payload, time.Minute)
	}}
}

// mapFunctions connects queue and stream to the processes, with the batch sizes that the template
// declares.
func (d *deployed) mapFunctions() {
	d.Helper()
	failed := func(inv esm.Invocation, err error) {
		if d.tolerant {
			return
		}
		d.Errorf("a batch of %d from %s failed: %v", len(inv.IDs), inv.Source, err)
	}
	var err error
	d.queue, err = esm.NewQueue(d.Context(), esm.QueueConfig{Client: d.clients.SQS, URL: d.queueURL, BatchSize: 1000,
		ReportBatchItemFailures: true, Function: invoked(d.ingest), OnFailure: failed})
	must.Succeed(d, err)
	d.stream, err = esm.NewStream(esm.StreamConfig{Client: d.clients.Streams, ARN: d.streamARN, BatchSize: 1000,
		ReportBatchItemFailures: true, Window: d.window, Grace: min(d.window, time.Second), Function: invoked(d.streams),
		OnFailure: failed})
	must.Succeed(d, err)
}

// count hands changes to the streams function.
func (d *deployed) count() error {
	_, err := d.stream.Poll(d.Context())
	return err
}

// until delivers until done reports true.
func (d *deployed) until(what string, deliver func() error, done func() bool) {
	d.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if d.queue != nil {
			must.Succeed(d, deliver())
		}
		if done() {
			return
		}
		if time.Now().After(deadline) {
			d.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// send sends messages and delivers until the queue is empty.
func (d *deployed) send(bodies ...string) {
	d.Helper()
	for _, body := range bodies {
		_, err := d.clients.SQS.SendMessage(d.Context(), &sqs.SendMessageInput{QueueUrl: &d.queueURL, MessageBody: &body})
		must.Succeed(d, err)
	}
	deliver := func() error { _, err := d.queue.Poll(d.Context()); return err }
	d.until("the queue is empty", deliver, func() bool {
		left, err := stack.Depth(d.Context(), d.clients.SQS, d.queueURL)
		must.Succeed(d, err)
		return left == 0
	})
}

const broken = `{"type": "order.placed", "merchant_id`

// check sends events, and messages with what goes wrong in reality: one comes twice, and one is
// broken. Then it delivers the changes, and checks everything that is stored, counted, quarantined
// and reported.
func (d *deployed) check(bodies []string) {
	d.Helper()
	d.send(append(slices.Clone(bodies), broken)...)
	d.send(bodies[0])
	want := map[event.Key]bool{}
	for _, body := range bodies {
		item, err := d.plan.Plan(envelope.Message{Body: body})
		must.Succeed(d, err)
		want[item.Key] = true
	}
	stored := map[event.Key]bool{}
	for item, err := range d.store.Items(d.Context()) {
		must.Succeed(d, err)
		stored[item.Key] = true
	}
	if len(want) != len(bodies) || !maps.Equal(stored, want) {
		d.Errorf("the events table holds %v, want %v", stored, want)
	}
	d.checkQuarantine()
	var report *verify.Report
	d.until("every change is counted", d.count, func() bool {
		var err error
		report, err = verify.Totals(d.Context(), d.plan, d.store, time.Now())
		must.Succeed(d, err)
		return report.OK() && report.Totals > 0
	})
	if d.queue != nil {
		d.checkReports(len(bodies))
	}
}

// checkReports checks the sum of what the functions have reported.
func (d *deployed) checkReports(events int) {
	d.Helper()
	d.ingest.Close()
	d.streams.Close()
	reported := map[string]int{"EventsReceived": events + 2, "Inserted": events, "Duplicate": 1, "Poison": 1, "Returned": 0}
	for metric, want := range reported {
		if got := d.ingestSaid.sum(metric); got != float64(want) {
			d.Errorf("the ingest function reports %v %s, want %d", got, metric, want)
		}
	}
	if got := d.streamsSaid.sum("ChangesReceived") - 1; got != float64(events) { // the first one names the home
		d.Errorf("the streams function reports %v changes of events, want %d", got, events)
	}
}

// checkQuarantine checks that quarantine holds the broken message as it was sent, with its reason,
// and nothing else.
func (d *deployed) checkQuarantine() {
	d.Helper()
	out, err := d.clients.SQS.ReceiveMessage(d.Context(), &sqs.ReceiveMessageInput{QueueUrl: &d.quarantine,
		MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}, WaitTimeSeconds: 5})
	if err != nil || len(out.Messages) != 1 || aws.ToString(out.Messages[0].Body) != broken {
		d.Fatalf("in quarantine: %+v, %v", out, err)
	}
	var note struct{ Verdict, Reason string }
	text := aws.ToString(out.Messages[0].MessageAttributes[quarantine.Attribute].StringValue)
	if err := json.Unmarshal([]byte(text), &note); err != nil || note.Verdict != "Poison" || note.Reason != "undecodable" {
		d.Errorf("the note in quarantine is %q", text)
	}
}

// TestDeployed deploys the sample shop with the parameters of docs/without.md, and with a
// payload bucket.
func TestDeployed(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	e, _ := open(t)
	d := deploy(t,
		deployment{dir: "..", binaries: functions(t), parameters: map[string]string{"Counting": "receipts", "Payloads": "keep",
			"EndpointUrl": e.URL}})
	bodies := orders(t, 12)
	for n, body := range orders(t, 40) { // one of each of 40 other merchants
		bodies = append(bodies, strings.Replace(body, `"m-101"`, fmt.Sprintf(`"m-%d"`, 200+n), 1))
	}
	d.check(bodies)
	checkDay(t, d.store, 12)
	w := d.tool(e.URL, "..")
	d.useTool(w, toolReads)
	d.changeWith(e, w)
	d.verifyApart(w)
}

// built is the folder of the functions as they are deployed, and of the tool. closing makes and
// removes it.
var built struct {
	dir string
	mu  sync.Mutex
}

// functions returns both functions as they are deployed, by their names in the template.
func functions(t *testing.T) map[string]string {
	t.Helper()
	binaries := map[string]string{}
	for name, function := range functionNames {
		binary, err := build(name)
		must.Succeed(t, err)
		binaries[function] = binary
	}
	return binaries
}

// A function may have this many bytes, because each cold start reads them. The worker may have as
// many as in scripts/release: no message waits for it.
const mostBytes, mostOfWorker = 15_000_000, 17_000_000

// build builds a function as it is deployed, for the first test that needs it.
func build(name string) (binary string, err error) {
	built.mu.Lock()
	defer built.mu.Unlock()
	binary = filepath.Join(built.dir, name, "bootstrap")
	info, err := os.Stat(binary)
	if err != nil {
		if err := runtimeapi.Build(ctx, "github.com/ingot-events/ingot/cmd/"+name, binary, ""); err != nil {
			return "", err
		}
		info, err = os.Stat(binary)
	}
	most := int64(mostBytes)
	if name == "worker" {
		most = mostOfWorker
	}
	if err == nil && info.Size() > most {
		err = fmt.Errorf("the function %s has %d bytes, and may have %d", name, info.Size(), most)
	}
	return binary, err
}

const visits = `ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: "VISIT"}}
aggregates:
  site_daily: {since: 1, by: {site: "{site}"}, window: 1d, from: {visit: {values: {visits: count}}}}
`

// visitBodies returns n visits to seven sites.
func visitBodies(n int) (bodies []string) {
	for n := range n {
		bodies = append(bodies, fmt.Sprintf(`{"type":"visit","id":"v%d","site":"s%d","at":"2099-03-01T09:00:00Z"}`, n, n%7))
	}
	return bodies
}

// layered makes the folder of docs/without.md with a pipeline.yaml: the functions use the file
// in the layer.
func layered(t *testing.T, pipeline string) (dir string) {
	t.Helper()
	page := must.Read(t, "../docs/without.md")
	sample := must.Read(t, filepath.Join("..", sampleshop.Template))
	dir = t.TempDir()
	for name, text := range map[string]string{
		"template.yaml":          sampleshop.Patched(t, string(sample), sampleshop.Diffs(string(page))...),
		"pipeline/pipeline.yaml": pipeline,
	} {
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
			os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)))
	}
	return dir
}

// TestPipelineInALayer deploys the folder of docs/without.md. The functions have the sample shop
// built in, but use the file in the layer.
func TestPipelineInALayer(t *testing.T) {
	e, _ := open(t)
	dir := layered(t, visits)
	d := deploy(t,
		deployment{dir: dir, binaries: functions(t), parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}})
	d.check(visitBodies(5))
}

// orders returns n orders of one day. Each is like the first sample of events/.
func orders(t *testing.T, n int) (bodies []string) {
	t.Helper()
	text := must.Read(t, "../events/ingest-one.json")
	var one events.SQSEvent
	must.Succeed(t, json.Unmarshal(text, &one))
	for n := range n {
		bodies = append(bodies, strings.Replace(one.Records[0].Body, `"o-1"`, fmt.Sprintf(`"o-%d"`, n+1), 1))
	}
	return bodies
}

// checkDay checks the total of n of those orders.
func checkDay(t *testing.T, st *store.Store, n int) {
	t.Helper()
	day := must.Time("2099-03-14T00:00:00Z")
	by := map[string]string{"merchant": "m-101", "currency": "EUR"}
	totals, err := query.Of(st).Total(t.Context(), "merchant_daily", by, day, day.AddDate(0, 0, 1))
	if err != nil || len(totals) != 1 {
		t.Fatalf("the day's total: %+v, %v", totals, err)
	}
	values := totals[0].Values
	if values["orders"].String() != fmt.Sprint(n) || values["ordered"].String() != fmt.Sprint(n*4998) {
		t.Errorf("the day's total is %v, want %d orders of 4998 cents each", values, n)
	}
}
