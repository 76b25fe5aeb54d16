// Package worker is the Lambda function that does one part of `ingot verify --large` or of `ingot
// migrate compare --large`: it reads a segment of two tables into sums in a bucket, or merges one
// hash bucket of the sums. A state machine calls it for each part, until it says that nothing is
// left to do: see cmd/worker/template.yaml. [Start] runs it.
//
// A part may be done twice, at the same time or one after the other, and a process that was given
// up may go on. Its manifest is replaced on the condition that nobody else has replaced it, so each
// page counts once.
//
// The function's whole main is one call. The pipeline.yaml of the stack is built into the binary,
// and, for a comparison, the migration.yaml beside it:
//
//	//go:embed pipeline.yaml
//	var files embed.FS
//
//	func main() { worker.Start(files) }
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/verify/work"
)

// Task is one part of the work.
type Task struct {
	Job      string  `json:"job"`  // [Verify], [Look], [Compare] or [Watch]
	Step     string  `json:"step"` // [Totals], [Segment] or [Merge], or one of [Watch]
	Part     int     `json:"part"` // from 0
	Segments int     `json:"segments"`
	Buckets  int     `json:"buckets"`
	Work     string  `json:"work"`  // s3://BUCKET/PREFIX
	About    string  `json:"about"` // names the tables; see [sums.Config]
	Rate     float64 `json:"rate"`  // read units a second; 0: no limit

	Scheduled string `json:"scheduled,omitempty"` // of [Begin] alone: when the run was to begin, as RFC 3339
	Look      string `json:"look,omitempty"`      // of [Watch]: which look the part belongs to
}

// These are the jobs.
const (
	Verify  = "verify"  // totals with items
	Look    = "look"    // the same, for one of the looks of [verify.TwiceBy]
	Compare = "compare" // the copies of a migration with its rows
	Watch   = "watch"   // a run of the schedule: see [Worker.Watching]
)

// These are the steps. Those of all parts are done before the next one begins.
const (
	Totals  = "totals" // of a look alone: it reads the totals of a segment
	Segment = "segment"
	Merge   = "merge"
)

// StepsOf returns the steps of a job, or of one look of [Watch], in order.
func StepsOf(job string) []string {
	if job == Look || job == Watch {
		return []string{Totals, Segment, Merge}
	}
	return []string{Segment, Merge}
}

// Answer says whether the part needs another call.
type Answer struct {
	More   bool `json:"more"`
	*Stage      // of [Begin] alone: what the run does
}

// Stage is the input of the state machine: parts that are done at the same time, and the stage
// after them.
type Stage struct {
	Tasks  []Part `json:"tasks"`
	AtOnce int    `json:"atOnce"`
	Next   *Stage `json:"next,omitempty"`
}

// Part is a task as the state machine has it.
type Part struct {
	Task Task `json:"task"`
}

// Stages returns the stages of a job: the parts of each step, and after the last one next. t is
// each part without its step and number.
func Stages(t Task, atOnce int, next *Stage) *Stage {
	for _, step := range slices.Backward(StepsOf(t.Job)) {
		next = &Stage{AtOnce: atOnce, Next: next}
		for t.Step, t.Part = step, 0; t.Part < PartsOf(t, step); t.Part++ {
			next.Tasks = append(next.Tasks, Part{t})
		}
	}
	return next
}

// PartsOf returns how many parts a step of a task has.
func PartsOf(t Task, step string) int {
	if step == Merge {
		return t.Buckets
	}
	return t.Segments
}

// Worker does parts. It is safe for concurrent use.
type Worker struct {
	Pipeline *pipeline.Pipeline
	Source   verify.Source
	// Moving returns the migration whose rows and copies are compared. Nil: there is none.
	Moving func(context.Context) (*migrate.Migration, error)
	// Open returns the folder that a task names.
	Open   func(place string) (sums.Folder, error)
	Memory int // bytes of sums; 0 means 64 MB
	Env    env.Env
	// Watching is what a run of the schedule needs. Nil: there is no schedule.
	Watching *Watching
}

const (
	// atLeast is the least time that a call needs to get anywhere.
	atLeast = 30 * time.Second
	// margin is what is left of it for the checkpoint.
	margin = 20 * time.Second
)

