package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/payloads"
)

// ErrPayloadLost says that a payload should be in the payload bucket and is not there, or is damaged. Asking
// again does not help. The item itself still counts: what totals need of it is in the table.
var ErrPayloadLost = errors.New("the payload is lost")

// Payload returns the whole payload of a stored item, as it was received. If the payload is in the payload
// bucket, that is one GET, of at most 16 MiB. The error is [ErrPayloadLost] if it is not there any more.
func (s *Store) Payload(ctx context.Context, item *event.Item) (string, error) {
	return counter{s}.PayloadWithin(ctx, item, func(int64) bool { return true })
}

// PayloadWithin is [Store.Payload] where there may be too little room. room is asked with the size of the
// object before it is read. If it says no, the error is [payloads.ErrNoRoom].
func (s counter) PayloadWithin(ctx context.Context, item *event.Item, room func(bytes int64) bool) (string, error) {
	if item.Payload == nil || item.Payload.Text != "" {
		return item.Text(), nil
	}
	if s.payloads == nil {
		return "", fmt.Errorf("the payload is in the payload bucket: %w", errNoBucket)
	}
	text, err := s.payloads.GetWithin(ctx, s.env, item.Type, item.Key, item.Payload.Sum, room)
	if payloads.Lost(err) {
		return "", fmt.Errorf("%w: %w", ErrPayloadLost, err)
	}
	return text, err
}

// withPayload returns the item with its whole payload in data, for what is computed anew from it.
func (s *Store) withPayload(ctx context.Context, item *event.Item) (*event.Item, error) {
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
