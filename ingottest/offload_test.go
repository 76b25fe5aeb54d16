package ingottest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// offloading is the pipeline of these tests, with large payloads elsewhere.
func offloading() pipeline.Spec {
	s := spec()
	order := s.Events["order.placed"]
	order.Offload = pipeline.OffloadSpec{Over: 1 << 10}
	s.Events["order.placed"] = order
	return s
}

func large(id string, cents int) string {
	return fmt.Sprintf(`{"type":"order.placed","merchant":"m1","id":%q,"at":"2026-03-01T10:00:00Z","cents":%d,"tip":3,"text":"%s"}`, id,
		cents, strings.Repeat("lorem ipsum ", 400))
}

// TestEveryFaultWithOffloadedPayloads deploys offload over items that are stored whole, then a new
// aggregate over a field that the items do not keep, and lets everything expire. Whatever goes
// wrong on the way, an event is one item, its payload is there as long as the item is, it counts
// once in old and new totals, and it is archived whole.
func TestEveryFaultWithOffloadedPayloads(t *testing.T) {
	EveryFault(t, Config{Pipeline: compile(t, spec())}, func(t *testing.T, w *World) {
		w.handled(large("before", 1))
		s := offloading()
		s.Epoch = 2
		w.Deploy(compile(t, s))
		w.Send(large("before", 1), large("away", 20), large("away", 20), large("away", 21),
			`{"type":"order.placed","merchant":"m1","id":"small","at":"2026-03-01T10:00:00Z","cents":300,"tip":3}`)
		w.Redeliver()
		w.Drain()
		if v := w.Verdicts(); v[event.Conflict] == 0 || v[event.Poison] != 0 {
			t.Errorf("verdicts %v", v)
		}
		for _, item := range w.Items() {
			must.Equal(t, (item.Payload != nil), (item.ID == "away"), item.ID)
			if text := w.Payload(item); item.ID == "away" && text != large("away", 20) {
				t.Errorf("%s has the payload %s", item.ID, text)
			}
		}
		s.Epoch = 3
		s.Aggregates["tips"] = pipeline.AggregateSpec{Since: 3,
			From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"tips": "sum tip"}}}}
		w.Deploy(compile(t, s))
		_, err := repair.Of(w.Store()).Touch(t.Context())
		must.Succeed(t, err)
		w.Drain()
		if total := w.Total("tips", nil, time.Time{}); total.Values["tips"].String() != "9" {
			t.Errorf("tips are %v", total.Values["tips"])
		}
		w.counts(t, 3, "3 orders, 321 cents")
		w.Advance(91 * day)
		w.Sweep()
		w.Drain()
		must.Equal(t, len(w.Archived()), 3)
	})
}

// A payload that is lost is lost for the archive and for new aggregates. What counts goes on
// counting.
func TestLostPayload(t *testing.T) {
	w := New(t, Config{Pipeline: compile(t, offloading())})
	w.handled(large("1", 20))
	w.LosePayload(w.Items()[0])
	w.Verify()
	w.Send(large("1", 20), large("1", 21)) // a duplicate puts the object again; a conflict is judged by what it finds
	w.Drain()
	if v := w.Verdicts(); v[event.Duplicate] != 1 || v[event.Conflict] != 1 {
		t.Errorf("verdicts %v", v)
	}
	must.Equal(t, w.Payload(w.Items()[0]), large("1", 20))
}
