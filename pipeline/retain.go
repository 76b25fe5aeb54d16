package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// RetainAt returns how long an event of time at is kept. 0 means for ever. It is the shortest of
// today's retain and all earlier ones that the event may have been stored under. Time to live can
// remove an item that was stored before `before` at any later time, so it does not matter whether
// the item had expired at that moment. An event that was stored under a shorter retain must be
// refused by that retain for good. Otherwise it could be counted a second time.
func (s EventSpec) RetainAt(at time.Time) time.Duration {
	was := make([]lifetime.Was, len(s.Was))
	for i, w := range s.Was {
		was[i] = lifetime.Was(w)
	}
	return lifetime.At(s.Retain, was, at)
}

// ShortestRetain returns the shortest time that an event of the aggregate may live whose own time
// is from or later. It is 0 if they never expire.
func (p *Pipeline) ShortestRetain(d *aggregate.Definition, from time.Time) (shortest time.Duration) {
	for _, one := range p.Retains(d, from) {
		if lifetime.Shorter(one, shortest) {
			shortest = one
		}
	}
	return shortest
}

// Retains is ShortestRetain for each event type of the aggregate by its name. Types whose events
// never expire are missing.
func (p *Pipeline) Retains(d *aggregate.Definition, from time.Time) map[string]time.Duration {
	retains := map[string]time.Duration{}
	for _, t := range p.plan.Types {
		one := lifetime.At(t.Retain, t.Was, from)
		if one != 0 && slices.ContainsFunc(t.Feeds, func(f planner.Feed) bool { return f.Def == d }) {
			retains[t.Name] = one
		}
	}
	return retains
}

// was compiles the earlier lifetimes.
func (c *compiler) was(at place, t *planner.Type, list []WasSpec) {
	for i, w := range list {
		p := at.In(fmt.Sprint(i))
		if w.Retain < lifetime.Least && !c.IsBroken(p.In("retain")) {
			c.Mistake(p.In("retain"), "retain is less than 1h", "at least 1h")
		}
		c.bounded(p.In("retain"), w.Retain)
		if w.Before.IsZero() && !c.IsBroken(p.In("before")) {
			c.Mistake(p.In("before"), "before is missing in "+declare.NameOf(p), "before: "+declare.ATime)
		}
		t.Was = append(t.Was, lifetime.Was{Retain: w.Retain, Before: w.Before.UTC()})
	}
	slices.SortStableFunc(t.Was, func(a, b lifetime.Was) int { return a.Before.Compare(b.Before) })
}
