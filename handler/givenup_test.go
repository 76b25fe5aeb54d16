package handler_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
)

// unstamped names the oddities that leave no stamp to read.
var unstamped = []string{"stamp of no pipeline", "stamp below nothing", "stamp with a part", "stamp as text", "no images"}

// An image with a later epoch makes its batch wait, whatever else is odd about it. A newer function
// may be able to read it, so this function must not put it aside.
func TestALaterStampIsReadFirst(t *testing.T) {
	for _, c := range bothWays {
		for name, alter := range oddities {
			if slices.Contains(unstamped, name) {
				continue
			}
			for _, kind := range []event.ChangeKind{event.Insert, event.Modify, event.Remove} {
				w := newWorld(t, counting(c)).started()
				later, now := w.image(order("2", 50)).with("epoch", "N", "4"), w.image(order("2", 50))
				odd := map[event.ChangeKind]map[string]any{event.Insert: insert(2, later), event.Modify: record(2, kind, later, now),
					event.Remove: record(2, kind, later, nil)}[kind]
				alter(odd, later)
				w.fails(batch(w.inserted(1, "1", 5), odd), "carries epoch 4")
				must.Equal(t, len(w.quarantined()), 0, c, kind, name)
				must.Equal(t, w.head("totals").Flag, "", c, kind, name)
			}
		}
	}
}

var givenUpKey = regexp.MustCompile(`X#[A-Za-z0-9_-]{16}#[0-9]+`)

// An operator gives up a record whose epoch no pipeline has, by an item under the key that the
// error names. The batch goes on without the record, and says so.
func TestGivenUp(t *testing.T) {
	for _, c := range bothWays {
		for what, later := range map[string]func(attributes) attributes{
			"that can be read":    func(a attributes) attributes { return a },
			"that cannot be read": func(a attributes) attributes { return a.with("data", "B", "AAAA") },
		} {
			t.Run(fmt.Sprint(c, " an item ", what), func(t *testing.T) {
				w := newWorld(t, counting(c)).started()
				stamped := later(w.image(order("2", 50)).with("epoch", "N", "77"))
				e := batch(w.inserted(1, "1", 5), insert(2, stamped), w.inserted(3, "3", 7),
					changed(4, stamped, stamped))
				for _, n := range []int{2, 4} { // one record after the other
					key := givenUpKey.FindString(w.fails(e, ""))
					if !strings.HasSuffix(key, "#"+sequence(n)) {
						t.Fatal(key)
					}
					w.sums(t, "totals", "0", "0")
					w.Put(t, "totals", testworld.Key(key, "-"))
				}
				reads := w.calls["GetItem"]
				w.expect(e, done)
				must.Equal(t, w.calls["GetItem"]-reads, 2+len(w.plan.Definitions())) // the heads, before they are flagged
				w.sums(t, "totals", "2", "12")
				letters := w.quarantined()
				must.Equal(t, len(letters), 2)
				must.Say(t, *letters[0].Body, `"reason":"given-up"`, "carries epoch 77")
				must.Say(t, w.head("totals").Flag, "given up")
				must.Say(t, w.head("live").Flag, "given up")
				plain := batch(w.inserted(5, "5", 1))
				reads = w.calls["GetItem"]
				w.expect(plain, done)
				must.Equal(t, w.calls["GetItem"]-reads, 0)
			})
		}
	}
}

// If nobody can say whether a record is given up, the batch waits.
func TestGivenUpUnread(t *testing.T) {
	w := newWorld(t).started()
	later := w.image(order("2", 50)).with("epoch", "N", "77")
	w.refuse("GetItem", errDenied)
	w.fails(batch(insert(2, later)), "could not be read")
}

// A hook that fails ends the batch at its change. A record that was given up before it is
// quarantined, even if other unreadable records come later, because nobody delivers it again.
func TestGivenUpBeforeAHookFails(t *testing.T) {
	w := newWorld(t).started()
	stamped := w.image(order("2", 50)).with("epoch", "N", "77")
	e := batch(w.inserted(1, "1", 5), insert(2, stamped), w.inserted(3, "3", 7),
		insert(5, w.image(order("5", 1)).with("data", "B", "AAAA")))
	w.Put(t, "totals", testworld.Key(givenUpKey.FindString(w.fails(e, "")), "-"))
	w.failAt(3)
	w.expect(e, from(3))
	w.kept(`"reason":"given-up"`)
}
