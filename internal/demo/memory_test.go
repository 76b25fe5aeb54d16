package demo

import (
	"context"
	"runtime"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
)

// TestMemoryDoesNotGrowWithEvents: beside the engine, which stores the items, a run keeps one burst, what is
// in flight, and the totals; nothing for each event.
func TestMemoryDoesNotGrowWithEvents(t *testing.T) {
	held := func(repeat int) (events int, bytes float64) {
		c := firstDays(t, aggregate.Marks)
		c.Repeat = repeat
		r := &run{Config: c}
		r.setDefaults()
		if err := r.produce(context.Background()); err != nil {
			t.Fatal(err)
		}
		l, p := r.world.ledger, r.producer
		if n := len(l.first) + len(l.again) + len(p.burst) + len(p.waiting); n != 0 {
			t.Errorf("%d copies: %d messages are still held after all are through", repeat, n)
		}
		if cap(p.burst) > 2*burstSize || len(l.reached) > 100 {
			t.Errorf("%d copies: room for a burst of %d, %d shards", repeat, cap(p.burst), len(l.reached))
		}
		totals := len(r.world.perMessage.totals) + len(r.world.perChange.totals) + len(c.Data.Tally.Totals)
		if want := 3 * (12 + 31*repeat); totals > want {
			t.Errorf("%d copies: %d totals held, want at most %d", repeat, totals, want)
		}
		events = r.summary.Data.Events
		// Without the engine and the functions on it, what is left is the demo's own.
		w := r.world
		w.Stack, w.engine, w.queue, w.stream, w.ingest, w.streams, w.reader, w.trouble = nil, nil, nil, nil, nil, nil, nil, nil
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return events, float64(m.HeapAlloc)
	}
	_, _ = held(1) // fills caches that live on
	fewEvents, few := held(2)
	manyEvents, many := held(10)
	each := (many - few) / float64(manyEvents-fewEvents)
	// Three books of 31 totals a copy of 300 events come to some 100 bytes an event; the events have 700.
	if each > 300 {
		t.Errorf("%.0f bytes are held for each event more", each)
	}
	t.Logf("%.0f bytes for each event more", each)
}
