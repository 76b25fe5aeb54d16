package sim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// history is everything that was ever stored of one event.
type history struct {
	live    *image
	facts   map[fact]bool
	newest  fact // of a parcel
	inserts int
	removed bool     // by a person, once
	barred  bool     // by a person who erased the event, once
	gone    []object // what expired
	states  []state
}

// state is what a key holds from one record of the stream on; nil means nothing.
type state struct {
	img   *image
	since int
	at    time.Time
}

// during lists what the key has held since a record, each state once, in order.
func (h *history) during(since int) []*image {
	list := []*image{nil} // before its first record
	if h == nil {
		return list
	}
	for _, s := range h.states {
		if s.since <= since {
			list = list[:0]
		}
		list = append(list, s.img)
	}
	return list
}

func (m *model) remember(c *change) {
	m.records++
	if c.new != nil && c.new.barred {
		h := m.history(c.new.key())
		h.live, h.barred, h.removed = nil, true, true
		h.states = append(h.states, state{c.new, m.records, c.at})
		return
	}
	if c.new != nil {
		h := m.history(c.new.key())
		if c.old == nil {
			h.inserts++
			m.inserted++
		}
		h.live, h.facts[c.new.fact] = c.new, true
		if len(h.facts) == 1 || c.new.newer(h.newest) {
			h.newest = c.new.fact
		}
		h.states = append(h.states, state{c.new, m.records, c.at})
		return
	}
	h := m.history(c.old.key())
	h.live = nil
	h.states = append(h.states, state{nil, m.records, c.at})
	if !c.expired {
		h.removed = true
		return
	}
	m.expired++
	digest := m.storedOf(c.old.fact)["digest"].value
	o := c.old.object(digest, false)
	if c.old.elsewhere != nil {
		m.instead[o] = c.old.object(digest, true)
		m.withoutPayload[m.instead[o]] = c.old
	}
	h.gone, m.objects[o] = append(h.gone, o), true
}

// storedOf returns what the item of a fact must hold.
func (m *model) storedOf(f fact) map[string]typed {
	want := m.stored[f]
	if want == nil {
		want = f.stored()
		if m.secret != "" {
			hash := hmac.New(sha256.New, []byte(m.secret))
			hash.Write([]byte(f.Merchant))
			want["GSI3PK"], want["GSI3SK"] = typed{"S", hex.EncodeToString(hash.Sum(nil))}, typed{"S", f.Type}
		}
		if m.patterns {
			_, new := f.dayKeys()
			want["GSI4PK"], want["GSI4SK"] = typed{"S", new}, typed{"S", want["at"].value + "#" + f.ID}
			if f.Gift {
				want["GSI5PK"], want["GSI5SK"] = typed{"S", fmt.Sprintf("GIFT#%d", shardOf(f.ID, 2))}, want["at"]
			}
		}
		m.stored[f] = want
	}
	return want
}

const (
	early    = time.Hour       // this long before its expiry, an event is no longer taken
	onItsWay = 3 * time.Minute // a request that was sent in time may arrive this much later
	newest   = 2               // the highest epoch of any pipeline of the world
)

// checkStored compares what was stored with what the event should make of it. Every attribute must
// match, and there must be no others.
func (w *World) checkStored(c *change) {
	img, key := c.new, c.new.key()
	if m := w.carried[img.data]; (m == nil || m.malformed || m.fact != img.fact) && !w.wholes.sentWithin(img) {
		w.Fail(Altered, "%s holds a payload that nobody sent: %s", key, img.data)
		return
	}
	want := w.model.storedOf(img.fact)
	for name, text := range want {
		if has := img.whole[name]; valueOf(has) != w.keyOfEpoch(c, name, text.value) || kindOf(has) != text.kind {
			w.Fail(Altered, "%s: %s is %s %q, and its event says %s %q", key, name, kindOf(has), valueOf(has), text.kind, text.value)
		}
	}
	others := []string{"data", "epoch", "expiresAt"}
	if n, counts := w.wholes.countOfParts(c); counts {
		others = append(others, "i:parts")
		if has := img.whole["i:parts"]; valueOf(has) != n.value || kindOf(has) != n.kind {
			w.Fail(Altered, "%s says that it has %q parts, and it has %s", key, valueOf(has), n.value)
		}
	}
	if w.byPut.checkPut(c) {
		others = append(others, "i:put")
	}
	if w.offload.checkOffloaded(c) {
		others = append(others, "i:payload")
	}
	if len(img.whole) != len(want)+len(others) {
		w.Fail(Altered, "%s has other attributes than its event makes: %q", key, sortedKeys(img.whole))
	}
	if img.epoch < 1 || img.epoch > newest {
		w.Fail(Altered, "%s is stamped %d, and the newest pipeline has epoch %d", key, img.epoch, newest)
	}
	w.checkExpiry(c)
	w.packing.checkPacked(c)
}

// keyOfEpoch returns what a new item must have of an index whose key changes with the second epoch.
// An item that was there before may still have either.
func (w *World) keyOfEpoch(c *change, name, text string) string {
	if name != "GSI4PK" {
		return text
	}
	old, new := c.new.dayKeys()
	if c.new.epoch == 1 || c.old != nil && w.plan.Upgrade > 0 && valueOf(c.new.whole[name]) == old {
		return old
	}
	return new
}

// checkExpiry compares the expiry of an item with that of its event, or with that of the item it
// replaced if that is later. No event may be written past its time.
func (w *World) checkExpiry(c *change) {
	own := c.new.at().Add(w.lifetime.lifetime(c.new.fact))
	want, most := own.Unix(), c.new.at().Add(w.lifetime.longestLife())
	if c.old != nil {
		want = max(want, c.old.expiresAt)
	}
	if c.new.expiresAt != want && c.new.expiresAt != max(want, most.Unix()) {
		w.Fail(Expiry, "%s expires at %d, and its event at %d", c.new.key(), c.new.expiresAt, want)
	}
	touched := c.old != nil && c.old.fact == c.new.fact
	if !touched && w.Now.After(most.Add(onItsWay-early)) {
		w.Fail(Expiry, "%s is written at %s, and expires at %s: an event is taken until an hour before that", c.new.key(),
			w.Now.Format(time.RFC3339), own.Format(time.RFC3339))
	}
}
