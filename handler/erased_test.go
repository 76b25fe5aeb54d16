package handler_test

import (
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/repair"
)

// An event that is replaced by a bar is taken out of its totals once, in both ways of counting.
// What happens to the bar later is not an event. It is neither counted nor archived.
func TestErasedEventIsTakenOut(t *testing.T) {
	for _, c := range bothWays {
		w := newWorld(t, counting(c)).started()
		one, two := w.image(order("1", 5)), w.image(order("2", 7))
		bar := attributes{"PK": one["PK"], "SK": one["SK"], "i:barred": {"BOOL": true}, "expiresAt": one["expiresAt"]}
		w.expect(batch(insert(1, one), insert(2, two)), done)
		erased := record(3, event.Modify, one, bar)
		for range 2 {
			w.expect(batch(erased), done)
			w.sums(t, "totals", "1", "7")
			w.sums(t, "live", "1", "7")
		}
		if head := w.head("totals"); head.Behind != 0 || head.Flag != "" {
			t.Errorf("%s: the head %+v", c, head)
		}
		before := w.calls["PutObject"]
		for _, r := range []map[string]any{expiry(4, bar), record(5, event.Insert, nil, bar), record(6, event.Remove, bar, nil)} {
			w.expect(batch(r), done)
			if rep := w.counted[len(w.counted)-1]; rep.Foreign != 1 || rep.Updates != 0 || rep.Quarantined != 0 {
				t.Errorf("%s: %+v", c, rep)
			}
		}
		w.sums(t, "totals", "1", "7")
		if w.calls["PutObject"] != before || len(w.quarantined()) > 0 {
			t.Errorf("%s: something of a bar is kept", c)
		}
	}
}

// A redelivery of an erased event is done, and kept nowhere.
func TestErasedEventComesAgain(t *testing.T) {
	w := newWorld(t)
	w.receive(messages(order("1", 5), parcel("1", 2)))
	for _, o := range w.outcomes {
		_, err := repair.Of(w.store).Erase(deadline(t), o.Item.Key)
		must.Succeed(t, err)
	}
	if got := w.receive(messages(order("1", 5), order("1", 6), parcel("1", 3), order("2", 1))); got != failures() ||
		w.verdicts() != "Duplicate Duplicate Duplicate Inserted" {
		t.Errorf("%s %s", got, w.verdicts())
	}
	for _, o := range w.outcomes[:3] {
		if o.Refusal == nil || o.Refusal.Reason != event.Barred || o.Existing != nil {
			t.Errorf("%+v", o)
		}
	}
	if n := len(w.quarantined()); n != 0 || len(w.items()) != 1 {
		t.Errorf("%d letters, items %v", n, w.items())
	}
}
