package testworld

import (
	"context"
	"sync"
	"time"

	"github.com/ingot-events/ingot/env"
)

// Clock is a world's own time. It stands still unless somebody sleeps or moves it. So a run depends
// only on what is done in it. Goroutines may share a Clock.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that is set to at.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set sets the clock to any time, also to an earlier one.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Reach moves the clock forward to at. It never moves the clock back.
func (c *Clock) Reach(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
}

// Pass moves the clock forward.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Sleep moves the clock forward by d. It takes no real time.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Pass(d)
	return ctx.Err()
}

// Deadline is context.WithDeadline for this clock. The context has no timer. It ends when it is
// asked.
func (c *Clock) Deadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	d := &deadline{Context: ctx, clock: c, at: at}
	return d, func() { d.cancelled = true }
}

type deadline struct {
	context.Context
	clock     *Clock
	at        time.Time
	cancelled bool
}

func (d *deadline) Deadline() (time.Time, bool) {
	if outer, ok := d.Context.Deadline(); ok && outer.Before(d.at) {
		return outer, true
	}
	return d.at, true
}

func (d *deadline) Err() error {
	switch err := d.Context.Err(); {
	case err != nil:
		return err
	case d.cancelled:
		return context.Canceled
	case !d.clock.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// Env returns the world as store and handlers see it: this clock, the given chance, and no
// goroutines.
func (c *Clock) Env(chance func() float64) env.Env {
	return env.Env{Now: c.Now, Sleep: c.Sleep, Rand: chance, Deadline: c.Deadline, Group: func() env.Group { return inTurn{} }}
}

// inTurn runs functions one after the other.
type inTurn struct{}

func (inTurn) Go(do func()) { do() }
func (inTurn) Wait()        {}
