package generations

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
)

// CheckHome makes sure, before anything is written, that this function runs in the home Region of
// the events table: the one in which events are stored and counted. An item of the events table,
// which a global table replicates, names it. The first function that starts puts it there. In
// another Region, CheckHome returns a [*tables.HomeError]. After the first successful check, the
// item is not read again.
//
// It is a fence against mistakes. It keeps nobody out while the replication lags, or if two Regions
// start with an empty table at the same time.
//
// It sends no request if Config.Region is empty, or if Config.Events names no table.
func (s *Heads) CheckHome(ctx context.Context) error {
	if s.region == "" || s.Events == "" || s.atHome.Load() {
		return nil
	}
	home, err := s.agreed(ctx, s.Events, lanes.HomeKey, "region", s.region)
	switch {
	case err != nil:
		return fmt.Errorf("the home Region of the events table %s: %w", s.Events, awserr.Quiet(err))
	case home != s.region:
		return &tables.HomeError{Table: s.Events, Home: home, Here: s.region}
	}
	s.atHome.Store(true)
	return nil
}
