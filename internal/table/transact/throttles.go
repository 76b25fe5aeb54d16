package transact

import (
	"sync"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// throttles holds, for one call of Put, the partition keys for which transactions are refused. A
// cancelled transaction says which of its items were throttled, but never that one key is too hot.
// So this is judged by how many of the call's keys it hits.
type throttles struct {
	hot   *plain.HotKeys
	items []*event.Item // of the call
	puts  []*atomicPut  // those that move totals
	mu    sync.Mutex
	now   map[string]bool // the keys that a transaction was refused for, and that none has written since
	all   int             // how many keys the call has; 0 until a transaction is refused
}

func (s *Writer) throttles(items []*event.Item) *throttles {
	return &throttles{hot: &s.Hot, items: items, now: map[string]bool{}}
}

// partitions returns how many partition keys the call has: of its items, of their parts and of the
// totals that they move.
func (t *throttles) partitions() int {
	keys := map[string]bool{}
	for _, item := range t.items {
		keys[item.Key.PK] = true
		for _, part := range rows.AtomicParts(item) {
			keys[part.Key.PK] = true
		}
	}
	for _, put := range t.puts {
		for total := range put.totals() {
			keys[total.PK] = true
		}
	}
	return len(keys)
}

// few takes the keys that a transaction was refused for. It reports whether these are only a few of
// all keys, so that the table as a whole is not the problem.
func (t *throttles) few(keys []string) bool {
	if t == nil || len(keys) == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, pk := range keys {
		t.now[pk] = true
	}
	if t.all == 0 {
		t.all = t.partitions()
	}
	return plain.Minority(len(t.now), t.all)
}

// wrote takes the keys that a transaction has written.
func (t *throttles) wrote(members []*atomicItem, moves []*TotalMove) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range members {
		t.cooled(m.item.Key)
	}
	for _, u := range moves {
		t.cooled(u.Key)
	}
}

func (t *throttles) cooled(key event.Key) {
	delete(t.now, key.PK)
	t.hot.Cooled(key)
}
