package planner

import (
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// scalars are the kinds that templates and attributes accept.
var scalars = []event.Kind{event.String, event.Number, event.Bool}

// Sorts returns the function that puts the values of a field in order as text. It is empty if
// nothing says that they are numbers or times.
func (p *Planner) Sorts(types []*Type, field string) string {
	for _, t := range types {
		for _, read := range p.Reads(t) {
			switch one := len(read.Kinds) == 1; {
			case read.Path.String() != field:
			case read.Use == "at":
				return sorter(t.At.Parts()[0].Funcs)
			case one && read.Kinds[0] == event.Number:
				return "pad:12"
			case one && read.Use == "revision":
				return "time"
			}
		}
	}
	return ""
}

// sorter is [Planner.Sorts] for what functions read as a time.
func sorter(funcs []keys.Func) string {
	for _, f := range funcs {
		switch row := f.Function(); {
		case row.Number:
			return "pad:12"
		case row.Reads != "":
			return f.Name
		}
	}
	return "time"
}

// Reads lists what an event type reads of its payload, in the order of its declaration. It leaves
// out ignore.
func (p *Planner) Reads(t *Type) []event.Read {
	r := &reader{}
	for _, typ := range p.TypeFrom {
		if t.Part == nil { // the payload of a part does not contain its type
			r.template("type", typ, false)
		}
	}
	r.template("id", t.ID, true)
	r.template("at", t.At, true)
	if t.Part == nil {
		for _, e := range t.Expires {
			r.template("expires", e.At, e.Before.IsZero())
		}
	}
	r.template("key.pk", t.PK, true)
	r.template("key.sk", t.SK, true)
	for _, i := range t.Indexes {
		r.template(i.Name+".pk", i.PK, false)
		r.template(i.Name+".sk", i.SK, false)
		r.condition(i.Name+" where", i.Where)
	}
	for _, a := range t.Attributes {
		r.field("attribute "+a.Name, a.Path, scalars, false)
	}
	for _, required := range t.Requires {
		for _, from := range required.From {
			r.template("requires "+required.Type.Name, from.Template, true)
		}
	}
	for i, rev := range t.Revision {
		if rev.Template != nil {
			r.template("revision", rev.Template, i == 0)
			continue
		}
		kind := event.Number
		if rev.Time {
			kind = event.String
		}
		r.field("revision", rev.Path, []event.Kind{kind}, i == 0)
	}
	for i := range t.Feeds {
		r.feed(&t.Feeds[i])
	}
	for _, part := range t.Parts {
		r.part(part, p.Reads(part))
	}
	return r.list
}

// part collects what a part reads of its whole: the array that it is an element of, and the members
// that it has of its whole.
func (r *reader) part(t *Type, own []event.Read) {
	if !t.Part.Each.IsZero() {
		r.field("part "+t.Name, t.Part.Each, []event.Kind{event.Array}, true)
	}
	for _, read := range own {
		if path, ok := t.Part.OfWhole(read.Path); ok {
			read.Path, read.Use = path, "part "+t.Name+" "+read.Use
			r.list = append(r.list, read)
		}
	}
}

// reader collects reads.
type reader struct{ list []event.Read }

func (r *reader) field(use string, path event.Path, kinds []event.Kind, needed bool) {
	r.list = append(r.list, event.Read{Path: path, Use: use, Kinds: kinds, Needed: needed})
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
func (r *reader) feed(f *Feed) {
	name := f.Def.Name
	for i, t := range f.By {
		r.template(name+" by "+f.Def.By[i], t, f.Where == nil)
	}
	r.condition(name+" where", f.Where)
	for i, v := range f.Values {
		use := name + " " + f.Def.Values[i].Name
		if r.condition(use+" where", v.Where); !v.Reads() {
			continue
		}
		r.field(use, v.Path, v.Kinds(), f.Where == nil && v.Where == nil && !v.Optional)
	}
}

func (r *reader) condition(use string, c *where.Condition) { r.list = append(r.list, c.Reads(use)...) }
