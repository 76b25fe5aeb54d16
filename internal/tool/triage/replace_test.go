package triage_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/triage"
	"github.com/ingot-events/ingot/store/repair"
)

// Today is the verdict that the function would give, with both payloads side by side.
func TestExamine(t *testing.T) {
	w := newWorld(t)
	w.send(body("sale", 1, "cents", 100, "who", map[string]any{"name": "A", "same": 1}, "gone", true),
		body("sale", 1, "cents", 250, "who", map[string]any{"name": "B", "same": 1}, "odd name", nil))
	l := w.pull()[0]
	today := w.seen(l)
	var got []string
	for _, d := range today.Differences {
		got = append(got, d.Name()+" "+d.Stored+" "+d.Message)
	}
	want := `cents 100 250, gone true , who.name "A" "B", ["odd name"]  null`
	if strings.Join(got, ", ") != want || today.Verdict != event.Conflict || today.Reason != event.DigestDiffers || !today.Asked {
		t.Errorf("%s %s: %s\nwant %s", today.Verdict, today.Reason, strings.Join(got, ", "), want)
	}
	w.send(`{"type":"other"}`, `{"type":"sale","id":5}`)
	for _, other := range w.pull() {
		if other.ID == l.ID {
			continue
		}
		l := other
		today := w.seen(l)
		if today.Verdict.String() != l.Note.Verdict || string(today.Reason) != l.Note.Reason || today.Detail != l.Note.Detail ||
			today.Item != nil {
			t.Errorf("%+v, the note says %+v", today, l.Note)
		}
	}
}

// "The quarantined one is right": the stored event leaves all totals, and the other one comes in,
// also in totals that keep what expires.
func TestReplace(t *testing.T) {
	for typ, want := range map[string]string{
		"sale": "cents 250, sales 1",
		"gift": "cents 250, sales 1",
	} {
		t.Run(typ, func(t *testing.T) {
			w := newWorld(t)
			l := w.conflict(typ)
			today := w.seen(l)
			w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
			if w.data() != "" {
				t.Errorf("stored: %s", w.data())
			}
			w.drain()
			if w.data() != l.Body || w.total("sales") != want || w.depth(w.Quarantine) != 0 {
				t.Errorf("stored %s, sales: %s", w.data(), w.total("sales"))
			}
			// A largest value cannot be taken back: its total says so, and Flagged said so before.
			if flagged := w.total("best") != ""; flagged != (len(triage.Flagged(w.work().Events.Examiner, today.Stored)) > 0) ||
				flagged && w.total("best") != "best 250, flagged" {
				t.Errorf("best: %s", w.total("best"))
			}
			saved, err := w.dir.Find(l.ID)
			w.must(err)
			if len(saved.Replaced) != 1 || saved.Replaced[0].Data != body(typ, 1, "cents", 100) || saved.State() != "resent" {
				t.Errorf("%+v", saved)
			}
			w.proven()
		})
	}
}

func TestReplaceOfARevision(t *testing.T) {
	w := newWorld(t)
	w.send(body("parcel", 1, "rev", 4, "weight", 10), body("parcel", 1, "rev", 4, "weight", 12))
	l := w.pull()[0]
	w.seen(l)
	w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
	w.send(body("parcel", 1, "rev", 3, "weight", 99)) // an older revision, which comes just then
	if w.data() != l.Body || w.total("parcels") != "parcels 1, weight 12" {
		t.Errorf("stored %s, %s", w.data(), w.total("parcels"))
	}
	w.proven()
}

// A replacement may die at every request, and the old event may come again at every moment. Nothing
// is lost, totals stay proven, and doing it again brings the right event in.
func TestReplaceSurvivesEveryCrash(t *testing.T) {
	lost := errors.New("the connection was lost")
	for _, api := range []string{"DeleteItem", "SendMessage", "DeleteMessage"} {
		for name, fault := range map[string]testworld.Fault{"before": {Before: lost}, "after": {Kill: true}, "answer lost": {After: lost}} {
			for _, again := range []bool{false, true} { // the old event is delivered again
				t.Run(api+" "+name, func(t *testing.T) {
					w := newWorld(t)
					old := body("gift", 1, "cents", 100)
					l := w.conflict("gift")
					w.seen(l)
					w.hold(l)
					fault.API = api
					w.faults = testworld.Faults{fault}
					if fault.Kill {
						killed(t, func() { _ = w.work().Replace(t.Context(), l) })
					} else if err := w.work().Replace(t.Context(), l); err == nil {
						t.Error("it says that all is well")
					}
					w.faults = nil
					if again {
						w.send(old)
					}
					w.drain()
					w.proven()
					saved, err := w.dir.Find(l.ID)
					w.must(err)
					if !strings.Contains(w.data(), "100") && (len(saved.Replaced) != 1 || saved.Replaced[0].Data != old) {
						t.Error("the old event is lost")
					}
					// Until it is right, pull and replace again. There may be a second copy by now.
					for round := 0; ; round++ {
						w.Clock.Pass(time.Hour)
						w.drain()
						w.pull()
						left := 0
						for _, l := range w.list() {
							if !l.Open() || w.depth(w.Quarantine) == 0 {
								continue
							}
							left++
							w.seen(l)
							ready, _ := w.work().Hold(t.Context(), []*triage.Letter{l})
							for _, l := range ready {
								if strings.Contains(l.Body, "250") {
									w.must(w.work().Replace(t.Context(), l))
								} else {
									w.must(w.work().Drop(t.Context(), l)) // the old event, now the one in conflict
								}
							}
						}
						if left == 0 {
							break
						}
						if round > 5 {
							t.Fatal("it never ends")
						}
					}
					w.drain()
					if w.data() != l.Body || !strings.HasPrefix(w.total("sales"), "cents 250, sales 1") || w.depth(w.Quarantine) != 0 {
						t.Errorf("stored %s, sales: %s, %d in quarantine", w.data(), w.total("sales"), w.depth(w.Quarantine))
					}
					w.proven()
				})
			}
		}
	}
}

