package pipeline

import (
	"fmt"
	"regexp"

	"github.com/ingot-events/ingot/internal/plan/planner"
)

var migrationName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// migration checks the name of the migration that copies rows into a type.
func (c *compiler) migration(at place, t *planner.Type) {
	switch p := at.In("migrated"); {
	case t.Migrated == "":
	case !migrationName.MatchString(t.Migrated):
		c.Mistake(p, fmt.Sprintf("%q is not the name of a migration", t.Migrated), "lower-case letters, digits and -, at most 40")
	case t.Part != nil:
		c.Mistake(p, t.Name+" is a part, which moves with its whole", "migrated in "+t.Part.Whole.Name)
	}
}
