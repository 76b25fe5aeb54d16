package dev

import (
	"sync"
	"time"
)

// clock is the time of everything that runs in an `ingot dev`. It never goes back, and it does not
// jump while work is under way, because it follows the seconds that pass and not the machine's
// calendar. If it did, then after a machine has slept for two days, changes in the stream would be
// too old to be read, and totals would lack them.
type clock struct {
	wall   func() time.Time     // the machine's calendar
	passed func() time.Duration // the time since a fixed moment, even if the calendar is changed

	mu    sync.Mutex
	began time.Duration // the result of passed when this clock was last set
	at    time.Time     // what it was set to
	leap  time.Duration // how far it may follow the calendar
}

// anyLeap lets a clock follow the calendar once, however far the calendar is ahead.
const anyLeap = 1<<63 - 1

// longestLeap is how far a running clock follows a jump of the calendar. It is long enough for a
// laptop that slept. If the clock followed a calendar that was set to another year, all events
// would expire.
const longestLeap = 24 * time.Hour

// newClock returns a clock that goes on at the time at which an earlier one stopped. If that time
// is zero, it begins now.
func newClock(wall func() time.Time, passed func() time.Duration, stopped time.Time) *clock {
	c := &clock{wall: wall, passed: passed, at: stopped, leap: anyLeap}
	if stopped.IsZero() {
		c.at, c.leap = wall().Round(0), longestLeap
	}
	c.began = passed() // after the calendar was read, so that this clock is not ahead of it
	return c
}

// steady returns what has passed since now by the machine's monotonic clock.
func steady() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time { return c.at.Add(c.passed() - c.began) }

// follow sets the clock to the machine's calendar if that is ahead. It must be called when nothing
// is under way. If the calendar is too far ahead to follow, it returns by how much.
func (c *clock) follow() (tooFar time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.wall().Round(0)
	ahead := wall.Sub(c.now())
	switch {
	case ahead > c.leap:
		return ahead
	case ahead > 0:
		c.began, c.at = c.passed(), wall
	}
	c.leap = longestLeap
	return 0
}
