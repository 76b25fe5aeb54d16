package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/tables"
)

// The attributes that a copy has beside those of its event. A tombstone has nothing else.
const (
	rowAttribute  = "i:row"  // S: the row that the copy is of
	alsoAttribute = "i:also" // SS: other rows that claim the same key
)

const (
	maxAlso   = 16 // how many other rows an item names
	tokenSize = 23 // the bytes of what a write draws
)

// Source is the old table, and what the two tables say of themselves. [Find] makes it.
type Source struct {
	Client    tables.Client
	Describer Describer // says whether a table is still the one that it was
	Table     string
	Keys      []string                    // the names of its key attributes: partition key, sort key
	Kinds     []types.ScalarAttributeType // of the key attributes; needed for the way back
	ID        string                      // its TableId, which another table of the same name does not have
	Stream    string                      // the ARN of its stream as it is now; empty: there is none
	EventsID  string                      // the TableId of the new table
	Events    string                      // the ARN of the stream of the new table, which the way back needs
}

// Migration makes copies equal to their rows. It is safe for concurrent use, also by several
// processes, and beside any number of other writers of the old table.
type Migration struct {
	mapping *rowmap.Mapping
	old     Source
	source  *rows.Tables // sends the requests to the old table
	store   *rows.Tables
	heads   *generations.Heads
	bucket  *payloads.Bucket // nil: there is none
	turned  atomic.Bool      // the types have turned before, as the control item said last: a copy may have been an event
}

// NewMigration checks the configuration. It sends no request.
func NewMigration(m *rowmap.Mapping, old Source, c tables.Config) (*Migration, error) {
	c.Pipeline = m.Pipeline()
	store, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	if len(old.Keys) == 0 || old.Client == nil || old.Describer == nil || old.Table == "" {
		return nil, errors.New("migrate: Source needs clients, the name of the old table and the names of its keys: migrate.Find makes it")
	}
	c.Client, c.Events = old.Client, old.Table
	source, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	return &Migration{mapping: m, old: old, source: source, store: store, heads: generations.New(store, c),
		bucket: plain.New(store, c).Payloads}, nil
}

// Row is a row or an item, as the SDK has it.
type Row = rowmap.Row

// Changed names a row that may have changed, and what it was and is, as far as that is known. The
// images only say which keys of the new table to look at.
type Changed struct {
	Key    Row
	Images []Row
}

// Synced is what a call has found and done.
type Synced struct {
	// Left lists the places of those rows whose copies are not proven to be equal, and Err why.
	Left []int
	Err  error
	// Written counts writes of copies, Tombstones those that left a tombstone, or that deleted a
	// row while the old table is the copy.
	Written, Tombstones int
	// Collisions counts keys that several rows claim, or that something else holds.
	Collisions int
	// Skipped, Expired and Refused count rows that have no copy.
	Skipped, Expired, Refused int
	wrote                     []string // the names of the rows that were written or deleted
	met                       []string // the names of rows that stand against a turn, while the old table is the source
}

// Mode says what is written.
type Mode uint8

const (
	// Always writes every copy, also if nothing differs: older requests on the way then fail.
	Always Mode = iota
	// IfDifferent writes copies that are not as they should be.
	IfDifferent
	// lookOnly writes nothing. What is not as it should be counts as refused.
	lookOnly
)

// Do makes the copies of rows equal to the rows. In each round it reads the copies first, and then
// the rows, all consistently, and writes on condition that the copy is as it was read. A row that
// names a key that was not read is looked at again in the next round.
func (s *Migration) Do(ctx context.Context, mode Mode, list []Changed) Synced {
	d := s.syncing(mode)
	for i, c := range list {
		name := rowmap.NameOf(c.Key, s.old.Keys)
		d.known[name] = rowmap.KeyOf(c.Key, s.old.Keys)
		d.owe(i, name, c.Images)
	}
	err := d.run(ctx)
	for i := range list {
		if slices.ContainsFunc(slices.Collect(maps.Values(d.spots)), func(p *spot) bool { return !p.done && slices.Contains(p.owed, i) }) ||
			d.unread {
			d.out.Left = append(d.out.Left, i)
		}
	}
	if len(d.out.Left) > 0 {
		d.out.Err = cmp.Or(err, d.why, errNoTime)
	}
	return d.out
}

// DoKeys does what Do does for keys of the new table: it syncs the rows that their copies name.
func (s *Migration) DoKeys(ctx context.Context, mode Mode, keys []event.Key) Synced {
	d := s.syncing(mode)
	for _, key := range keys {
		d.spots[key] = &spot{key: key}
	}
	err := d.run(ctx)
	if len(d.pending()) > 0 {
		d.out.Err = cmp.Or(err, d.why, errNoTime)
	}
	return d.out
}

var errNoTime = errors.New("there was no time left")

// syncing is one call of Do.
type syncing struct {
	*Migration
	mode   Mode
	spots  map[event.Key]*spot
	known  map[string]Row // the keys of rows, by name
	none   map[string]noCopy
	first  []named // rows that no key was known of, before they were read
	unread bool    // a row was not read, so its keys are not known
	why    error

	mu  sync.Mutex // guards out while requests are in flight
	out Synced
}

