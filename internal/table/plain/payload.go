package plain

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/tables"
)

// Payload does what Store.Payload says.
func (s *Writer) Payload(ctx context.Context, item *event.Item) (string, error) {
	return s.PayloadWithin(ctx, item, func(int64) bool { return true })
}

// PayloadWithin is Store.Payload for callers with little memory. Before the object is read, room
// is called with its size. If it returns false, the error is [payloads.ErrNoRoom].
func (s *Writer) PayloadWithin(ctx context.Context, item *event.Item, room func(bytes int64) bool) (string, error) {
	if item.Payload == nil || item.Payload.Text != "" {
		return item.Text(), nil
	}
	if s.Payloads == nil {
		return "", fmt.Errorf("the payload is in the payload bucket: %w", ErrNoBucket)
	}
	text, err := s.Payloads.GetWithin(ctx, s.Env, item.Type, item.Key, item.Payload.Sum, room)
	if payloads.Lost(err) {
		return "", fmt.Errorf("%w: %w", tables.ErrPayloadLost, err)
	}
	return text, err
}

// WithPayload returns the item with its whole payload in data, for what must be computed again from
// it.
func (s *Writer) WithPayload(ctx context.Context, item *event.Item) (*event.Item, error) {
	if item.Payload == nil {
		return item, nil
	}
	text, err := s.Payload(ctx, item)
	if err != nil {
		return nil, err
	}
	whole := *item
	whole.Data = text
	return &whole, nil
}
