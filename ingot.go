// Package ingot runs Ingot's two Lambda functions from programs of your own.
//
// A function's whole main is one call. Its pipeline.yaml is built into the binary:
//
//	//go:embed pipeline.yaml
//	var files embed.FS
//
//	func main() { ingot.StartIngest(files) }
//
// The streams function is the same with [StartStreams]. Both read their settings from the
// environment, as template.yaml sets it, and write the metrics that its alarms watch. Hooks and
// other changes are options:
//
//	ingot.StartIngest(files, func(o *ingot.IngestOptions) { o.OnResult = tell })
//
// The variables of the environment are
//
//	INGOT_PIPELINE          a file in place of the pipeline.yaml in the binary; it must exist
//	INGOT_TABLE             the events table; the ingest function needs it
//	INGOT_AGGREGATES_TABLE  the aggregates table; the streams function needs it, and the ingest function
//	                        if a key uses hmac, a type is migrated, or a total moves with the put
//	INGOT_QUARANTINE_URL    a standard queue for what can never be stored or counted; empty: none
//	INGOT_ARCHIVE_BUCKET    a bucket for events that expire; empty: they are not kept. Streams only
//	INGOT_ARCHIVE           batches (the default) or objects: what the bucket gets. Streams only
//	INGOT_PAYLOAD_BUCKET    the bucket of large payloads; both functions need it if the pipeline has offload
//	INGOT_POINTER_BUCKETS   buckets with payloads that messages point to, with commas between. Ingest only
//	INGOT_COUNTING          marks (default) or receipts. Streams only
//	INGOT_PII_KEY           the secret of hmac; needed if the pipeline uses it
//	INGOT_ENDPOINT_URL      an emulator that takes the place of every AWS service; empty: none
//
// To do more than the two functions do, use the packages below this one. [pipeline] plans events.
// [store] writes and reads the two tables. [handler] has the functions' handlers. [verify] adds
// everything up again. Package ingottest runs all of it in your own tests.
//
// [pipeline]: https://pkg.go.dev/github.com/ingot-events/ingot/pipeline
// [store]: https://pkg.go.dev/github.com/ingot-events/ingot/store
// [handler]: https://pkg.go.dev/github.com/ingot-events/ingot/handler
// [verify]: https://pkg.go.dev/github.com/ingot-events/ingot/verify
package ingot

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/run/function"
)

// Options are what both functions can be given. The zero value is right for most.
type Options struct {
	// Pipeline is the name of the pipeline in the files. Empty means pipeline.yaml.
	Pipeline string
	// Log takes the function's log lines. Nil means JSON lines on standard output, at the level
	// that Lambda's logging configuration sets.
	Log *slog.Logger
	// Namespace is the CloudWatch namespace of the metrics. Empty means Ingot. The alarms in
	// template.yaml watch this namespace, so change it in both places.
	Namespace string
	// Quarantine takes what can never be stored or counted. Nil means the queue in
	// INGOT_QUARANTINE_URL.
	Quarantine quarantine.Queue
	// AWS configures the clients. Nil means what Lambda's environment says: AWS_REGION, the
	// credentials of the function's role, AWS_ENDPOINT_URL (also of one service, such as
	// AWS_ENDPOINT_URL_DYNAMODB), AWS_USE_FIPS_ENDPOINT and AWS_USE_DUALSTACK_ENDPOINT. For another
	// runtime, set what config.LoadDefaultConfig returns.
	AWS *aws.Config
}

// IngestOptions are the options of the ingest function.
type IngestOptions struct {
	Options
	// OnResult is called for each message after it is settled. It must not block. See
	// [handler.Ingest].
	OnResult func(context.Context, handler.Outcome)
	// OnBatch is called for each batch before the answer, after the metrics are written.
	OnBatch func(context.Context, handler.IngestReport)
}

