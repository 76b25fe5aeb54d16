package generations

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// GivenUp reports whether an operator has given up a stream record, by an item at
// [lanes.GivenUpKey]. It is only called for a record that would make its batch fail again and
// again.
func (s *Heads) GivenUp(ctx context.Context, lane event.Lane, sequence event.Sequence) (bool, tables.Cost, error) {
	cost := tables.Cost{Requests: 1}
	img, err := s.Get(ctx, lanes.GivenUpKey(lane, sequence))
	cost.Read(rows.ImageSize(img))
	return len(img) > 0, cost, awserr.Quiet(err)
}
