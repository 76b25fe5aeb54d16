package sim

import (
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/tables"
)

const (
	early    = tables.ExpiryMargin // this long before its expiry, an event is no longer taken
	onItsWay = 3 * time.Minute     // a request that was sent in time may arrive this much later
	newest   = 2                   // the highest epoch of any pipeline of the world
)

// checkStored compares what was stored with what the event should make of it. Every attribute must
// match, and there must be no others.
func (w *World) checkStored(c *model.Change) {
	img, key := c.New, c.New.Key()
	if m := w.carried[img.Data]; (m == nil || m.malformed || m.fact != img.Fact) && !w.wholes.sentWithin(img) {
		w.Fail(Altered, "%s holds a payload that nobody sent: %s", key, img.Data)
		return
	}
	want := w.model.StoredOf(img.Fact)
	for name, text := range want {
		if has := img.Whole[name]; model.ValueOf(has) != w.keyOfEpoch(c, name, text.Value) || model.KindOf(has) != text.Kind {
			w.Fail(Altered, "%s: %s is %s %q, and its event says %s %q", key, name, model.KindOf(has), model.ValueOf(has), text.Kind,
				text.Value)
		}
	}
	others := []string{"data", "epoch", "expiresAt"}
	if n, counts := w.wholes.countOfParts(c); counts {
		others = append(others, "i:parts")
		if has := img.Whole["i:parts"]; model.ValueOf(has) != n.Value || model.KindOf(has) != n.Kind {
			w.Fail(Altered, "%s says that it has %q parts, and it has %s", key, model.ValueOf(has), n.Value)
		}
	}
	if w.byPut.checkPut(c) {
		others = append(others, "i:put")
	}
	if w.offload.checkOffloaded(c) {
		others = append(others, "i:payload")
	}
	if len(img.Whole) != len(want)+len(others) {
		w.Fail(Altered, "%s has other attributes than its event makes: %q", key, sortedKeys(img.Whole))
	}
	if img.Epoch < 1 || img.Epoch > newest {
		w.Fail(Altered, "%s is stamped %d, and the newest pipeline has epoch %d", key, img.Epoch, newest)
	}
	w.checkExpiry(c)
	w.packing.checkPacked(c)
}

// keyOfEpoch returns what a new item must have of an index whose key changes with the second epoch.
// An item that was there before may still have either.
func (w *World) keyOfEpoch(c *model.Change, name, text string) string {
	if name != "GSI4PK" {
		return text
	}
	old, new := c.New.DayKeys()
	if c.New.Epoch == 1 || c.Old != nil && w.plan.Upgrade > 0 && model.ValueOf(c.New.Whole[name]) == old {
		return old
	}
	return new
}

// checkExpiry compares the expiry of an item with that of its event, or with that of the item it
// replaced if that is later. No event may be written past its time.
func (w *World) checkExpiry(c *model.Change) {
	own := c.New.Time().Add(w.lifetime.lifetime(c.New.Fact))
	want, most := own.Unix(), c.New.Time().Add(shorten(c.New.Fact, w.lifetime.longestLife()))
	if c.Old != nil {
		want = max(want, c.Old.ExpiresAt)
	}
	if c.New.ExpiresAt != want && c.New.ExpiresAt != max(want, most.Unix()) {
		w.Fail(Expiry, "%s expires at %d, and its event at %d", c.New.Key(), c.New.ExpiresAt, want)
	}
	touched := c.Old != nil && c.Old.Fact == c.New.Fact
	if !touched && w.Now.After(most.Add(onItsWay-early)) {
		w.Fail(Expiry, "%s is written at %s, and expires at %s: an event is taken until ten minutes before that", c.New.Key(),
			w.Now.Format(time.RFC3339), own.Format(time.RFC3339))
	}
}
