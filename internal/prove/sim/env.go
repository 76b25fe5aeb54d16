package sim

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/env"
)

// env returns the world as store and handler see it.
func (w *World) env() env.Env { return w.envOff(0) }

// envOff returns the world as seen by a machine whose clock is off by skew.
func (w *World) envOff(skew time.Duration) env.Env {
	return env.Env{
		Now:   func() time.Time { return w.Now.Add(skew) },
		Rand:  func() float64 { return w.rng.Float64() },
		Group: func() env.Group { return &group{w: w} },
		Deadline: func(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
			return w.deadline(ctx, at, skew), func() {}
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.Sleep(d)
			return ctx.Err()
		},
	}
}

// group runs an invocation's goroutines as tasks.
type group struct {
	w    *World
	open int
}

func (g *group) Go(do func()) {
	g.open++
	of := g.w.Current.Of
	g.w.Spawn("+", of, func() {
		do()
		g.open--
	})
}

func (g *group) Wait() {
	if g.open > 0 {
		g.w.Park(time.Time{}, func() bool { return g.open == 0 })
	}
}

// until is a context that ends by a clock that is off by skew from the world's clock. Nothing here
// waits on Done. Everything asks Err.
type until struct {
	context.Context
	w    *World
	at   time.Time
	skew time.Duration
}

func (w *World) deadline(ctx context.Context, at time.Time, skew time.Duration) context.Context {
	if outer, ok := ctx.Deadline(); ok && outer.Before(at) {
		at = outer
	}
	return &until{ctx, w, at, skew}
}

func (u *until) Deadline() (time.Time, bool) { return u.at, true }

func (u *until) Err() error {
	if !u.w.Now.Add(u.skew).Before(u.at) {
		return context.DeadlineExceeded
	}
	return u.Context.Err()
}
