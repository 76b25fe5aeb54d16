package dynamo

import (
	"math/bits"
	"strings"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// keyspace holds items by partition key. Within a partition, the sort attribute decides their
// order. A table is a keyspace, and so is each of its indexes. In an index, several items may have
// the same value of both attributes. Their keys in the table then decide the order.
type keyspace struct {
	partitions map[string]*partition
	scanned    bool             // a table, whose order is kept
	order      api.List[hashed] // the order of a Scan
}

// hashed is a partition with its hash. The hash decides the order. If two hashes are equal, the
// keys decide.
type hashed struct {
	hash uint64
	*partition
}

// partition is one item collection.
type partition struct {
	key  string
	rows api.List[row]
}

type row struct {
	sort string
	it   *value.Item
}

// place is the place of an item in a keyspace.
type place struct {
	partition, sort string
	pk, sk          string // the base table's key
}

// newKeyspace returns an empty keyspace. Only a table is ever scanned, so an index does not keep
// the scan order.
func newKeyspace(scanned bool) *keyspace {
	return &keyspace{partitions: map[string]*partition{}, scanned: scanned}
}

func (k *keyspace) partition(key string) *partition { return k.partitions[key] }

func (k *keyspace) get(p place) *value.Item {
	part := k.partitions[p.partition]
	if part == nil {
		return nil
	}
	if at, ok := part.find(p); ok {
		return part.rows.At(at).it
	}
	return nil
}

func (p *partition) find(target place) (api.Position, bool) {
	return p.rows.Find(func(r row) int { return r.compare(target) })
}

func (r row) compare(p place) int {
	if c := strings.Compare(r.sort, p.sort); c != 0 {
		return c
	}
	if c := strings.Compare(r.it.PK, p.pk); c != 0 {
		return c
	}
	return strings.Compare(r.it.SK, p.sk)
}

func (k *keyspace) put(p place, it *value.Item) {
	part := k.partitions[p.partition]
	if part == nil {
		part = &partition{key: p.partition}
		k.partitions[p.partition] = part
		if k.scanned {
			at, _ := k.find(p.partition)
			k.order.Insert(at, hashed{api.Hash(p.partition), part})
		}
	}
	at, found := part.find(p)
	if found {
		part.rows.Replace(at, row{p.sort, it})
		return
	}
	part.rows.Insert(at, row{p.sort, it})
}

func (k *keyspace) remove(p place) {
	part := k.partitions[p.partition]
	if part == nil {
		return
	}
	if at, found := part.find(p); found {
		part.rows.Remove(at)
	}
	if part.rows.Len() == 0 {
		delete(k.partitions, p.partition)
		if at, found := k.find(p.partition); found {
			k.order.Remove(at)
		}
	}
}

// find returns the place of the partition in scan order.
func (k *keyspace) find(key string) (api.Position, bool) {
	hash := api.Hash(key)
	return k.order.Find(func(p hashed) int {
		switch {
		case p.hash < hash:
			return -1
		case p.hash > hash:
			return 1
		default:
			return strings.Compare(p.key, key)
		}
	})
}

// share returns which of n equal parts of the hash space h lies in.
func share(h uint64, n int) int {
	part, _ := bits.Mul64(h, uint64(n))
	return int(part)
}
