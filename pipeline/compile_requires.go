package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

// requires compiles which events must be stored before those of a type, once all types are
// compiled.
func (c *compiler) requires(t *planner.Type) {
	at := place("events").In(t.Name).In("requires")
	for i, s := range c.spec.Events[t.Name].Requires {
		p := at.In(strconv.Itoa(i))
		of, known := c.p.plan.Types[s.Type]
		switch {
		case c.IsBroken(p.In("type")) || c.IsBroken(p.In("key")):
		case !known:
			c.Mistake(p.In("type"), "there is no event type "+s.Type, declare.Suggest(s.Type, c.goodNames()))
		case of.Latest && len(of.Expires) > 0: // so what was read as stored may have ended, and come back
			c.Mistake(p.In("type"), s.Type+" has expires and mode: latest, so it may end at any time", "a type without expires")
		case of.PK == nil || of.SK == nil: // it has a mistake of its own
		default:
			if from, ok := c.fieldsOf(p.In("key"), of, s.Key, t.Part != nil); ok {
				t.Requires = append(t.Requires, planner.Require{Type: of, From: from})
			}
		}
	}
}

// fieldsOf compiles the fields that the key of another event is made of. ok is false if there is a
// mistake.
func (c *compiler) fieldsOf(p place, of *planner.Type, fields map[string]string, part bool) (from []planner.From, ok bool) {
	needed, bad := fieldsOfKey(of)
	if bad != "" {
		at, _ := p.Parent()
		c.Mistake(at.In("type"), "the key of "+of.Name+" uses "+bad+", which another event does not say", "another type")
		return nil, false
	}
	var missing []string
	for _, path := range needed {
		if fields[path.String()] == "" {
			missing = append(missing, path.String()+`: "{`+path.Last()+`}"`)
		}
	}
	if ok = len(missing) == 0; !ok {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if slices.ContainsFunc(needed, func(path event.Path) bool { return path.String() == name }) {
				missing = append(missing, name+": "+strconv.Quote(fields[name]))
			}
		}
		slices.Sort(missing)
		instead := "{" + strings.Join(missing, ", ") + "}"
		if at, _ := p.Parent(); len(fields) == 0 {
			c.Mistake(at, "key is missing", "key: "+instead)
		} else {
			c.Mistake(p, "the key of "+of.Name+" is made of more fields", instead)
		}
	}
	derived := []string{"at", "id", "type", "source", "attribute."}
	if part {
		derived = derived[:3]
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := slices.IndexFunc(needed, func(path event.Path) bool { return path.String() == name })
		if at < 0 {
			c.Mistake(p.In(name), fmt.Sprintf("the key of %s is not made of %s", of.Name, name), "key without "+name)
			ok = false
			continue
		}
		tpl := c.template(p.In(name), fields[name], derived...)
		if ok = ok && tpl != nil; ok {
			c.p.usesHMAC, c.p.usesLabel = c.p.usesHMAC || tpl.UsesHMAC(), c.p.usesLabel || tpl.UsesLabel()
			from = append(from, planner.From{Path: needed[at], Template: tpl})
		}
	}
	return from, ok
}

// fieldsOfKey returns the fields that the key of a type is made of. bad is what else it is made of.
func fieldsOfKey(of *planner.Type) (needed []event.Path, bad string) {
	templates := []*keys.Template{of.PK, of.SK}
	for i := 0; i < len(templates); i++ {
		tpl := templates[i]
		for _, path := range tpl.Paths() {
			if path.Numbered() {
				return nil, "an element of an array"
			}
			if !slices.ContainsFunc(needed, path.Equal) {
				needed = append(needed, path)
			}
		}
		for _, name := range tpl.Derived() {
			switch {
			case name == "@type":
			case name == "@id" && of.ID != nil:
				templates = append(templates, of.ID)
			case name == "@at" && of.At != nil && of.Part == nil:
				templates = append(templates, of.At)
			default:
				return nil, name
			}
		}
	}
	return needed, ""
}
