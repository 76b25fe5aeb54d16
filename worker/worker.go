// Package worker is the Lambda function that does one part of `ingot verify --large`: it reads a
// segment of both tables into sums in a bucket, or merges one hash bucket of the sums. A state
// machine calls it for each part, until it says that nothing is left to do: see
// cmd/worker/template.yaml. [Start] runs it.
//
// A part may be done twice, at the same time or one after the other, and a process that was given
// up may go on. Its manifest is replaced on the condition that nobody else has replaced it, so each
// page counts once.
//
// The function's whole main is one call. The pipeline.yaml of the stack is built into the binary:
//
//	//go:embed pipeline.yaml
//	var files embed.FS
//
//	func main() { worker.Start(files) }
package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/work"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// Task is one part of the work.
type Task struct {
	Step     string  `json:"step"` // [Segment] or [Merge]
	Part     int     `json:"part"` // from 0
	Segments int     `json:"segments"`
	Buckets  int     `json:"buckets"`
	Work     string  `json:"work"`  // s3://BUCKET/PREFIX
	About    string  `json:"about"` // names the tables; see [verify.Config]
	Rate     float64 `json:"rate"`  // read units a second; 0: no limit
}

// These are the steps.
const (
	Segment = "segment"
	Merge   = "merge"
)

// Answer says whether the part needs another call.
type Answer struct {
	More bool `json:"more"`
}

// Worker does parts. It is safe for concurrent use.
type Worker struct {
	Pipeline *pipeline.Pipeline
	Source   verify.Source
	// Open returns the folder that a task names.
	Open   func(place string) (sums.Folder, error)
	Memory int // bytes of sums; 0 means 64 MB
	Env    env.Env
}

const (
	// atLeast is the least time that a call needs to get anywhere.
	atLeast = 30 * time.Second
	// margin is what is left of it for the checkpoint.
	margin = 20 * time.Second
)

// Handle does as much of a part as there is time for. If its time is nearly over, it writes a
// checkpoint and answers that there is more. A merge is done in one call.
func (w *Worker) Handle(ctx context.Context, t Task) (Answer, error) {
	folder, err := w.Open(t.Work)
	if err != nil {
		return Answer{}, err
	}
	c := verify.Config{Pipeline: w.Pipeline, Source: w.Source, Config: sums.Config{Segments: t.Segments, Buckets: t.Buckets, Rate: t.Rate,
		Memory: w.Memory, Work: folder, About: t.About, Env: w.Env}}
	within := ctx
	if deadline, ok := ctx.Deadline(); ok {
		e := w.Env.Real()
		if left := deadline.Sub(e.Now()); left < atLeast {
			return Answer{}, fmt.Errorf("worker: %s are left, and a part needs %s: give the function a longer timeout",
				left.Round(time.Second), atLeast)
		}
		var stop context.CancelFunc
		within, stop = e.Deadline(ctx, deadline.Add(-margin))
		defer stop()
	}
	switch t.Step {
	case Segment:
		_, err = verify.Segment(within, c, t.Part)
		if errors.Is(err, sums.ErrReplaced) || err != nil && within.Err() != nil && ctx.Err() == nil {
			return Answer{More: true}, nil
		}
	case Merge:
		_, err = verify.Merge(ctx, c, t.Part)
	default:
		err = fmt.Errorf("worker: there is no step %q: it is %s or %s", t.Step, Segment, Merge)
	}
	return Answer{}, err
}

// Options are what the function can be given. The zero value is right for most.
type Options struct {
	Pipeline string // the name of the file; empty means pipeline.yaml
	Log      *slog.Logger
}

// Start runs the function in Lambda, and does not return. files holds the pipeline.yaml of the
// stack. If a variable of the environment is wrong or missing, Start writes a line that says which,
// and ends the process with exit code 1.
func Start(files fs.FS, options ...func(*Options)) {
	ctx := context.Background()
	w, err := New(ctx, files, options...)
	var handle any
	if err == nil {
		handle = function.Logged(lambdacontext.NewLogger(), w.Handle)
	}
	function.Start(ctx, "the worker", handle, err)
}

// New makes the worker of Lambda's environment. It sends no request.
func New(ctx context.Context, files fs.FS, options ...func(*Options)) (*Worker, error) {
	var o Options
	for _, change := range options {
		change(&o)
	}
	parts, err := function.InLambda(files, o.Pipeline, o.Log, "", nil).Parts(ctx, "worker")
	if err != nil {
		return nil, err
	}
	st, err := store.New(parts.Config)
	if err != nil {
		return nil, err
	}
	memory := 0
	if mb, err := strconv.Atoi(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")); err == nil {
		memory = max(64, (mb-256)/2) << 20 // the rest is for pages and garbage
	}
	client := s3.NewFromConfig(parts.AWS, func(o *s3.Options) { o.UsePathStyle = parts.AWS.BaseEndpoint != nil })
	open := func(place string) (sums.Folder, error) {
		return work.Open(place, func() work.Client { return client })
	}
	return &Worker{Pipeline: parts.Config.Pipeline, Source: verify.SourceOf(st), Memory: memory, Open: open}, nil
}
