package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/internal/tool/watched"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// These are the steps of a run of the schedule. It begins, looks once, holds the totals that
// differ, looks again, waits for the stream and decides: see [verify.Looks.Prove]. A run has a
// folder of its own, named after the time of the schedule. What one step finds is a file there,
// which is written once. So a run that is started twice, as EventBridge Scheduler may do, is one.
const (
	Begin  = "begin"
	Hold   = "hold"
	Drain  = "drain"
	Decide = "decide"
)

// These are the two looks.
const (
	firstLook  = "first"
	secondLook = "second"
)

// Watching is what runs of the schedule need.
type Watching struct {
	Tables tables.Config // without a pipeline: each run takes the deployed one
	Secret []byte        // of hmac
	Work   string        // s3://BUCKET/PREFIX: below it, each run has a folder
	// Counted says how far the streams function is, as [verify.Lag] does. It may take ten minutes.
	Counted func(context.Context) (time.Time, error)
	// Found is told what a run has found. It may be told again of the same run.
	Found func(context.Context, Found)
}

// Found is what a run has found.
type Found struct {
	Scheduled string   `json:"scheduled"` // when the run was to begin
	Totals    int      `json:"totals"`
	Events    int      `json:"events"`
	Differing int      `json:"differing"` // totals that are wrong
	Undecided int      `json:"undecided"` // totals that differ and may be right
	Damaged   []string `json:"damaged"`   // the aggregates of the wrong totals
	LeftOut   []string `json:"leftOut"`   // what older items are missing from by design
}

const (
	// watchParts is into how many segments a run divides the tables, and into how many buckets the
	// keys; watchAtOnce is how many parts run at a time.
	watchParts  = 64
	watchAtOnce = 40
	// patience is how long a run waits for the stream, and pollDrain how long before it asks again.
	patience  = 2 * time.Hour
	pollDrain = time.Minute
)

// errNotYet means that a part needs another call.
var errNotYet = errors.New("not yet")

// begun says which pipeline.yaml a run compares totals by.
type begun struct {
	Scheduled string `json:"scheduled"`
	Digest    string `json:"digest"`
	Text      []byte `json:"text"`
}

// held is what the step hold has found.
type held struct {
	Equal  bool        `json:"equal"` // the first look found no difference, so there is no second one
	Totals verify.Held `json:"totals"`
}

// drain says since when a run waits for the stream.
type drain struct {
	Since time.Time `json:"since"`
}

// begin returns what a run does. It takes the pipeline.yaml that the streams function has kept in
// the table, because the one in the worker's binary may be older.
func (w *Worker) begin(ctx context.Context, scheduled string) (*Stage, error) {
	at, err := time.Parse(time.RFC3339, scheduled)
	switch {
	case w.Watching == nil:
		return nil, errors.New("worker: it has no schedule: deploy it with cmd/worker/template.yaml as it is")
	case err != nil:
		return nil, fmt.Errorf("worker: the schedule says %q, which is not a time: it gives <aws.scheduler.scheduled-time>", scheduled)
	}
	place := w.Watching.Work + "/" + at.UTC().Format("20060102T150405Z")
	folder, err := w.Open(place)
	if err != nil {
		return nil, err
	}
	if is, err := sums.FetchJSON(ctx, folder, "found", "found", &Found{}); is || err != nil {
		return &Stage{Tasks: []Part{}, AtOnce: 1}, err // the run was started twice, and is done
	}
	file, err := w.deployed(ctx)
	if err != nil {
		return nil, err
	}
	if err := sums.KeepNewJSON(ctx, folder, "begun", "begun", begun{scheduled, file.Digest, file.Text}); err != nil {
		return nil, err
	}
	task := Task{Job: Watch, Segments: watchParts, Buckets: watchParts, Work: place, About: "watch"}
	if _, err := w.run(ctx, task, sums.Config{Work: folder}); err != nil {
		return nil, err
	}
	one := func(step string, next *Stage) *Stage {
		t := task
		t.Step = step
		return &Stage{Tasks: []Part{{t}}, AtOnce: 1, Next: next}
	}
	look := func(name string, next *Stage) *Stage {
		t := task
		t.Look = name
		return Stages(t, watchAtOnce, next)
	}
	return look(firstLook, one(Hold, look(secondLook, one(Drain, one(Decide, nil))))), nil
}

func (w *Worker) deployed(ctx context.Context) (*tables.File, error) {
	c := w.Watching.Tables
	file, err := store.DeployedFile(ctx, c.Client, c.Aggregates)
	if err == nil && file == nil {
		err = fmt.Errorf("the aggregates table %s has no pipeline.yaml: no streams function has started, or the file is too large; "+
			"see its log", c.Aggregates)
	}
	return file, err
}

