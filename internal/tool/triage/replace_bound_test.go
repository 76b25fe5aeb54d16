package triage_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/triage"
	"github.com/ingot-events/ingot/store/repair"
)

// bound is a pipeline whose events have parts, share keys, and move a total with a floor.
const bound = `ingot: 1
epoch: 1
type: "{type}"
batches: true
events:
  order:
    atomic: true
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: "-"}
  line:
    part: {of: order, each: lines, with: [id, at]}
    id: "{id}#{line}"
    key: {pk: "ORDER#{id}", sk: "LINE#{line}"}
  coupon:
    part: {of: order, each: coupons}
    id: "{code}"
    key: {pk: "COUPON#{code}", sk: "-"}
  note: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "-"}}
  stray: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "LINE#1"}}
  received: {id: "{id}", at: "{at}", key: {pk: "STOCK#{id}", sk: "-"}}
  reserved: {id: "{id}", at: "{at}", key: {pk: "STOCK#{id}", sk: "-"}}
aggregates:
  pieces: {since: 1, from: {line: {values: {pieces: sum pieces}}}}
  stock:
    since: 1
    movedBy: put
    atLeast: {available: 0}
    from: {received: {values: {available: sum pieces}}, reserved: {values: {available: sum -pieces}}}
`

// orderOf makes an order with one line of so many pieces, or with none.
func orderOf(id, pieces int, coupons ...string) string {
	lines, claims := []map[string]int{}, []map[string]string{}
	if pieces > 0 {
		lines = append(lines, map[string]int{"line": 1, "pieces": pieces})
	}
	for _, code := range coupons {
		claims = append(claims, map[string]string{"code": code})
	}
	return body("order", id, "lines", lines, "coupons", claims)
}