func (s *Migration) syncing(mode Mode) *syncing {
	return &syncing{Migration: s, mode: mode, spots: map[event.Key]*spot{}, known: map[string]Row{}, none: map[string]noCopy{}}
}

// run does rounds until nothing is left, and counts the rows that have no copy.
func (d *syncing) run(ctx context.Context) error {
	err := d.store.Retry(ctx, d.round)
	for name, why := range d.none {
		if d.out.note(why); why == refused {
			d.out.met = append(d.out.met, name)
		}
	}
	for _, p := range d.spots {
		if p.a.Outcome == rows.Invalid && p.done { // see put
			d.out.Refused++
			d.out.met = append(d.out.met, p.names...)
		}
	}
	return err
}

// count changes what the call has found and done, while requests are in flight.
func (d *syncing) count(change func(*Synced)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.out)
}

type named struct {
	name string
	owed int
}

// spot is a key of the new table.
type spot struct {
	key   event.Key
	names []string // rows that may claim it
	owed  []int    // the places of the changes that wait for it
	cur   rows.Image
	drawn []string // what was written to it by tries without an answer
	done  bool
	a     rows.Answer
}

// owe notes which keys of the new table a change is about.
func (d *syncing) owe(i int, name string, images []Row) {
	d.first = append(d.first, named{name, i})
	for _, image := range images {
		for _, item := range d.mapping.Map(image).Items {
			d.spot(item.Key, name, i)
		}
	}
}

// spot adds a row to a key, and a change that waits for it; i is -1 if none does.
func (d *syncing) spot(key event.Key, name string, i int) *spot {
	p := d.spots[key]
	if p == nil {
		p = &spot{key: key}
		d.spots[key] = p
	}
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
		p.done = false
	}
	if i >= 0 && !slices.Contains(p.owed, i) {
		p.owed = append(p.owed, i)
	}
	return p
}

// round reads copies, then rows, and writes.
func (d *syncing) round(ctx context.Context) (rows.Answer, rows.Next) {
	pending := d.pending()
	if err := d.readCopies(ctx, pending); err != nil {
		return d.fail(err)
	}
	wanted := map[string]bool{}
	for _, f := range d.first {
		wanted[f.name] = true
	}
	for _, p := range pending {
		for _, name := range d.claimants(p) {
			wanted[name] = true
		}
	}
	images, err := d.readRows(ctx, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		d.unread = len(d.first) > 0
		return d.fail(err)
	}
	d.unread = false
	items := d.plan(images)
	if slices.ContainsFunc(pending, func(p *spot) bool { return p.cur["type"] != nil && len(d.claims(p, items)) == 0 }) {
		if a := d.unchanged(ctx, Forward); a.Err != nil {
			d.why = a.Err
			return a, rows.Later
		}
	}
	more := d.newSpots(items)
	refused := rows.Answer{}
	d.store.Each(len(pending), rows.MostPace, func(i int) {
		if ctx.Err() == nil {
			d.write(ctx, pending[i], items)
		}
	})
	left := d.pending()
	for _, p := range left {
		if p.a.Outcome != rows.Failed && p.a.Err != nil {
			refused, d.why = p.a, p.a.Err
		}
	}
	switch {
	case len(left) == 0:
		return rows.Answer{}, rows.Ended
	case more || refused.Err == nil:
		return rows.Answer{}, rows.Again
	}
	return refused, rows.Later
}

func (d *syncing) fail(err error) (rows.Answer, rows.Next) {
	d.why = err
	return rows.Classify(err), rows.Later
}

func (d *syncing) pending() (list []*spot) {
	for _, key := range slices.SortedFunc(maps.Keys(d.spots), compareKeys) {
		if !d.spots[key].done {
			list = append(list, d.spots[key])
		}
	}
	return list
}

func compareKeys(a, b event.Key) int { return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK)) }

// newSpots adds the keys that rows turn out to have. They are looked at in the next round, because
// their copies were not read before the rows. It reports whether there are any.
func (d *syncing) newSpots(items map[string][]*event.Item) (more bool) {
	for _, f := range d.first {
		for _, item := range items[f.name] {
			p := d.spots[item.Key]
			more = more || p == nil || !slices.Contains(p.names, f.name)
			d.spot(item.Key, f.name, f.owed)
		}
	}
	if !more {
		d.first = nil
	}
	return more
}

// claimants returns the rows that may claim a key: those that are known of, and those that the copy
// names.
func (d *syncing) claimants(p *spot) []string {
	list := slices.Clone(p.names)
	if row := d.rowOfCopy(p.cur); row != "" {
		list = append(list, row)
	}
	list = append(list, rows.TextsOf(p.cur[alsoAttribute])...)
	slices.Sort(list)
	return slices.Compact(list)
}

// rowOfCopy returns the name of the row that an item is a copy of. A producer's event, which has
// come back, says it by its payload.
func (s *Migration) rowOfCopy(img rows.Image) string {
	if name := rows.TextOf(img[rowAttribute]); name != "" || !s.mapping.GoesBack() {
		return name
	}
	return s.sourceOf(img).name
}

