package embedded

import (
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tables is the DynamoDB part of the engine. One lock guards all tables and their streams: a transaction
// spans tables, and a stream's order is the order of the writes.
type tables struct {
	mu      sync.RWMutex
	e       *Engine
	byName  map[string]*table
	streams map[string]*stream // by ARN; outlives its table
	tokens  tokens
	parsed  parsed
}

func newTables(e *Engine) tables {
	return tables{e: e, byName: map[string]*table{}, streams: map[string]*stream{}, tokens: newTokens(), parsed: newParsed()}
}

type table struct {
	name    string
	arn     string
	schema  schema
	rows    *keyspace
	indexes []*index // by name
	stream  *stream  // nil: no stream
	ttl     string   // the attribute; empty: off
	created time.Time
	items   int64
	bytes   int64
	request describedTable
}

// describedTable is what DescribeTable repeats from CreateTable.
type describedTable struct {
	keys       []types.KeySchemaElement
	attributes []types.AttributeDefinition
	streamSpec *types.StreamSpecification
}

// schema names the key attributes; both are strings. sk is empty for a table without a sort key.
type schema struct{ pk, sk string }

func (s schema) names() []string {
	if s.sk == "" {
		return []string{s.pk}
	}
	return []string{s.pk, s.sk}
}

func (s schema) has(name string) bool { return name == s.pk || (s.sk != "" && name == s.sk) }

// index is a global secondary index that projects all attributes. It is read as current as the table:
// the engine does not simulate its lag.
type index struct {
	name   string
	arn    string
	schema schema
	rows   *keyspace
	keys   []types.KeySchemaElement
}

// place says where it stands in the index; an item without the index's keys is not in it.
func (ix *index) place(it *item) (place, bool) {
	if it == nil {
		return place{}, false
	}
	pk, ok := it.text(ix.schema.pk)
	if !ok {
		return place{}, false
	}
	var sort string
	if ix.schema.sk != "" {
		if sort, ok = it.text(ix.schema.sk); !ok {
			return place{}, false
		}
	}
	return place{partition: pk, sort: sort, pk: it.pk, sk: it.sk}, true
}

func (ts *tables) table(name *string) (*table, error) {
	if name == nil {
		return nil, invalid("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	t := ts.byName[*name]
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

func (t *table) get(k key) *item {
	return t.rows.get(place{partition: k.pk, sort: k.sk, pk: k.pk, sk: k.sk})
}

// commit makes new the stored item in place of old (either may be nil) in the table, its indexes and its
// stream, and returns what the write costs. The caller holds the lock.
func (t *table) commit(old, new *item, now time.Time, by *identity) cost {
	spent := t.price(old, new)
	it := new
	if it == nil {
		it = old
	}
	if it == nil {
		return spent
	}
	base := place{partition: it.pk, sort: it.sk, pk: it.pk, sk: it.sk}
	if new != nil {
		t.rows.put(base, new)
	} else {
		t.rows.remove(base)
	}
	t.count(old, -1)
	t.count(new, +1)
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
	if t.stream != nil {
		t.stream.append(old, new, now, by)
	}
	return spent
}

func (t *table) count(it *item, by int64) {
	if it != nil {
		t.items += by
		t.bytes += by * int64(it.size)
	}
}
