package dev

import (
	"sync"
	"time"
)

// clock is the time of everything that runs in an `ingot dev`. It never goes back, and it does not
// jump: while it runs, it follows the seconds that pass and not the machine's calendar. Otherwise a
// machine that wakes up after two days would find changes in the stream that are too old to be
// read, and totals would lack them.
type clock struct {
	mu    sync.Mutex
	began time.Time // with the reading of the monotonic clock
	at    time.Time // the time of the clock at began
	real  func() time.Time
}

// newClock returns a clock that begins now, or at the time where an earlier one stopped if that is
// later.
func newClock(real func() time.Time, stopped time.Time) *clock {
	c := &clock{began: real(), real: real}
	c.at = c.began.Round(0)
	if stopped.After(c.at) {
		c.at = stopped
	}
	return c
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Add(c.real().Sub(c.began))
}

// Ahead returns by how much the machine's clock is ahead of this one. It is negative if the
// machine's clock is behind.
func (c *clock) Ahead() time.Duration {
	now := c.real().Round(0)
	return now.Sub(c.Now())
}
