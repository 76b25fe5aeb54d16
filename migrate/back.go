package migrate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// After a turn, the old table is a copy of the new one, if the file says how events go back. The
// same rules hold with the roles exchanged: the copy is read first and then its source, and every
// write has the condition that the mark of the copy is as it was read. Two things differ. A row
// whose event is gone is deleted, because an application reads the old table and would take a
// tombstone for a row. So a write that is late can make a row again, and the old table's stream
// leads back to it. And a write sets only the attributes that back names. A row that is made anew
// has the others as the row had them that the event had before, if a record or the table still has
// that one: so a row that moves to another key goes only once the new one is there.

// changedItem names an item of the new table that may have changed, and what it was and is.
type changedItem struct {
	key    event.Key
	images []rows.Image
}

// changesOf returns changes that nobody has seen: these items, as they are.
func changesOf(list []rows.Image) []changedItem {
	changes := make([]changedItem, len(list))
	for i, img := range list {
		changes[i] = changedItem{rows.KeyOf(img), []rows.Image{img}}
	}
	return changes
}

// bring makes rows equal to the events that they belong to: those that changed, and those whose
// events did. In each round it reads the rows first, and then the items, all consistently.
func (s *Migration) bring(ctx context.Context, mode Mode, list []Changed, items []changedItem) Synced {
	b := &bringing{Migration: s, mode: mode, places: map[string]*place{}, first: map[event.Key][]int{}, known: map[event.Key]Row{}}
	for i, c := range list {
		p := b.place(rowmap.KeyOf(c.Key, s.old.Keys), i)
		for _, image := range c.Images {
			m := s.mapping.Map(image)
			p.note(m)
			b.know(image, m)
		}
	}
	for i, c := range items {
		at := len(list) + i
		b.first[c.key] = append(b.first[c.key], at)
		for _, image := range c.images {
			item, err := rows.Decode(image)
			if err != nil || item == nil || !s.mapping.HasRow(item.Type) {
				continue
			}
			if row, err := s.mapping.RowOf(item, s.old.Keys, s.old.Kinds); err == nil {
				b.place(rowmap.KeyOf(row, s.old.Keys), at).add(c.key)
			}
		}
	}
	err := s.store.Retry(ctx, b.round)
	left := map[int]bool{}
	for _, p := range b.places {
		for _, i := range p.owed {
			left[i] = left[i] || !p.done
		}
	}
	for _, owed := range b.first {
		for _, i := range owed {
			left[i] = true
		}
	}
	for i := range len(list) + len(items) {
		if left[i] {
			b.out.Left = append(b.out.Left, i)
		}
	}
	if len(b.out.Left) > 0 {
		b.out.Err = cmp.Or(err, b.why, errNoTime)
	}
	return b.out
}

// bringing is one call of bring.
type bringing struct {
	*Migration
	mode   Mode
	places map[string]*place
	first  map[event.Key][]int // items whose rows are not known before they are read, and what waits
	known  map[event.Key]Row   // the last row that each event is known to have had
	why    error

	mu  sync.Mutex // guards out while requests are in flight
	out Synced
}

// place is a row of the old table, which may be there or not.
type place struct {
	key   Row
	name  string
	keys  []event.Key // of items that may belong to it
	owed  []int       // the places of the changes that wait for it
	cur   Row
	now   rowmap.Mapped // what cur becomes
	drawn []string
	done  bool
	a     rows.Answer
}

func (b *bringing) place(key Row, i int) *place {
	name := rowmap.NameOf(key, b.old.Keys)
	p := b.places[name]
	if p == nil {
		p = &place{key: key, name: name}
		b.places[name] = p
	}
	if !slices.Contains(p.owed, i) {
		p.owed = append(p.owed, i)
	}
	return p
}

// add notes an item that may belong to the row. It reports whether that is new.
func (p *place) add(key event.Key) bool {
	if slices.Contains(p.keys, key) {
		return false
	}
	p.keys, p.done = append(p.keys, key), false
	return true
}

// note adds the items that a row becomes.
func (p *place) note(m rowmap.Mapped) {
	for _, item := range m.Items {
		p.add(item.Key)
	}
}

// know keeps a row as the one that its event has had. An image of its key alone is none.
func (b *bringing) know(row Row, m rowmap.Mapped) {
	if len(m.Items) > 0 && len(row) > len(b.old.Keys) {
		b.known[m.Items[0].Key] = row
	}
}

