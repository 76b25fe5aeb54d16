package store

import (
	"context"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// ErrTooLarge is the error of an answer that is too large to be read.
var ErrTooLarge = rows.ErrTooLarge

// Inside returns what the functions use.
func (s *Store) Inside() *table.Writers { return s.in }

// Apply counts a batch of changes as the streams function does.
func (s *Store) Apply(ctx context.Context, b *lanes.Batch, quarantine lanes.Quarantine) count.Applied {
	return s.in.Counter.Apply(ctx, b, quarantine)
}
