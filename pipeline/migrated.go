package pipeline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var migrationName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// migration checks the name of the migration that copies rows into a type.
func (c *compiler) migration(at place, t *eventType) {
	switch p := at.In("migrated"); {
	case t.migrated == "":
	case !migrationName.MatchString(t.migrated):
		c.Mistake(p, fmt.Sprintf("%q is not the name of a migration", t.migrated), "lower-case letters, digits and -, at most 40")
	case t.part != nil:
		c.Mistake(p, t.name+" is a part, which moves with its whole", "migrated in "+t.part.whole.name)
	}
}

// Migration returns the migration that copies rows into an event type, or into the whole that it is
// a part of. It is empty if there is none.
func (p *Pipeline) Migration(eventType string) string {
	t, ok := p.types[eventType]
	switch {
	case !ok:
		return ""
	case t.part != nil:
		return t.part.whole.migrated
	}
	return t.migrated
}

// WholeType returns the type of the message that an event of this type comes in: its own, or that
// of its whole.
func (p *Pipeline) WholeType(eventType string) string {
	if t, ok := p.types[eventType]; ok && t.part != nil {
		return t.part.whole.name
	}
	return eventType
}

// Migrations lists the migrations that copy rows into event types, by name.
func (p *Pipeline) Migrations() []string {
	names := map[string]bool{}
	for _, t := range p.types {
		if t.migrated != "" {
			names[t.migrated] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
