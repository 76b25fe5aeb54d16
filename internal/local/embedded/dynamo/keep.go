package dynamo

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// This file writes tables and streams to a journal, and reads them again:
//
//	tables         name           -> keptTable
//	items/NAME     key            -> the attributes, packed
//	streams        ARN            -> keptStream
//	shards/ARN     number         -> keptShard
//	records/ARN    shard, ordinal -> the change, without its new image
//	tokens         token          -> keptToken
//
// The new image of a record is the old image of the next record of the same item. If there is no
// next record, it is the item itself. So each image is kept only once. When a table is deleted, its
// items are removed. Then the last record of each item is kept together with its new image.

const (
	tableSpace  = "tables"
	streamSpace = "streams"
	tokenSpace  = "tokens"
)

type keptTable struct {
	ID         string
	Keys       []types.KeySchemaElement
	Attributes []types.AttributeDefinition
	StreamSpec *types.StreamSpecification
	Indexes    []keptIndex
	Created    time.Time
	TTL        string
	Stream     string // ARN; empty: none
}

type keptIndex struct {
	Name     string
	Keys     []types.KeySchemaElement
	KeysOnly bool
}

type keptStream struct {
	Table, PK, SK, Label string
	Created              time.Time
	Disabled             bool
	Opened               uint64
}

type keptShard struct {
	ID, Parent     string
	Low, High      uint64
	Created        time.Time
	Closed         time.Time
	First, Trimmed [2]uint64
	Base           int
}

type keptToken struct {
	Digest []byte
	At     time.Time
	Cost   []types.ConsumedCapacity
}

func (t *table) itemSpace() string    { return "items/" + t.name }
func (s *stream) shardSpace() string  { return "shards/" + s.arn }
func (s *stream) recordSpace() string { return "records/" + s.arn }

func (sh *shard) recordKey(i int) string {
	return api.Ordered(sh.number) + api.Ordered(uint64(sh.base+i))
}

// itemKey returns the key of an item in its space. Different items have different keys.
func itemKey(it *value.Item) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(it.PK)))) + it.PK + it.SK
}

// keep tells the journal that new replaces old. Either may be nil.
func (t *table) keep(old, new *value.Item) {
	switch {
	case t.log == nil:
	case new != nil:
		new.Pack()
		t.log.Put(t.itemSpace(), itemKey(new), new.Packed())
	default:
		t.log.Remove(t.itemSpace(), itemKey(old))
	}
}

func (t *table) keepTable() {
	if t.log == nil {
		return
	}
	k := keptTable{Keys: t.request.keys, Attributes: t.request.attributes, StreamSpec: t.request.streamSpec, Created: t.created, TTL: t.ttl}
	k.ID = t.id
	for _, ix := range t.indexes {
		k.Indexes = append(k.Indexes, keptIndex{ix.name, ix.keys, ix.only != nil})
	}
	if t.stream != nil {
		k.Stream = t.stream.arn
	}
	t.log.Put(tableSpace, t.name, api.JSON(k))
}

// forget tells the journal that the table is gone. Its stream, if it has one, stays.
func (t *table) forget() {
	if t.log == nil {
		return
	}
	t.log.Remove(tableSpace, t.name)
	t.log.Drop(t.itemSpace())
	if t.stream != nil {
		t.stream.keepImages()
	}
}

// keepImages keeps the last record of each item with its new image, because the items no longer
// tell it.
func (s *stream) keepImages() {
	seen := map[key]bool{}
	for _, sh := range slices.Backward(s.shards) {
		for i := len(sh.records) - 1; i >= 0; i-- {
			if k := sh.records[i].key(); !seen[k] {
				seen[k] = true
				s.keepRecord(sh, i, true)
			}
		}
	}
}

func (r *record) key() key {
	if r.new != nil {
		return key{r.new.PK, r.new.SK}
	}
	return key{r.old.PK, r.old.SK}
}

func (s *stream) keepStream() {
	if s.log != nil {
		s.log.Put(streamSpace, s.arn,
			api.JSON(keptStream{s.t.name, s.t.schema.pk, s.t.schema.sk, s.label, s.created, s.disabled, s.opened}))
	}
}

