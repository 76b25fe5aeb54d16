package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// retainAt is how long an event of time at is kept; 0: for ever. It is the shortest of today's retain and of every
// earlier one that the event may have been stored under. An item that was stored before `before` can be removed by
// time to live at any later time, so it does not matter whether it had expired at that moment: an event that was
// stored under a shorter retain must be refused by that retain for good, or it would be counted a second time.
func (t *eventType) retainAt(at time.Time) time.Duration {
	shortest := t.retain
	for _, w := range t.was {
		if at.Before(w.Before) && shorter(w.Retain, shortest) {
			shortest = w.Retain
		}
	}
	return shortest
}

// shorter compares lifetimes, of which 0 is for ever.
func shorter(a, b time.Duration) bool { return a != 0 && (b == 0 || a < b) }

// was compiles the lifetimes of before.
func (c *compiler) was(at place, t *eventType, list []WasSpec) {
	for i, w := range list {
		p := at.in(fmt.Sprint(i))
		if w.Retain < day && !c.isBroken(p.in("retain")) {
			c.mistake(p.in("retain"), "retain is less than 1d", "at least 1d")
		}
		c.bounded(p.in("retain"), w.Retain)
		if w.Before.IsZero() && !c.isBroken(p.in("before")) {
			c.mistake(p.in("before"), "before is missing in "+nameOf(p), "before: "+aTime)
		}
		if !shorter(w.Retain, t.retain) && !c.isBroken(at) {
			c.warn(p, fmt.Sprintf("%s changes nothing: the retain of %s is as short", nameOf(p), t.name), "the other entries alone")
		}
		t.was = append(t.was, WasSpec{w.Retain, w.Before.UTC()})
	}
	slices.SortStableFunc(t.was, func(a, b WasSpec) int { return a.Before.Compare(b.Before) })
}

// wasText is a list of lifetimes as the file writes it; empty if there is none.
func wasText(list []WasSpec) string {
	if len(list) == 0 {
		return ""
	}
	entries := make([]string, len(list))
	for i, w := range list {
		entries[i] = fmt.Sprintf("{retain: %s, before: %s}", formatDuration(w.Retain), w.Before.Format(time.RFC3339Nano))
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
