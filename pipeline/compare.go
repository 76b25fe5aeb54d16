package pipeline

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/plan/where"
)

// declared is a condition of an event type, with its text and its place in the file.
type declared struct {
	at        place
	text      string
	condition *where.Condition
}

// conditions lists the conditions of an event type that have no mistake.
func (c *compiler) conditions(t *planner.Type) iter.Seq[declared] {
	return func(yield func(declared) bool) {
		for _, i := range t.Indexes {
			at := place("events").In(t.Name).In("indexes").In(i.Name).In("where")
			if i.Where != nil && !yield(declared{at, c.spec.Events[t.Name].Indexes[i.Name].Where, i.Where}) {
				return
			}
		}
		for _, f := range t.Feeds {
			spec := c.spec.Aggregates[f.Def.Name].From[t.Name]
			at := place("aggregates").In(f.Def.Name).In("from").In(t.Name)
			if f.Where != nil && !yield(declared{at.In("where"), spec.Where, f.Where}) {
				return
			}
			for i, v := range f.Values {
				if v.Where == nil {
					continue
				}
				name := f.Def.Values[i].Name
				own, text := c.placeOfWhere(at.In("values").In(name), spec.Values[name])
				if !yield(declared{own, text, v.Where}) {
					return
				}
			}
		}
	}
}

// comparisons refuses a condition that compares a field with text if the file needs a number there
// in every event: no event can meet it.
func (c *compiler) comparisons() {
	type test struct {
		at     place
		offset int
	}
	said := map[test]bool{}
	for _, name := range c.p.plan.Names {
		t := c.p.plan.Types[name]
		for _, read := range c.p.plan.Reads(t) {
			if !read.Needed || !slices.Equal(read.Kinds, []event.Kind{event.Number}) {
				continue
			}
			for d := range c.conditions(t) {
				for _, found := range d.condition.NoNumbers(read.Path) {
					if said[test{d.at, found.Offset}] {
						continue
					}
					said[test{d.at, found.Offset}] = true
					c.MistakeAt(d.at, d.text, found.Offset,
						fmt.Sprintf("where compares %s with %s, and every event needs a number there, for %s: no event can meet this",
							read.Path, found.With, read.Use),
						cmp.Or(found.Numbers, "a comparison with a number, or exists "+read.Path.String()))
				}
			}
		}
	}
}

// asText warns of a condition that asks whether a field is above or below a number in quotes. Texts
// are compared by their characters, and a number is never equal to a text, nor above or below it.
func (d *doubts) asText(t *planner.Type) {
	for one := range d.conditions(t) {
		paths := map[string]event.Path{}
		for _, path := range one.condition.Paths() {
			paths[path.String()] = path
		}
		for _, name := range slices.Sorted(maps.Keys(paths)) {
			for _, found := range one.condition.NoNumbers(paths[name]) {
				if !found.Ordered || found.Numbers == "" {
					continue
				}
				p := d.Position(one.at)
				if p.Verbatim {
					p.Column += p.Inset + len([]rune(one.text[:found.Offset]))
				}
				d.warnings = append(d.warnings,
					warning{d.At(one.at, p,
						fmt.Sprintf("where compares %s with the text %s: no number is above or below a text, and as texts 9 is above 10",
							name, found.With), found.Numbers+", unless the payload has text there"), one.at})
			}
		}
	}
}