func (s *stream) keepShard(sh *shard) {
	if s.log != nil {
		s.log.Put(s.shardSpace(), api.Ordered(sh.number), api.JSON(keptShard{sh.id, sh.parent, sh.low, sh.high, sh.created, sh.closed,
			[2]uint64{sh.first.high, sh.first.low}, [2]uint64{sh.trimmed.high, sh.trimmed.low}, sh.base}))
	}
}

func (s *stream) unkeepShard(sh *shard) {
	if s.log != nil {
		s.log.Remove(s.shardSpace(), api.Ordered(sh.number))
	}
}

func (s *stream) unkeepRecord(sh *shard, i int) {
	if s.log != nil {
		s.log.Remove(s.recordSpace(), sh.recordKey(i))
	}
}

// These bits say what a kept record has.
const (
	hasOld = 1 << iota
	hasNew
	withNew // the new image is kept here
	hasIdentity
)

// keepRecord keeps record i of a shard. If withImage is set, it also keeps the record's new image.
func (s *stream) keepRecord(sh *shard, i int, withImage bool) {
	if s.log == nil {
		return
	}
	r := &sh.records[i]
	k := r.key()
	var flags uint64
	if r.old != nil {
		flags |= hasOld
	}
	if r.new != nil {
		flags |= hasNew
		if withImage {
			flags |= withNew
		}
	}
	if r.by != nil {
		flags |= hasIdentity
	}
	p := make(api.Packer, 0, 64+len(k.pk)+len(k.sk))
	p.Number(flags)
	for _, n := range []uint64{r.seq.high, r.seq.low, r.id[0], r.id[1]} {
		p.Number(n)
	}
	p.Time(r.at)
	p.Text(k.pk)
	p.Text(k.sk)
	if r.old != nil {
		p.Text(r.old.Packed())
	}
	if flags&withNew != 0 {
		p.Text(r.new.Packed())
	}
	if r.by != nil {
		p.Text(r.by.kind)
		p.Text(r.by.principal)
	}
	s.log.Put(s.recordSpace(), sh.recordKey(i), string(p))
}

func (t *tokens) keep(e tokenEntry) {
	if t.log != nil {
		t.log.Put(tokenSpace, e.token, api.JSON(keptToken{e.digest[:], e.at, e.out.ConsumedCapacity}))
	}
}

// Load reads what the journal holds. It must be called before anything else.
func (ts *Service) Load(j api.Journal) error {
	if err := ts.loadTables(j); err != nil {
		return err
	}
	if err := ts.loadStreams(j); err != nil {
		return err
	}
	err := j.Load(tokenSpace, func(k, v []byte) error {
		var kept keptToken
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		e := tokenEntry{token: string(k), at: kept.At, out: &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: kept.Cost}}
		copy(e.digest[:], kept.Digest)
		ts.tokens.done[e.token] = e
		ts.tokens.order = append(ts.tokens.order, e)
		return nil
	})
	slices.SortFunc(ts.tokens.order, func(a, b tokenEntry) int { return a.at.Compare(b.at) })
	return err
}

