package rows

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// Item does what Store.Item says.
func (s *Tables) Item(ctx context.Context, key event.Key) (*event.Item, error) {
	img, err := s.Image(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(img) == 0 {
		return nil, nil
	}
	item, err := Decode(img)
	if err != nil {
		return nil, fmt.Errorf("item %s cannot be read: %w", key, err)
	}
	return item, nil
}
