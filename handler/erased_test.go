package handler_test

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/repair"
)

// An event that is replaced by a bar is taken out of its totals once, in both ways of counting.
// What happens to the bar later is not an event. It is neither counted nor archived.
func TestErasedEventIsTakenOut(t *testing.T) {
	for w, c := range bothWorlds(t) {
		one, two := w.image(order("1", 5)), w.image(order("2", 7))
		bar := attributes{"PK": one["PK"], "SK": one["SK"], "i:barred": {"BOOL": true}, "expiresAt": one["expiresAt"]}
		w.expect(batch(insert(1, one), insert(2, two)), done)
		erased := changed(3, one, bar)
		for range 2 {
			w.expect(batch(erased), done)
			w.sums(t, "totals", "1", "7")
			w.sums(t, "live", "1", "7")
		}
		must.Equal(t, w.head("totals").Behind, 0, c)
		must.Equal(t, w.head("totals").Flag, "", c)
		before := w.calls["PutObject"]
		for _, r := range []map[string]any{expiry(4, bar), insert(5, bar), removed(6, bar)} {
			w.expect(batch(r), done)
			must.Equal(t, w.reported(), "Received 1, Foreign 1", c)
		}
		w.sums(t, "totals", "1", "7")
		must.Equal(t, w.calls["PutObject"], before, c)
		must.Equal(t, len(w.quarantined()), 0, c)
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
	w.gets(messages(order("1", 5), order("1", 6), parcel("1", 3), order("2", 1)),
		"Duplicate: barred; Duplicate: barred; Duplicate: barred; Inserted")
	for _, o := range w.outcomes[:3] {
		must.Equal(t, o.Existing, nil)
	}
	must.Equal(t, len(w.quarantined()), 0)
	must.Equal(t, len(w.items()), 1)
}
