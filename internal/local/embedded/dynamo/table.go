package dynamo

import (
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// Service is the DynamoDB part of the engine. One lock guards all tables and their streams, because
// a transaction spans tables and the order of a stream is the order of the writes.
type Service struct {
	mu      sync.RWMutex
	core    *api.Core
	cfg     Config
	byName  map[string]*table
	streams map[string]*stream // by ARN; a stream outlives its table
	deleted map[string]*table  // the last of each name, which can be restored
	tokens  tokens
	parsed  *expr.Cache
	log     *api.Log // nil: nothing outlives this process
	made    uint64   // how many tables this process has made
}

// New returns [Service] without any table.
func New(c *api.Core, cfg Config) *Service {
	log := c.NewLog()
	return &Service{core: c, cfg: cfg, byName: map[string]*table{}, streams: map[string]*stream{}, deleted: map[string]*table{},
		tokens: newTokens(log), parsed: expr.NewCache(), log: log}
}

// unlock ends a call that may have changed something.
func (ts *Service) unlock() {
	ts.log.Flush()
	ts.mu.Unlock()
}

// Config holds the settings that only the tables get.
type Config struct {
	Partitions         int           // how many shards a new stream starts with
	RollAfter          time.Duration // the age at which an open shard is closed and continued by a child; negative: never
	PartiQLReturnsItem bool          // whether a failed INSERT answers with the item it met, if asked
	OnRecord           func(shardID string, r streams.Record)
	Behind             func(Read) int // how many of the latest writes the answering replica lacks; nil means none
}

type table struct {
	name    string
	arn     string
	id      string
	schema  schema
	rows    *keyspace
	indexes []*index // by name
	stream  *stream  // nil: no stream
	ttl     string   // the attribute; empty: off
	created time.Time
	items   int64
	bytes   int64
	request describedTable
	log     *api.Log

	remembers bool // whether it remembers its latest writes, because reads may be stale
	recent    recent
}

// describedTable holds what DescribeTable repeats from CreateTable.
type describedTable struct {
	keys       []types.KeySchemaElement
	attributes []types.AttributeDefinition
	streamSpec *types.StreamSpecification
}

// schema names the key attributes. Both are strings, unless number says that sk is a number. sk is
// empty for a table without a sort key.
type schema struct {
	pk, sk string
	number bool
}

func (s schema) names() []string {
	if s.sk == "" {
		return []string{s.pk}
	}
	return []string{s.pk, s.sk}
}

func (s schema) has(name string) bool { return name == s.pk || (s.sk != "" && name == s.sk) }

// index is a global secondary index that projects all attributes, or only keys. It can lag behind
// its table: Config.Behind decides for each read of the index how far.
type index struct {
	name   string
	arn    string
	schema schema
	rows   *keyspace
	keys   []types.KeySchemaElement
	// only names the attributes that it projects: its own keys and those of the table; nil: all.
	only []string
}

// project returns an item with the attributes that the index projects.
func (ix *index) project(it *value.Item) *value.Item {
	if ix == nil || ix.only == nil || it == nil {
		return it
	}
	part := &value.Item{PK: it.PK, SK: it.SK}
	for _, name := range ix.only {
		if v := it.Get(name); v != nil {
			part.Set(name, v)
		}
	}
	part.Measure()
	return part
}

func (ix *index) projection() *types.Projection {
	if ix.only != nil {
		return &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeAll}
}

// called returns the name of the index. It is empty if ix is nil, which stands for the table
// itself.
func (ix *index) called() string {
	if ix == nil {
		return ""
	}
	return ix.name
}

// place returns the place of an item in the index. It returns false for an item without the keys of
// the index, because the index does not hold such an item.
func (ix *index) place(it *value.Item) (place, bool) {
	if it == nil {
		return place{}, false
	}
	pk, ok := it.Text(ix.schema.pk)
	if !ok {
		return place{}, false
	}
	var sort string
	switch {
	case ix.schema.number:
		n, ok := it.Number(ix.schema.sk)
		if !ok {
			return place{}, false
		}
		sort = n.Ordered()
	case ix.schema.sk != "":
		if sort, ok = it.Text(ix.schema.sk); !ok {
			return place{}, false
		}
	}
	return place{partition: pk, sort: sort, pk: it.PK, sk: it.SK}, true
}

func (ts *Service) table(name *string) (*table, error) {
	t := ts.byName[*name] // checkForm has seen that there is a name
	if t == nil {
		return nil, resourceNotFound()
	}
	return t, nil
}

func (t *table) index(name string) *index {
	for _, ix := range t.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

func (t *table) get(k key) *value.Item {
	return t.rows.get(place{partition: k.pk, sort: k.sk, pk: k.pk, sk: k.sk})
}

// commit replaces old with new in the table and its indexes, writes the stream record, and returns
// what the write costs. Either of the two may be nil. The caller must hold the lock.
func (t *table) commit(old, new *value.Item, now time.Time, by *identity) cost {
	spent := t.price(old, new)
	if old == nil && new == nil {
		return spent
	}
	t.keep(old, new)
	t.store(old, new)
	t.count(old, -1)
	t.count(new, +1)
	if t.remembers {
		t.recent = t.recent.remember(change{old, new, now})
	}
	if t.stream != nil {
		t.stream.append(old, new, now, by)
	}
	return spent
}

// store replaces old with new in the table and its indexes. One of the two may be nil.
func (t *table) store(old, new *value.Item) {
	it := new
	if it == nil {
		it = old
	}
	base := place{partition: it.PK, sort: it.SK, pk: it.PK, sk: it.SK}
	if new != nil {
		t.rows.put(base, new)
	} else {
		t.rows.remove(base)
	}
	for _, ix := range t.indexes {
		was, wasIn := ix.place(old)
		is, isIn := ix.place(new)
		if wasIn && (!isIn || was != is) {
			ix.rows.remove(was)
		}
		if isIn {
			ix.rows.put(is, new)
		}
	}
}

func (t *table) count(it *value.Item, by int64) {
	if it != nil {
		t.items += by
		t.bytes += by * int64(it.Size)
	}
}
