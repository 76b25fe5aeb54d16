package scenario

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/testworld"
)

// env returns the world as handlers and store see it. One thing happens at a time, and chance is
// always one half.
func (w *world) env(c *testworld.Clock) env.Env {
	e := c.Env(func() float64 { return 0.5 })
	e.Deadline = w.deadline
	return e
}

// until is a context that ends by the world's clock. Nothing here waits on Done. Everything asks
// Err.
type until struct {
	context.Context
	w  *world
	at time.Time
}

func (w *world) deadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if outer, ok := ctx.Deadline(); ok && outer.Before(at) {
		at = outer
	}
	return &until{ctx, w, at}, func() {}
}

func (u *until) Deadline() (time.Time, bool) { return u.at, true }

// Err does not hold back a request that is on its way: nobody can call back a request that was
// sent.
func (u *until) Err() error {
	if !u.w.arriving && !u.w.Clock.Now().Before(u.at) {
		return context.DeadlineExceeded
	}
	return u.Context.Err()
}
