package store

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// Item does what [Store.Item] says.
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
