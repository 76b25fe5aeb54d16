package totals

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
)

// CountedIn reads the total that a contribution goes to. The result is Missing if that total is not
// stored.
func CountedIn(ctx context.Context, st *store.Store, c *aggregate.Contribution) (query.Total, error) {
	total := query.Total{By: lanes.Group(c.Def, c.By), Missing: true}
	var to time.Time
	if c.Window != aggregate.NoWindow {
		total.Window = time.Unix(c.Window, 0).UTC()
		to = total.Window.Add(time.Second)
	}
	stored, err := query.Of(st).Total(ctx, c.Def.Name, total.By, total.Window, to)
	switch {
	case err != nil || len(stored) == 0:
	case stored[0].Missing:
		total.Flags, total.Building = stored[0].Flags, stored[0].Building // what the generation says
	default:
		total = stored[0]
	}
	return total, err
}
