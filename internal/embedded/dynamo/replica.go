package dynamo

import (
	"time"

	"github.com/ingot-events/ingot/internal/embedded/value"
)

// A read that is not consistent may be answered by a replica of the table that lacks the latest writes. The
// engine has no replicas: it remembers the latest writes, takes them back for the read, and does them again.
// The service says that a replica usually catches up within a second; these bounds are wider, and bound what
// is remembered.
const (
	maxBehind       = 5 * time.Second
	maxBehindWrites = 64
)

// Read is what Config.Behind is told of a read.
type Read struct {
	API, Table string
	Consistent bool // then the answer is current, whatever Behind returns; a read of an index never is
	Writes     int  // how many of the table's latest writes a replica may lack
}

// change is one of the latest writes of a table.
type change struct {
	old, new *value.Item
	at       time.Time
}

// recent are the latest writes of a table, the latest last.
type recent []change

func (r recent) remember(c change) recent {
	if r = r.since(c.at); len(r) == maxBehindWrites {
		r = r.without(1)
	}
	return append(r, c)
}

// since drops what every replica knows by now.
func (r recent) since(now time.Time) recent {
	n := 0
	for n < len(r) && now.Sub(r[n].at) >= maxBehind {
		n++
	}
	return r.without(n)
}

// without drops the first n; what they hold is freed at once.
func (r recent) without(n int) recent {
	rest := r[:copy(r, r[n:])]
	clear(r[len(rest):])
	return rest
}

// lockForRead locks the tables for reads, which change them for a moment if they may be stale.
func (ts *Tables) lockForRead() (unlock func()) {
	if ts.cfg.Behind != nil {
		ts.mu.Lock()
		return ts.mu.Unlock
	}
	ts.mu.RLock()
	return ts.mu.RUnlock
}

// replica makes the table what the replica knows that answers a read, until back is called. The caller holds the
// lock of lockForRead.
func (ts *Tables) replica(api string, t *table, consistent bool) (back func()) {
	if ts.cfg.Behind == nil {
		return func() {}
	}
	t.recent = t.recent.since(ts.core.Now())
	lacks := ts.cfg.Behind(Read{API: api, Table: t.name, Consistent: consistent, Writes: len(t.recent)})
	if consistent {
		lacks = 0
	}
	lacked := t.recent[len(t.recent)-min(max(lacks, 0), len(t.recent)):]
	for i := len(lacked) - 1; i >= 0; i-- {
		t.store(lacked[i].new, lacked[i].old)
	}
	return func() {
		for _, c := range lacked {
			t.store(c.old, c.new)
		}
	}
}
