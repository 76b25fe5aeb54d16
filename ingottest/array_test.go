package ingottest

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// TestEveryFaultWithArrays sends arrays of events. Whatever goes wrong on the way, each event is
// stored and counted once, and the message with events that can never be stored is in quarantine in
// the end.
func TestEveryFaultWithArrays(t *testing.T) {
	order := func(id string, cents int) string { return order(id, "2026-03-01T10:00:00Z", cents) }
	batches := spec()
	batches.Batches = []pipeline.BatchSpec{{Each: "."}}
	bad := "[" + strings.Join([]string{order("a", 1), "7", order("b", 20), order("a", 2)}, ",") + "]"
	EveryFault(t, Config{Pipeline: compile(t, batches)}, func(t *testing.T, w *World) {
		w.handled(bad, "["+order("a", 1)+","+order("c", 300)+"]")
		w.Redeliver()
		w.Drain()
		w.counts(t, 3, "3 orders, 321 cents")
		letters := w.Quarantined()
		if len(letters) == 0 {
			t.Fatal("the message with two bad events is nowhere")
		}
		for _, l := range letters {
			must.Equal(t, l.Body, bad)
		}
		if v := w.Verdicts(); v[event.Inserted] == 0 && v[event.Poison] == 0 {
			t.Errorf("verdicts %v", v)
		}
	})
}
