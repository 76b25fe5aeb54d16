package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Of several copies under one key, the newest revision that may still be written is tried. If it
// cannot be written, nothing is known of the others. They come back, and are stored then.
func TestOlderCopyOfWhatCannotBeWritten(t *testing.T) {
	at := func(w *world, typ string, rev int, at string) *event.Item {
		return w.item(fmt.Sprintf(`"type":%q`, typ), `"id":"p"`, fmt.Sprintf(`"rev":%d`, rev), fmt.Sprintf(`"at":%q`, at))
	}
	for name, c := range map[string]struct {
		typ, at string // of revision 7
		want    string
	}{
		"too late":     {"parcel", "2098-11-01T10:00:00Z", "Updated Expired"},
		"another type": {"box", "2099-03-01T10:00:00Z", "Retry Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.Events["box"] = s.Events["parcel"] })
			good := at(w, "parcel", 5, "2099-03-01T11:00:00Z")
			w.arrive(at(w, "parcel", 3, "2099-03-01T10:00:00Z"))
			w.judges(c.want, good, at(w, c.typ, 7, c.at))
			alone := map[string]string{"Retry Conflict": "Updated", "Updated Expired": "Duplicate"}[c.want]
			w.judges(alone, good)
		})
	}
}

// withoutTime declares event types whose time comes from the envelope, so that copies of one
// payload have expiries of their own.
func withoutTime(s *setup) {
	adds(&s.Spec, `
events:
  seen: {id: "{id}", key: {pk: "SEEN#{id}", sk: "-"}, retain: 90d}
  place: {id: "{id}", key: {pk: "PLACE#{id}", sk: "-"}, retain: 90d, mode: latest, revision: rev number}
`)
}

// at returns the item of a payload that came at the given time.
func (w *world) at(when time.Time, body string) *event.Item {
	w.t.Helper()
	e := w.eventFrom("here", body)
	e.At = when
	item, err := w.plan.PlanEvent(e)
	must.Succeed(w.t, err)
	return item
}

// Copies have one digest and different expiries. The first copy that may still be written is
// written. No copy is Expired because of another copy's time.
func TestCopiesOfDifferentAge(t *testing.T) {
	const a, b = `{"type":"seen","id":"1","x":1}`, `{"type":"seen","id":"1","x":2}`
	const five, seven = `{"type":"place","id":"1","rev":5}`, `{"type":"place","id":"1","rev":7}`
	late, soon, fresh := epoch.Add(-91*24*time.Hour), epoch.Add(-24*time.Hour), epoch
	type copies []struct {
		at   time.Time
		body string
	}
	for name, c := range map[string]struct {
		stored string // under latest
		copies copies
		want   string
		expiry time.Time // of what is stored afterwards; zero: nothing is
	}{
		"late, fresh":                     {"", copies{{late, a}, {fresh, a}}, "Duplicate Inserted", fresh},
		"fresh, late":                     {"", copies{{fresh, a}, {late, a}}, "Inserted Duplicate", fresh},
		"the first expiry is stored":      {"", copies{{soon, a}, {fresh, a}}, "Inserted Duplicate", soon},
		"whichever it is":                 {"", copies{{fresh, a}, {soon, a}}, "Inserted Duplicate", fresh},
		"the first after a late one":      {"", copies{{late, a}, {soon, a}, {fresh, a}}, "Duplicate Inserted Duplicate", soon},
		"late, fresh and other":           {"", copies{{late, a}, {fresh, b}}, "Conflict Inserted", fresh},
		"late both":                       {"", copies{{late, a}, {late.Add(time.Second), a}}, "Expired Expired", time.Time{}},
		"late both and different":         {"", copies{{late, a}, {late, b}}, "Expired Expired", time.Time{}},
		"latest: late, fresh":             {five, copies{{late, seven}, {fresh, seven}}, "Duplicate Updated", fresh},
		"latest: fresh, late":             {five, copies{{fresh, seven}, {late, seven}}, "Updated Duplicate", fresh},
		"latest: late and newer":          {"", copies{{fresh, five}, {late, seven}}, "Inserted Expired", fresh},
		"latest: late and older":          {"", copies{{late, five}, {fresh, seven}}, "Stale Inserted", fresh},
		"latest: late, newer than stored": {five, copies{{late, seven}, {late, seven}}, "Expired Expired", soon},
	} {
		for _, many := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, many=%v", name, many), func(t *testing.T) {
				w := newWorld(t, withoutTime)
				if c.stored != "" {
					w.arrive(w.at(soon, c.stored))
				}
				var items events
				for _, one := range c.copies {
					items = append(items, w.at(one.at, one.body))
				}
				for i := 0; many && i < 10; i++ {
					items = append(items, w.order(fmt.Sprint(i), i))
				}
				results, _ := w.arrive(items...)
				must.Equal(t, verdicts(results[:len(c.copies)]), c.want)
				expiry, _ := w.stored("events", items[0].Key)["expiresAt"].(*types.AttributeValueMemberN)
				if (expiry == nil) != c.expiry.IsZero() || expiry != nil &&
					expiry.Value != fmt.Sprint(c.expiry.Add(90*24*time.Hour).Unix()) {
					t.Errorf("stored with expiry %v, want that of %s", expiry, c.expiry)
				}
			})
		}
	}
}

