package sim

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/store"
)

// env is the world as store and handler see it.
func (w *World) env() store.Env {
	return store.Env{
		Now:      func() time.Time { return w.now },
		Rand:     func() float64 { return w.rng.Float64() },
		Group:    func() store.Group { return &group{w: w} },
		Deadline: w.deadline,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.sleep(d)
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
	of := g.w.current.of
	g.w.spawn("+", of, func() {
		do()
		g.open--
	})
}

func (g *group) Wait() {
	if g.open > 0 {
		g.w.park(time.Time{}, func() bool { return g.open == 0 })
	}
}

// until is a context that ends by the world's clock. Nothing here waits on Done; everything asks Err.
type until struct {
	context.Context
	w  *World
	at time.Time
}

func (w *World) deadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if outer, ok := ctx.Deadline(); ok && outer.Before(at) {
		at = outer
	}
	return &until{ctx, w, at}, func() {}
}

func (u *until) Deadline() (time.Time, bool) { return u.at, true }

func (u *until) Err() error {
	if !u.w.now.Before(u.at) {
		return context.DeadlineExceeded
	}
	return u.Context.Err()
}
