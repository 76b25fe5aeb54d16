package demo

import (
	"context"
	"runtime"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// TestMemoryDoesNotGrowWithEvents shows what a run keeps besides the items and totals in the
// tables: one burst, what is in flight, a day of the stream, and the plain sums. It keeps nothing
// for each event.
func TestMemoryDoesNotGrowWithEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it measures memory over thirteen runs")
	}
	held := func(repeat int) (events int, bytes float64) {
		c := firstDays(t, aggregate.Marks)
		c.Repeat = repeat
		r := &run{Config: c}
		r.setDefaults()
		must.Succeed(t, r.produce(context.Background()))
		l, p := r.world.ledger, r.producer
		must.Equal(t, len(l.first)+len(l.again)+len(p.burst)+len(p.waiting), 0, repeat)
		if cap(p.burst) > 2*burstSize || len(l.reached) > 100 {
			t.Errorf("%d copies: room for a burst of %d, %d shards", repeat, cap(p.burst), len(l.reached))
		}
		totals := len(r.world.perMessage.totals) + len(r.world.perChange.totals) + len(c.Data.Tally.Totals)
		if want := 3 * (12 + 31*repeat); totals > want {
			t.Errorf("%d copies: %d totals held, want at most %d", repeat, totals, want)
		}
		events = r.summary.Data.Events
		for _, table := range []string{stack.Events, stack.Aggregates} {
			must.Succeed(t, r.world.Engine.Forget(table))
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return events, float64(m.HeapAlloc)
	}
	_, _ = held(1) // this fills caches that live on
	fewEvents, few := held(2)
	manyEvents, many := held(10)
	each := (many - few) / float64(manyEvents-fewEvents)
	// Three books of 31 totals for each copy of 300 events take some 100 bytes for each event. The
	// events themselves take 700.
	if each > 300 {
		t.Errorf("%.0f bytes are held for each event more", each)
	}
	t.Logf("%.0f bytes for each event more", each)
}