// run is a run of the schedule, as one of its parts sees it.
type run struct {
	*Worker
	begun
	Config sums.Config
	folder sums.Folder // of the run; each look has one below it
	plan   *pipeline.Pipeline
	store  *store.Store
}

// run opens a run that has begun.
func (w *Worker) run(ctx context.Context, t Task, c sums.Config) (*run, error) {
	if w.Watching == nil {
		return nil, errors.New("worker: it has no schedule: deploy it with cmd/worker/template.yaml as it is")
	}
	r := &run{Worker: w, Config: c, folder: c.Work}
	is, err := sums.FetchJSON(ctx, r.folder, "begun", "begun", &r.begun)
	if err == nil && !is {
		err = fmt.Errorf("worker: no run has begun in %s", r.folder)
	}
	if err != nil {
		return nil, err
	}
	r.plan, err = textfile.File{Name: "the deployed pipeline.yaml", Text: r.Text}.Load(pipeline.Secret(w.Watching.Secret))
	if err != nil {
		return nil, fmt.Errorf("worker: it cannot read the deployed pipeline.yaml; build it from the version that the streams function is "+
			"built from, or newer, and with the same INGOT_PII_KEY: %w", err)
	}
	of := w.Watching.Tables
	of.Pipeline = r.plan
	if r.store, err = store.New(of); err != nil {
		return nil, err
	}
	if t.Look != "" {
		r.Config.Work, err = w.Open(t.Work + "/" + t.Look)
	}
	return r, err
}

// steps returns what does the steps of a part.
func (r *run) steps(t Task) steps {
	switch t.Look {
	case firstLook, secondLook:
		of := looking(verify.Config{Config: r.Config, Pipeline: r.plan, Source: verify.SourceOf(r.store), Looks: true}, t.Part)
		part := of[t.Step]
		if t.Look == secondLook && part != nil {
			of[t.Step] = func(ctx context.Context) error {
				if h, err := r.held(ctx); err != nil || h.Equal {
					return err
				}
				return part(ctx)
			}
		}
		return of
	}
	return steps{Hold: r.hold(t), Drain: r.drain, Decide: r.decide(t)}
}

// look returns what a look has found.
func (r *run) look(ctx context.Context, t Task, name string) (*verify.Report, error) {
	c := r.Config
	var err error
	if c.Work, err = r.Open(t.Work + "/" + name); err != nil {
		return nil, err
	}
	return verify.Collect(ctx, verify.Config{Config: c, Pipeline: r.plan, Source: verify.SourceOf(r.store), Looks: true})
}

func (r *run) held(ctx context.Context) (h held, err error) {
	is, err := sums.FetchJSON(ctx, r.folder, "held", "held", &h)
	if err == nil && !is {
		err = fmt.Errorf("worker: the totals of the first look in %s are not read yet", r.folder)
	}
	return h, err
}

// hold reads the totals that differ at the first look. The file is never replaced: the second look
// may have begun.
func (r *run) hold(t Task) func(context.Context) error {
	return func(ctx context.Context) error {
		first, err := r.look(ctx, t, firstLook)
		if err != nil {
			return err
		}
		of := held{Equal: len(first.Differences) == 0}
		if of.Totals, err = verify.Hold(ctx, r.plan, r.store, first); err != nil {
			return err
		}
		return sums.KeepNewJSON(ctx, r.folder, "held", "held", of)
	}
}

// drain waits until the stream has delivered what was written before the second look ended. That is
// before this call.
func (r *run) drain(ctx context.Context) error {
	if h, err := r.held(ctx); err != nil || h.Equal {
		return err
	}
	if is, err := sums.FetchJSON(ctx, r.folder, "drained", "drained", &drain{}); is || err != nil {
		return err
	}
	e := r.Env.Real()
	now := e.Now()
	since := drain{now}
	if err := sums.KeepNewJSON(ctx, r.folder, "draining", "draining", since); err != nil {
		return err
	}
	if _, err := sums.FetchJSON(ctx, r.folder, "draining", "draining", &since); err != nil {
		return err
	}
	counted, err := r.Watching.Counted(ctx)
	unknown := (*drained.Unknown)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && (!errors.As(err, &unknown) || unknown.Why != "" || e.Now().Sub(since.Since) >= patience):
		return err
	case err == nil && !counted.Before(now):
		return sums.KeepNewJSON(ctx, r.folder, "drained", "drained", since)
	}
	if err := e.Sleep(ctx, pollDrain); err != nil {
		return err
	}
	return errNotYet
}

