package handler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// readings adds a whole that writes the last reading of its device.
func readings(s *setup) {
	s.spec.Events["reading"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "READING#{id}", SK: "READING"}}
	s.spec.Events["last"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "reading", With: []string{"device", "n"}},
		ID: "{device}", Key: pipeline.KeySpec{PK: "DEVICE#{device}", SK: "LAST"}, Mode: "latest", Revision: "n number"}
}

func readOf(n int) string {
	return fmt.Sprintf(`{"type":"reading","id":"r%d","at":"2099-03-01T10:00:00Z","device":"d","n":%d}`, n, n)
}

// However readings come, and come again, each is stored, and the newest of them is the state of
// their device. None of them is refused.
func TestIngestStates(t *testing.T) {
	for n := range 8 {
		queue, atomic, inArrays := "", n&1 > 0, n&2 > 0
		if n&4 > 0 {
			queue = ".fifo"
		}
		w := newWorld(t, readings, func(s *setup) {
			whole := s.spec.Events["reading"]
			whole.Atomic = atomic
			s.spec.Events["reading"] = whole
			if inArrays {
				arrays(s)
			}
		})
		bodies := []string{readOf(1), readOf(3), readOf(2), readOf(3)}
		if inArrays {
			bodies = []string{array(bodies[:2]...), array(bodies[2:]...)}
		}
		for range 2 {
			must.Equal(t, w.receive(inGroup(messages(bodies...), queue)), `{"batchItemFailures":[]}`)
		}
		if len(w.quarantined()) != 0 || len(w.items()) != 4 {
			t.Errorf("%d: %v, and %d letters", n, w.items(), len(w.quarantined()))
		}
		var parts [event.Retry + 1]int
		for _, b := range w.batches {
			for v, count := range b.Parts {
				parts[v] += count
			}
		}
		if parts[event.Stale] == 0 || parts[event.Conflict] != 0 || parts[event.Retry] != 0 {
			t.Errorf("%d: parts %v", n, parts)
		}
		state, err := w.store.Item(t.Context(), event.Key{PK: "DEVICE#d", SK: "LAST"})
		if must.Succeed(t, err); state == nil || !strings.Contains(state.Data, `"n":3`) {
			t.Errorf("%d: %+v", n, state)
		}
	}
}