// The copy that is tried gets too late between two tries. That says nothing about the other copy.
func TestClockPassesOneCopy(t *testing.T) {
	for name, c := range map[string]struct{ stored, body, alone string }{
		"insert": {"", `{"type":"seen","id":"1"}`, "Inserted"},
		"latest": {`{"type":"place","id":"1","rev":5}`, `{"type":"place","id":"1","rev":7}`, "Updated"},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			w = newWorld(t, withoutTime, func(s *setup) {
				s.tables.Env.Sleep = func(context.Context, time.Duration) error { w.Clock.Pass(time.Hour); return nil }
			})
			if c.stored != "" {
				w.arrive(w.at(epoch, c.stored))
			}
			w.fails("PutItem", errThrottled)
			first, second := w.at(epoch.Add(-90*24*time.Hour+tables.ExpiryMargin+30*time.Minute), c.body), w.at(epoch, c.body)
			results, _ := w.arrive(first, second)
			if got := verdicts(results); got != "Expired Retry" ||
				!strings.Contains(results[1].Refusal.Detail, "another copy in the same batch was tried in its place") {
				t.Errorf("%s: %v", got, results[1].Refusal)
			}
			w.judges(c.alone, second)
		})
	}
}

// The copies of an event may come to one Put, or to one after the other: a batch with many parts or
// pointers is put in several rounds, and each message of a FIFO queue alone. What is stored is the
// same, and so is what goes to quarantine.
func TestCopiesInTwoPuts(t *testing.T) {
	copyOf := func(w *world, typ, last string) *event.Item {
		return w.item(fmt.Sprintf(`"type":%q`, typ), `"id":"1"`, `"at":"2099-03-01T10:00:00Z"`, `"pages":7`, `"text":"`+lorem+`"`,
			`"replies":[{"n":1,"text":"`+lorem+`"},{"n":2}]`, last)
	}
	const a, b = `"x":1`, `"x":2`
	for _, typ := range []string{"post", "vote", "thread", "digest"} {
		for name, c := range map[string]struct {
			erased bool
			copies []string
			want   string
		}{
			"equal":              {false, []string{a, a}, "Inserted Duplicate"},
			"different":          {false, []string{a, b}, "Inserted Conflict"},
			"different, then so": {false, []string{a, b, a, b}, "Inserted Conflict Duplicate Conflict"},
			"erased":             {true, []string{a, a, b}, "Duplicate Duplicate Duplicate"},
		} {
			var items [2]attrs
			for puts := range items {
				w := newWorld(t, posts)
				var all events
				for _, last := range c.copies {
					all = append(all, copyOf(w, typ, last))
				}
				if c.erased {
					_, err := w.erase(all[0].Key)
					must.Succeed(t, err)
				}
				var results []tables.Result
				if puts == 0 {
					results = w.putNow(all...)
				} else {
					for _, one := range all {
						results = append(results, w.putNow(one)...)
					}
				}
				must.Equal(t, verdicts(results), c.want)
				items[puts] = w.stored("events", all[0].Key)
				switch {
				case !c.erased:
					w.complete(typ+", "+name, all[:1], results[:1])
				case w.objects() != 0:
					t.Errorf("%s, %s: %d objects are left of an erased event", typ, name, w.objects())
				}
				w.agree(typ + ", " + name)
			}
			must.Match(t, items[0], items[1], typ, name)
		}
	}
}

// A Rejected event whose copy comes in a later Put is judged anew, as a delivery of its own: if the
// total has risen, the copy is stored. It counts once, and the letter of the first, sent again, is
// a Duplicate.
func TestCopyOfARejectedEventInALaterPut(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	out := func() *event.Item { return w.goods("reserved", "1", "a", 4) }
	got := verdicts(w.putNow(out())) + " " + verdicts(w.puts("received 1 a 5")) + " " + verdicts(w.putNow(out())) + " " +
		verdicts(w.putNow(out()))
	must.Equal(t, got, "Rejected Inserted Inserted Duplicate")
	w.agree("in the end")
}

// Copies follow a different payload under their key. A try of the first copy gets no answer, and
// then a total refuses it. The try may still be carried out, so the other copies are not Rejected
// either.
func TestCopyOfWhatMayStillBeStored(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 1 a 5")
	takes4 := func(in any) bool {
		put := in.(*dynamodb.TransactWriteItemsInput).TransactItems[0].Put
		return put != nil && strings.Contains(rows.TextOf(put.Item["data"]), `"quantity":4`)
	}
	w.faults = []fault{{API: "TransactWriteItems", Applies: takes4, Before: errLost,
		Run: func() { w.puts("reserved 2 a 4") }}}
	s := w.open(tables.Config{Env: w.Clock.Env(half)})
	other, out := w.goods("reserved", "1", "a", 9), w.goods("reserved", "1", "a", 4)
	later := *out // its time comes from its envelope, so it might move another total
	later.At = later.At.Add(time.Second)
	results, _ := s.Put(deadline(t), events{other, out, out, &later})
	must.Equal(t, verdicts(results), "Rejected Retry Retry Retry")
}

// A copy that comes from another source may move another total. It is tried even if that of the
// first copy has rejected the event.
func TestCopyOfARejectedEventFromElsewhere(t *testing.T) {
	w := newWorld(t, stocked, func(s *setup) {
		stock := s.Aggregates["stock"]
		stock.By = map[string]string{"source": "{@source}"}
		s.Aggregates["stock"] = stock
	})
	w.start()
	from := func(source, typ string, id, quantity int) *event.Item {
		item, err := w.plan.PlanEvent(w.eventFrom(source,
			fmt.Sprintf(`{"type":%q,"id":"%d","sku":"a","quantity":%d,"at":"2099-03-01T10:00:00Z"}`, typ, id, quantity)))
		must.Succeed(t, err)
		return item
	}
	w.keep(from("north", "received", 1, 1), from("south", "received", 2, 5))
	out := func(source string) *event.Item { return from(source, "reserved", 1, 4) }
	must.Equal(t, verdicts(w.putNow(out("north"), out("north"), out("south"), out("north"))), "Rejected Rejected Inserted Duplicate")
	w.agree("in the end")
}
