package store

import (
	"context"
	"iter"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/tables"
)

// Store reads and writes the two tables.
type Store struct {
	config tables.Config
	in     *table.Writers
}

// New checks the configuration and makes a [Store]. It sends no request. Under receipts it refuses
// a pipeline in which one change can touch more totals than a transaction holds, which is 100 items
// with the receipt.
func New(c tables.Config) (*Store, error) {
	in, err := table.Open(c)
	if err != nil {
		return nil, err
	}
	return &Store{c, in}, nil
}

// Config returns the configuration that the store was made from.
func (s *Store) Config() tables.Config { return s.config }

// Put writes each item on condition that its key is free, or, for items with a revision, that its
// revision is newer than the stored one. It returns a result for each item, in order. Items may
// share keys.
//
// If an item has parts, they are put after it, once it is proven stored. A whole that is a conflict
// therefore leaves no parts behind. The result's verdict is the worst of the whole and its parts.
// If Put stops in between, the message is Retry. In the next delivery, the whole is a Duplicate,
// and the missing parts are put.
//
// If its type is atomic, an item and its parts are put in one transaction: all of them, or none.
// Totals that are moved by the put are updated in the transaction that puts the item.
//
// An item that requires others is put once these are proven stored, which items of the same call
// may do. Otherwise it is Rejected, unless it is stored itself.
//
// Inserted, Updated, Duplicate and Stale are proofs: the service has said that the item, or an
// equal or newer one, is stored, and all of its parts. Everything that is not proven when ctx ends
// is Retry. Put ends earlier if only a few writes are left and none of them makes progress for
// three seconds.
//
// Payloads that go to the payload bucket are put there before their items. If that fails, the item
// is Retry, and so is all of an atomic message.
func (s *Store) Put(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	return s.in.Puts.Put(ctx, items)
}

// Item reads the item of one event, consistently. It returns nil if the key holds nothing, or an
// item that is not Ingot's. It also returns an expired item that is not removed yet.
// [pipeline.Pipeline.Key] computes the key.
func (s *Store) Item(ctx context.Context, key event.Key) (*event.Item, error) {
	return s.in.Heads.Item(ctx, key)
}

// Items scans the events table consistently, page by page, in no order. It includes expired items
// that are not removed yet, because they count until the stream says that they are gone. It leaves
// out items that are not Ingot's. An item that has Ingot's type but cannot be decoded is yielded as
// an [*UnreadableItem] error, and the scan goes on. Any other error ends the scan.
func (s *Store) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	return walk.Items(ctx, s.in.Heads.Tables)
}

// ItemPages scans one segment of the events table consistently, in no order, one request for each
// page. A page may be empty. An error ends the scan. [Store.Items] says which items it returns.
func (s *Store) ItemPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	return walk.ItemPages(ctx, s.in.Heads.Tables, seg)
}

// TotalPages scans one segment of the aggregates table consistently, in no order, one request for
// each page. It returns what [Store.Totals] returns.
func (s *Store) TotalPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return walk.TotalPages(ctx, s.in.Heads.Tables, seg)
}

// Totals scans the aggregates table consistently, in no order, for aggregate items of every
// generation. It includes items past their expiry.
func (s *Store) Totals(ctx context.Context) iter.Seq2[tables.StoredTotal, error] {
	return walk.Totals(ctx, s.in.Heads.Tables)
}

// Head reads the head of one generation, consistently. It returns nil if there is none.
func (s *Store) Head(ctx context.Context, d *aggregate.Definition) (*tables.Head, error) {
	return s.in.Heads.Head(ctx, d)
}

// Payload returns the whole payload of a stored item, as it was received. If the payload is in the
// payload bucket, this takes one GET, of at most 16 MiB. The error is [ErrPayloadLost] if the
// object is gone.
func (s *Store) Payload(ctx context.Context, item *event.Item) (string, error) {
	return s.in.Puts.Payload(ctx, item)
}

// Start makes sure, before a handler counts anything, that the aggregates table agrees with the
// pipeline: it has the same generations with the same definitions, counted in the same way. In one
// transaction it creates the heads of new generations, retires those that are no longer declared,
// and raises the epoch. It refuses, with an explanation, every change that would give a total two
// meanings.
func (s *Store) Start(ctx context.Context) error {
	return s.in.Heads.Start(ctx)
}