// Replacing deletes only what a person has seen, and only for a message that is stored afterwards.
func TestReplaceIsRefused(t *testing.T) {
	expiresLater := func(w *world, l *triage.Letter) {
		key := w.seen(l).Stored.Key
		w.faults = testworld.Faults{{API: "DeleteItem", Run: func() {
			w.faults = nil
			w.expires(key)
		}}}
	}
	for name, c := range map[string]struct {
		typ    string
		change func(w *world, l *triage.Letter)
		want   string
	}{
		"nobody has looked": {"sale", func(w *world, l *triage.Letter) { l.Seen = nil }, "not shown yet"},
		"somebody else has replaced it": {"sale", func(w *world, l *triage.Letter) {
			w.remove(w.seen(l).Stored.Key)
			w.send(body("sale", 1, "cents", 300))
		}, "another event is stored"},
		"it is replaced between the look and the deletion": {"sale", func(w *world, l *triage.Letter) {
			key := w.seen(l).Stored.Key
			w.faults = testworld.Faults{{API: "DeleteItem", Run: func() {
				w.faults = nil
				w.remove(key)
				w.send(body("sale", 1, "cents", 300))
			}}}
		}, "in the meantime"},
		"it comes with another expiry meanwhile":          {"sale", expiresLater, "in the meantime"},
		"it comes with an expiry meanwhile, and had none": {"gift", expiresLater, "in the meantime"},
		"it is erased": {"sale", func(w *world, l *triage.Letter) {
			_, err := repair.Of(w.store).Erase(w.t.Context(), w.seen(l).Stored.Key)
			w.must(err)
		}, "barred"},
		"it is erased between the look and the deletion": {"sale", func(w *world, l *triage.Letter) {
			key := w.seen(l).Stored.Key
			w.faults = testworld.Faults{{API: "DeleteItem", Run: func() {
				w.faults = nil
				_, err := repair.Of(w.store).Erase(w.t.Context(), key)
				w.must(err)
			}}}
		}, "in the meantime"},
		"the stored one has nearly expired": {"sale", func(w *world, l *triage.Letter) {
			w.Clock.Set(start.Add(30*24*time.Hour - 50*time.Minute))
		}, "expire"},
		"the stored one has expired": {"sale", func(w *world, l *triage.Letter) {
			w.Clock.Set(start.Add(31 * 24 * time.Hour))
		}, "expire"},
		"the stored one has nearly expired, and the other one has not": {"sale", func(w *world, l *triage.Letter) {
			original := l.Body
			l.Original, l.Body = &original, strings.Replace(l.Body, "2030-01-02", "2030-01-20", 1)
			w.seen(l)
			w.Clock.Set(start.Add(30*24*time.Hour - 50*time.Minute))
		}, "the stored event expires within the hour"},
		"a newer revision": {"parcel", func(w *world, l *triage.Letter) {
			w.send(body("parcel", 1, "cents", 1, "rev", 9, "weight", 1))
		}, "newer revision"},
		"the message is Poison": {"sale", func(w *world, l *triage.Letter) {
			original := l.Body
			l.Original, l.Body = &original, `{"type":"sale","id":1}`
		}, "missing-field"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var l *triage.Letter
			if c.typ == "parcel" {
				w.send(body("parcel", 1, "rev", 4, "weight", 10), body("parcel", 1, "rev", 4, "weight", 12))
				l = w.pull()[0]
			} else {
				l = w.conflict(c.typ)
			}
			w.hold(l)
			w.seen(l)
			c.change(w, l)
			var refused *triage.Refused
			before := w.data()
			err := w.work().Replace(t.Context(), l)
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if w.depth(w.Quarantine) != 1 || len(w.faults) > 0 || !strings.Contains(name, "between") && w.data() != before {
				t.Errorf("%d in quarantine, stored %s", w.depth(w.Quarantine), w.data())
			}
			if saved, _ := w.dir.Find(l.ID); len(saved.Replaced) != 0 {
				t.Error("the file says that something was replaced")
			}
			if !strings.Contains(name, "expired") {
				w.drain()
				w.proven()
			}
		})
	}
}

// Two people find different messages right for one event. The second one is told that the stored
// event is not the one that was shown.
func TestTwoPeopleReplaceOneEvent(t *testing.T) {
	w := newWorld(t)
	w.send(body("sale", 1, "cents", 100), body("sale", 1, "cents", 200), body("sale", 1, "cents", 300))
	list := w.pull()
	w.hold(list...)
	w.seen(list[0])
	w.seen(list[1])
	w.must(w.work().Replace(t.Context(), list[0]))
	// Before the first one's message is stored, the key is free: the second one is simply sent, and
	// the later of the two comes back as a Conflict.
	w.drain()
	var refused *triage.Refused
	if err := w.work().Replace(t.Context(), list[1]); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	w.drain()
	if w.data() != list[0].Body || !strings.HasSuffix(w.total("sales"), "00, sales 1") || w.depth(w.Quarantine) != 1 {
		t.Errorf("stored %s, sales %s", w.data(), w.total("sales"))
	}
	w.proven()
}
