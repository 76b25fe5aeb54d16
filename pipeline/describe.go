package pipeline

import (
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

// Description is what people and tools ask of a pipeline. It is not needed to store and count
// events.
type Description struct {
	// Spec is the declaration in one normal spelling: templates without blanks, paths and
	// conditions in their normal form, and all defaults written out.
	Spec Spec
	// Reads lists what each event type reads of its payload, in the order of its declaration. It
	// leaves out ignore. The fields that its parts read come last.
	Reads map[string][]event.Read
	// Hashed says for each event type where hmac is used: its "id", its "key", its key in an index
	// by that name ("GSI1"), or the keys of the totals that it changes in an aggregate
	// ("aggregates.merchant_daily").
	Hashed map[string][]string
	// Updates is the largest number of totals that one change can touch, for each event type.
	Updates map[string]int
	// Warnings list what is allowed but probably not meant, in the order of the file.
	Warnings []Mistake

	p *Pipeline
}

// Describe returns what people and tools ask of the pipeline.
func (p *Pipeline) Describe() *Description {
	d := &Description{Spec: p.spec(), Reads: map[string][]event.Read{}, Hashed: map[string][]string{}, Updates: map[string]int{},
		Warnings: slices.Clone(p.warnings), p: p}
	for name, t := range p.plan.Types {
		d.Reads[name], d.Hashed[name], d.Updates[name] = p.plan.Reads(t), hashed(t), t.Touches()
	}
	return d
}

// Unconditional returns a pipeline that plans the same items, whose totals have no bounds, and
// whose events require nothing. It has no patterns.
func (p *Pipeline) Unconditional() (*Pipeline, error) {
	spec := p.spec()
	for name, s := range spec.Events {
		s.Requires = nil
		spec.Events[name] = s
	}
	for name, a := range spec.Aggregates {
		a.AtLeast, a.AtMost = nil, nil
		spec.Aggregates[name] = a
	}
	return New(spec, Secret(p.plan.Secret))
}

// spec returns the declaration in its one normal spelling.
func (p *Pipeline) spec() Spec {
	s := Spec{Ingot: Format, Epoch: p.plan.Epoch, Type: strings.Join(canonicalTemplates(p.plan.TypeFrom), "\n"), Batches: p.batchSpecs(),
		Drop: p.dropSpec(), Events: map[string]EventSpec{}, Aggregates: map[string]AggregateSpec{}}
	for _, def := range p.definitions {
		a := AggregateSpec{Since: def.Since, By: map[string]string{}, Window: planner.WindowOf(def),
			From: map[string]FromSpec{}, OnExpire: def.OnExpire.String(), Spread: def.Spread, Rank: RankSpec(def.Rank),
			MovedBy: def.MovedBy.String(), Retain: def.Retain, AtLeast: def.Limits(false), AtMost: def.Limits(true)}
		s.Aggregates[def.Name] = a
	}
	for name, t := range p.plan.Types {
		s.Events[name] = eventSpec(t)
		for i := range t.Feeds {
			f := &t.Feeds[i]
			a := s.Aggregates[f.Def.Name]
			for i, by := range f.By {
				a.By[f.Def.By[i]] = by.Canonical()
			}
			a.From[name] = fromSpec(f)
		}
	}
	return s
}

func eventSpec(t *planner.Type) EventSpec {
	s := EventSpec{ID: t.ID.Canonical(), At: t.At.Canonical(), Key: keySpec(t.PK, t.SK),
		Indexes: map[string]IndexSpec{}, Attributes: map[string]string{}, Retain: t.Retain, Mode: "insert",
		Atomic: t.Atomic, Compress: t.Compress, Migrated: t.Migrated}
	for _, w := range t.Was {
		s.Was = append(s.Was, WasSpec{Retain: w.Retain, Before: w.Before})
	}
	for _, e := range t.Expires {
		switch {
		case t.Part != nil: // those of the whole
		case e.Before.IsZero():
			s.Expires = e.At.Canonical()
		default:
			s.Was = append(s.Was, WasSpec{Expires: e.At.Canonical(), Before: e.Before})
		}
	}
	if t.Latest {
		s.Mode = "latest"
	}
	for _, r := range t.Requires {
		key := map[string]string{}
		for _, from := range r.From {
			key[from.Path.String()] = from.Template.Canonical()
		}
		s.Requires = append(s.Requires, RequireSpec{r.Type.Name, key})
	}
	for _, i := range t.Indexes {
		s.Indexes[i.Name] = indexSpec(i)
	}
	for _, a := range t.Attributes {
		s.Attributes[a.Name] = a.Path.String()
	}
	revision := make([]string, len(t.Revision))
	for i, r := range t.Revision {
		revision[i] = r.String()
	}
	s.Revision = strings.Join(revision, "\n")
	s.Offload.Over = t.Over
	for _, path := range t.Keep {
		s.Offload.Keep = append(s.Offload.Keep, path.String())
	}
	if t.Part != nil {
		s.Part = partSpec(t.Part)
	}
	if doc, err := event.ParseDocument(t.SchemaText); err == nil {
		s.Schema = string(keys.Canonical(nil, doc.Root(), nil))
	}
	for _, path := range t.Ignore {
		s.Ignore = append(s.Ignore, path.String())
	}
	slices.Sort(s.Ignore)
	s.Ignore = slices.Compact(s.Ignore)
	return s
}

func partSpec(p *planner.Part) PartSpec {
	s := PartSpec{Of: p.Whole.Name, Each: p.Each.String()}
	for _, with := range p.With {
		text := with.Path.String()
		if name, whole := with.Path.Name(); !whole || name != with.Name {
			text = with.Name + "=" + text
		}
		s.With = append(s.With, text)
	}
	return s
}

func indexSpec(i planner.Index) IndexSpec {
	s := IndexSpec{PK: i.PK.Canonical(), SK: i.SK.Canonical(), Where: i.Where.String()}
	if len(i.Was) > 0 {
		s.Was = canonicalTemplates(i.Was)
	}
	return s
}

func keySpec(pk, sk *keys.Template) KeySpec {
	return KeySpec{pk.Canonical(), sk.Canonical()}
}

func fromSpec(f *planner.Feed) FromSpec {
	s := FromSpec{Where: f.Where.String(), Values: map[string]string{}}
	for i, v := range f.Values {
		if v.Set {
			s.Values[f.Def.Values[i].Name] = v.String()
		}
	}
	return s
}

// hashed lists the parts of t that hmac is used in.
func hashed(t *planner.Type) []string {
	parts := map[string]bool{"id": t.Hashes(t.ID), "key": t.Hashes(t.PK) || t.Hashes(t.SK)}
	for _, i := range t.Indexes {
		parts[i.Name] = t.Hashes(i.PK) || t.Hashes(i.SK)
	}
	for _, f := range t.Feeds {
		parts["aggregates."+f.Def.Name] = slices.ContainsFunc(f.By, t.Hashes)
	}
	maps.DeleteFunc(parts, func(_ string, hashed bool) bool { return !hashed })
	return slices.Sorted(maps.Keys(parts))
}

// Absence is one index that an event type declares and an item is not in.
type Absence struct {
	Index   string
	Missing string // "field status is missing"
}

// Absences lists the indexes that item's type declares and that item is not in. It says what is
// missing for each of them.
func (d *Description) Absences(item *event.Item) (list []Absence) {
	for index, missing := range d.p.plan.Absences(item) {
		list = append(list, Absence{index, missing})
	}
	return list
}

// Revision returns, for people, what orders the versions of item's key. It shows each value of the
// list, and "missing" for a value that is missing. It is empty under insert. A time is in
// nanoseconds since 1970.
func (d *Description) Revision(item *event.Item) string { return d.p.plan.ShownRevision(item) }

func canonicalTemplates(list []*keys.Template) []string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = t.Canonical()
	}
	return texts
}
