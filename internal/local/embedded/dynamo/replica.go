package dynamo

import (
	"time"

	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// A replica of the table that lacks the latest writes may answer a read that is not consistent. The
// engine has no replicas. Instead it remembers the latest writes, takes them back for the read, and
// does them again. The service says that a replica usually catches up within a second. These bounds
// are wider. They also limit what is remembered.
const (
	maxBehind       = 5 * time.Second
	maxBehindWrites = 64
)

// Read describes a read to Config.Behind.
type Read struct {
	API, Table string
	Index      string // the index that is read; empty: the table. An index lags behind its table by itself
	Consistent bool   // if true, the answer is current whatever Behind returns; a read of an index is never consistent
	Writes     int    // how many of the table's latest writes a replica may lack
}

// change is one of the latest writes of a table.
type change struct {
	old, new *value.Item
	at       time.Time
}

// recent holds the latest writes of a table. The newest is last.
type recent []change

func (r recent) remember(c change) recent {
	if r = r.since(c.at); len(r) == maxBehindWrites {
		r = r.without(1)
	}
	return append(r, c)
}

// since drops the writes that every replica has by now.
func (r recent) since(now time.Time) recent {
	n := 0
	for n < len(r) && now.Sub(r[n].at) >= maxBehind {
		n++
	}
	return r.without(n)
}

// without drops the first n writes and frees what they hold at once.
func (r recent) without(n int) recent {
	rest := r[:copy(r, r[n:])]
	clear(r[len(rest):])
	return rest
}

// lockForRead locks the tables for reads. A read that may be stale changes the tables for a moment.
func (ts *Service) lockForRead() (unlock func()) {
	if ts.cfg.Behind != nil {
		ts.mu.Lock()
		return ts.mu.Unlock
	}
	ts.mu.RLock()
	return ts.mu.RUnlock
}

// replica makes the table look like the replica that answers a read, until back is called. The
// caller holds the lock of lockForRead.
func (ts *Service) replica(api string, t *table, ix *index, consistent bool) (back func()) {
	if ts.cfg.Behind == nil {
		return func() {}
	}
	t.recent = t.recent.since(ts.core.Now())
	lacks := ts.cfg.Behind(Read{API: api, Table: t.name, Index: ix.called(), Consistent: consistent, Writes: len(t.recent)})
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
