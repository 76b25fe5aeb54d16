package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

// doubts finds what is allowed but probably not meant, in a file without mistakes.
type doubts struct {
	*compiler
	warnings []warning
}

// warning is a Mistake that is allowed, with the place that it is about.
type warning struct {
	declare.Mistake
	place place
}

// doubtsOf returns the warnings, in the order of the file.
func doubtsOf(c *compiler) Mistakes {
	d := &doubts{compiler: c}
	for _, name := range c.p.plan.Names {
		d.eventType(place("events").In(name), c.p.plan.Types[name])
	}
	for _, def := range c.p.definitions {
		d.aggregate(place("aggregates").In(def.Name), def)
	}
	d.sharedKeys()
	return mistakes(d.settled())
}

func (d *doubts) eventType(at place, t *planner.Type) {
	d.was(at.In("was"), t)
	d.keyBeyondID(at.In("key"), t)
	d.onePartition(at, t)
	d.noTime(at, t)
	d.asText(t)
	if strings.Contains(t.Name, "*") {
		d.warnNamed(at, fmt.Sprintf("%s is one event type with exactly this name: * is not a wildcard", t.Name),
			"each event type by its whole name")
	}
}

func (d *doubts) aggregate(at place, def *aggregate.Definition) {
	feeds := map[string]*planner.Feed{}
	var by []*keys.Template // the same in all of them
	for name, t := range d.p.plan.Types {
		for i := range t.Feeds {
			if f := &t.Feeds[i]; f.Def == def {
				feeds[name], by = f, f.By
			}
		}
	}
	for i, t := range by {
		if t.Constant() {
			d.constantBy(at.In("by").In(def.By[i]), def.By[i], t.Text())
		}
	}
	d.byOfAnID(at.In("by"), by, feeds)
	d.manyWindows(at.In("window"), def, feeds)
	d.boundOfAPart(at.In("from"), def, feeds)
}

// boundOfAPart warns of a floor or a ceiling that may refuse a part after its whole is stored.
func (d *doubts) boundOfAPart(at place, def *aggregate.Definition, feeds map[string]*planner.Feed) {
	for _, name := range slices.Sorted(maps.Keys(feeds)) {
		t := d.p.plan.Types[name]
		if t.Part == nil || t.Part.Whole.Atomic {
			continue
		}
		for _, b := range def.Bounds {
			if feeds[name].Values[b.Value].May(b.Ceiling) {
				d.warnNamed(at.In(name), fmt.Sprintf("%s is a part of %s, which is stored first: if a %s refuses the part, the "+
					"message goes to quarantine, and the rest of it stays stored", name, t.Part.Whole.Name, b),
					"atomic: true in "+t.Part.Whole.Name)
				break
			}
		}
	}
}

// warn reports what is allowed but probably not meant.
func (d *doubts) warn(p place, what, instead string) {
	d.warnings = append(d.warnings, warning{d.At(p, d.Position(p), what, instead), p})
}

// warnNamed warns about the name of the member at p.
func (d *doubts) warnNamed(p place, what, instead string) {
	pos, ok := d.Keys[p]
	if !ok {
		pos = d.Position(p)
	}
	d.warnings = append(d.warnings, warning{d.At(p, pos, what, instead), p})
}

