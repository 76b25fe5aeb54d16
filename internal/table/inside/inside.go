// Package inside holds the operations of a store that only Ingot's own functions, verify and the
// tests need. [Of] returns the [Tables] of a store. They count batches of changes, mark and flag
// generations, and declare generations complete.
//
// The package is separate from package store because users of the library must not call any of it.
package inside

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Tables counts changes in the tables of a store.
type Tables struct{ counter }

// Of returns the [Tables] of a store.
func Of(st *store.Store) Tables { return Tables{lanes.CounterOf(st).(counter)} }

// Applied is the outcome of a batch of changes, and its cost.
type Applied struct {
	lanes.Applied
	Cost tables.Cost
}

// Apply counts a batch of one lane into its aggregate items. It counts each step exactly once.
func (t Tables) Apply(ctx context.Context, b *lanes.Batch, quarantine lanes.Quarantine) Applied {
	applied, cost := t.counter.Apply(ctx, b, quarantine)
	return Applied{applied, cost}
}

// counter is implemented in package store, which documents its methods.
type counter interface {
	Apply(ctx context.Context, b *lanes.Batch, quarantine lanes.Quarantine) (lanes.Applied, tables.Cost)
	Begin(ctx context.Context) error
	CheckSecret(ctx context.Context) error
	Counting() aggregate.Counting
	Find(ctx context.Context, key event.Key) (item *event.Item, there, barred bool, err error)
	Flag(ctx context.Context, defs []*aggregate.Definition, at time.Time, reason string) (tables.Cost, error)
	GivenUp(ctx context.Context, lane event.Lane, sequence event.Sequence) (bool, tables.Cost, error)
	KeepFile(ctx context.Context, anew bool) error
	MarkBehind(ctx context.Context, defs []*aggregate.Definition) (tables.Cost, error)
	Newer() []*aggregate.Definition
	PayloadWithin(ctx context.Context, item *event.Item, room func(bytes int64) bool) (string, error)
	Renew(ctx context.Context) error
	SameSecret(ctx context.Context) error
	Settled(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost)
}
