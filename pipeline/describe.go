package pipeline

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
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
	Reads map[string][]Read
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
	d := &Description{Spec: p.spec(), Reads: map[string][]Read{}, Hashed: map[string][]string{}, Updates: map[string]int{},
		Warnings: slices.Clone(p.warnings), p: p}
	for name, t := range p.types {
		d.Reads[name], d.Hashed[name], d.Updates[name] = p.reads(t), t.hashed(), t.touches()
	}
	return d
}

// WithoutFloors returns a pipeline that plans the same items, and whose totals have no floors. It
// has no patterns.
func (p *Pipeline) WithoutFloors() (*Pipeline, error) {
	if !p.HasFloors() {
		return p, nil
	}
	spec := p.spec()
	for name, a := range spec.Aggregates {
		a.AtLeast = nil
		spec.Aggregates[name] = a
	}
	return New(spec, Secret(p.secret))
}

// spec returns the declaration in its one normal spelling.
func (p *Pipeline) spec() Spec {
	s := Spec{Ingot: Format, Epoch: p.epoch, Type: strings.Join(canonicalTemplates(p.typ), "\n"), Batches: p.batches,
		Events: map[string]EventSpec{}, Aggregates: map[string]AggregateSpec{}}
	for _, def := range p.definitions {
		a := AggregateSpec{Since: def.Since, By: map[string]string{}, Window: windowOf(def),
			From: map[string]FromSpec{}, OnExpire: def.OnExpire.String(), Spread: def.Spread, Rank: RankSpec(def.Rank),
			MovedBy: def.MovedBy.String(), Retain: def.Retain, AtLeast: floorsOf(def)}
		s.Aggregates[def.Name] = a
	}
	for name, t := range p.types {
		s.Events[name] = t.spec()
		for _, f := range t.feeds {
			a := s.Aggregates[f.def.Name]
			for i, by := range f.by {
				a.By[f.def.By[i]] = canonicalTemplate(by)
			}
			a.From[name] = f.spec()
		}
	}
	return s
}

func (t *eventType) spec() EventSpec {
	s := EventSpec{ID: canonicalTemplate(t.id), At: canonicalTemplate(t.at), Key: keySpec(t.pk, t.sk),
		Indexes: map[string]IndexSpec{}, Attributes: map[string]string{}, Retain: t.retain, Was: slices.Clone(t.was), Mode: "insert",
		Atomic: t.atomic, Compress: t.compress, Migrated: t.migrated}
	if t.latest {
		s.Mode = "latest"
	}
	for _, i := range t.indexes {
		s.Indexes[i.name] = i.spec()
	}
	for _, a := range t.attributes {
		s.Attributes[a.name] = a.path.String()
	}
	revision := make([]string, len(t.revision))
	for i, r := range t.revision {
		revision[i] = r.String()
	}
	s.Revision = strings.Join(revision, "\n")
	s.Offload.Over = t.over
	for _, path := range t.keep {
		s.Offload.Keep = append(s.Offload.Keep, path.String())
	}
	if t.part != nil {
		s.Part = t.part.spec()
	}
	if doc, err := event.ParseDocument(t.schemaText); err == nil {
		s.Schema = string(keys.Canonical(nil, doc.Root(), nil))
	}
	for _, path := range t.ignore {
		s.Ignore = append(s.Ignore, path.String())
	}
	slices.Sort(s.Ignore)
	s.Ignore = slices.Compact(s.Ignore)
	return s
}

func (p *part) spec() PartSpec {
	s := PartSpec{Of: p.whole.name, Each: p.each.String()}
	for _, path := range p.with {
		s.With = append(s.With, path.String())
	}
	return s
}

func (i index) spec() IndexSpec {
	s := IndexSpec{PK: canonicalTemplate(i.pk), SK: canonicalTemplate(i.sk), Where: i.where.String()}
	if len(i.was) > 0 {
		s.Was = canonicalTemplates(i.was)
	}
	return s
}

func keySpec(pk, sk *keys.Template) KeySpec {
	return KeySpec{canonicalTemplate(pk), canonicalTemplate(sk)}
}

func (f *feed) spec() FromSpec {
	s := FromSpec{Where: f.where.String(), Values: map[string]string{}}
	for i, v := range f.values {
		if v.Set {
			s.Values[f.def.Values[i].Name] = v.String()
		}
	}
	return s
}

// hashed lists the parts of t that hmac is used in.
func (t *eventType) hashed() []string {
	parts := map[string]bool{"id": t.hashes(t.id), "key": t.hashes(t.pk) || t.hashes(t.sk)}
	for _, i := range t.indexes {
		parts[i.name] = t.hashes(i.pk) || t.hashes(i.sk)
	}
	for _, f := range t.feeds {
		parts["aggregates."+f.def.Name] = slices.ContainsFunc(f.by, t.hashes)
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
func (d *Description) Absences(item *event.Item) []Absence {
	t, doc, err := d.p.payload(item.Type, item.Data)
	if err != nil {
		return nil
	}
	w := d.p.workOf(item, doc)
	var list []Absence
	for _, i := range t.indexes {
		if !i.where.Holds(doc.Root()) {
			list = append(list, Absence{Index: i.name, Missing: "its where does not hold: " + i.where.String()})
			continue
		}
		var missing *keys.Missing
		if err := w.pair(i.pk, i.sk); errors.As(err, &missing) {
			list = append(list, Absence{Index: i.name, Missing: missing.Error()})
		}
	}
	return list
}

// Revision returns, for people, what orders the versions of item's key. It shows each value of the
// list, and "missing" for a value that is missing. It is empty under insert. A time is in
// nanoseconds since 1970.
func (d *Description) Revision(item *event.Item) string {
	t, doc, err := d.p.payload(item.Type, item.Data)
	if err != nil || item.Revision == nil {
		return ""
	}
	values := []string{item.Revision.String()}
	w := newWork(keys.Source{Data: doc.Root()})
	for _, r := range t.revision[min(1, len(t.revision)):] {
		value := "missing"
		if d, ok, _ := w.rank(r); ok {
			value = d.String()
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}