// readAll reads what a table holds under keys, consistently. of says which attributes.
func readAll(ctx context.Context, t *rows.Tables, of types.KeysAndAttributes, keys []rows.Image, take func(rows.Image)) error {
	of.ConsistentRead = aws.Bool(true)
	for of.Keys = range slices.Chunk(keys, rows.MaxKeys) {
		err := t.ReadKeys(ctx, t.Events, of, "", func(out *dynamodb.BatchGetItemOutput) {
			for _, img := range out.Responses[t.Events] {
				take(img)
			}
		})
		if err != nil {
			return fmt.Errorf("reading table %s: %w", t.Events, err)
		}
	}
	return nil
}

// readCopies reads what the new table holds under keys.
func (d *syncing) readCopies(ctx context.Context, list []*spot) error {
	keys, at := make([]rows.Image, len(list)), map[event.Key]*spot{}
	for i, p := range list {
		keys[i], at[p.key], p.cur = rows.KeyImage(p.key), p, nil
	}
	return readAll(ctx, d.store, d.view(), keys, func(img rows.Image) { at[rows.KeyOf(img)].cur = img })
}

// view asks for what a write of a copy depends on, and for all of it if it is compared.
func (d *syncing) view() types.KeysAndAttributes {
	if d.mode != Always {
		return types.KeysAndAttributes{}
	}
	names := []string{"PK", "SK", "type", "digest", "at", "epoch", "expiresAt", itemform.Migrated, rowAttribute, alsoAttribute,
		rows.BarredAttribute, rows.PutAttribute}
	if d.mapping.GoesBack() {
		names = append(names, "id", "data") // see rowOfCopy
	}
	request := types.KeysAndAttributes{ExpressionAttributeNames: map[string]string{}}
	text := ""
	for i, name := range names {
		short := "#" + strconv.Itoa(i)
		request.ExpressionAttributeNames[short] = name
		text += ", " + short
	}
	request.ProjectionExpression = aws.String(text[2:])
	return request
}

// readRows reads rows of the old table by their names.
func (d *syncing) readRows(ctx context.Context, names []string) (map[string]Row, error) {
	images, keys := map[string]Row{}, make([]Row, 0, len(names))
	for _, name := range names {
		if key := d.known[name]; key != nil {
			keys = append(keys, key)
		} else if key := rowmap.ParseName(name); key != nil { // nobody writes another one
			keys = append(keys, key)
		}
	}
	err := readAll(ctx, d.source, types.KeysAndAttributes{}, keys, func(row Row) { images[rowmap.NameOf(row, d.old.Keys)] = row })
	return images, err
}

// plan returns the items of each row, and notes why a row has none.
func (d *syncing) plan(images map[string]Row) map[string][]*event.Item {
	items := map[string][]*event.Item{}
	for name, row := range images {
		m, why := d.itemsOf(row)
		items[name], d.none[name] = m.Items, why
	}
	return items
}

// noCopy says why a row has no copy.
type noCopy uint8

const (
	hasCopy noCopy = iota
	skipped
	expired
	refused
)

// itemsOf returns what a row should have in the new table, now. A row whose event expires within
// ten minutes is not a row, as Put would refuse that event.
func (s *Migration) itemsOf(row Row) (rowmap.Mapped, noCopy) {
	now := s.store.Env.Now()
	m := Copies(s.mapping, row, s.old.Keys, now)
	switch {
	case m.Skip != "":
		return m, skipped
	case m.Refusal != nil:
		return m, refused
	case tables.TooLate(m.Items[0], now):
		m.Items = nil
		return m, expired
	}
	m.Items = slices.DeleteFunc(m.Items, func(item *event.Item) bool { return tables.TooLate(item, now) })
	return m, hasCopy
}

// Copies computes what a row becomes, as [rowmap.Mapping.Map] does, and refuses what cannot have a
// copy now: an event that is too far ahead for the payload bucket, and an item that leaves no room
// for what a copy has beside it. keys are the names of the row's key attributes, as far as they are
// known: the room that a copy needs depends on them.
func Copies(m *rowmap.Mapping, row Row, keys []string, now time.Time) rowmap.Mapped {
	to := m.Map(row)
	if to.Refusal != nil || len(to.Items) == 0 {
		return to
	}
	if payloads.IsAhead(to.Items[0], now) {
		to.Refusal = payloads.TooFarAhead(to.Items[0])
	}
	name := len(rowmap.NameOf(row, keys))
	room := len(itemform.Migrated) + tokenSize + len(rowAttribute) + name + len(alsoAttribute) + maxAlso*name
	for _, item := range to.Items {
		if size := item.Size(); size > event.MaxItem-planner.StampRoom-room {
			to.Refusal = event.Poisoned(event.ItemTooLarge, fmt.Sprintf("the item takes %d bytes, and DynamoDB stores %d: its copy needs "+
				"%d more, for the names of rows", size, event.MaxItem, room))
		}
	}
	if to.Refusal != nil {
		to.Items = nil
	}
	return to
}
