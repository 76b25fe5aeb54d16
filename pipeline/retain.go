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
	var was []lifetime.Was
	for _, w := range s.Was {
		if w.Expires == "" {
			was = append(was, lifetime.Was{Retain: w.Retain, Before: w.Before})
		}
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

// expires compiles when events expire by what their payloads say.
func (c *compiler) expires(at place, t *planner.Type, s EventSpec) {
	p := at.In("expires")
	switch {
	case s.Expires == "":
		return
	case s.Part.isPart():
		c.Mistake(p, "expires stands in a part, and a part expires with its whole", "expires in "+s.Part.Of)
		return
	case s.Retain == 0 && !c.IsBroken(at.In("retain")):
		c.Mistake(p, "expires needs retain: the longest that an event may live", "retain: 30d beside it")
	}
	c.expiry(p, t, s.Expires, time.Time{})
}

func (c *compiler) expiry(p place, t *planner.Type, text string, before time.Time) {
	if tpl := c.timeTemplate(p, text); tpl != nil {
		c.usesIgnored(p, text, t, tpl.Paths())
		t.Expires = append(t.Expires, planner.Expiry{At: tpl, Before: before.UTC()})
	}
}

// was compiles the earlier lifetimes.
func (c *compiler) was(at place, t *planner.Type, list []WasSpec) {
	for i, w := range list {
		p := at.In(fmt.Sprint(i))
		switch {
		case w.Expires != "" && w.Retain != 0:
			c.Mistake(p, declare.NameOf(p)+" has retain and expires", "two entries, one with each")
		case w.Expires != "" && t.Latest:
			c.Mistake(p, declare.NameOf(p)+" has expires, and under mode latest no item is removed by it", "the file without it")
		case w.Expires == "" && w.Retain == 0 && !c.IsBroken(p.In("retain")):
			c.Mistake(p, "retain is missing in "+declare.NameOf(p), "retain: 30d")
		case w.Expires == "" && w.Retain < lifetime.Least && !c.IsBroken(p.In("retain")):
			c.Mistake(p.In("retain"), "retain is less than 1h", "at least 1h")
		}
		c.bounded(p.In("retain"), w.Retain)
		if w.Before.IsZero() && !c.IsBroken(p.In("before")) {
			c.Mistake(p.In("before"), "before is missing in "+declare.NameOf(p), "before: "+declare.ATime)
		}
		if w.Expires != "" {
			c.expiry(p.In("expires"), t, w.Expires, w.Before)
		} else {
			t.Was = append(t.Was, lifetime.Was{Retain: w.Retain, Before: w.Before.UTC()})
		}
	}
	slices.SortStableFunc(t.Was, func(a, b lifetime.Was) int { return a.Before.Compare(b.Before) })
}