func (b *bringing) pending() (list []*place) {
	for _, name := range slices.Sorted(maps.Keys(b.places)) {
		if !b.places[name].done {
			list = append(list, b.places[name])
		}
	}
	return list
}

// round reads rows, then items, and writes.
func (b *bringing) round(ctx context.Context) (rows.Answer, rows.Next) {
	pending := b.pending()
	if err := b.readPlaces(ctx, pending); err != nil {
		b.why = err
		return rows.Classify(err), rows.Later
	}
	wanted := map[event.Key]bool{}
	for key := range b.first {
		wanted[key] = true
	}
	for _, p := range pending {
		for _, key := range p.keys {
			wanted[key] = true
		}
	}
	items, err := b.readItems(ctx, slices.SortedFunc(maps.Keys(wanted), compareKeys))
	if err != nil {
		b.why = err
		return rows.Classify(err), rows.Later
	}
	more := b.newPlaces(items)
	more = b.moves(pending, items) || more
	if slices.ContainsFunc(pending, func(p *place) bool { return p.cur != nil && len(p.owners(items)) == 0 }) {
		if a := b.unchanged(ctx, Backward); a.Err != nil {
			b.why = a.Err
			return a, rows.Later
		}
	}
	moved := b.moved(pending, items)
	for _, last := range []bool{false, true} {
		b.store.Each(len(pending), rows.MostPace, func(i int) {
			if to := moved[pending[i]]; ctx.Err() == nil && last == (to != nil) && (to == nil || to.done) {
				b.write(ctx, pending[i], items)
			}
		})
	}
	refused := rows.Answer{}
	left := b.pending()
	for _, p := range left {
		if p.a.Outcome != rows.Failed && p.a.Err != nil {
			refused, b.why = p.a, p.a.Err
		}
	}
	switch {
	case len(left) == 0 && !more:
		return rows.Answer{}, rows.Ended
	case more || refused.Err == nil:
		return rows.Answer{}, rows.Again
	}
	return refused, rows.Later
}

// readPlaces reads what the old table holds, and notes which items that may belong to.
func (b *bringing) readPlaces(ctx context.Context, list []*place) error {
	keys := make([]Row, len(list))
	for i, p := range list {
		keys[i], p.cur = p.key, nil
	}
	err := readAll(ctx, b.source, types.KeysAndAttributes{}, keys, func(row Row) {
		b.places[rowmap.NameOf(row, b.old.Keys)].cur = row
	})
	for _, p := range list {
		p.now = b.mapping.Map(p.cur)
		p.note(p.now)
		if p.cur != nil {
			b.know(p.cur, p.now)
		}
	}
	return err
}

// sourceItem is what the new table holds under a key.
type sourceItem struct {
	image rows.Image
	item  *event.Item // nil: no event of a type that goes back
	row   Row         // what it sets in its row; nil: it has none
	name  string      // of its row
}

// readItems reads items of the new table.
func (b *bringing) readItems(ctx context.Context, list []event.Key) (map[event.Key]sourceItem, error) {
	items, images := map[event.Key]sourceItem{}, make([]rows.Image, len(list))
	for i, key := range list {
		images[i] = rows.KeyImage(key)
	}
	err := readAll(ctx, b.store, types.KeysAndAttributes{}, images, func(img rows.Image) { items[rows.KeyOf(img)] = b.sourceOf(img) })
	return items, err
}

func (s *Migration) sourceOf(img rows.Image) sourceItem {
	of := sourceItem{image: img}
	item, err := rows.Decode(img)
	if err != nil || item == nil || rows.Barred(img) || !s.mapping.HasRow(item.Type) {
		return of
	}
	of.item = item
	if of.row, err = s.mapping.RowOf(item, s.old.Keys, s.old.Kinds); err == nil {
		of.name = rowmap.NameOf(of.row, s.old.Keys)
	}
	return of
}

// newPlaces adds the rows of items that are looked at for the first time. It reports whether there
// are any that were not read before the items.
func (b *bringing) newPlaces(items map[event.Key]sourceItem) (more bool) {
	for key, owed := range b.first {
		of := items[key]
		if of.row == nil {
			continue
		}
		known := b.places[of.name] != nil
		for _, i := range owed {
			p := b.place(rowmap.KeyOf(of.row, b.old.Keys), i)
			more = p.add(key) || !known || more
		}
	}
	if !more {
		clear(b.first)
	}
	return more
}

