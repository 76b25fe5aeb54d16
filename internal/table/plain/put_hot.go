package plain

import (
	"slices"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// A key may be throttled for minutes. It must not hold up the rest of its batch, because no message
// of a batch is done before the whole batch is. It must not hold up the next batches either. If the
// whole table is short of capacity, the batch does wait, which slows its queue down.
const (
	// Patience is how long a batch repeats its last few throttled writes while none of them moves
	// on.
	Patience = 3 * time.Second
	// hotFor is how long the next batches have no patience with a key that has used up a batch's
	// patience.
	hotFor = 30 * time.Second
	// maxHot bounds how many such keys are remembered. When there are more, all are forgotten, and
	// the next batches are patient with them again.
	maxHot = 1024
)

// fewTroubled reports whether only a few of the batch's keys had trouble in this round. A key does
// not count if a refusal says that it alone is hot. If so, other keys go through, and the table as
// a whole is not the problem.
func (p *put) fewTroubled() bool { return Minority(len(p.troubled), p.partitions) }

// Minority reports whether n is so small a part of all that the trouble lies with these n.
func Minority(n, all int) bool { return n < all && (n <= 3 || n*10 <= all) }

// stuck reports whether the batch ends without the writes that are left. It does if all of them
// were throttled, they have few keys, and none has moved on for as long as the batch has patience.
// These items are Retry and are delivered again. Their keys are remembered for a while, and the
// next batches try them only once.
func (p *put) stuck(left []*write) bool {
	now := p.store.Env.Now()
	switch {
	case p.refusals < len(left) || slices.ContainsFunc(left, func(w *write) bool {
		return w.last.Outcome != rows.Throttled && (w.last.Outcome != rows.Contended || w.item.Whole == nil)
	}):
		p.stuckSince = time.Time{}
		return false
	case p.store.Hot.All(keysOf(left), now):
		return true
	case p.moved || !p.fewTroubled():
		p.stuckSince = time.Time{}
		return false
	case p.stuckSince.IsZero():
		p.stuckSince = now
	}
	if now.Sub(p.stuckSince) < Patience {
		return false
	}
	p.store.Hot.Add(keysOf(left), now)
	return true
}

func keysOf(writes []*write) []string {
	keys := make([]string, len(writes))
	for i, w := range writes {
		keys[i] = w.item.Key.PK
	}
	return keys
}

// HotKeys remembers, between batches, the partition keys that have used up a batch's patience.
type HotKeys struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func (h *HotKeys) Add(keys []string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, pk := range keys {
		if h.seen == nil || len(h.seen) >= maxHot {
			h.seen = map[string]time.Time{}
		}
		h.seen[pk] = now
	}
}

// All reports whether each of the keys is remembered.
func (h *HotKeys) All(keys []string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, pk := range keys {
		if since, hot := h.seen[pk]; !hot || now.Sub(since) >= hotFor {
			return false
		}
	}
	return true
}

// Cooled forgets a key that was written.
func (h *HotKeys) Cooled(key event.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.seen, key.PK)
}
