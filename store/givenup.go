package store

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// GivenUp reports whether an operator has given up a stream record, by an item at
// [lanes.GivenUpKey]. It is only called for a record that would make its batch fail again and
// again.
func (s *generations) GivenUp(ctx context.Context, lane event.Lane, sequence event.Sequence) (bool, Cost, error) {
	cost := Cost{Requests: 1}
	img, err := s.get(ctx, lanes.GivenUpKey(lane, sequence))
	cost.read(imageSize(img))
	return len(img) > 0, cost, awserr.Quiet(err)
}
