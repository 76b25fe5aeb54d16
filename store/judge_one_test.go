package store_test

import (
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tables"
	"github.com/ingot-events/ingot/store"
)

// Judge says what Put then does. It changes nothing, and returns what is stored.
func TestJudgeSaysWhatPutDoes(t *testing.T) {
	for name, c := range map[string]struct {
		before  func(w *world)
		item    func(w *world) *event.Item
		verdict event.Verdict
		stored  bool
	}{
		"a free key":       {nil, func(w *world) *event.Item { return w.order("1", 1) }, event.Inserted, false},
		"a copy":           {func(w *world) { w.keep(w.order("1", 1)) }, func(w *world) *event.Item { return w.order("1", 1) }, event.Duplicate, true},
		"another payload":  {func(w *world) { w.keep(w.order("1", 1)) }, func(w *world) *event.Item { return w.order("1", 2) }, event.Conflict, true},
		"a newer revision": {func(w *world) { w.keep(w.parcel("1", 1)) }, func(w *world) *event.Item { return w.parcel("1", 2) }, event.Updated, true},
		"an older one":     {func(w *world) { w.keep(w.parcel("1", 2)) }, func(w *world) *event.Item { return w.parcel("1", 1) }, event.Stale, true},
		"an erased event": {func(w *world) {
			w.keep(w.order("1", 1))
			if _, err := w.store.Erase(deadline(w.t), w.order("1", 1).Key); err != nil {
				w.t.Fatal(err)
			}
		}, func(w *world) *event.Item { return w.order("1", 2) }, event.Duplicate, false},
		"too late": {nil, func(w *world) *event.Item {
			item := *w.order("1", 1)
			item.ExpiresAt = time.Now().Add(-time.Hour).Unix()
			return &item
		}, event.Expired, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.before != nil {
				c.before(w)
			}
			item := c.item(w)
			was := w.lies(item.Key)
			judged, stored, err := tables.Of(w.store).Judge(deadline(t), item)
			if err != nil || judged.Verdict != c.verdict || (stored != nil) != c.stored {
				t.Fatalf("%v %+v, stored %v; want %v", err, judged, stored, c.verdict)
			}
			if now := w.lies(item.Key); now != was {
				t.Errorf("it changed %s to %s", was, now)
			}
			if stored != nil && stored.Data == "" {
				t.Error("the stored event has no payload")
			}
			put, _ := w.store.Put(deadline(t), []*event.Item{item})
			if put[0].Verdict != judged.Verdict || (put[0].Refusal == nil) != (judged.Refusal == nil) {
				t.Errorf("Put says %+v, Judge said %+v", put[0], judged)
			}
			if put[0].Refusal != nil && *put[0].Refusal != *judged.Refusal {
				t.Errorf("Put says %+v, Judge said %+v", put[0].Refusal, judged.Refusal)
			}
		})
	}
	w := newWorld(t)
	closed, err := store.New(store.Config{Client: w.Engine.DynamoDB(), Pipeline: w.plan, Aggregates: "totals"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tables.Of(closed).Judge(deadline(t), w.order("1", 1)); err == nil {
		t.Error("it judges without a table")
	}
}
