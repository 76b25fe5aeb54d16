package rows

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Find reads what is stored under a key, consistently. there reports whether anything is stored.
// The item is nil if the key is barred, or if it holds an item that is not Ingot's event.
func (s *Tables) Find(ctx context.Context, key event.Key) (item *event.Item, there, barred bool, err error) {
	img, err := s.ReadOne(ctx, s.Events, key)
	if err != nil {
		return nil, false, false, fmt.Errorf("read of an item in table %s: %w", s.Events, awserr.Quiet(err))
	}
	if len(img) == 0 {
		return nil, false, false, nil
	}
	if ReadWhole(img).Barred {
		return nil, true, true, nil
	}
	if item, err = Decode(img); err != nil {
		item = nil
	}
	return item, true, false, nil
}
