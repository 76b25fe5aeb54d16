package embedded

import (
	"math/bits"
	"strings"
)

// keyspace holds items by partition key and, inside one, in order of the sort attribute. A table and each
// of its indexes is one; in an index several items may share both attributes, so the base key decides ties.
type keyspace struct {
	partitions map[string]*partition
	scanned    bool         // a table: order is kept
	order      list[hashed] // the order of a Scan
}

// hashed is a partition in order of its hash, then its key.
type hashed struct {
	hash uint64
	*partition
}

// partition is one item collection.
type partition struct {
	key  string
	rows list[row]
}

type row struct {
	sort string
	it   *item
}

// place is where an item stands in a keyspace.
type place struct {
	partition, sort string
	pk, sk          string // the base table's key
}

// newKeyspace: only a table is ever scanned, so an index does without the order.
func newKeyspace(scanned bool) *keyspace {
	return &keyspace{partitions: map[string]*partition{}, scanned: scanned}
}

func (k *keyspace) partition(key string) *partition { return k.partitions[key] }

func (k *keyspace) get(p place) *item {
	part := k.partitions[p.partition]
	if part == nil {
		return nil
	}
	if at, ok := part.find(p); ok {
		return part.rows.at(at).it
	}
	return nil
}

func (p *partition) find(target place) (position, bool) {
	return p.rows.find(func(r row) int { return r.compare(target) })
}

func (r row) compare(p place) int {
	if c := strings.Compare(r.sort, p.sort); c != 0 {
		return c
	}
	if c := strings.Compare(r.it.pk, p.pk); c != 0 {
		return c
	}
	return strings.Compare(r.it.sk, p.sk)
}

func (k *keyspace) put(p place, it *item) {
	part := k.partitions[p.partition]
	if part == nil {
		part = &partition{key: p.partition}
		k.partitions[p.partition] = part
		if k.scanned {
			at, _ := k.find(p.partition)
			k.order.insert(at, hashed{hashKey(p.partition), part})
		}
	}
	at, found := part.find(p)
	if found {
		part.rows.replace(at, row{p.sort, it})
		return
	}
	part.rows.insert(at, row{p.sort, it})
}

func (k *keyspace) remove(p place) {
	part := k.partitions[p.partition]
	if part == nil {
		return
	}
	if at, found := part.find(p); found {
		part.rows.remove(at)
	}
	if part.rows.n == 0 {
		delete(k.partitions, p.partition)
		if at, found := k.find(p.partition); found {
			k.order.remove(at)
		}
	}
}

// find returns the place of the partition in scan order.
func (k *keyspace) find(key string) (position, bool) {
	hash := hashKey(key)
	return k.order.find(func(p hashed) int {
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

// hashKey spreads keys over the 64-bit space that shards and scan segments divide: FNV-1a with a final
// mix, because short keys leave FNV's high bits poor.
func hashKey(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// share says which of n equal parts of the hash space h lies in.
func share(h uint64, n int) int {
	part, _ := bits.Mul64(h, uint64(n))
	return int(part)
}
