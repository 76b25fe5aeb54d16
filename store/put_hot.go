package store

import (
	"slices"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
)

// A key that is throttled for minutes must not hold up the rest of its batch, whose messages are only done with when
// the batch is answered, nor the batches after it. A table that is short of capacity is another matter: there the
// batch waits, and so slows its queue down.
const (
	// patience is how long a batch asks again for its last few throttled writes without any of them moving on.
	patience = 3 * time.Second
	// hotFor is how long a key that has used up a batch's patience gets none from the next batches.
	hotFor = 30 * time.Second
	// maxHot bounds how many such keys are remembered. Beyond that all are forgotten, which costs patience.
	maxHot = 1024
)

// fewTroubled reports whether the keys that had trouble in this round are few of the batch's, those left out whose
// refusal says that they alone are hot. Then other keys go through, and what is amiss is not amiss with the table.
func (p *put) fewTroubled() bool {
	n := len(p.troubled)
	return n < p.partitions && (n <= 3 || n*10 <= p.partitions)
}

// stuck reports whether the batch is to end without the writes that are left: all of them were throttled, they have
// few keys, and none has moved on for as long as the batch has patience. They come back as Retry and are delivered
// again. Their keys are remembered for a while: the next batches try them once.
func (p *put) stuck(left []*write) bool {
	now := p.store.env.Now()
	switch {
	case p.refusals < len(left) || slices.ContainsFunc(left, func(w *write) bool { return w.last.outcome != throttled }):
		p.stuckSince = time.Time{}
		return false
	case p.store.hot.all(left, now):
		return true
	case p.moved || !p.fewTroubled():
		p.stuckSince = time.Time{}
		return false
	case p.stuckSince.IsZero():
		p.stuckSince = now
	}
	if now.Sub(p.stuckSince) < patience {
		return false
	}
	p.store.hot.add(left, now)
	return true
}

// hotKeys remembers the partition keys that have used up a batch's patience, between batches.
type hotKeys struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func (h *hotKeys) add(writes []*write, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range writes {
		if h.seen == nil || len(h.seen) >= maxHot {
			h.seen = map[string]time.Time{}
		}
		h.seen[w.item.Key.PK] = now
	}
}

// all reports whether the key of each write is remembered.
func (h *hotKeys) all(writes []*write, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range writes {
		if since, hot := h.seen[w.item.Key.PK]; !hot || now.Sub(since) >= hotFor {
			return false
		}
	}
	return true
}

// cooled forgets a key that was written.
func (h *hotKeys) cooled(key event.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.seen, key.PK)
}
