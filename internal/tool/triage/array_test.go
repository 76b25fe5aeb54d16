package triage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/triage"
	"github.com/ingot-events/ingot/store/repair"
)

func array(events ...string) string { return "[" + strings.Join(events, " , ") + "]" }

// array stores two gifts and brings an array into quarantine: a new gift, another payload of each
// of the two, and, with bad, an event of no type.
func (w *world) array(wrap func(string) string, bad ...string) *triage.Letter {
	w.t.Helper()
	w.send(body("gift", 1, "cents", 100), body("gift", 2, "cents", 200))
	w.send(wrap(array(append([]string{body("gift", 1, "cents", 101), body("gift", 3, "cents", 300), body("gift", 2, "cents", 202)},
		bad...)...)))
	list := w.pull()
	if len(list) != 1 || list[0].Note == nil || !slices.Equal(list[0].Note.Events, []int{0, 2, 3}[:2+len(bad)]) {
		w.t.Fatalf("%+v", list)
	}
	return list[0]
}

func bare(text string) string { return text }

func notification(text string) string {
	return fmt.Sprintf(
		`{"Type" : "Notification","MessageId":"m","TopicArn":"arn:aws:sns:r:1:t","Message":%q,"Timestamp":"2030-01-02T03:00:00Z"}`, text)
}

// Of an array, only the events that could not be stored are examined and sent again, in the
// envelope in which they came. Their new message is an array too.
func TestResendOfAnArray(t *testing.T) {
	for name, wrap := range map[string]func(string) string{"bare": bare, "notification": notification} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.array(wrap, `{"type":"loan","note":"a \" and \\ and \u00e9"}`)
			today := w.seen(l)
			if today.Verdict != event.Conflict || len(today.Events) != 3 || today.Events[2].Reason != event.UnknownType ||
				today.Events[0].Stored == nil || !strings.HasPrefix(today.Detail, "event [0] of the array: ") {
				t.Errorf("%+v", today)
			}
			if got := len(today.Events[1].Differences); got != 1 {
				t.Errorf("%d differences", got)
			}
			kept := array(body("gift", 1, "cents", 101), body("gift", 2, "cents", 202), `{"type":"loan","note":"a \" and \\ and \u00e9"}`)
			if want := wrap(strings.ReplaceAll(kept, " , ", ",")); l.Sends() != want && name == "bare" || len(l.Sends()) > len(want)+2 {
				t.Errorf("it sends %s, want %s", l.Sends(), want)
			}
			for i, want := range []int{0, 2, 3} {
				if l.Positions()[i] != want {
					t.Errorf("positions %v", l.Positions())
				}
			}
			key := event.Key{PK: "GIFT#3", SK: "-"}
			if keys := l.Keys(w.plan); !slices.Contains(keys, key) || !slices.Contains(keys, event.Key{PK: "GIFT#2", SK: "-"}) ||
				slices.Contains(keys, event.Key{PK: "GIFT#4", SK: "-"}) {
				t.Error("it does not know the keys of all events in the message")
			}
			before := w.data()
			w.must(w.work().Resend(t.Context(), w.hold(l)[0]))
			w.drain()
			again := slices.DeleteFunc(w.pull(), func(l *triage.Letter) bool { return !l.Open() })
			if len(again) != 1 || !slices.Equal(again[0].Note.Events, []int{0, 1, 2}) || w.data() != before {
				t.Fatalf("%+v", again)
			}
			if slices.Contains(again[0].Keys(w.plan), key) {
				t.Error("an event that is stored was sent again")
			}
			w.proven()
		})
	}
}

// An edited array is sent as it was edited.
func TestEditedArray(t *testing.T) {
	w := newWorld(t)
	l := w.array(bare)
	original, text := l.Body, array(body("gift", 4, "cents", 4))
	l.Original, l.Body = &original, text
	w.must(w.dir.Save(l))
	if l.Sends() != text || l.Positions() != nil {
		t.Errorf("it sends %s", l.Sends())
	}
	w.must(w.work().Resend(t.Context(), w.hold(l)[0]))
	w.drain()
	if !strings.Contains(w.data(), `"id":4`) {
		t.Errorf("stored: %s", w.data())
	}
}

