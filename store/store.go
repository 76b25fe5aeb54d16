package store

import (
	"context"
	"iter"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/put"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Store reads and writes the two tables.
type Store struct {
	config tables.Config
	put    *put.Stages
	fix    *repairs
	count  *count.Counter
}

// New checks the configuration and makes a [Store]. It sends no request. Under receipts it refuses
// a pipeline in which one change can touch more totals than a transaction holds, which is 100 items
// with the receipt.
func New(c tables.Config) (*Store, error) {
	t, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	gens := generations.New(t, c)
	stages := put.New(gens, c)
	return &Store{c, stages, &repairs{stages}, count.New(gens, c)}, nil
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
// Inserted, Updated, Duplicate and Stale are proofs: the service has said that the item, or an
// equal or newer one, is stored, and all of its parts. Everything that is not proven when ctx ends
// is Retry. Put ends earlier if only a few writes are left and none of them makes progress for
// three seconds.
//
// Payloads that go to the payload bucket are put there before their items. If that fails, the item
// is Retry, and so is all of an atomic message.
func (s *Store) Put(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	return s.put.Put(ctx, items)
}

// Item reads the item of one event, consistently. It returns nil if the key holds nothing, or an
// item that is not Ingot's. It also returns an expired item that is not removed yet.
// [pipeline.Pipeline.Key] computes the key.
func (s *Store) Item(ctx context.Context, key event.Key) (*event.Item, error) {
	return s.put.Item(ctx, key)
}

// Items scans the events table consistently, page by page, in no order. It includes expired items
// that are not removed yet, because they count until the stream says that they are gone. It leaves
// out items that are not Ingot's. An item that has Ingot's type but cannot be decoded is yielded as
// an [*OddItem] error, and the scan goes on. Any other error ends the scan.
func (s *Store) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	return s.put.Items(ctx)
}

// ItemPages scans one segment of the events table consistently, in no order, one request for each
// page. A page may be empty. An error ends the scan. [Store.Items] says which items it returns.
func (s *Store) ItemPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	return s.put.ItemPages(ctx, seg)
}

// TotalPages scans one segment of the aggregates table consistently, in no order, one request for
// each page. It returns what [Store.Totals] returns.
func (s *Store) TotalPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return s.put.TotalPages(ctx, seg)
}

// Totals scans the aggregates table consistently, in no order, for aggregate items of every
// generation. It includes items past their expiry.
func (s *Store) Totals(ctx context.Context) iter.Seq2[tables.StoredTotal, error] {
	return s.put.Totals(ctx)
}

// Touch raises the stamp of every item that is below the pipeline's epoch to that epoch. Each write
// is a MODIFY in the stream. Its old image contributes nothing to a newer generation, and its new
// image contributes everything. In this way the stream itself adds old items to new aggregates,
// under ordinary marks. It does no harm to stop Touch and to repeat it.
//
// Touch returns an error before it writes anything if no streams function has started with the
// pipeline's epoch yet. Only a start raises the epoch, and functions of an older epoch stop at the
// first item that is stamped above it.
//
// If the payload of an item is in the payload bucket, Touch reads it. The item then also gets what
// this pipeline needs of it, in the same write: newer generations may use fields that the item did
// not keep.
//
// If the table refuses to stamp an item, or if its payload is lost, the pass goes on with the
// others. Its error then names each such item. No newer generation is complete until these items
// are repaired or removed and the pass has run again.
func (s *Store) Touch(ctx context.Context) (Touched, error) {
	return s.fix.Touch(ctx)
}

// TouchPages does what [Store.Touch] does, for one segment of the table, and yields a result for
// each page. An error ends it.
func (s *Store) TouchPages(ctx context.Context, seg tables.Segment) iter.Seq2[TouchedPage, error] {
	return s.fix.TouchPages(ctx, seg)
}

// BeginPass begins a touch pass over a generation. Call [Store.Touch] after it, and
// [github.com/ingot-events/ingot/verify.Finish] when the stream has brought what was touched.
func (s *Store) BeginPass(ctx context.Context, d *aggregate.Definition) (tables.Pass, error) {
	return s.count.BeginPass(ctx, d)
}

// Head reads the head of one generation, consistently. It returns nil if there is none.
func (s *Store) Head(ctx context.Context, d *aggregate.Definition) (*tables.Head, error) {
	return s.count.Head(ctx, d)
}

// Payload returns the whole payload of a stored item, as it was received. If the payload is in the
// payload bucket, this takes one GET, of at most 16 MiB. The error is [ErrPayloadLost] if the
// object is gone.
func (s *Store) Payload(ctx context.Context, item *event.Item) (string, error) {
	return s.put.Payload(ctx, item)
}

