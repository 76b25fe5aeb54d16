package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// grow pads an aggregate item so that it is left bytes smaller than size.
func (w *world) grow(key event.Key, size, left int) {
	w.t.Helper()
	img := maps.Clone(w.stored("totals", key))
	delete(img, "attachment")
	used := len("attachment")
	for name, v := range img {
		used += len(name)
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			used += len(v.Value)
		case *types.AttributeValueMemberN:
			used += itemform.NumberSize(v.Value)
		case *types.AttributeValueMemberB:
			used += len(v.Value)
		}
	}
	img["attachment"] = rows.Binary(make([]byte, size-used-left))
	w.put("totals", img)
}

// fresh returns a function that has just started. few is how many totals it writes one by one.
func (w *world) fresh(oneByOne int) *store.Store {
	return w.open(tables.Config{OneByOne: oneByOne,
		Env: env.Env{Now: w.Clock.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}})
}

// A total that has grown to 300 KB says so, to readers and in each batch's report. The warning is
// written once, no matter who counts, and nothing else about the total changes.
func TestLargeTotal(t *testing.T) {
	for _, few := range []int{100, -1} { // one by one, and by statements
		w := newWorld(t)
		w.store = w.fresh(few)
		var warnings atomic.Int64
		w.onCall = func(_ string, in any) error {
			if u, ok := in.(*dynamodb.UpdateItemInput); ok && strings.Contains(*u.UpdateExpression, "large") {
				warnings.Add(1)
			}
			return nil
		}
		key := under("A#live#1#0", "-")
		n := int64(1)
		count := func() count.Applied {
			n++
			applied := w.store.Apply(deadline(t), w.batch(aggregate.Marks, n*10, w.order(fmt.Sprint(n), 1)), noQuarantine(t))
			if applied.Err != nil {
				t.Fatal(applied.Err)
			}
			return applied
		}
		if a := count(); a.Large != 0 || warnings.Load() != 0 {
			t.Fatalf("a small total is large: %+v", a)
		}
		w.grow(key, tables.LargeTotal, 300)
		w.store = w.fresh(few) // it knows nothing yet
		if a := count(); a.Large != 0 || warnings.Load() != 0 {
			t.Errorf("below the bound: %+v, %d warnings", a, warnings.Load())
		}
		w.grow(key, tables.LargeTotal, 0)
		w.store = w.fresh(few)
		if a := count(); a.Large != 1 || warnings.Load() != 1 {
			t.Errorf("at the bound: %+v, %d warnings", a, warnings.Load())
		}
		for range 3 {
			if a := count(); a.Large != 1 {
				t.Errorf("later: %+v", a)
			}
		}
		w.store = w.fresh(few)
		if a := count(); a.Large != 1 || warnings.Load() != 1 {
			t.Errorf("another function: %+v, %d warnings", a, warnings.Load())
		}
		total := w.total("live")
		if total.N != 7 || len(total.Flags) != 1 || !strings.Contains(total.Flags[0], "it takes 300 KB") ||
			w.stored("totals", key)["flag"] != nil {
			t.Errorf("%+v", total)
		}
	}
}

// A total without room for the warning is counted as before, and each process tries to warn once.
// If the warning is not taken for another reason, it is tried again.
func TestLargeTotalThatTakesNoWarning(t *testing.T) {
	w := newWorld(t)
	key := under("A#live#1#0", "-")
	w.counts(1, w.order("1", 5))
	w.grow(key, event.MaxItem, 60)
	w.store = w.fresh(100)
	var tried atomic.Int64
	var refuse error
	w.onCall = func(_ string, in any) error {
		if u, ok := in.(*dynamodb.UpdateItemInput); ok && strings.Contains(*u.UpdateExpression, "large") {
			tried.Add(1)
			return refuse
		}
		return nil
	}
	refuse = errThrottled
	for n := int64(2); n < 4; n++ {
		w.counts(n, w.order(fmt.Sprint(n), 1))
	}
	must.Equal(t, tried.Load(), 2)
	refuse = nil
	for n := int64(4); n < 8; n++ {
		w.counts(n, w.order(fmt.Sprint(n), 1))
	}
	must.Equal(t, tried.Load(), 3, tried.Load()-2)
	w.expect("live", "orders 7, revenue 11")
	if flags := w.total("live").Flags; len(flags) != 0 {
		t.Errorf("%v", flags)
	}
}

// A total that is removed just before it is warned about stays removed. A total of nothing but a
// warning has no values, and never expires.
func TestWarningMakesNoTotal(t *testing.T) {
	w := newWorld(t)
	key := under("A#live#1#0", "-")
	w.counts(1, w.order("1", 5))
	w.grow(key, tables.LargeTotal, -1)
	w.store = w.fresh(100)
	warned := false
	w.onCall = func(_ string, in any) error {
		if u, ok := in.(*dynamodb.UpdateItemInput); ok && strings.Contains(*u.UpdateExpression, "large") {
			warned = true
			w.removesFrom("totals", key)
		}
		return nil
	}
	w.counts(2, w.order("2", 1))
	if img := w.stored("totals", key); !warned || len(img) > 0 {
		t.Errorf("warned: %v; the total is %v", warned, slices.Sorted(maps.Keys(img)))
	}
}