// moves adds the rows that events have now which the rows that were read became before. It reports
// whether there are any that were not read.
func (b *bringing) moves(pending []*place, items map[event.Key]sourceItem) (more bool) {
	for _, p := range pending {
		if len(p.now.Items) == 0 {
			continue
		}
		key := p.now.Items[0].Key
		if of := items[key]; of.row != nil && of.name != p.name {
			for _, i := range p.owed {
				more = b.place(rowmap.KeyOf(of.row, b.old.Keys), i).add(key) || more
			}
		}
	}
	return more
}

// moved returns where the events of rows are now that have moved to another key.
func (b *bringing) moved(pending []*place, items map[event.Key]sourceItem) map[*place]*place {
	to := map[*place]*place{}
	for _, p := range pending {
		if len(p.now.Items) > 0 && len(p.owners(items)) == 0 {
			if of := items[p.now.Items[0].Key]; of.row != nil {
				to[p] = b.places[of.name]
			}
		}
	}
	return to
}

// write makes one row equal to the item that it belongs to.
func (b *bringing) write(ctx context.Context, p *place, items map[event.Key]sourceItem) {
	if token := tokenOf(p.cur); token != "" && slices.Contains(p.drawn, token) {
		p.done = true // an earlier try of this call has written it
		return
	}
	owners := p.owners(items)
	switch {
	case len(owners) > 0 && p.now.Skip != "": // it belongs to the old application alone
		b.count(func(out *Synced) { out.Collisions++ })
		p.done = true
	case len(owners) > 1: // only one of them can be in the old table, and a comparison names the others
		b.count(func(out *Synced) { out.Collisions++ })
		fallthrough
	case len(owners) == 1:
		b.set(ctx, p, owners[0])
	case p.cur == nil:
		p.done = true
	default:
		b.remove(ctx, p, items)
	}
}

// owners returns the events whose row this is. The first is the one that the row becomes, if it is
// one of them.
func (p *place) owners(items map[event.Key]sourceItem) (list []sourceItem) {
	for _, key := range p.keys {
		of := items[key]
		switch {
		case of.name != p.name:
		case len(p.now.Items) > 0 && p.now.Items[0].Key == key:
			list = slices.Insert(list, 0, of)
		default:
			list = append(list, of)
		}
	}
	return list
}

func (b *bringing) count(change func(*Synced)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.out)
}

// set writes what an event sets in its row. An event that the row would not bring back as it is has
// no row: the old table could not be its source again.
func (b *bringing) set(ctx context.Context, p *place, of sourceItem) {
	if b.expiring(of.item.ExpiresAt) {
		b.count(func(out *Synced) { out.Expired++ })
		p.done = true
		return
	}
	from := p.cur
	if from == nil {
		from = b.known[of.item.Key]
	}
	change, after := changeOf(p.cur, from, of.row)
	if p.cur == nil && !b.mapping.Makes(after, of.item) {
		change, after = changeOf(nil, nil, of.row)
	}
	if !b.mapping.Makes(after, of.item) {
		b.count(func(out *Synced) { out.Refused++ })
		p.done = true
		return
	}
	if len(change) == 0 && p.cur != nil && b.mode == IfDifferent {
		p.done = true
		return
	}
	u := b.conditionOf(p)
	token := b.draw()
	values := Row{":m": token}
	maps.Copy(values, u.ExpressionAttributeValues)
	u.ExpressionAttributeNames["#m"] = itemform.Migrated
	sets, removes := []string{"#m = :m"}, []string{}
	for i, name := range slices.Sorted(maps.Keys(change)) {
		short := strconv.Itoa(i)
		switch v := change[name]; {
		case slices.Contains(b.old.Keys, name):
			continue
		case v == nil:
			removes = append(removes, "#a"+short)
		default:
			sets = append(sets, "#a"+short+" = :a"+short)
			values[":a"+short] = v
		}
		u.ExpressionAttributeNames["#a"+short] = name
	}
	text := "SET " + strings.Join(sets, ", ")
	if len(removes) > 0 {
		text += " REMOVE " + strings.Join(removes, ", ")
	}
	p.drawn = append(p.drawn, token.Value)
	_, err := b.source.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &b.old.Table, Key: p.key, UpdateExpression: &text,
		ConditionExpression: u.ConditionExpression, ExpressionAttributeNames: u.ExpressionAttributeNames,
		ExpressionAttributeValues: values})
	b.answered(p, rows.Classify(err), func(out *Synced) { out.Written++; out.wrote = append(out.wrote, p.name) })
}

