package pass

import (
	"context"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
)

// Opened is a stack with its pipeline, ready to be read.
type Opened struct {
	Target *target.Target
	Plan   *pipeline.Pipeline
	Store  *store.Store
}

// Open opens the tables of the stack that the flags mean.
func Open(ctx context.Context, a *command.App, use command.Use) (s Opened, err error) {
	if s.Target, s.Plan, err = a.Reach(ctx, use); err != nil {
		return s, err
	}
	if use.Writes {
		if err := command.NeedsPayloads(s.Target, s.Plan); err != nil {
			return s, err
		}
	}
	s.Store, err = a.Store(s.Target, s.Plan)
	return s, err
}

// Config returns how a pass reads the tables of the stack.
func (s Opened) Config(a *command.App, o *Options) (verify.Config, error) {
	c, err := o.Config(a, s.Target, s.Target.Account+" "+s.Target.Region+" "+s.Target.EventsTable+" "+s.Target.AggregatesTable)
	return verify.Config{Config: c, Pipeline: s.Plan, Source: verify.SourceOf(s.Store)}, err
}