func (ts *Service) loadTables(j api.Journal) error {
	err := j.Load(tableSpace, func(k, v []byte) error {
		var kept keptTable
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		in := &dynamodb.CreateTableInput{KeySchema: kept.Keys, AttributeDefinitions: kept.Attributes, StreamSpecification: kept.StreamSpec}
		for _, ix := range kept.Indexes {
			projection := &types.Projection{ProjectionType: types.ProjectionTypeAll}
			if ix.KeysOnly {
				projection.ProjectionType = types.ProjectionTypeKeysOnly
			}
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
				types.GlobalSecondaryIndex{IndexName: &ix.Name, KeySchema: ix.Keys, Projection: projection})
		}
		t, err := ts.newTable(string(k), in)
		if err != nil {
			return err
		}
		t.created, t.ttl, t.id = kept.Created, kept.TTL, cmp.Or(kept.ID, t.id)
		ts.byName[t.name] = t
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range ts.byName {
		if err := t.load(j); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// load reads the items.
func (t *table) load(j api.Journal) error {
	return j.Load(t.itemSpace(), func(_, v []byte) error {
		it, err := value.Unpack(string(v), t.schema.pk, t.schema.sk)
		if err != nil {
			return err
		}
		t.rows.put(place{it.PK, it.SK, it.PK, it.SK}, it)
		for _, ix := range t.indexes {
			if at, in := ix.place(it); in {
				ix.rows.put(at, it)
			}
		}
		t.count(it, +1)
		return nil
	})
}

func (ts *Service) loadStreams(j api.Journal) error {
	err := j.Load(streamSpace, func(k, v []byte) error {
		var kept keptStream
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		s := &stream{arn: string(k), label: kept.Label, region: ts.core.Config.Region, tell: ts.cfg.OnRecord, rollAfter: ts.cfg.RollAfter,
			created: kept.Created, disabled: kept.Disabled, opened: kept.Opened, log: ts.log, rnd: ts.core.Source(string(k))}
		t := ts.byName[kept.Table]
		if t == nil || kept.Disabled { // its table is gone
			t = &table{name: kept.Table, schema: schema{pk: kept.PK, sk: kept.SK}, rows: newKeyspace(true)}
		}
		s.t, t.stream = t, s
		ts.streams[s.arn] = s
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range ts.streams {
		if err := s.load(j); err != nil {
			return fmt.Errorf("stream %s: %w", s.arn, err)
		}
	}
	return nil
}

func (s *stream) load(j api.Journal) error {
	byNumber := map[uint64]*shard{}
	if err := j.Load(s.shardSpace(), func(k, v []byte) error {
		var kept keptShard
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		n, err := api.FromOrdered(k)
		if err != nil {
			return err
		}
		sh := &shard{number: n, id: kept.ID, parent: kept.Parent, low: kept.Low, high: kept.High, created: kept.Created,
			closed: kept.Closed,
			first:  sequence{kept.First[0], kept.First[1]}, trimmed: sequence{kept.Trimmed[0], kept.Trimmed[1]}, base: kept.Base}
		if sh.last = sh.first; sh.last.compare(sh.trimmed) < 0 {
			sh.last = sh.trimmed
		}
		byNumber[n] = sh
		s.shards = append(s.shards, sh)
		s.opened = max(s.opened, n+1)
		return nil
	}); err != nil {
		return err
	}
	if err := j.Load(s.recordSpace(), func(k, v []byte) error {
		if len(k) != 16 {
			return fmt.Errorf("a record has a key of %d bytes, not 16", len(k))
		}
		number, _ := api.FromOrdered(k[:8])
		ordinal, _ := api.FromOrdered(k[8:])
		sh := byNumber[number]
		if sh == nil || ordinal != uint64(sh.base+len(sh.records)) {
			return fmt.Errorf("record %d of shard %d is out of place", ordinal, number)
		}
		r, err := s.t.unpackRecord(string(v))
		if err != nil {
			return err
		}
		sh.records = append(sh.records, r)
		sh.last = r.seq
		return nil
	}); err != nil {
		return err
	}
	s.images()
	return nil
}

// unpackRecord reads a record of the table's stream.
func (t *table) unpackRecord(packed string) (r record, err error) {
	u := api.Unpack(packed)
	image := func() (*value.Item, error) { return value.Unpack(u.Text(), t.schema.pk, t.schema.sk) }
	flags := u.Number()
	r.seq = sequence{u.Number(), u.Number()}
	r.id = [2]uint64{u.Number(), u.Number()}
	r.at = u.Time()
	k := key{u.Text(), u.Text()}
	if flags&hasOld != 0 {
		if r.old, err = image(); err != nil {
			return r, err
		}
	}
	switch {
	case flags&withNew != 0:
		if r.new, err = image(); err != nil {
			return r, err
		}
	case flags&hasNew != 0:
		if r.new = t.get(k); r.new == nil {
			r.new = &value.Item{PK: k.pk, SK: k.sk} // until images
		}
	}
	if flags&hasIdentity != 0 {
		r.by = &identity{u.Text(), u.Text()}
	}
	return r, u.Err()
}

// images gives each record its new image, from the newest record to the oldest. Before that, a
// record that was kept without its new image has the current item in its place, or only the key.
func (s *stream) images() {
	after := map[key]*value.Item{} // by key: the old image of the next newer record
	for _, sh := range slices.Backward(s.shards) {
		for i := len(sh.records) - 1; i >= 0; i-- {
			r := &sh.records[i]
			if image := after[r.key()]; image != nil && r.new != nil {
				r.new = image
			}
			if r.old != nil { // otherwise the record before it has no new image
				after[r.key()] = r.old
			}
		}
	}
}
