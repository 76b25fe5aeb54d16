package ingottest

import (
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestEveryFaultWithPayloadsInS3 sends payloads that are in S3. Whatever goes wrong on the way,
// each is one event, however often and in whatever way it comes.
func TestEveryFaultWithPayloadsInS3(t *testing.T) {
	first, second := first(100), order("b", "2026-03-01T10:00:00Z", 20)
	for _, fifo := range []bool{false, true} {
		EveryFault(t, Config{Pipeline: compile(t, spec()), FIFO: fifo}, func(t *testing.T, w *World) {
			pointer := w.PutPayload(first)
			w.handled(pointer, w.PutPayload(second), first, pointer)
			w.Redeliver()
			w.Drain()
			w.counts(t, 2, "2 orders, 120 cents")
			if v := w.Verdicts(); v[event.Poison] != 0 || v[event.Conflict] != 0 {
				t.Errorf("verdicts %v", v)
			}
		})
	}
}

// An object that is gone keeps its message from being stored, and nothing else. The message is not
// lost.
func TestRemovePayload(t *testing.T) {
	w := newWorld(t, spec())
	gone := w.PutPayload(first(100))
	w.Send(gone, w.PutPayload(order("b", "2026-03-01T10:00:00Z", 20)))
	w.RemovePayload(gone)
	w.Drain()
	if v := w.Verdicts(); v[event.Inserted] != 1 || v[event.Retry] != 10 || len(w.Items()) != 1 {
		t.Errorf("verdicts %v, %d items", v, len(w.Items()))
	}
	if dead := w.DeadLetters(); len(dead) != 1 || dead[0].Body != gone {
		t.Errorf("dead letters %v", dead)
	}
	b := watched(func(b TB) { New(b, Config{Pipeline: compile(t, spec())}).RemovePayload(gone) })
	must.Say(t, b.fatal, "give it a pointer from PutPayload")
}
