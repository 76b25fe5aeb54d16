package quarantine_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
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

// A stored event is not deleted for a message that a total then refuses. Events of an array that
// are both right alone may not be right together, also where nothing is stored in the place of one.
func TestReplaceAsksTheTotals(t *testing.T) {
	reserved := func(id, pieces int) string { return body("reserved", id, "pieces", pieces) }
	for name, c := range map[string]struct {
		stored  []string
		message string
	}{
		"one":                {[]string{reserved(2, 3)}, reserved(2, 6)},
		"two":                {[]string{reserved(2, 1), reserved(3, 1)}, array(reserved(2, 3), reserved(3, 3))},
		"one, and a new one": {[]string{reserved(2, 1)}, array(reserved(2, 3), reserved(5, 4))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, stack.Config{}, bound)
			w.send(body("received", 1, "pieces", 4))
			w.send(c.stored...)
			w.send(c.message)
			w.send(body("received", 6, "pieces", 1))
			l := w.held()
			if today := w.seen(l).All(); today[0].Reason != event.DigestDiffers ||
				name == "one, and a new one" && today[1].Verdict != event.Inserted {
				t.Fatalf("%+v", today)
			}
			w.refuses(l, "Rejected (below-floor)")
		})
	}
}

// What the stored event itself has taken does not count against the message. While the stream
// stands still, the totals still lack it. The message stays where it is until they have it.
func TestReplaceWaitsForTheTotals(t *testing.T) {
	w := newWorldWith(t, stack.Config{}, bound)
	w.send(body("received", 1, "pieces", 4), body("reserved", 2, "pieces", 3))
	w.send(body("reserved", 2, "pieces", 4))
	l := w.held()
	w.seen(l)
	must.Fail(t, w.work().Replace(t.Context(), l), "run the same command again")
	must.Equal(t, w.depth(w.Quarantine), 1)
	must.Equal(t, w.depth(w.Queue), 0)
	if saved, err := w.dir.Find(l.ID); err != nil || len(saved.Replaced) != 1 {
		t.Errorf("%v: %+v", err, saved)
	}
	w.drain()
	w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
	if w.drain(); w.total("stock") != "available 0" || w.depth(w.Quarantine) != 0 {
		t.Errorf("stock: %s, %d in quarantine", w.total("stock"), w.depth(w.Quarantine))
	}
	w.proven()

	w.send(body("reserved", 2, "pieces", 3))
	for _, l = range w.pull() {
		if !l.Open() {
			continue
		}
		w.seen(l)
		work := w.work()
		work.Env.Sleep = func(context.Context, time.Duration) error { w.drain(); return nil }
		w.must(work.Replace(t.Context(), w.hold(l)[0]))
	}
	if w.drain(); w.total("stock") != "available 1" || w.depth(w.Quarantine) != 0 {
		t.Errorf("stock: %s, %d in quarantine", w.total("stock"), w.depth(w.Quarantine))
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
	l := w.held()
	today := w.seen(l)
	names := quarantine.Flagged(w.work().Events.Examiner, today.Stored)
	slices.Sort(names)
	must.Equal(t, strings.Join(names, " "), "first kinds last least")
	w.must(w.work().Replace(t.Context(), l))
	w.drain()
	for _, name := range append(names, "sizes", "stock") {
		must.Equal(t, strings.Contains(w.total(name), "flagged"), slices.Contains(names, name), name, w.total(name))
	}
}

// A message holds the data of all its keys: of its parts too, and of an event that is Poison only
// after its key was made.
func TestKeysOfAMessage(t *testing.T) {
	w := newWorldWith(t, stack.Config{}, bound)
	for message, want := range map[string]string{
		orderOf(1, 5, "SPRING"):  "COUPON#SPRING / -, ORDER#1 / -, ORDER#1 / LINE#1",
		body("received", 2):      "STOCK#2 / -",
		body("nothing", 3):       "",
		"not JSON, of somebody":  "",
		body("note", 4, "x", ""): "ORDER#4 / -",
	} {
		var list []string
		for _, key := range (&quarantine.Letter{Body: message}).Keys(w.plan) {
			list = append(list, key.String())
		}
		slices.Sort(list)
		must.Equal(t, strings.Join(list, ", "), want, message)
	}
}

// An event that was stored before its parts were declared has parts too, once ingot rebuild parts
// has put them.
func TestReplaceLeavesOlderWholesAlone(t *testing.T) {
	parts := strings.Replace(bound, "  pieces: {since: 1, from: {line: {values: {pieces: sum pieces}}}}\n", "", 1)
	alone := strings.Replace(parts, "    atomic: true\n", "", 1)
	alone = regexp.MustCompile(`(?s)\n  line:\n.*?\n  note:`).ReplaceAllString(alone, "\n  note:")
	w := newWorldWith(t, stack.Config{}, alone)
	w.send(orderOf(1, 5, "SPRING"))
	w.deploy(parts)
	if put, err := repair.Of(w.store).PutParts(t.Context()); err != nil || put.Put != 2 {
		t.Fatalf("%+v, %v", put, err)
	}
	w.send(orderOf(1, 0))
	l := w.held()
	w.seen(l)
	w.refuses(l, "the stored event has parts")
}