// Erase replaces the event stored under key by an item that only bars the key. The attributes of
// this item are PK, SK, i:barred and, under mode insert, the event's expiresAt. Erase reports
// whether an event was there. If none is stored, the key is barred in advance.
//
// While the key is barred, everything that is delivered under it is a [event.Duplicate] with the
// reason [event.Barred]. No redelivery brings the event back. The stream treats the replacement as
// a removal by a person: every total loses what the event had added. The bar goes when the event
// would have expired. In two cases it stays for ever: under mode latest, because later revisions
// may expire after the one that was erased, and if nothing was stored to say when it expires.
//
// The parts of an event are erased before it, in the same way. They are a function of the stored
// whole, so a call that stops in between can be repeated. Once the whole is barred, a message that
// is delivered again puts no parts.
//
// The item of a whole says how many parts were stored with it. If the pipeline has changed since,
// it may not make all of them, or make them under other keys. If fewer are found than were stored,
// Erase changes nothing and returns an error that says so: once the whole is gone, nothing would
// lead to the others. It also returns an error if no event is stored under the key, and parts of
// an expired one may be: those of a type that has a longer retain than its whole. In that case the
// key is barred. In both cases, ingot erase --scan finds the parts.
//
// A claim of the event is not barred but removed, in the same transaction that bars the whole. From
// then on, another event can claim the value. The value must not be free any earlier: if the call
// stopped in between, or if the event's own message were delivered again, two wholes could have the
// same value. A claim can only be erased together with its whole.
//
// After the key is barred, the payloads of the key are deleted from the payload bucket, if there is
// one: under every event type that has offload and under the event's own type, or under every type
// if no event is stored. From then on, a message that puts such a payload also deletes it.
//
// Erase returns nil only if the key is proven barred and its payloads are proven deleted. You may
// repeat it to finish an interrupted call. If the key is barred already, it only deletes the
// payloads that are left. It refuses an item that is not Ingot's.
//
// If a key of an event uses hmac, and Config.Aggregates is set, Erase first reads there whether the
// pipeline's secret is the one that the tables were filled with. Otherwise it returns
// [ErrOtherSecret], because it would not find the parts of the event.
//
// Everything else that holds the event stays: archive objects, older versions of objects, backups,
// queues and logs. The page docs/erasing.md says what to do about them.
func (s *Store) Erase(ctx context.Context, key event.Key) (erased bool, err error) {
	return s.fix.Erase(ctx, key)
}

// MissingParts returns the parts of stored wholes that are not stored, and the read units that it
// took to find out. A part can be missing if an older ingest function, which did not know the part,
// has stored the whole alone. Items of types without parts are left out. So are parts that are too
// late to be stored, because they may have expired. If a whole lacks the fields that its parts
// need, it was stored before the parts were declared and has none. The same holds if its item did
// not keep these fields, because the payload bucket is not read. A claim whose value another whole
// holds counts as missing.
//
// While a message is being stored, its parts can look missing, because the whole is put first.
func (s *Store) MissingParts(ctx context.Context, wholes []*event.Item) (missing []*event.Item, units float64, err error) {
	return s.fix.MissingParts(ctx, wholes)
}

// OrphanedParts returns the parts among these items whose whole is not stored, or does not have
// them, and the read units that it took to find out. It leaves out parts that do not hold all
// fields of their whole's key, parts of a whole that may have expired or whose payload is not in
// the item, and those that are not stored any more.
func (s *Store) OrphanedParts(ctx context.Context, items []*event.Item) (orphans []*event.Item, units float64, err error) {
	return s.fix.OrphanedParts(ctx, items)
}

// PutParts puts the missing parts of all stored wholes: see [Store.MissingParts]. It does no harm
// to stop it and to repeat it, or to run it while events flow: a part that arrives in the meantime
// is a Duplicate. If the payload of a whole is in the payload bucket, it is read from there. Parts
// are stamped with the pipeline's epoch. So if no streams function has started with that epoch yet,
// PutParts returns an error before it puts anything. It also does so if the secret of hmac is not
// the one that the tables were filled with: all parts would be put again, under other keys. If the
// credentials do not allow puts, it ends with the service's error.
func (s *Store) PutParts(ctx context.Context) (PartsPut, error) {
	return s.fix.PutParts(ctx)
}

// Start makes sure, before a handler counts anything, that the aggregates table agrees with the
// pipeline: it has the same generations with the same definitions, counted in the same way. In one
// transaction it creates the heads of new generations, retires those that are no longer declared,
// and raises the epoch. It refuses, with an explanation, every change that would give a total two
// meanings.
func (s *Store) Start(ctx context.Context) error {
	return s.count.Start(ctx)
}
