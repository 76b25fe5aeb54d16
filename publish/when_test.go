package publish_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	official "github.com/cloudevents/sdk-go/v2/event"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/publish"
)

// asking returns a publish.yaml with one publication of a type that says this too.
func asking(typ, rest string) string {
	return "publish: 1\nsource: shop\npublications:\n  some: {from: [" + typ + "], on: [stored, changed, removed], " + rest +
		`, to: "arn:aws:sqs:eu-west-1:000000000000:next.fifo"}` + "\n"
}

// What does not meet when is not sent, and is done. What is removed is sent all the same.
func TestWhen(t *testing.T) {
	for when, want := range map[string][]string{
		`changed(note)`:                     {"changed 3", "removed 0", "stored 1"},
		`not changed(note)`:                 {"changed 2", "removed 0"},
		`before(note) = "x" and note = "y"`: {"changed 3", "removed 0"},
		`version >= 2`:                      {"changed 2", "changed 3", "removed 0"},
		`exists before(note)`:               {"changed 2", "changed 3", "removed 0"},
		`note = "z"`:                        {"removed 0"},
		`number(before(version)) = 2`:       {"changed 3", "removed 0"},
	} {
		w := newWorld(t)
		w.publishes(asking("order", "when: '"+when+"'"))
		for n, note := range []string{"x", "x", "y"} {
			w.put(body("a", n+1, note))
		}
		w.delete("a")
		w.poll()
		var got []string
		for _, says := range w.says() {
			change := strings.Fields(says)
			got = append(got, change[0]+" "+change[len(change)-1])
		}
		if !slices.Equal(got, want) || len(w.response.BatchItemFailures) != 0 || !w.stream.Drained() {
			t.Errorf("%s: %q, want %q, %+v", when, got, want, w.response)
		}
	}
}

// A payload in the payload bucket is asked whole. One that the target does not take is not read,
// and cannot be judged, so it is sent. So is one that is not JSON.
func TestWhenOfWhatIsNotInTheItem(t *testing.T) {
	w := newWorld(t)
	w.publishes(asking("report, order", `when: 'other = "yes"'`))
	long := strings.Repeat("x", 2000)
	w.put(report("a", long), strings.Replace(report("b", long), `"note"`, `"other":"yes","note"`, 1))
	w.poll()
	w.want("stored b 0")
	w.largest = 1500
	w.open(w.StoreConfig(w.store.Config().Pipeline))
	w.put(report("c", long), report("d", "short"))
	w.poll()
	w.want("stored REPORT#c 0")
	w.sent = nil
	odd := strings.Replace(good, `"data":{"S":"{}"}`, `"data":{"S":"{"}`, 1)
	if _, err := w.publisher.Handle(t.Context(), json.RawMessage(records(odd, good))); err != nil || len(w.sent) != 1 {
		t.Errorf("%v, %d are sent", err, len(w.sent))
	}
}

// The message of what is changed has the payload before it, as a text, so that it is a CloudEvent.
// That is left out first if the target does not take both. Nothing else has one.
func TestBefore(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 400)
	for _, c := range []struct {
		largest, pointers int
		before, data      bool
	}{{1 << 20, 0, true, true}, {1200, 1, false, true}, {800, 1, false, false}} {
		w.largest = c.largest
		w.publishes(asking("order", "before: true"))
		first := body("a", 1, `"`+"\uffff"+long)
		w.put(first)
		w.put(body("a", 2, long))
		w.delete("a")
		w.poll()
		for _, m := range w.sent {
			var e official.Event
			must.Succeed(t, e.UnmarshalJSON([]byte(m.Body)))
			before, has := e.Extensions()["before"]
			changed := m.Change == publish.Changed
			if has != (c.before && changed) || has && before != first || changed && (e.Data() != nil) != c.data {
				t.Errorf("of %d bytes: %s", c.largest, m.Body)
			}
		}
		if len(w.sent) != 3 || w.done.Pointers < c.pointers || c.pointers == 0 && w.done.Pointers != 0 {
			t.Errorf("of %d bytes: %q, %+v", c.largest, w.says(), w.done)
		}
	}
}

// Nobody knows the version before what is published again: it is sent if it may meet when.
func TestWhenAgain(t *testing.T) {
	for when, want := range map[string]int{`changed(note)`: 2, `not changed(note)`: 2, `before(note) = "q" and version = 1`: 1,
		`version = 1 and not before(note) = "q"`: 1, `version = 3`: 0} {
		w := newWorld(t)
		w.publishes(asking("order", "before: true, when: '"+when+"'"))
		w.put(body("a", 1, "x"), body("b", 1, "x"))
		w.put(body("a", 2, "x"))
		sent, _, err := w.publisher.Again(t.Context(), start, nil, nil)
		if err != nil || sent != want || strings.Contains(fmt.Sprint(w.sent), "before") {
			t.Errorf("%s: %d, %v, %q", when, sent, err, w.says())
		}
	}
}

// While a target refuses at random and batches come again, of each key exactly those versions are
// sent that a naive reader of its history sends, in their order.
func TestWhenAgainstANaiveTwin(t *testing.T) {
	type version struct {
		number    int
		note, was string
	}
	twins := map[string]func(version) bool{
		`changed(note)`:                               func(v version) bool { return v.note != v.was },
		`before(note) = "x" or note = "z"`:            func(v version) bool { return v.was == "x" || v.note == "z" },
		`not (changed(note) and exists before(note))`: func(v version) bool { return v.was == "" || v.note == v.was },
	}
	for when, wants := range twins {
		r := rand.New(rand.NewPCG(replay.Seed(t, 1), 0))
		w := newWorld(t)
		w.publishes(asking("order", "before: true, when: '"+when+"'"))
		want, got, last := map[string][]int{}, map[string][]int{}, map[string]version{}
		w.refuse = func(m publish.Message) error {
			if r.IntN(3) == 0 {
				return errors.New("it is full")
			}
			var e struct {
				Data struct {
					Order   string
					Version int
				}
				Before string
			}
			must.Succeed(t, json.Unmarshal([]byte(m.Body), &e))
			if !slices.Contains(got[e.Data.Order], e.Data.Version) { // else it comes again
				got[e.Data.Order] = append(got[e.Data.Order], e.Data.Version)
			}
			if e.Data.Version > 1 && !strings.Contains(e.Before, fmt.Sprintf(`"version":%d,`, e.Data.Version-1)) {
				t.Errorf("before version %d: %s", e.Data.Version, e.Before)
			}
			return nil
		}
		for range 120 {
			key := fmt.Sprint("o", r.IntN(4))
			v := version{last[key].number + 1, string("xyz"[r.IntN(3)]), last[key].note}
			w.put(body(key, v.number, v.note))
			if last[key] = v; wants(v) {
				want[key] = append(want[key], v.number)
			}
			if r.IntN(10) == 0 {
				w.poll()
			}
		}
		for range 100 {
			w.poll()
		}
		if !w.stream.Drained() || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: sent %v, want %v", when, got, want)
		}
	}
}
