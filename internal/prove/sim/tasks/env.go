package tasks

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/env"
)

// Env returns the world as seen by a machine whose clock is off by skew. rand returns numbers that
// are uniform in [0, 1).
func (s *Scheduler[O]) Env(rand func() float64, skew time.Duration) env.Env {
	return env.Env{
		Now:   func() time.Time { return s.Now.Add(skew) },
		Rand:  rand,
		Group: func() env.Group { return &group[O]{w: s} },
		Deadline: func(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
			return s.Deadline(ctx, at, skew), func() {}
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.Sleep(d)
			return ctx.Err()
		},
	}
}

// group runs the goroutines of a task as tasks.
type group[O any] struct {
	w    *Scheduler[O]
	open int
}

func (g *group[O]) Go(do func()) {
	g.open++
	of := g.w.Current.Of
	g.w.Spawn("+", of, func() {
		do()
		g.open--
	})
}

func (g *group[O]) Wait() {
	if g.open > 0 {
		g.w.Park(time.Time{}, func() bool { return g.open == 0 })
	}
}

// until is a context that ends by a clock that is off by skew from the world's clock. Nothing here
// waits on Done. Everything asks Err.
type until[O any] struct {
	context.Context
	w    *Scheduler[O]
	at   time.Time
	skew time.Duration
}

// Deadline returns a context that ends at a time, by a clock that is off by skew.
func (w *Scheduler[O]) Deadline(ctx context.Context, at time.Time, skew time.Duration) context.Context {
	if outer, ok := ctx.Deadline(); ok && outer.Before(at) {
		at = outer
	}
	return &until[O]{ctx, w, at, skew}
}

// Within returns a context that ends after so much time of the world.
func (w *Scheduler[O]) Within(d time.Duration) context.Context {
	return w.Deadline(context.Background(), w.Now.Add(d), 0)
}

func (u *until[O]) Deadline() (time.Time, bool) { return u.at, true }

func (u *until[O]) Err() error {
	if !u.w.Now.Add(u.skew).Before(u.at) {
		return context.DeadlineExceeded
	}
	return u.Context.Err()
}
