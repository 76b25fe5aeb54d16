package pipeline

import (
	"maps"
	"slices"

	"github.com/ingot-events/ingot/internal/plan/planner"
)

// IsPart reports whether events of the type are parts of others. A message cannot be of such a
// type.
func (p *Pipeline) IsPart(eventType string) bool {
	t, ok := p.plan.Types[eventType]
	return ok && t.Part != nil
}

// ClaimOf returns the type of the wholes that events of this type are claims of: parts that only
// one whole can have, because their key does not show the id of the whole. It returns false for
// every other type.
func (p *Pipeline) ClaimOf(eventType string) (whole string, is bool) {
	t, ok := p.plan.Types[eventType]
	if !ok || t.Part == nil || !t.Part.Claim {
		return "", false
	}
	return t.Part.Whole.Name, true
}

// Atomic reports whether events of the type are put together with their parts, in one transaction.
func (p *Pipeline) Atomic(eventType string) bool {
	t, ok := p.plan.Types[eventType]
	return ok && t.Atomic
}

// UsesAtomic reports whether a transaction that stores an event may check another item of the
// events table: if any event type is atomic, or has states.
func (p *Pipeline) UsesAtomic() bool {
	for name, t := range p.plan.Types {
		if t.Atomic || p.HasStates(name) {
			return true
		}
	}
	return false
}

// HasParts reports whether events of the type yield parts.
func (p *Pipeline) HasParts(eventType string) bool {
	t, ok := p.plan.Types[eventType]
	return ok && len(t.Parts) > 0
}

// StateOf returns the type of the wholes that events of this type are states of: parts under mode
// latest. It returns false for every other type.
func (p *Pipeline) StateOf(eventType string) (whole string, is bool) {
	t, ok := p.plan.Types[eventType]
	if !ok || t.Part == nil || !t.Latest {
		return "", false
	}
	return t.Part.Whole.Name, true
}

// HasStates reports whether events of the type yield states.
func (p *Pipeline) HasStates(eventType string) bool {
	t, ok := p.plan.Types[eventType]
	return ok && slices.ContainsFunc(t.Parts, func(part *planner.Type) bool { return part.Latest })
}

// OffloadsOver returns how many bytes a payload of the type may have before it goes to the payload
// bucket. It returns 0 if no payload of the type ever goes there.
func (p *Pipeline) OffloadsOver(eventType string) int64 {
	t, ok := p.plan.Types[eventType]
	if !ok {
		return 0
	}
	return t.Over
}

// UsesOffload reports whether payloads of any event type go to the payload bucket.
func (p *Pipeline) UsesOffload() bool { return len(p.OffloadTypes()) > 0 }

// OffloadTypes returns the names of the event types whose large payloads go to the payload bucket,
// in order.
func (p *Pipeline) OffloadTypes() (names []string) {
	for name, t := range p.plan.Types {
		if t.Over > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Migration returns the migration that copies rows into an event type, or into the whole that it is
// a part of. It is empty if there is none.
func (p *Pipeline) Migration(eventType string) string {
	t, ok := p.plan.Types[eventType]
	switch {
	case !ok:
		return ""
	case t.Part != nil:
		return t.Part.Whole.Migrated
	}
	return t.Migrated
}

// WholeType returns the type of the message that an event of this type comes in: its own, or that
// of its whole.
func (p *Pipeline) WholeType(eventType string) string {
	if t, ok := p.plan.Types[eventType]; ok && t.Part != nil {
		return t.Part.Whole.Name
	}
	return eventType
}

// Migrations lists the migrations that copy rows into event types, by name.
func (p *Pipeline) Migrations() []string {
	names := map[string]bool{}
	for _, t := range p.plan.Types {
		if t.Migrated != "" {
			names[t.Migrated] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
