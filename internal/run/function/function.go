package function

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Process holds what a function needs from the process that it runs in. All fields but the last two
// are required.
type Process struct {
	Getenv    func(string) string
	Files     fs.FS        // holds the pipeline that was built in
	Pipeline  string       // its name in Files
	Out       io.Writer    // metrics; standard output in Lambda
	Log       *slog.Logger // the function's log
	Namespace string       // CloudWatch namespace of the metrics; empty means Namespace
	AWS       *aws.Config  // for the clients; nil means what Lambda's environment says
}

// InLambda returns the process of a function as Lambda runs it. An empty pipeline means
// pipeline.yaml, and without a log there is Lambda's own.
func InLambda(files fs.FS, pipeline string, log *slog.Logger, namespace string, c *aws.Config) Process {
	if log == nil {
		log = lambdacontext.NewLogger()
	}
	return Process{Getenv: os.Getenv, Files: files, Pipeline: cmp.Or(pipeline, "pipeline.yaml"), Out: os.Stdout, Log: log,
		Namespace: namespace, AWS: c}
}

// Start runs a handler that is ready in Lambda, and does not return. If there is an error instead,
// it writes a line that says what cannot start, and ends the process with exit code 1.
func Start(ctx context.Context, what string, handle any, err error) {
	if err != nil {
		lambdacontext.NewLogger().ErrorContext(ctx, what+" cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handle)
}

// Beside returns the folder of the files that lie beside the pipeline: that of the file that
// INGOT_PIPELINE names, or what is built into the binary.
func (p Process) Beside() fs.FS {
	if path := p.Getenv(pipelineVariable); path != "" {
		return os.DirFS(filepath.Dir(path))
	}
	return p.Files
}

// IngestHandler is the ingest function as aws-lambda-go takes it.
type IngestHandler func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// StreamsHandler is the streams function as aws-lambda-go takes it.
type StreamsHandler func(context.Context, json.RawMessage) (handler.StreamResponse, error)

// Ingest makes the ingest function ready. It sends no request. If the events table does not exist,
// or the aggregates table does not agree with totals that move with the put, the first batch fails
// with that error, and its messages stay in the queue. If adjust is not nil, it may change the
// handler before it is used, but it cannot turn off the metrics.
func (p Process) Ingest(ctx context.Context, adjust func(*handler.Ingest)) (IngestHandler, error) {
	s, plan, b, err := p.read(ctx, pipeline.LoadForIngest, tableVariable)
	if err != nil {
		return nil, err
	}
	if plan.SecretCheck() != "" && s.aggregates == "" {
		return nil,
			Mistakes{aggregatesVariable + " is not set, and pipeline.yaml uses hmac in a key: set it to the name of the aggregates " +
				"table, which holds a check value of " + secretVariable}
	}
	if (plan.MovesByPut() || len(plan.Migrations()) > 0) && s.aggregates == "" {
		return nil, Mistakes{aggregatesVariable + " is not set, and pipeline.yaml has types that are migrated or totals that move with " +
			"the put: set it to the name of the aggregates table"}
	}
	c, err := b.configure(s, plan)
	if err != nil {
		return nil, err
	}
	c.Events = s.events
	in, err := handler.NewIngest(c)
	if err != nil {
		return nil, err
	}
	in.Log = p.Log
	if s.quarantine != "" {
		in.Quarantine = b.quarantine(s.quarantine)
	}
	if len(s.pointers) > 0 {
		in.Payloads = b.payloads(s.pointers)
	}
	if adjust != nil {
		adjust(in)
	}
	in.OnBatch = both(p.ingestReporter(s).batch, in.OnBatch)
	return Logged(p.Log, in.Handle), nil
}

// Parts are what a function beside these two is made of.
type Parts struct {
	Config     tables.Config
	Metrics    *emf.Emitter
	Quarantine quarantine.Queue // nil: there is none
	AWS        aws.Config       // empty in a local build
}

// Parts reads the environment and the pipeline for a function that reads and writes both tables as
// neither of these two does. Metrics call it by its role, unless Lambda names it. It sends no
// request.
func (p Process) Parts(ctx context.Context, role string) (Parts, error) {
	s, plan, b, err := p.read(ctx, pipeline.Load, tableVariable, aggregatesVariable)
	if err != nil {
		return Parts{}, err
	}
	c, err := b.configure(s, plan)
	c.Events = s.events
	parts := Parts{Config: c, Metrics: p.emitter(s, role), AWS: b.aws()}
	if s.quarantine != "" {
		parts.Quarantine = b.quarantine(s.quarantine)
	}
	return parts, err
}

// configure returns what the stores of both functions have in common.
func (b *backend) configure(s settings, plan *pipeline.Pipeline) (tables.Config, error) {
	c := tables.Config{Client: b.tables(), Pipeline: plan, Aggregates: s.aggregates, Counting: s.counting, Env: b.env(),
		Region: b.region()}
	switch {
	case s.payloads != "":
		c.Objects, c.PayloadBucket = b.objects(), s.payloads
	case plan.UsesOffload():
		return c,
			Mistakes{payloadsVariable +
				" is not set, and pipeline.yaml has event types with offload: set it to the name of the payload bucket"}
	}
	return c, nil
}

// both returns a function that reports the metrics of a batch and then calls own, the user's hook,
// if it is not nil.
func both[R any](metrics, own func(context.Context, R)) func(context.Context, R) {
	if own == nil {
		return metrics
	}
	return func(ctx context.Context, r R) {
		metrics(ctx, r)
		own(ctx, r)
	}
}

// StartTime limits the start. Lambda ends an init phase that takes longer than 10 seconds without
// explaining what took so long. So the function gives up earlier, with an error that does.
const StartTime = 8 * time.Second

// Streams makes the streams function ready, and makes sure that the aggregates table agrees with
// the pipeline. New generations get their heads. It returns an error if the pipeline and the table
// disagree about what a total means. adjust is as for [Process.Ingest].
func (p Process) Streams(ctx context.Context, adjust func(*handler.Streams)) (StreamsHandler, error) {
	s, plan, b, err := p.read(ctx, pipeline.LoadForStreams, tableVariable, aggregatesVariable)
	if err != nil {
		return nil, err
	}
	c, err := b.configure(s, plan)
	if err != nil {
		return nil, err
	}
	c.Events = s.events // for its home
	h, err := handler.NewStreams(c)
	if err != nil {
		return nil, err
	}
	h.Log = p.Log
	starting, stop := context.WithTimeout(ctx, StartTime)
	defer stop()
	if err := h.Start(starting); err != nil {
		return nil, err
	}
	h.KeepFile(starting)
	if s.quarantine != "" {
		h.Quarantine = b.quarantine(s.quarantine)
	}
	if s.archive != "" {
		h.Archive, h.ArchiveFiles = b.archive(s.archive), !s.objects
	}
	if adjust != nil {
		adjust(h)
	}
	h.OnBatch = both(p.streamsReporter(s).batch, h.OnBatch)
	return Logged(p.Log, h.Handle), nil
}

// loader loads the parts of a pipeline that one of the functions needs.
type loader func(fs.FS, string, ...pipeline.Option) (*pipeline.Pipeline, error)

// read reads the environment and the pipeline that it names, and makes the clients. It sends no
// request.
func (p Process) read(ctx context.Context, compile loader, needs ...string) (settings, *pipeline.Pipeline, *backend, error) {
	limitMemory(p.Getenv)
	s, err := readSettings(p.Getenv, needs...)
	if err != nil {
		return s, nil, nil, err
	}
	plan, err := p.load(ctx, s, compile)
	if err != nil {
		return s, nil, nil, err
	}
	if plan.UsesHMAC() && len(s.secret) < pipeline.MinSecret {
		p.Log.WarnContext(ctx, fmt.Sprintf("%s has less than %d bytes and could be guessed; it cannot be changed where keys are stored "+
			"under it, so use a longer one for new tables", secretVariable, pipeline.MinSecret))
	}
	b, err := connect(ctx, p.Log, p.AWS, s, plan)
	return s, plan, b, err
}

// load compiles the pipeline in the binary, or the file that INGOT_PIPELINE names.
func (p Process) load(ctx context.Context, s settings, compile loader) (*pipeline.Pipeline, error) {
	if s.pipeline == "" {
		plan, err := compile(p.Files, p.Pipeline, pipeline.Secret(s.secret))
		if err != nil {
			return nil, fmt.Errorf("the %s in this binary: %w", p.Pipeline, err)
		}
		return plan, nil
	}
	if err := readable(s.pipeline); err != nil {
		return nil, err
	}
	folder, name := filepath.Split(s.pipeline)
	plan, err := compile(os.DirFS(filepath.Clean(folder)), name, pipeline.Secret(s.secret))
	if err != nil {
		return nil, fmt.Errorf("%s names %s: %w", pipelineVariable, s.pipeline, err)
	}
	p.Log.InfoContext(ctx, "the pipeline is the one that "+pipelineVariable+" names, not the one in this binary", "file", s.pipeline)
	return plan, nil
}

// readable returns an error that explains why the file that INGOT_PIPELINE names cannot be read. It
// returns nil if the file can be read.
func readable(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return unreadable(name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s names %s, which is a folder: name the file in it, such as %s", pipelineVariable, name,
			filepath.Join(name, "pipeline.yaml"))
	}
	return nil
}

func unreadable(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s names %s, and there is no such file: the files of a layer are under /opt, and files packed with the binary "+
			"are under /var/task; "+
			"write the full path, or leave the variable out to use the pipeline in the binary", pipelineVariable, name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s names %s, which this function may not read: let everyone read the file before it is packed (chmod 644)",
			pipelineVariable, name)
	}
	return fmt.Errorf("%s names %s, which cannot be read: %w", pipelineVariable, name, err)
}

// Logged returns a handler that logs an error that fails a whole batch, with the request id. Lambda
// reports the error too, but not in the format of the log.
func Logged[In, Out any](log *slog.Logger, handle func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := handle(ctx, in)
		if err != nil {
			log.ErrorContext(ctx, "the whole batch failed and is delivered again", "error", err.Error())
		}
		return out, err
	}
}
