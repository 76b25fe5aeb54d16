package handler_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Anybody can invoke a warm function with an event without records. It creates the heads if they
// are gone, whatever the function saw a moment ago.
func TestEventWithoutRecordsStarts(t *testing.T) {
	for _, c := range bothWays {
		for _, payload := range []string{`{"Records":[]}`, `[]`} {
			w := newWorld(t, counting(c)).started()
			w.emptyTotals()
			if got, err := w.invokeStreams([]byte(payload)); err != nil || got != `{"batchItemFailures":[]}` {
				t.Fatalf("%s: answer %s, error %v", payload, got, err)
			}
			for _, def := range w.plan.Definitions() {
				w.head(def.Name) // fails if there is none
			}
			if len(w.counted) > 0 {
				t.Errorf("%s: it is reported as a batch: %+v", payload, w.counted)
			}
		}
	}
}

// The event that ends a window comes from every shard by itself. It looks at the table as often as
// a batch does: five minutes after the last time, and not before.
func TestEndOfAWindowRenews(t *testing.T) {
	w := newWorld(t).started()
	w.emptyTotals()
	w.expect(batch(), done)
	if w.calls["BatchGetItem"] != 1 { // the start's own
		t.Errorf("it looks at once: %v", w.calls)
	}
	w.Clock.Pass(5*time.Minute + time.Second)
	w.expect(batch(), done)
	for _, def := range w.plan.Definitions() {
		w.head(def.Name)
	}
}

// An event without records fails if a start is refused, and the error says why.
func TestEventWithoutRecordsIsRefused(t *testing.T) {
	w := newWorld(t).started()
	def, _ := w.plan.Definition("live")
	w.deleteTotal(lanes.HeadKey(def))
	_, err := w.invokeStreams([]byte(`{"Records":[]}`))
	must.Fail(t, err, "streams: start: refused", "live since 2 has no head")
}

// An event without records is answered before the function's time is over, even while the table
// refuses everything.
func TestEventWithoutRecordsHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.env = real })
		w.faults = []fault{{API: "BatchGetItem", Before: &types.ProvisionedThroughputExceededException{}, Always: true}}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := w.handleStream(ctx, json.RawMessage(`{"Records":[]}`))
		if took := time.Since(began); err == nil || took < 50*time.Second || took > 57*time.Second {
			t.Errorf("it took %s of a minute: %v", took, err)
		}
	})
}

// emptyTotals deletes every item of the aggregates table.
func (w *world) emptyTotals() {
	w.t.Helper()
	w.deleteTotal(lanes.EpochKey)
	for _, def := range w.plan.Definitions() {
		w.deleteTotal(lanes.HeadKey(def))
	}
}

func (w *world) deleteTotal(key event.Key) {
	w.t.Helper()
	w.Delete(w.t, "totals", rows.KeyImage(key))
}