// decide says which totals are wrong, and tells it. What was decided once stays so.
func (r *run) decide(t Task) func(context.Context) error {
	return func(ctx context.Context) error {
		f := Found{}
		is, err := sums.FetchJSON(ctx, r.folder, "found", "found", &f)
		if err == nil && !is {
			f, err = r.decided(ctx, t)
			if err == nil {
				err = sums.KeepNewJSON(ctx, r.folder, "found", "found", f)
			}
			if err == nil { // another call may have been faster
				_, err = sums.FetchJSON(ctx, r.folder, "found", "found", &f)
			}
		}
		if err != nil {
			return err
		}
		err = watched.Keep(ctx, r.Watching.Tables.Client, r.Watching.Tables.Aggregates, watched.Last{At: f.Scheduled,
			Totals: f.Totals, Events: f.Events, Differing: f.Differing, Undecided: f.Undecided, LeftOut: strings.Join(f.LeftOut, "; ")})
		if err == nil {
			r.Watching.Found(ctx, f)
		}
		return err
	}
}

func (r *run) decided(ctx context.Context, t Task) (f Found, err error) {
	h, err := r.held(ctx)
	if err != nil {
		return f, err
	}
	first, err := r.look(ctx, t, firstLook)
	if err != nil {
		return f, err
	}
	second, looks := first, &verify.Looks{First: first, Second: first}
	if !h.Equal {
		if is, err := sums.FetchJSON(ctx, r.folder, "drained", "drained", &drain{}); err != nil || !is {
			return f, cmp.Or(err, fmt.Errorf("worker: the stream has not delivered what the looks of %s have read", r.folder))
		}
		if second, err = r.look(ctx, t, secondLook); err != nil {
			return f, err
		}
		looks = verify.Judge(first, second, "")
	}
	leftOut, err := looks.Prove(ctx, r.plan, r.store, h.Totals)
	if err != nil {
		return f, err
	}
	// After a deployment, other totals count.
	if file, err := r.deployed(ctx); err != nil || file.Digest != r.Digest {
		return f, cmp.Or(err, errors.New("worker: another pipeline.yaml was deployed during the run, so it proves nothing"))
	}
	f = Found{Scheduled: r.Scheduled, Totals: second.Totals, Events: second.Items, Differing: verify.CountTotals(looks.Damaged),
		Undecided: verify.CountTotals(looks.Undecided) + second.More.Differences}
	for _, def := range r.plan.Definitions() {
		if slices.ContainsFunc(looks.Damaged, func(d verify.Difference) bool { return d.Def == def }) {
			f.Damaged = append(f.Damaged, def.String())
		}
		if slices.Contains(leftOut, def) {
			f.LeftOut = append(f.LeftOut, def.String()+" is building")
		}
	}
	if second.Copies > 0 {
		f.LeftOut = append(f.LeftOut, fmt.Sprintf("%d copies of rows whose type has not turned", second.Copies))
	}
	return f, nil
}

// These variables say where runs keep their files, and which function counts. Without them there is
// no schedule.
const (
	workVariable    = "VERIFY_WORK"    // s3://BUCKET/PREFIX
	streamsVariable = "VERIFY_STREAMS" // the name of the streams function
)

// watching returns what Lambda's environment says of the schedule.
func watching(p function.Process, parts function.Parts) *Watching {
	work, streams := p.Getenv(workVariable), p.Getenv(streamsVariable)
	if work == "" || streams == "" {
		return nil
	}
	c := parts.Config
	c.Pipeline = nil
	mappings := lambda.NewFromConfig(parts.AWS)
	question := drained.Question{Tables: dynamodb.NewFromConfig(parts.AWS), Shards: dynamodbstreams.NewFromConfig(parts.AWS),
		Events: c.Events, Aggregates: c.Aggregates, Function: streams, Notes: fences.Streams, Patience: 10 * time.Minute,
		Mappings: func(ctx context.Context) ([]pause.Mapping, error) { return pause.Read(ctx, mappings, streams) }}
	return &Watching{Tables: c, Secret: []byte(p.Getenv("INGOT_PII_KEY")), Work: work, Counted: question.Ask,
		Found: func(ctx context.Context, f Found) {
			function.Emit(ctx, p.Log, parts.Metrics, function.Watched(f.Totals, f.Differing, f.Undecided, f.Events))
			level, text := slog.LevelInfo, "verified"
			if f.Differing > 0 {
				level, text = slog.LevelError, "totals differ: ingot verify --twice names them"
			}
			p.Log.LogAttrs(ctx, level, text, slog.Any("found", f))
		}}
}
