package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

// functions are the functions, started with one pipeline. Each call is judged by the role of
// template.yaml, so that what AWS would deny is denied here, too.
type functions struct {
	plan    *pipeline.Pipeline
	ingest  *handler.Ingest
	streams *handler.Streams
	// publisher is nil if there is no publish.yaml.
	publisher *publish.Publisher
	// These are the roles of the functions.
	asIngest, asStreams, asPublisher *iam.Role
}

// running holds the functions that take the next batch. A batch that is under way is finished by
// the functions that began it, as in a deployment.
type running struct{ current atomic.Pointer[functions] }

// begin starts the functions with a pipeline, as a deployment does.
func (d *Dev) begin(ctx context.Context, plan *pipeline.Pipeline, published []byte) (*functions, error) {
	e := env.Env{Now: d.clock.Now, Deadline: d.deadline}
	engine := d.engine.DynamoDB()
	of := func(function string) tables.Config {
		client := tables.Client(engine)
		if d.cfg.Client != nil {
			client = d.cfg.Client(function, engine)
		}
		return tables.Config{Client: client, Pipeline: plan, Events: stack.Events, Aggregates: stack.Aggregates,
			Counting: d.cfg.Counting,
			Objects:  d.engine.S3(), PayloadBucket: stack.Payloads, Env: e}
	}
	letters := quarantine.New(d.engine.SQS(), d.stack.Quarantine)
	ingest, err := handler.NewIngest(of("ingest"))
	if err != nil {
		return nil, err
	}
	ingest.Quarantine, ingest.Log, ingest.OnResult = letters, d.cfg.Log, d.judged
	ingest.OnBatch = func(_ context.Context, r handler.IngestReport) { d.step(Step{Ingest: &r}) }
	streams, err := handler.NewStreams(of("streams"))
	if err != nil {
		return nil, err
	}
	streams.Quarantine, streams.Archive, streams.Log = letters, handler.NewArchive(d.engine.S3(), stack.Bucket), d.cfg.Log
	streams.ArchiveFiles = true // as template.yaml has it
	streams.OnChange = func(_ context.Context, c event.Change) error { d.step(Step{Change: &c}); return nil }
	streams.OnBatch = func(_ context.Context, r handler.StreamsReport) { d.step(Step{Streams: &r}) }
	f := &functions{plan: plan, ingest: ingest, streams: streams, asIngest: iam.Ingest(plan), asStreams: iam.Streams(plan),
		asPublisher: publishRole(plan)}
	if f.publisher, err = d.publisher(ctx, of("publish"), published); err != nil {
		return nil, err
	}
	ctx = iam.As(ctx, f.asStreams)
	if err := streams.Start(ctx); err != nil {
		return nil, err
	}
	streams.KeepFile(ctx)
	return f, nil
}

// judged records what became of a message.
func (d *Dev) judged(_ context.Context, o handler.Outcome) {
	d.refused(&o)
	d.step(Step{Message: &o})
}

func (d *Dev) step(s Step) {
	s.At = d.clock.Now()
	d.steps.add(s)
}

// guarded is a function that survives its own panic. In Lambda, the process would end and a new one
// would start.
func guarded(do esm.Handler) esm.Handler {
	return func(ctx context.Context, payload []byte) (answer []byte, err error) {
		defer func() {
			if r := recover(); r != nil {
				answer, err = nil, fmt.Errorf("the function crashed: %v", r)
			}
		}()
		return do(ctx, payload)
	}
}

// ingest calls the ingest function, as its mapping does.
func (r *running) ingest(ctx context.Context, payload []byte) ([]byte, error) {
	var batch events.SQSEvent
	if err := json.Unmarshal(payload, &batch); err != nil {
		return nil, err
	}
	now := r.current.Load()
	return answer(now.ingest.Handle(iam.As(ctx, now.asIngest), batch))
}

// streams calls the streams function, as its mapping does.
func (r *running) streams(ctx context.Context, payload []byte) ([]byte, error) {
	now := r.current.Load()
	return answer(now.streams.Handle(iam.As(ctx, now.asStreams), payload))
}

// answer returns what Lambda makes of what a function has returned.
func answer(response any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}
