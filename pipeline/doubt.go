package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/lifetime"
	"github.com/ingot-events/ingot/keys"
)

// This file warns of what is allowed but probably not meant.

// settled returns all warnings. A warning that every event type has appears once.
func (c *compiler) settled() Mistakes {
	count := map[string]int{}
	for _, w := range c.warnings {
		count[w.kind()]++
	}
	var list Mistakes
	said := map[string]bool{}
	for _, w := range c.inOrder() {
		kind := w.kind()
		if strings.HasPrefix(kind, "events") && len(c.p.names) > 1 && count[kind] == len(c.p.names) {
			if said[kind] {
				continue
			}
			w.What = "of every event type: " + w.What
		}
		said[kind] = true
		list = append(list, w.Mistake)
	}
	return list
}

// inOrder returns the warnings in the order of the file.
func (c *compiler) inOrder() []warning {
	list := slices.Clone(c.warnings)
	slices.SortStableFunc(list, func(a, b warning) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return list
}

// kind returns the same text for warnings that differ only in the event type.
func (w warning) kind() string {
	parts := strings.SplitN(string(w.place), placeSeparator, 3)
	return parts[0] + placeSeparator + strings.Join(parts[min(2, len(parts)):], "") + placeSeparator + w.What + placeSeparator + w.Instead
}

// onePartition warns of keys that put all items of a type into one partition.
func (c *compiler) onePartition(at place, t *eventType) {
	c.partitionKey(at.in("key").in("pk"), t.pk)
	for _, i := range t.indexes {
		c.partitionKey(at.in("indexes").in(i.name).in("pk"), i.pk)
	}
}

func (c *compiler) partitionKey(p place, t *keys.Template) {
	if t == nil || slices.ContainsFunc(variablesOf(t, ""), func(v string) bool { return v != "@type" }) {
		return
	}
	c.warn(p, "pk is the same for every item of the type, and one partition key takes at most 1,000 writes a second", `pk with a field in it, such as "ORDER#{order_id}" or "DAY#{@at | day}#{@id | shard:8}",`)
}

// noTime warns of an event type without at, if the file expects messages without an envelope. It
// does so if it says how to find their type.
func (c *compiler) noTime(at place, t *eventType) {
	if len(c.spec.Type) > 0 && t.at == nil && !c.isBroken(at.in("at")) {
		c.warn(at, t.name+" has no at, and a message that is bare JSON has no other time: it would be refused", `at: and its time, such as "{placed_at}", unless all its messages come in an envelope,`)
	}
}

// byOfAnID warns of totals each of which can count at most one event.
func (c *compiler) byOfAnID(p place, by []*keys.Template, feeds map[string]*feed) {
	if len(by) == 0 || len(feeds) != 1 {
		return // several event types can meet in one total
	}
	full, _ := lossless(by...)
	for name := range maps.Keys(feeds) {
		t := c.p.types[name]
		if full["@id"] || full["@digest"] {
			break
		}
		shown := t.leaves(slices.Collect(maps.Keys(full)))
		for v := range t.leaves(variablesOf(t.id, "@id")) {
			if !shown[v] && v != "@type" {
				return
			}
		}
	}
	c.warn(p, "by has every field that id has, so each total would count one event", "fewer fields in by, such as a customer or a product,")
}

// manyWindows warns of totals that are many and are kept. It also warns of windows that are not the
// months that were meant.
func (c *compiler) manyWindows(p place, def *aggregate.Definition, feeds map[string]*feed) {
	switch days := def.Window / lifetime.Day; {
	case def.Window <= 0 || def.Months > 0 || c.isBroken(p):
	case def.Window < time.Hour && def.Retain == 0:
		c.warn(p, fmt.Sprintf("a window of %s without retain: each group gets %d totals a day, and they are kept for ever", lifetime.Format(def.Window), lifetime.Day/def.Window), c.lastingInstead(feeds))
	case def.Window%lifetime.Day == 0 && (days == 30 || days == 31 || days == 365 || days == 366):
		calendar := Month
		if days > 31 {
			calendar = Year
		}
		c.warn(p, fmt.Sprintf("a window of %s is not a month or a year of the calendar: windows are equally long and begin at 1970-01-01", lifetime.Format(def.Window)), "window: "+lifetime.FormatWindow(calendar)+",")
	}
}

// lastingInstead returns what to write if totals are kept for ever: a retain, if the events expire.
func (c *compiler) lastingInstead(feeds map[string]*feed) string {
	var longest time.Duration
	for _, name := range slices.Sorted(maps.Keys(feeds)) {
		t := c.p.types[name]
		if t.retain == 0 {
			return "window: 1h or longer, or retain for " + name + " and here,"
		}
		longest = max(longest, lifetime.Outliving(t.retain))
	}
	return "retain: " + lifetime.Format(longest) + " beside it, or window: 1h or longer,"
}

// sharedKeys warns if items of two event types can have the same key. That may be meant. Then the
// first one to arrive wins, and the other one is a conflict.
func (c *compiler) sharedKeys() {
	var groups [][]string // groups of event types, any two of which can share a key
	for _, b := range c.p.names {
		var joined bool
		for i, group := range groups {
			var shared []string
			for _, a := range group {
				if c.canShare(a, b) {
					shared = append(shared, a)
				}
			}
			switch {
			case len(shared) == 0:
			case len(shared) == len(group) && !joined:
				groups[i], joined = append(group, b), true
			default:
				c.shareAKey(append(shared, b))
			}
		}
		if !joined {
			groups = append(groups, []string{b})
		}
	}
	for _, group := range groups {
		if len(group) > 1 {
			c.shareAKey(group)
		}
	}
}

// shareAKey places the warning at the second of the event types.
func (c *compiler) shareAKey(names []string) {
	what := "events of " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	if len(names) == len(c.p.names) && len(names) > 2 {
		what = "events of all types"
	}
	c.warn(place("events").in(names[1]).in("key"), what+" can have the same key, and the later one would be a conflict", "keys that begin with different words, unless you mean it,")
}

func (c *compiler) canShare(a, b string) bool {
	one, two := c.p.types[a], c.p.types[b]
	if one.pk == nil || one.sk == nil || two.pk == nil || two.sk == nil {
		return false
	}
	return mayEqual(one.pk, two.pk) && mayEqual(one.sk, two.sk)
}