// StreamsOptions are the options of the streams function.
type StreamsOptions struct {
	Options
	// Archive keeps events that expire. Nil means the bucket in INGOT_ARCHIVE_BUCKET.
	Archive handler.Archive
	// OnChange is called for each change, at least once, before it is counted. See
	// [handler.Streams].
	OnChange func(context.Context, event.Change) error
	// OnBatch is called for each batch before the answer, after the metrics are written.
	OnBatch func(context.Context, handler.StreamsReport)
}

// IngestFunc is the ingest function, as aws-lambda-go takes it.
type IngestFunc = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// StreamsFunc is the streams function, as aws-lambda-go takes it.
type StreamsFunc = func(context.Context, json.RawMessage) (handler.StreamResponse, error)

// StartIngest runs the ingest function in Lambda, and does not return. files holds its
// pipeline.yaml. If the pipeline or a variable of the environment is wrong or missing, it writes a
// line that says which and what to set, and ends the process with exit code 1.
func StartIngest(files fs.FS, options ...func(*IngestOptions)) {
	ctx := context.Background()
	handle, err := NewIngest(ctx, files, options...)
	function.Start(ctx, "the ingest function", handle, err)
}

// StartStreams runs the streams function in Lambda, and does not return. Before the first batch it
// makes sure that the aggregates table agrees with the pipeline. It fails as [StartIngest] does,
// and also if the pipeline and the table disagree about what a total means: see
// [handler.Streams.Start].
func StartStreams(files fs.FS, options ...func(*StreamsOptions)) {
	ctx := context.Background()
	handle, err := NewStreams(ctx, files, options...)
	function.Start(ctx, "the streams function", handle, err)
}

// NewIngest makes the ingest function without running it, so that you can wrap it or hand it to
// another runtime. It sends no request.
func NewIngest(ctx context.Context, files fs.FS, options ...func(*IngestOptions)) (IngestFunc, error) {
	var o IngestOptions
	for _, change := range options {
		change(&o)
	}
	return o.process(files).Ingest(ctx, func(in *handler.Ingest) {
		in.OnResult, in.OnBatch = o.OnResult, o.OnBatch
		if o.Quarantine != nil {
			in.Quarantine = o.Quarantine
		}
	})
}

// NewStreams makes the streams function without running it. It reads the aggregates table. If the
// pipeline is newer than the table, it also writes to the table.
func NewStreams(ctx context.Context, files fs.FS, options ...func(*StreamsOptions)) (StreamsFunc, error) {
	var o StreamsOptions
	for _, change := range options {
		change(&o)
	}
	return o.process(files).Streams(ctx, func(s *handler.Streams) {
		s.OnChange, s.OnBatch = o.OnChange, o.OnBatch
		if o.Quarantine != nil {
			s.Quarantine = o.Quarantine
		}
		if o.Archive != nil {
			s.Archive = o.Archive
		}
	})
}

func (o *Options) process(files fs.FS) function.Process {
	return function.InLambda(files, o.Pipeline, o.Log, o.Namespace, o.AWS)
}

// Metric describes a metric that a function writes once a batch, in CloudWatch's embedded metric
// format.
type Metric struct {
	Name  string
	Unit  string // Count, Seconds or Milliseconds
	About string // what it counts, as docs/watch.md has it
}

// IngestMetrics lists the metrics of the ingest function, in the order in which it writes them.
// Those of parts, of arrays and of totals that move with the put are last. The function writes them
// only for batches that have something to count there.
func IngestMetrics() []Metric {
	return described(slices.Concat(function.IngestMetrics(), function.PartMetrics(), function.PutMetrics(), function.ArrayMetrics()))
}

// StreamsMetrics lists the metrics of the streams function, in the order in which it writes them.
// Those of payloads are last. The function writes them only for batches in which payloads were
// lost.
func StreamsMetrics() []Metric {
	return described(slices.Concat(function.StreamsMetrics(), function.PayloadMetrics()))
}

func described(metrics []function.Metric) []Metric {
	list := make([]Metric, len(metrics))
	for i, m := range metrics {
		list[i] = Metric{Name: m.Name, Unit: string(m.Unit), About: m.About}
	}
	return list
}
