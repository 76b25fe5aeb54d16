package demo

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/store"
)

// clock is the demo's own time. It stands still unless somebody sleeps or the demo moves it, so a run is a
// pure function of its seed. It is for one goroutine.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

// reach moves the clock forward to at; it never goes back.
func (c *clock) reach(at time.Time) {
	if at.After(c.now) {
		c.now = at
	}
}

// sleep takes no real time.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.now = c.now.Add(d)
	return ctx.Err()
}

// deadline is context.WithDeadline by this clock.
func (c *clock) deadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	d := &deadline{Context: ctx, clock: c, at: at}
	return d, func() { d.cancelled = true }
}

type deadline struct {
	context.Context
	clock     *clock
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
	case !d.clock.now.Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// env is the world as store and handlers see it: this clock, seeded chance, and no goroutines.
func (c *clock) env(chance func() float64) store.Env {
	return store.Env{Now: c.time, Sleep: c.sleep, Rand: chance, Deadline: c.deadline, Group: func() store.Group { return inTurn{} }}
}

// inTurn runs functions one after the other.
type inTurn struct{}

func (inTurn) Go(do func()) { do() }
func (inTurn) Wait()        {}
