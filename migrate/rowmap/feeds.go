package rowmap

import (
	"maps"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
)

// Waits reports whether messages wait until what the types feed is complete: if it has a bound, or
// if a type claims values.
func (m *Mapping) Waits(fed []*aggregate.Definition) bool {
	for name, of := range m.pipeline.Describe().Spec.Events {
		if _, claim := m.pipeline.ClaimOf(name); claim && slices.Contains(m.types, of.Part.Of) {
			return true
		}
	}
	return slices.ContainsFunc(fed, func(d *aggregate.Definition) bool { return d.Bounds != nil })
}

// Fed returns the aggregates that the migrated types feed, by name.
func (m *Mapping) Fed() []*aggregate.Definition {
	return slices.DeleteFunc(m.pipeline.Definitions(), func(d *aggregate.Definition) bool {
		return !slices.ContainsFunc(m.types, func(typ string) bool { return m.feeds(typ, d.Name) })
	})
}

// feeds reports whether events of a type, or their parts, feed an aggregate.
func (m *Mapping) feeds(typ, aggregate string) bool {
	spec := m.pipeline.Describe().Spec
	from := spec.Aggregates[aggregate].From
	return slices.ContainsFunc(slices.Collect(maps.Keys(from)), func(of string) bool {
		return of == typ || spec.Events[of].Part.Of == typ
	})
}
