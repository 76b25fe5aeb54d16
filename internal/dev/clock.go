package dev

import (
	"sync"
	"time"
)

// clock is the time of everything that runs in an `ingot dev`. It never goes back, and it does not
// jump while something is under way: it follows the seconds that pass and not the machine's calendar.
// Otherwise a machine that wakes up after two days would find changes in the stream that are too old
// to be read, and totals would lack them.
type clock struct {
	real func() time.Time

	mu    sync.Mutex
	began time.Time // of the machine's clock, with its monotonic reading
	at    time.Time // the time of this clock at began
	leap  time.Duration
}

// anyLeap lets a clock follow the machine's once, however far that is ahead.
const anyLeap = 1<<63 - 1

// longestLeap is how far a clock jumps ahead while it runs. A laptop sleeps for that long. A clock that
// is set to another year would let everything expire.
const longestLeap = 24 * time.Hour

// newClock returns a clock that goes on where an earlier one stopped, which may be long ago. If that is
// zero, it begins now.
func newClock(real func() time.Time, stopped time.Time) *clock {
	c := &clock{began: real(), real: real, leap: anyLeap}
	if c.at = stopped; stopped.IsZero() {
		c.at = c.began.Round(0)
	}
	return c
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time { return c.at.Add(max(c.real().Sub(c.began), 0)) }

// follow sets the clock to that of the machine if that is ahead. It must be called when nothing is
// under way. If the machine's clock is too far ahead to follow, it returns by how much.
func (c *clock) follow() (tooFar time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	real := c.real()
	ahead := real.Round(0).Sub(c.now())
	switch {
	case ahead > c.leap:
		return ahead
	case ahead > 0:
		c.began, c.at = real, real.Round(0)
	}
	c.leap = longestLeap
	return 0
}
