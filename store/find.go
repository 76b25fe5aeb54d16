package store

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Find reads what is stored under a key, consistently. there reports whether anything is stored.
// The item is nil if the key is barred, or if it holds an item that is not Ingot's event.
func (s *tables) Find(ctx context.Context, key event.Key) (item *event.Item, there, barred bool, err error) {
	img, err := s.readOne(ctx, s.events, key)
	if err != nil {
		return nil, false, false, fmt.Errorf("read of an item in table %s: %w", s.events, awserr.Quiet(err))
	}
	if len(img) == 0 {
		return nil, false, false, nil
	}
	if readWhole(img).barred {
		return nil, true, true, nil
	}
	if item, err = decode(img); err != nil {
		item = nil
	}
	return item, true, false, nil
}
