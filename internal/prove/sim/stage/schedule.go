package stage

import (
	"context"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// Scheduled verifies all totals once, as the schedule of cmd/worker does. counted returns when the
// stream has delivered all that was written.
func Scheduled(ctx context.Context, p *pipeline.Pipeline, st *store.Store, e env.Env, counted func(context.Context) error) (*verify.Looks,
	error) {
	c := verify.Config{Pipeline: p, Source: verify.SourceOf(st), Looks: true, Config: sums.Config{Env: e}}
	first, err := verify.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	held, err := verify.Hold(ctx, p, st, first)
	if err != nil {
		return nil, err
	}
	second, err := verify.Run(ctx, c)
	if err == nil {
		err = counted(ctx)
	}
	if err != nil {
		return nil, err
	}
	l := verify.Judge(first, second, "")
	_, err = l.Prove(ctx, p, st, held)
	return l, err
}
