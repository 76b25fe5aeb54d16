package show

import (
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline/pattern"
	"github.com/ingot-events/ingot/verify"
)

// Item returns a copy of an item without what is personal in it. Of a type that the pipeline does
// not have, nobody knows what its keys are made of, so they are masked.
func (m Personal) Item(item event.Item) event.Item {
	if m.None() {
		return item
	}
	item.Data = m.Data(item.Data)
	spec, known := m.spec.Events[item.Type]
	mask := func(value, template string) string {
		if value != "" && (!known || m.reveals(spec, template)) {
			return Mask
		}
		return value
	}
	if item.ID != "" && (!known || m.revealsID(spec)) {
		item.ID = Mask
	}
	item.Key = event.Key{PK: mask(item.Key.PK, spec.Key.PK), SK: mask(item.Key.SK, spec.Key.SK)}
	item.Indexes = slices.Clone(item.Indexes)
	for i, index := range item.Indexes {
		templates := spec.Indexes[index.Name]
		item.Indexes[i].Key = event.Key{PK: mask(index.Key.PK, templates.PK), SK: mask(index.Key.SK, templates.SK)}
	}
	item.Attributes = slices.Clone(item.Attributes)
	for i, a := range item.Attributes {
		if path, err := event.ParsePath(spec.Attributes[a.Name]); err != nil || m.Is(path) {
			item.Attributes[i].Text = Mask
		}
	}
	return item
}

// KeyOf returns a key of an event type as it is shown.
func (m Personal) KeyOf(eventType string, key event.Key) event.Key {
	return m.Item(event.Item{Type: eventType, Key: key}).Key
}

// By returns a copy of the values of an aggregate's by without what is personal in them.
func (m Personal) By(aggregate string, by map[string]string) map[string]string {
	by = maps.Clone(by)
	spec := m.spec.Aggregates[aggregate]
	for name, template := range spec.By {
		if _, there := by[name]; !there {
			continue
		}
		for from := range spec.From {
			if m.reveals(m.spec.Events[from], template) {
				by[name] = Mask
			}
		}
	}
	return by
}

// Asked reports whether the keys that a pattern asks for show something personal.
func (m Personal) Asked(pattern *pattern.Pattern) bool {
	for _, from := range pattern.Types() {
		e := m.spec.Events[from]
		pk, sk := e.Key.PK, e.Key.SK
		if i, is := e.Indexes[pattern.Index()]; is {
			pk, sk = i.PK, i.SK
		}
		if m.reveals(e, pk) || m.reveals(e, sk) {
			return true
		}
	}
	a := m.spec.Aggregates[pattern.Total()]
	for from := range a.From {
		for _, text := range a.By {
			if m.reveals(m.spec.Events[from], text) {
				return true
			}
		}
	}
	return false
}

// Difference returns a difference between a total and its items as it is shown.
func (m Personal) Difference(d verify.Difference) verify.Difference {
	if m.None() {
		return d
	}
	d.By = m.By(d.Def.Name, d.By)
	d.Total = TotalOf(d.Def, d.By, d.Window).String()
	if m.Value(d.Def.Name, d.What) || d.What == lanes.ScoreAttribute && m.Value(d.Def.Name, d.Def.Rank.Value) {
		d.Has, d.Wants = Mask, Mask
	}
	return d
}

// Value reports whether a value of an aggregate shows something personal: one that it takes from a
// single event. Counts, sums and estimates of many events are not personal.
func (m Personal) Value(aggregate, name string) bool {
	for _, from := range m.spec.Aggregates[aggregate].From {
		op, operand, _ := strings.Cut(strings.TrimSpace(from.Values[name]), " ")
		if !slices.Contains([]string{"newest", "oldest", "min", "max"}, op) {
			continue
		}
		operand, _, _ = strings.Cut(operand, " where ")
		path, err := event.ParsePath(strings.TrimSuffix(strings.TrimSpace(operand), "?"))
		if !m.None() && (err != nil || m.Is(path)) {
			return true
		}
	}
	return false
}