// settled returns all warnings. A warning that every event type has appears once.
func (d *doubts) settled() declare.Mistakes {
	count := map[string]int{}
	for _, w := range d.warnings {
		count[w.kind()]++
	}
	var list declare.Mistakes
	said := map[string]bool{}
	for _, w := range d.inOrder() {
		kind := w.kind()
		if strings.HasPrefix(kind, "events") && len(d.p.plan.Names) > 1 && count[kind] == len(d.p.plan.Names) {
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
func (d *doubts) inOrder() []warning {
	list := slices.Clone(d.warnings)
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
	parts := strings.SplitN(string(w.place), declare.Separator, 3)
	return strings.Join([]string{parts[0], strings.Join(parts[min(2, len(parts)):], ""), w.What, w.Instead}, declare.Separator)
}

// was warns of an earlier lifetime that changes nothing.
func (d *doubts) was(at place, t *planner.Type) {
	for i, w := range d.spec.Events[t.Name].Was {
		if p := at.In(fmt.Sprint(i)); w.Expires == "" && !lifetime.Shorter(w.Retain, t.Retain) {
			d.warn(p, declare.NameOf(p)+" changes nothing: today's retain is as short", "the other entries alone")
		}
	}
}

// keyBeyondID warns of a key that uses more than the id does. Such a key changes when such a field
// is corrected, and the corrected event becomes a second item. A part may have such a key.
// Everything that it is made of is in the digest of its whole, so a correction is a Conflict of the
// whole and puts no part.
func (d *doubts) keyBeyondID(p place, t *planner.Type) {
	if t.Part != nil {
		return
	}
	for _, v := range t.BeyondID() {
		d.warn(p, fmt.Sprintf("key uses %s, which id does not: an event that is sent again with a correction would make a second item", v),
			"a key made of the fields of id, unless you mean it")
	}
}

// onePartition warns of keys that put all items of a type into one partition.
func (d *doubts) onePartition(at place, t *planner.Type) {
	d.partitionKey(at.In("key").In("pk"), t.PK)
	for _, i := range t.Indexes {
		d.partitionKey(at.In("indexes").In(i.Name).In("pk"), i.PK)
	}
}

func (d *doubts) partitionKey(p place, t *keys.Template) {
	if slices.ContainsFunc(planner.VariablesOf(t, ""), func(v string) bool { return v != "@type" }) {
		return
	}
	d.warn(p, "pk is the same for every item of the type, and one partition key takes at most 1,000 writes a second",
		`pk with a field in it, such as "ORDER#{order_id}" or "DAY#{@at | day}#{@id | shard:8}"`)
}

// noTime warns of an event type without at, if the file expects messages without an envelope. It
// does so if it says how to find their type.
func (d *doubts) noTime(at place, t *planner.Type) {
	if len(d.spec.Type) > 0 && t.At == nil && t.Part == nil {
		d.warn(at, "at is missing, and a message that is bare JSON has no other time: it would be refused",
			`at: with the field of its time, such as "{placed_at}", beside key, unless all its messages come in an envelope`)
	}
}

// byOfAnID warns of an aggregate if each of its totals can count at most one event.
func (d *doubts) byOfAnID(p place, by []*keys.Template, feeds map[string]*planner.Feed) {
	if len(by) == 0 || len(feeds) != 1 {
		return // several event types can meet in one total
	}
	full, _ := planner.Lossless(by...)
	for name := range maps.Keys(feeds) {
		t := d.p.plan.Types[name]
		if full["@id"] || full["@digest"] {
			break
		}
		shown := t.Leaves(slices.Collect(maps.Keys(full)))
		for v := range t.Leaves(planner.VariablesOf(t.ID, "@id")) {
			if !shown[v] && v != "@type" {
				return
			}
		}
	}
	d.warn(p, "by has every field that id has, so each total would count one event", "fewer fields in by, such as a customer or a product")
}

// constantBy warns of a by that does not group by anything. Most likely it is a field without its
// braces.
func (d *doubts) constantBy(p place, name, text string) {
	instead := `a template such as "{merchant_id}"`
	if _, err := event.ParsePath(text); err == nil {
		instead = `"{` + text + `}"`
	}
	d.warn(p, fmt.Sprintf("%s is the text %s for every event, which groups nothing", name, text), instead)
}

// manyWindows warns if an aggregate makes many totals and keeps them for ever. It also warns of a
// window of 30, 31, 365 or 366 days, which probably was meant to be a calendar month or year.
func (d *doubts) manyWindows(p place, def *aggregate.Definition, feeds map[string]*planner.Feed) {
	switch days := def.Window / lifetime.Day; {
	case def.Window <= 0 || def.Months > 0:
	case def.Window < time.Hour && def.Retain == 0:
		d.warn(p, fmt.Sprintf("a window of %s without retain: each group gets %d totals a day, and they are kept for ever",
			lifetime.Format(def.Window), lifetime.Day/def.Window), d.lastingInstead(feeds))
	case def.Window%lifetime.Day == 0 && (days == 30 || days == 31 || days == 365 || days == 366):
		calendar := Month
		if days > 31 {
			calendar = Year
		}
		d.warn(p, fmt.Sprintf("a window of %s is not a month or a year of the calendar: windows are equally long and begin at 1970-01-01",
			lifetime.Format(def.Window)), "window: "+lifetime.FormatWindow(calendar))
	}
}

// lastingInstead returns what to write if totals are kept for ever: a retain, if the events expire.
func (d *doubts) lastingInstead(feeds map[string]*planner.Feed) string {
	var longest time.Duration
	for _, name := range slices.Sorted(maps.Keys(feeds)) {
		t := d.p.plan.Types[name]
		if t.Retain == 0 {
			return "window: 1h or longer, or retain for " + name + " and here"
		}
		longest = max(longest, lifetime.Outliving(t.Retain))
	}
	return "retain: " + lifetime.Format(longest) + " beside it, or window: 1h or longer"
}

// sharedKeys warns if items of two event types can have the same key. This may be intended: then
// the first one to arrive wins, and the other one is a Conflict.
func (d *doubts) sharedKeys() {
	var groups [][]string // groups of event types, any two of which can share a key
	for _, b := range d.p.plan.Names {
		var joined bool
		for i, group := range groups {
			var shared []string
			for _, a := range group {
				if d.canShare(a, b) {
					shared = append(shared, a)
				}
			}
			switch {
			case len(shared) == 0:
			case len(shared) == len(group) && !joined:
				groups[i], joined = append(group, b), true
			default:
				d.shareAKey(append(shared, b))
			}
		}
		if !joined {
			groups = append(groups, []string{b})
		}
	}
	for _, group := range groups {
		if len(group) > 1 {
			d.shareAKey(group)
		}
	}
}

// shareAKey places the warning at the second of the event types.
func (d *doubts) shareAKey(names []string) {
	what := "events of " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	if len(names) == len(d.p.plan.Names) && len(names) > 2 {
		what = "events of all types"
	}
	d.warn(place("events").In(names[1]).In("key"), what+" can have the same key, and the later one would be a conflict",
		"keys that begin with different words, unless you mean it")
}

func (d *doubts) canShare(a, b string) bool {
	one, two := d.p.plan.Types[a], d.p.plan.Types[b]
	return keys.MayEqual(one.PK, a, two.PK, b) && keys.MayEqual(one.SK, a, two.SK, b)
}
