package migrate

import (
	"context"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ingot-events/ingot/env"
)

// Answer is what a table says of a key.
type Answer[V any] struct {
	Value V
	Found bool
	// Erased says that the new table has barred the key: a person has erased the event. The row may
	// still be in the old table, and is not to be read there.
	Erased bool
}

// Stage says which table answers. A stage may change at any time, forwards and back, as long as the
// types have not turned.
type Stage struct {
	// New is how much is read from the new table: a percentage of the keys, 0 to 100. The same keys
	// are read there each time, in every process. What is not found there is read from the old
	// table.
	New int
	// Names are keys that are read from the new table in any case.
	Names map[string]bool
	// Alone says that one table answers, and the other is not asked: the new one if New is 100, or
	// else the old one.
	Alone bool
}

// Counts is what a [Reader] has done. Every read counts once: it is FromOld or FromNew.
type Counts struct {
	FromOld, FromNew int64
	FellBack         int64 // of FromOld: the new table had nothing, or failed
	Compared, Differ int64
	Unread           int64 // comparisons that failed or that there was no room for
}

// Reader reads values from the table that is left and from the new one, while a service changes
// over from one to the other. Set its fields before the first Get. It is safe for concurrent use.
// Its callers never see an error of the table that need not answer.
type Reader[K, V any] struct {
	// Old and New read one table. Both are required.
	Old, New func(context.Context, K) (Answer[V], error)
	// Name returns a text that is the same for equal keys, and Equal whether two answers say the
	// same. Both are required.
	Name  func(K) string
	Equal func(old, now V) bool
	// Stage is asked at each Get. It is required. It may read a flag of the service.
	Stage func() Stage
	// OnDiffer is called with a key of which both tables still say different things after Settle,
	// during which capture may copy a change. Several goroutines may call it. Nil: such keys are
	// only counted.
	OnDiffer func(ctx context.Context, key K, old, now Answer[V])
	// Settle is how long a difference must last. 0 means 5 seconds.
	Settle time.Duration
	// Parallel is how many comparisons run beside the reads at most. 0 means 16. Others are left
	// out.
	Parallel int
	// Env is the clock. Its zero value is the real one.
	Env env.Env

	running atomic.Int64
	work    sync.WaitGroup
	counts  struct{ fromOld, fromNew, fellBack, compared, differ, unread atomic.Int64 }
}

const (
	defaultSettle   = 5 * time.Second
	defaultParallel = 16
	compareTime     = 10 * time.Second // for both reads of a comparison
)

// Get returns what the table says whose turn it is. While the old table answers, the new one is
// compared in the background, unless the stage is Alone. The error is that of the table that has
// answered last.
func (r *Reader[K, V]) Get(ctx context.Context, key K) (Answer[V], error) {
	stage := r.Stage()
	if !stage.takes(r.Name(key)) {
		old, err := r.Old(ctx, key)
		r.counts.fromOld.Add(1)
		if err == nil && !stage.Alone {
			r.compare(ctx, key, old)
		}
		return old, err
	}
	now, err := r.New(ctx, key)
	if stage.Alone || err == nil && (now.Found || now.Erased) || ctx.Err() != nil {
		r.counts.fromNew.Add(1)
		return now, err
	}
	r.counts.fromOld.Add(1)
	r.counts.fellBack.Add(1)
	return r.Old(ctx, key)
}

// takes reports whether a key is read from the new table.
func (s Stage) takes(name string) bool {
	if s.Names[name] && !s.Alone {
		return true
	}
	if s.Alone {
		return s.New >= 100
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32()%100) < s.New
}

// compare compares an answer of the old table with the new one, beside the read.
func (r *Reader[K, V]) compare(ctx context.Context, key K, old Answer[V]) {
	most := int64(r.Parallel)
	if most == 0 {
		most = defaultParallel
	}
	if r.running.Add(1) > most {
		r.running.Add(-1)
		r.counts.unread.Add(1)
		return
	}
	r.work.Go(func() {
		defer r.running.Add(-1)
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), compareTime+r.settle())
		defer stop()
		r.look(ctx, key, old)
	})
}

// look reads the new table and, if it says something else, both tables once more.
func (r *Reader[K, V]) look(ctx context.Context, key K, old Answer[V]) {
	now, err := r.New(ctx, key)
	if err == nil && !r.same(old, now) {
		if err = r.Env.Real().Sleep(ctx, r.settle()); err == nil {
			old, err = r.Old(ctx, key)
		}
		if err == nil {
			now, err = r.New(ctx, key)
		}
	}
	if err != nil {
		r.counts.unread.Add(1)
		return
	}
	r.counts.compared.Add(1)
	if !r.same(old, now) {
		r.counts.differ.Add(1)
		if r.OnDiffer != nil {
			r.OnDiffer(ctx, key, old, now)
		}
	}
}

func (r *Reader[K, V]) settle() time.Duration {
	if r.Settle == 0 {
		return defaultSettle
	}
	return r.Settle
}

// same reports whether both tables say the same. What is erased in the new table may be in the old
// one.
func (r *Reader[K, V]) same(old, now Answer[V]) bool {
	switch {
	case now.Erased:
		return true
	case !old.Found || !now.Found:
		return old.Found == now.Found
	}
	return r.Equal(old.Value, now.Value)
}

// Counts returns what the reader has done so far.
func (r *Reader[K, V]) Counts() Counts {
	c := &r.counts
	return Counts{c.fromOld.Load(), c.fromNew.Load(), c.fellBack.Load(), c.compared.Load(), c.differ.Load(), c.unread.Load()}
}

// Wait returns when no comparison runs any more.
func (r *Reader[K, V]) Wait() { r.work.Wait() }
