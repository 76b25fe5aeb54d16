package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// tabled is a store on an engine of its own.
type tabled struct {
	*store.Store
	engine *embedded.Engine
	plan   *pipeline.Pipeline
}

// intercept stands between a store and its engine.
type intercept = func(ctx context.Context, api string, in any, call func() (any, error)) (any, error)

// newTabled makes the engine, the tables and the store of a pipeline. between may be nil.
func newTabled(ctx context.Context, spec pipeline.Spec, between intercept) (*tabled, error) {
	spec.Ingot, spec.Epoch, spec.Type = 1, 1, "{type}"
	p, err := pipeline.New(spec)
	if err != nil {
		return nil, err
	}
	t := &tabled{engine: embedded.New(embedded.Config{Intercept: between}), plan: p}
	if _, err := stack.New(ctx, t.engine, stack.Config{Indexes: p.Indexes()}); err != nil {
		return nil, err
	}
	t.Store, err = store.New(tables.Config{Client: t.engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates})
	if err != nil {
		return nil, err
	}
	return t, t.Start(ctx)
}

// planned plans the bodies of messages.
func planned(p *pipeline.Pipeline, bodies []string) (items []*event.Item, err error) {
	items = make([]*event.Item, len(bodies))
	for i, body := range bodies {
		if items[i], err = p.Plan(envelope.Message{Body: body}); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// puts plans and puts the bodies of one batch. Each must get the verdict.
func puts(ctx context.Context, st *store.Store, bodies []string, want event.Verdict) error {
	items, err := planned(st.Config().Pipeline, bodies)
	if err != nil {
		return err
	}
	results, _ := st.Put(ctx, items)
	for _, r := range results {
		if r.Verdict != want {
			return fmt.Errorf("an event is %s, and should be %s: %v", r.Verdict, want, r.Refusal)
		}
	}
	return nil
}

// putAll puts the bodies in batches of that size.
func (t *tabled) putAll(ctx context.Context, bodies []string, size int, want event.Verdict) error {
	for batch := range slices.Chunk(bodies, size) {
		if err := puts(ctx, t.Store, batch, want); err != nil {
			return err
		}
	}
	return nil
}

// measure measures what do asks of the engine, and how long it takes.
func (t *tabled) measure(events int, do func() error) (run, error) {
	before := t.engine.Usage()
	r, err := measure(do)
	used := t.engine.Usage().Sub(before)
	r.events, r.units, r.requests = events, used.WriteUnits(), float64(used.TotalRequests())
	return r, err
}

// slowed delays every request while on is true.
func slowed(on *bool) intercept {
	return func(_ context.Context, _ string, _ any, call func() (any, error)) (any, error) {
		if *on {
			time.Sleep(delay)
		}
		return call()
	}
}