// changeOf returns a row that has what an event sets, and else is as another one, and what changes
// with that in the row that is there now. What is nil in change is removed.
func changeOf(cur, from, sets Row) (change, after Row) {
	change, after = Row{}, maps.Clone(from)
	if after == nil {
		after = Row{}
	}
	delete(after, itemform.Migrated)
	for name, v := range sets {
		if after[name] = rowmap.Like(v, from[name]); v == nil {
			delete(after, name)
			if cur[name] != nil {
				change[name] = nil
			}
		}
	}
	for name, v := range after {
		if _, set := sets[name]; (set || cur == nil) && !rowmap.SameValue(v, cur[name]) {
			change[name] = v
		}
	}
	return change, after
}

// comesBack returns the row that back makes of the event of a row. why says why the event would not
// go back to that one; it is empty if it would.
func (s *Migration) comesBack(name string, item *event.Item) (row Row, why string) {
	row, err := s.mapping.RowOf(item, s.old.Keys, s.old.Kinds)
	maps.DeleteFunc(row, func(_ string, v types.AttributeValue) bool { return v == nil })
	switch {
	case err != nil:
		return row, err.Error()
	case rowmap.NameOf(row, s.old.Keys) != name:
		return row, "back gives its event another key"
	case !s.mapping.Makes(row, item):
		return row, "a row that back makes of its event does not become the same event"
	}
	return row, ""
}

// conditionOf is the condition that a row is as it was read.
func (b *bringing) conditionOf(p *place) *types.Update {
	u := &types.Update{ExpressionAttributeNames: map[string]string{"#k": b.old.Keys[0]}}
	switch seen := p.cur[itemform.Migrated]; {
	case p.cur == nil:
		u.ConditionExpression = aws.String("attribute_not_exists(#k)")
	case seen == nil:
		u.ConditionExpression = aws.String("attribute_exists(#k) AND attribute_not_exists(#m)")
	default:
		u.ConditionExpression = aws.String("attribute_exists(#k) AND #m = :seen")
		u.ExpressionAttributeValues = Row{":seen": seen}
	}
	return u
}

// answered notes what became of a write. One that the table would never take is not a row.
func (b *bringing) answered(p *place, a rows.Answer, done func(*Synced)) {
	b.source.Pace.Learn(a)
	switch p.a = a; a.Outcome {
	case rows.Done:
		p.done = true
		b.count(done)
	case rows.Invalid:
		p.done = true
		b.count(func(out *Synced) { out.Refused++ })
	}
}

// remove deletes a row that no event has, unless it never had one, or its event has expired.
func (b *bringing) remove(ctx context.Context, p *place, items map[event.Key]sourceItem) {
	now := p.now
	var keep func(*Synced)
	switch {
	case now.Skip != "":
		keep = func(out *Synced) { out.Skipped++ }
	case len(now.Items) == 0:
		keep = func(out *Synced) { out.Refused++ }
	case rows.Barred(items[now.Items[0].Key].image): // erased, so its row goes even if it soon expires
	case b.foreign(items[now.Items[0].Key].image):
		keep = func(out *Synced) { out.Collisions++ }
	case b.expiring(now.Items[0].ExpiresAt):
		keep = func(out *Synced) { out.Expired++ }
	}
	if keep != nil {
		p.done = true
		b.count(keep)
		return
	}
	u := b.conditionOf(p)
	u.ExpressionAttributeNames["#m"] = itemform.Migrated
	sent := b.source.Transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Delete: &types.Delete{
		TableName: &b.old.Table, Key: p.key, ConditionExpression: u.ConditionExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues}}}})
	a := sent.Answer
	if len(sent.Reasons) == 1 {
		a = rows.ClassifyReason(sent.Reasons[0])
	}
	b.answered(p, a, func(out *Synced) { out.Written++; out.Tombstones++; out.wrote = append(out.wrote, p.name) })
}
