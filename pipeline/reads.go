package pipeline

import (
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// Read is one use of a field of the payload.
type Read struct {
	Path event.Path
	Use  string // "id", "key.pk", "GSI1.sk", "attribute status", "merchant_daily by merchant", "merchant_daily where"
	// Kinds are the kinds of values that the use accepts. A field of another kind makes the event
	// Poison, or it counts as missing if the use does not need it.
	Kinds []event.Kind
	// Needed reports whether an event without the field is Poison.
	Needed bool
}

// scalars are the kinds that templates and attributes accept.
var scalars = []event.Kind{event.String, event.Number, event.Bool}

// reads lists what an event type reads of its payload, in the order of its declaration. It leaves
// out ignore.
func (p *Pipeline) reads(t *eventType) []Read {
	r := &reader{}
	for _, typ := range p.typ {
		if t.part == nil { // the payload of a part does not contain its type
			r.template("type", typ, false)
		}
	}
	r.template("id", t.id, true)
	r.template("at", t.at, true)
	r.template("key.pk", t.pk, true)
	r.template("key.sk", t.sk, true)
	for _, i := range t.indexes {
		r.template(i.name+".pk", i.pk, false)
		r.template(i.name+".sk", i.sk, false)
		r.condition(i.name+" where", i.where)
	}
	for _, a := range t.attributes {
		r.field("attribute "+a.name, a.path, scalars, false)
	}
	for i, rev := range t.revision {
		kind := event.Number
		if rev.time {
			kind = event.String
		}
		r.field("revision", rev.path, []event.Kind{kind}, i == 0)
	}
	for i := range t.feeds {
		r.feed(&t.feeds[i])
	}
	for _, part := range t.parts {
		r.part(part, p.reads(part))
	}
	return r.list
}

// part collects what a part reads of its whole: the array that it is an element of, and the members
// that it has of its whole.
func (r *reader) part(t *eventType, own []Read) {
	if !t.part.each.IsZero() {
		r.field("part "+t.name, t.part.each, []event.Kind{event.Array}, true)
	}
	for _, read := range own {
		if slices.ContainsFunc(t.part.with, func(with event.Path) bool { return with.Contains(read.Path) }) {
			read.Use = "part " + t.name + " " + read.Use
			r.list = append(r.list, read)
		}
	}
}

// reader collects reads.
type reader struct{ list []Read }

func (r *reader) field(use string, path event.Path, kinds []event.Kind, needed bool) {
	r.list = append(r.list, Read{path, use, kinds, needed})
}

func (r *reader) template(use string, t *keys.Template, needed bool) {
	if t == nil {
		return
	}
	for _, path := range t.Paths() {
		r.field(use, path, scalars, needed)
	}
}

// feed collects what an aggregate reads. If there is a condition, it decides which events need the
// rest.
func (r *reader) feed(f *feed) {
	name := f.def.Name
	for i, t := range f.by {
		r.template(name+" by "+f.def.By[i], t, f.where == nil)
	}
	r.condition(name+" where", f.where)
	for i, v := range f.values {
		use := name + " " + f.def.Values[i].Name
		if r.condition(use+" where", v.Where); !v.Set || v.Op == aggregate.Count {
			continue
		}
		r.field(use, v.Path, v.Kinds(), f.where == nil && v.Where == nil && !v.Optional)
	}
}

// condition collects each path of a condition once, with the kinds that it is compared with. If the
// path only has to exist, these are all kinds.
func (r *reader) condition(use string, c *where.Condition) {
	var seen []event.Path
	for _, path := range c.Paths() {
		if slices.ContainsFunc(seen, path.Equal) {
			continue
		}
		seen = append(seen, path)
		kinds := c.Kinds(path)
		if len(kinds) == 0 {
			kinds = []event.Kind{event.String, event.Number, event.Bool, event.Array, event.Object}
		}
		r.field(use, path, kinds, false)
	}
}