// keys returns the keys of what is stored.
func (w *world) keys() string {
	w.t.Helper()
	var list []string
	for item, err := range w.store.Items(w.t.Context()) {
		w.must(err)
		list = append(list, item.Key.PK+"|"+item.Key.SK)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// Replacing deletes one item alone. So an event that is more than that is not replaced, and what
// the refusal advises works: the message comes in under another id, and the claim is free for it.
func TestReplaceLeavesWholesAlone(t *testing.T) {
	for name, c := range map[string]struct{ stored, sent, want string }{
		"no lines any more":   {orderOf(1, 5, "SPRING"), orderOf(1, 0), "the stored event has parts"},
		"other lines":         {orderOf(1, 5, "SPRING"), orderOf(1, 6, "SPRING"), "the stored event has parts"},
		"lines, and had none": {orderOf(1, 0), orderOf(1, 6, "SPRING"), "its event has parts"},
		"another type":        {orderOf(1, 5, "SPRING"), body("note", 1), `the stored event has another type, "order"`},
		"a part":              {orderOf(1, 5), body("stray", 1), `a part of another event is stored under the key, of type "line"`},
		"another whole":       {body("note", 1), orderOf(1, 6), `the stored event has another type, "note"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, stack.Config{}, bound)
			w.send(c.stored)
			w.send(c.sent)
			l := w.hold(w.pull()...)[0]
			w.seen(l)
			before := w.keys()
			var refused *triage.Refused
			if err := w.work().Replace(t.Context(), l); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if w.drain(); w.keys() != before || w.depth(w.Quarantine) != 1 {
				t.Fatalf("stored are %s, and were %s", w.keys(), before)
			}

			// The advice: erase, give it another id, send it.
			_, err := repair.Of(w.store).Erase(t.Context(), event.Key{PK: "ORDER#1", SK: "-"})
			w.must(err)
			original := l.Body
			l.Original, l.Body = &original, strings.Replace(l.Body, `"id":1`, `"id":2`, 1)
			w.must(w.dir.Save(l))
			w.must(w.work().Resend(t.Context(), l))
			w.drain()
			if w.depth(w.Quarantine) != 0 || strings.Contains(w.keys(), "ORDER#1") || !strings.Contains(w.keys(), "ORDER#2|") {
				t.Errorf("stored are %s, and %d are in quarantine", w.keys(), w.depth(w.Quarantine))
			}
			w.proven()
		})
	}
}

// A stored event is not deleted for a message that a total then refuses. What the stored event
// itself has taken does not count against the message.
func TestReplaceAsksTheTotals(t *testing.T) {
	for pieces, refuses := range map[int]bool{4: false, 5: true} {
		t.Run(fmt.Sprint(pieces), func(t *testing.T) {
			w := newWorldWith(t, stack.Config{}, bound)
			w.send(body("received", 1, "pieces", 4), body("reserved", 2, "pieces", 3))
			w.send(body("reserved", 2, "pieces", pieces))
			l := w.hold(w.pull()...)[0]
			w.seen(l)
			before := w.data()
			work := w.work()
			work.Env.Sleep = func(context.Context, time.Duration) error { w.drain(); return nil }
			err := work.Replace(t.Context(), l)
			var refused *triage.Refused
			if refuses {
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), "Rejected (below-floor)") || w.data() != before {
					t.Errorf("%v; stored are %s", err, w.data())
				}
				return
			}
			w.must(err)
			w.drain()
			if today := w.total("stock"); w.depth(w.Quarantine) > 0 || today != "available 0" {
				t.Errorf("stock: %s, %d in quarantine", today, w.depth(w.Quarantine))
			}
			w.proven()
		})
	}
}

// While the stream stands still, the totals still lack what the deleted event has taken. The
// message stays where it is until they have it.
func TestReplaceWaitsForTheTotals(t *testing.T) {
	w := newWorldWith(t, stack.Config{}, bound)
	w.send(body("received", 1, "pieces", 4), body("reserved", 2, "pieces", 3))
	w.send(body("reserved", 2, "pieces", 4))
	l := w.hold(w.pull()...)[0]
	w.seen(l)
	if err := w.work().Replace(t.Context(), l); err == nil || !strings.Contains(err.Error(), "run the same command again") ||
		w.depth(w.Quarantine) != 1 || w.depth(w.Queue) != 0 {
		t.Fatalf("%v; %d in the queue, %d in quarantine", err, w.depth(w.Queue), w.depth(w.Quarantine))
	}
	if saved, err := w.dir.Find(l.ID); err != nil || len(saved.Replaced) != 1 {
		t.Errorf("%v: %+v", err, saved)
	}
	w.drain()
	w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
	if w.drain(); w.total("stock") != "available 0" || w.depth(w.Quarantine) != 0 {
		t.Errorf("stock: %s, %d in quarantine", w.total("stock"), w.depth(w.Quarantine))
	}
	w.proven()
}

// Two events of an array that are both right alone may not be right together.
func TestReplaceAsksTheTotalsOnceForAnArray(t *testing.T) {
	w := newWorldWith(t, stack.Config{}, bound)
	w.send(body("received", 1, "pieces", 4), body("reserved", 2, "pieces", 1), body("reserved", 3, "pieces", 1))
	w.send("[" + body("reserved", 2, "pieces", 3) + "," + body("reserved", 3, "pieces", 3) + "]")
	l := w.hold(w.pull()...)[0]
	w.seen(l)
	before := w.data()
	var refused *triage.Refused
	if err := w.work().Replace(t.Context(), l); !errors.As(err, &refused) || !strings.Contains(err.Error(), string(event.BelowFloor)) ||
		w.data() != before {
		t.Errorf("%v; stored are %s", err, w.data())
	}
}

// Every value that cannot be taken back is named before it is flagged.
func TestFlaggedNamesWhatCannotBeTakenBack(t *testing.T) {
	text := strings.Replace(bound, "  stock:\n", "  last: {since: 1, from: {received: {values: {last: newest pieces}}}}\n"+
		"  first: {since: 1, from: {received: {values: {first: oldest pieces}}}}\n"+
		"  kinds: {since: 1, from: {received: {values: {kinds: distinct pieces}}}}\n"+
		"  least: {since: 1, from: {received: {values: {least: min pieces}}}}\n"+
		"  sizes: {since: 1, from: {received: {values: {sizes: histogram pieces, times: count}}}}\n  stock:\n", 1)
	w := newWorldWith(t, stack.Config{}, text)
	w.send(body("received", 1, "pieces", 4), body("received", 1, "pieces", 5))
	l := w.hold(w.pull()...)[0]
	today := w.seen(l)
	names := triage.Flagged(w.work().Events.Examiner, today.Stored)
	if slices.Sort(names); strings.Join(names, " ") != "first kinds last least" {
		t.Errorf("%v", names)
	}
	w.must(w.work().Replace(t.Context(), l))
	w.drain()
	for _, name := range append(names, "sizes", "stock") {
		if flagged := strings.Contains(w.total(name), "flagged"); flagged != slices.Contains(names, name) {
			t.Errorf("%s: %s", name, w.total(name))
		}
	}
}

// A message holds the data of all its keys: of its parts too, and of an event that is Poison only
// after its key was made.
func TestKeysOfAMessage(t *testing.T) {
	w := newWorldWith(t, stack.Config{}, bound)
	for message, want := range map[string]string{
		orderOf(1, 5, "SPRING"):  "ORDER#1 / -, ORDER#1 / LINE#1, COUPON#SPRING / -",
		body("received", 2):      "STOCK#2 / -",
		body("nothing", 3):       "",
		"not JSON, of somebody":  "",
		body("note", 4, "x", ""): "ORDER#4 / -",
	} {
		var list []string
		for _, key := range (&triage.Letter{Body: message}).Keys(w.plan) {
			list = append(list, key.String())
		}
		wanted := strings.Split(want, ", ")
		if want == "" {
			wanted = nil
		}
		slices.Sort(list)
		if slices.Sort(wanted); !slices.Equal(list, wanted) {
			t.Errorf("%s: %v, want %s", message, list, want)
		}
	}
}

// An event that was stored before its parts were declared has parts too, once ingot rebuild --parts
// has put them.
func TestReplaceLeavesOlderWholesAlone(t *testing.T) {
	parts := strings.Replace(bound, "  pieces: {since: 1, from: {line: {values: {pieces: sum pieces}}}}\n", "", 1)
	alone := strings.Replace(parts, "    atomic: true\n", "", 1)
	alone = regexp.MustCompile(`(?s)\n  line:\n.*?\n  note:`).ReplaceAllString(alone, "\n  note:")
	w := newWorldWith(t, stack.Config{}, alone)
	w.send(orderOf(1, 5, "SPRING"))
	w.deploy(parts)
	_, err := repair.Of(w.store).PutParts(t.Context())
	w.must(err)
	w.send(orderOf(1, 0))
	l := w.hold(w.pull()...)[0]
	w.seen(l)
	before := w.keys()
	var refused *triage.Refused
	if err := w.work().Replace(t.Context(), l); !errors.As(err, &refused) || !strings.Contains(err.Error(), "the stored event has parts") ||
		w.keys() != before || !strings.Contains(before, "COUPON#SPRING") {
		t.Errorf("%v; stored are %s, and were %s", err, w.keys(), before)
	}
}