// Handle does as much of a part as there is time for. If its time is nearly over, it writes a
// checkpoint and answers that there is more. A merge is done in one call, and so are the steps of a
// run that are about few totals.
func (w *Worker) Handle(ctx context.Context, t Task) (Answer, error) {
	if t.Job == Watch && t.Step == Begin {
		stage, err := w.begin(ctx, t.Scheduled)
		return Answer{Stage: stage}, err
	}
	folder, err := w.Open(t.Work)
	if err != nil {
		return Answer{}, err
	}
	part, err := w.part(ctx, t, sums.Config{Segments: t.Segments, Buckets: t.Buckets, Rate: t.Rate, Memory: w.Memory, Work: folder,
		About: t.About, Env: w.Env})
	if err != nil {
		return Answer{}, err
	}
	within := ctx
	if deadline, ok := ctx.Deadline(); ok && !slices.Contains([]string{Merge, Hold, Decide}, t.Step) {
		e := w.Env.Real()
		if left := deadline.Sub(e.Now()); left < atLeast {
			return Answer{}, fmt.Errorf("worker: %s are left, and a part needs %s: give the function a longer timeout",
				left.Round(time.Second), atLeast)
		}
		var stop context.CancelFunc
		within, stop = e.Deadline(ctx, deadline.Add(-margin))
		defer stop()
	}
	err = part(within)
	if errors.Is(err, sums.ErrReplaced) || errors.Is(err, errNotYet) || err != nil && within.Err() != nil && ctx.Err() == nil {
		return Answer{More: true}, nil
	}
	return Answer{}, err
}

// part returns what does a part.
func (w *Worker) part(ctx context.Context, t Task, c sums.Config) (func(context.Context) error, error) {
	steps := steps{}
	switch t.Job {
	case Verify, Look:
		steps = looking(verify.Config{Config: c, Pipeline: w.Pipeline, Source: w.Source, Looks: t.Job == Look}, t.Part)
	case Compare:
		if w.Moving == nil {
			return nil, errors.New("worker: it has no migration.yaml: build it with the one that moves the table")
		}
		s, err := w.Moving(ctx)
		if err != nil {
			return nil, err
		}
		of, err := s.Comparison(ctx, c)
		if err != nil {
			return nil, err
		}
		steps[Segment] = func(ctx context.Context) error { _, err := of.Segment(ctx, t.Part); return err }
		steps[Merge] = func(ctx context.Context) error { return of.Merge(ctx, t.Part) }
	case Watch:
		r, err := w.run(ctx, t, c)
		if err != nil {
			return nil, err
		}
		steps = r.steps(t)
	default:
		return nil, fmt.Errorf("worker: there is no job %q: it is %s, %s, %s or %s", t.Job, Verify, Look, Compare, Watch)
	}
	if steps[t.Step] == nil {
		return nil, fmt.Errorf("worker: %s has no step %q: it has %s", t.Job, t.Step, strings.Join(StepsOf(t.Job), ", "))
	}
	return steps[t.Step], nil
}

// steps are what does each step of a part.
type steps map[string]func(context.Context) error

func looking(of verify.Config, part int) steps {
	s := steps{
		Segment: func(ctx context.Context) error { _, err := verify.Segment(ctx, of, part); return err },
		Merge:   func(ctx context.Context) error { _, err := verify.Merge(ctx, of, part); return err },
	}
	if of.Looks {
		s[Totals] = func(ctx context.Context) error { _, err := verify.SegmentTotals(ctx, of, part); return err }
	}
	return s
}

// Options are what the function can be given. The zero value is right for most.
type Options struct {
	// Pipeline and Migration are the names of the files. Empty means pipeline.yaml and
	// migration.yaml.
	Pipeline, Migration string
	Log                 *slog.Logger
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
	p := function.InLambda(files, o.Pipeline, o.Log, "", nil)
	parts, err := p.Parts(ctx, "worker")
	if err != nil {
		return nil, err
	}
	st, err := store.New(parts.Config)
	if err != nil {
		return nil, err
	}
	var moving func(context.Context) (*migrate.Migration, error)
	name := cmp.Or(o.Migration, "migration.yaml")
	if _, err := fs.Stat(p.Beside(), name); err == nil {
		moving = func(ctx context.Context) (*migrate.Migration, error) {
			return migrate.Open(ctx, p.Beside(), name, parts.Config)
		}
	}
	memory := 0
	if mb, err := strconv.Atoi(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")); err == nil {
		memory = max(64, (mb-256)/2) << 20 // the rest is for pages and garbage
	}
	client := s3.NewFromConfig(parts.AWS, func(o *s3.Options) { o.UsePathStyle = parts.AWS.BaseEndpoint != nil })
	open := func(place string) (sums.Folder, error) {
		return work.Open(place, func() work.Client { return client })
	}
	return &Worker{Pipeline: parts.Config.Pipeline, Source: verify.SourceOf(st), Moving: moving, Memory: memory, Open: open,
		Watching: watching(p, parts)}, nil
}