// Replacing works on every event of the array in whose place another one is stored, and on none if
// one of them may not be replaced.
func TestReplaceOfAnArray(t *testing.T) {
	w := newWorld(t)
	l := w.array(bare)
	w.seen(l)
	w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
	w.drain()
	want := body("gift", 1, "cents", 101) + " " + body("gift", 2, "cents", 202) + " " + body("gift", 3, "cents", 300)
	if w.data() != want || w.total("sales") != "cents 603, sales 3" || w.depth(w.Quarantine) != 0 {
		t.Errorf("stored %s, sales: %s, %d in quarantine", w.data(), w.total("sales"), w.depth(w.Quarantine))
	}
	saved, err := w.dir.Find(l.ID)
	w.must(err)
	if len(saved.Replaced) != 2 || saved.Replaced[0].Data != body("gift", 1, "cents", 100) ||
		saved.Replaced[1].Data != body("gift", 2, "cents", 200) {
		t.Errorf("%+v", saved.Replaced)
	}

	for name, c := range map[string]struct {
		bad  []string
		do   func(*world, *triage.Letter)
		says string
	}{
		"one was not shown": {nil, func(_ *world, l *triage.Letter) {
			l.Seen[1] = ""
		}, "event [2] of the array: the stored event was not shown yet: look at both with ingot quarantine show first"},
		"nothing was shown": {nil, func(_ *world, l *triage.Letter) {
			l.Seen = nil
		}, "event [0] of the array: the stored event was not shown yet"},
		"another one is bad": {[]string{`{"type":"loan"}`}, nil, "event [3] of the array: it would be Poison (unknown-type)"},
		"one is erased": {nil, func(w *world, _ *triage.Letter) {
			_, err := repair.Of(w.store).Erase(w.t.Context(), event.Key{PK: "GIFT#2", SK: "-"})
			w.must(err)
		}, "event [2] of the array: its event was erased"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.array(bare, c.bad...)
			w.seen(l)
			if c.do != nil {
				c.do(w, l)
			}
			before := w.data()
			err := w.work().Replace(t.Context(), w.hold(l)[0])
			var refused *triage.Refused
			if !errors.As(err, &refused) || !strings.HasPrefix(refused.Error(), c.says) || w.data() != before || w.depth(w.Queue) != 0 {
				t.Errorf("%v; stored %s", err, w.data())
			}
		})
	}
}

// A replacement of several events may die at every request. Nothing is lost, and doing it again
// brings all of them in.
func TestReplaceOfAnArraySurvivesEveryCrash(t *testing.T) {
	lost := errors.New("the connection was lost")
	want := body("gift", 1, "cents", 101) + " " + body("gift", 2, "cents", 202) + " " + body("gift", 3, "cents", 300)
	for _, api := range []string{"DeleteItem", "SendMessage", "DeleteMessage"} {
		for _, nth := range []int{1, 2} {
			if nth == 2 && api != "DeleteItem" {
				continue
			}
			for name, fault := range map[string]testworld.Fault{"before": {Before: lost}, "after": {Kill: true},
				"answer lost": {After: lost}} {
				t.Run(fmt.Sprint(api, nth, name), func(t *testing.T) {
					w := newWorld(t)
					l := w.array(bare)
					w.seen(l)
					w.hold(l)
					met := 0
					fault.API, fault.Applies = api, func(any) bool { met++; return met == nth }
					w.faults = testworld.Faults{fault}
					if fault.Kill {
						killed(t, func() { _ = w.work().Replace(t.Context(), l) })
					} else if err := w.work().Replace(t.Context(), l); err == nil {
						t.Error("it says that all is well")
					}
					w.faults = nil
					for round := 0; w.data() != want || w.depth(w.Quarantine) > 0; round++ {
						if round > 5 {
							t.Fatalf("it never ends; stored %s", w.data())
						}
						w.Clock.Pass(time.Hour)
						w.drain()
						w.proven()
						w.pull()
						for _, l := range w.list() {
							if !l.Open() || w.depth(w.Quarantine) == 0 {
								continue
							}
							w.seen(l)
							ready, _ := w.work().Hold(t.Context(), []*triage.Letter{l})
							for _, l := range ready {
								w.must(w.work().Replace(t.Context(), l))
							}
						}
						w.drain()
					}
					w.proven()
					saved, err := w.dir.Find(l.ID)
					w.must(err)
					if len(saved.Replaced) != 2 {
						t.Errorf("the file keeps %d of the two events that were deleted", len(saved.Replaced))
					}
				})
			}
		}
	}
}
