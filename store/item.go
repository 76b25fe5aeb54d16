package store

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// Item reads the item of one event, consistently. It returns nil if the key holds nothing, or an
// item that is not Ingot's. It also returns an expired item that is not removed yet.
// [pipeline.Pipeline.Key] computes the key.
func (s *tables) Item(ctx context.Context, key event.Key) (*event.Item, error) {
	img, err := s.image(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(img) == 0 {
		return nil, nil
	}
	item, err := decode(img)
	if err != nil {
		return nil, fmt.Errorf("item %s cannot be read: %w", key, err)
	}
	return item, nil
}
