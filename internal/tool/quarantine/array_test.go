package quarantine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/store/repair"
)

func array(events ...string) string { return "[" + strings.Join(events, " , ") + "]" }

// array stores two gifts and brings an array into quarantine: a new gift, another payload of each
// of the two, and, with bad, an event of no type.
func (w *world) array(wrap func(string) string, bad ...string) *quarantine.Letter {
	w.t.Helper()
	w.send(body("gift", 1, "cents", 100), body("gift", 2, "cents", 200))
	w.send(wrap(array(append([]string{body("gift", 1, "cents", 101), body("gift", 3, "cents", 300), body("gift", 2, "cents", 202)},
		bad...)...)))
	list := w.pull()
	at := in(wrap)
	if len(list) != 1 || list[0].Note == nil ||
		!slices.Equal(list[0].Note.Events, []string{at + "[0]", at + "[2]", at + "[3]"}[:2+len(bad)]) {
		w.t.Fatalf("%+v", list)
	}
	return list[0]
}

// in returns where the array is in a message.
func in(wrap func(string) string) string {
	if strings.Contains(wrap("[]"), "deliveries") {
		return "deliveries[1].gifts"
	}
	return ""
}

// Events that are stored, in arrays of their own: before, beside and behind the others.
var (
	before = `{"gifts":[` + body("gift", 4, "cents", 1) + `]},`
	beside = body("gift", 5, "cents", 1)
	behind = `{"gifts":[` + body("gift", 6, "cents", 1) + `]}`
)

// inside puts a text inside an object, between arrays of events that are stored.
func inside(text string) string {
	return `{"deliveries":[` + before + `{"sent":"now","gifts":` + text + `,"more":[` + beside + `]}],"lists":[` + behind + `], "batch":7}`
}

func bare(text string) string { return text }

func notification(text string) string {
	return fmt.Sprintf(
		`{"Type" : "Notification","MessageId":"m","TopicArn":"arn:aws:sns:r:1:t","Message":%q,"Timestamp":"2030-01-02T03:00:00Z"}`, text)
}

// Of an array, only the events that could not be stored are examined and sent again, in the
// envelope in which they came. Their new message is an array too.
func TestResendOfAnArray(t *testing.T) {
	for name, wrap := range map[string]func(string) string{"bare": bare, "notification": notification, "inside": inside,
		"inside a notification": func(text string) string { return notification(inside(text)) }} {
		w := newWorld(t)
		const bad = `{"type":"loan","note":"a \" and \\ and \u00e9"}`
		l := w.array(wrap, bad)
		today := w.seen(l)
		if today.Verdict != event.Conflict || len(today.Events) != 3 || today.Events[2].Reason != event.UnknownType ||
			len(today.Events[1].Differences) != 1 || !strings.HasPrefix(today.Detail, "event "+in(wrap)+"[0] of the message: ") ||
			today.Events[1].Place != in(wrap)+"[2]" || today.Events[2].Place != in(wrap)+"[3]" {
			t.Errorf("%+v", today)
		}
		want := wrap("[" + body("gift", 1, "cents", 101) + "," + body("gift", 2, "cents", 202) + "," + bad + "]")
		for _, stored := range []string{before, beside, behind} {
			quoted := event.Quote(stored)
			want = strings.NewReplacer(stored, "", quoted[1:len(quoted)-1], "").Replace(want)
		}
		if sent := l.Sends(); sent != strings.Replace(want, `, "batch"`, `,"batch"`, 1) && !strings.HasSuffix(name, "notification") ||
			len(sent) > len(want)+2 {
			t.Errorf("it sends %s, want %s", l.Sends(), want)
		}
		stored, sent := event.Key{PK: "GIFT#3", SK: "-"}, event.Key{PK: "GIFT#2", SK: "-"}
		if keys := l.Keys(w.plan); !slices.Contains(keys, stored) || !slices.Contains(keys, sent) {
			t.Errorf("it does not know the keys of all events in the message: %v", keys)
		}
		before := w.data()
		w.must(w.work().Resend(t.Context(), w.hold(l)[0]))
		w.drain()
		again := slices.DeleteFunc(w.pull(), func(l *quarantine.Letter) bool { return !l.Open() })
		if len(again) != 1 || again[0].Note.Events[2] != strings.Replace(in(wrap), "1", "0", 1)+"[2]" || w.data() != before ||
			slices.Contains(again[0].Keys(w.plan), stored) {
			t.Fatalf("%+v", again)
		}
		w.proven()
	}
}

// Of an array, no event is replaced if one of them may not be.
func TestReplaceOfAnArrayIsRefused(t *testing.T) {
	for says, do := range map[string]func(*world, *quarantine.Letter){
		"event [2] of the message: the stored event was not shown yet: look at both": func(_ *world, l *quarantine.Letter) { l.Seen[1] = "" },
		"event [0] of the message: the stored event was not shown yet":               func(_ *world, l *quarantine.Letter) { l.Seen = nil },
		"event [2] of the message: its event was erased": func(w *world, _ *quarantine.Letter) {
			_, err := repair.Of(w.store).Erase(w.t.Context(), event.Key{PK: "GIFT#2", SK: "-"})
			w.must(err)
		},
	} {
		w := newWorld(t)
		l := w.array(bare)
		w.seen(l)
		do(w, l)
		w.refuses(l, says)
	}
}
