package quarantine_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// Today is the verdict that the function would give, with both payloads side by side.
func TestExamine(t *testing.T) {
	w := newWorld(t)
	w.send(body("sale", 1, "cents", 100, "who", map[string]any{"name": "A", "same": 1}, "gone", true),
		body("sale", 1, "cents", 250, "who", map[string]any{"name": "B", "same": 1}, "odd name", nil))
	today := w.seen(w.pull()[0])
	var got []string
	for _, d := range today.Differences {
		got = append(got, d.Name()+" "+d.Stored+" "+d.Message)
	}
	want := `cents 100 250, gone true , who.name "A" "B", ["odd name"]  null`
	if strings.Join(got, ", ") != want || today.Verdict != event.Conflict || today.Reason != event.DigestDiffers || !today.Asked {
		t.Errorf("%s %s: %s\nwant %s", today.Verdict, today.Reason, strings.Join(got, ", "), want)
	}
}

func TestReplaceOfARevision(t *testing.T) {
	w := newWorld(t)
	l := w.conflict("parcel")
	w.seen(l)
	w.must(w.work().Replace(t.Context(), w.hold(l)[0]))
	w.send(body("parcel", 1, "rev", 3, "weight", 99)) // an older revision, which comes just then
	if w.data() != l.Body || w.total("parcels") != "parcels 1, weight 1" {
		t.Errorf("stored %s, %s", w.data(), w.total("parcels"))
	}
	w.proven()
}

// A tool that stood still after it had judged that there was time signs its deletion too late: the
// totals might take it for an expiry. It is not sent. The clock of the world is the tool's, and the
// signature's is the machine's.
func TestReplaceSignedTooLate(t *testing.T) {
	for left, sent := range map[time.Duration]bool{tables.ExpiryMargin / 2: false, 10 * time.Hour: true} {
		w := newWorld(t)
		w.Clock.Set(time.Now().Add(-time.Hour))
		at := time.Now().UTC().Add(left - 30*24*time.Hour).Format(time.RFC3339)
		for _, cents := range []int{100, 250} {
			w.send(strings.Replace(body("sale", 1, "cents", cents), "2030-01-02T03:00:00Z", at, 1))
		}
		l := w.pull()[0]
		w.seen(l)
		server := httptest.NewServer(wire.New(w.Engine))
		work, held := w.work(), w.hold(l)[0]
		work.Env.Now = w.Clock.Now
		work.Events.Client = dynamodb.New(dynamodb.Options{Region: "eu-west-1", BaseEndpoint: &server.URL,
			Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
		err := work.Replace(t.Context(), held)
		server.Close()
		must.Equal(t, errors.Is(err, rows.ErrLate), !sent, err)
		must.Equal(t, strings.Contains(w.data(), "100"), !sent)
	}
}

// "The quarantined one is right": the stored events leave all totals, and the others come in, also
// in totals that keep what expires. The tool may die at every request, and an old event may come
// again at that moment. Nothing is lost, totals stay proven, and doing it again brings the right
// events in.
func TestReplaceSurvivesEveryCrash(t *testing.T) {
	lost := errors.New("the connection was lost")
	old, other := body("gift", 1, "cents", 100), body("gift", 2, "cents", 200)
	for kind, c := range map[string]struct {
		come   func(*world) *quarantine.Letter
		old    []string // what it replaces
		stored string
		sales  string
	}{
		"one": {func(w *world) *quarantine.Letter { return w.conflict("gift") }, []string{old}, body("gift", 1, "cents", 250),
			"cents 250, sales 1"},
		"array": {func(w *world) *quarantine.Letter { return w.array(bare) }, []string{old, other},
			body("gift", 1, "cents", 101) + " " + body("gift", 2, "cents", 202) + " " +
				body("gift", 3, "cents", 300), "cents 603, sales 3"},
	} {
		for at, api := range map[string]string{"first": "DeleteItem", "second": "DeleteItem",
			"sent": "SendMessage", "gone": "DeleteMessage"} {
			if kind == "one" && at == "second" {
				continue
			}
			for name, fault := range map[string]testworld.Fault{"before": {Before: lost}, "after": {Kill: true},
				"answer lost": {After: lost}} {
				for _, again := range []bool{false, true} { // the old event is delivered again
					t.Run(strings.Join([]string{kind, at, name}, " "), func(t *testing.T) {
						w := newWorld(t)
						l := c.come(w)
						w.seen(l)
						w.hold(l)
						met := 0
						fault.API, fault.Applies = api, func(any) bool { met++; return met == 2 || at != "second" }
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
						kept := w.data()
						for _, r := range saved.Replaced {
							kept += r.Data
						}
						for _, event := range c.old {
							must.Say(t, kept, event)
						}
						// Pull and replace until it is right. There may be a second copy by now.
						for round := 0; w.data() != c.stored || w.depth(w.Quarantine) > 0; round++ {
							if round > 5 {
								t.Fatalf("it never ends; stored %s", w.data())
							}
							w.Clock.Pass(time.Hour)
							for _, l := range w.pull() {
								if !l.Open() || w.depth(w.Quarantine) == 0 {
									continue
								}
								w.seen(l)
								do := w.work().Replace
								if l.Body == old { // now the old event is the one in conflict
									do = w.work().Drop
								}
								ready, _ := w.work().Hold(t.Context(), []*quarantine.Letter{l})
								for _, l := range ready {
									w.must(do(t.Context(), l))
								}
							}
							w.drain()
						}
						must.Equal(t, w.total("sales"), c.sales)
						w.proven()
						if saved, err = w.dir.Find(l.ID); err != nil || len(saved.Replaced) != len(c.old) {
							t.Errorf("the file keeps %d of the %d events that were deleted, %v", len(saved.Replaced), len(c.old), err)
						}
					})
				}
			}
		}
	}
}

// Replacing deletes only what a person has seen, and only for a message that is stored afterwards.
func TestReplaceIsRefused(t *testing.T) {
	key := event.Key{PK: "SALE#1", SK: "-"}
	erase := func(w *world) {
		_, err := repair.Of(w.store).Erase(w.t.Context(), key)
		w.must(err)
	}
	replace := func(w *world) {
		w.remove(key)
		w.send(body("sale", 1, "cents", 300))
	}
	meanwhile := func(do func(*world)) func(*world, *quarantine.Letter) {
		return func(w *world, _ *quarantine.Letter) {
			w.faults = testworld.Faults{{API: "DeleteItem", Run: func() {
				w.faults = nil
				do(w)
			}}}
		}
	}
	edit := func(text, by string) func(*world, *quarantine.Letter) {
		return func(w *world, l *quarantine.Letter) {
			l.Edit(strings.Replace(l.Body, text, by, 1))
			w.seen(l)
		}
	}
	for name, c := range map[string]struct {
		typ    string
		change func(w *world, l *quarantine.Letter)
		want   string
	}{
		"nobody has looked":             {"sale", func(_ *world, l *quarantine.Letter) { l.Seen = nil }, "not shown yet"},
		"somebody else has replaced it": {"sale", func(w *world, _ *quarantine.Letter) { replace(w) }, "another event is stored"},
		"it is erased":                  {"sale", func(w *world, _ *quarantine.Letter) { erase(w) }, "barred"},

		"it is replaced between the look and the deletion": {"sale", meanwhile(replace), "in the meantime"},
		"it is erased between the look and the deletion":   {"sale", meanwhile(erase), "in the meantime"},
		"it comes with another expiry meanwhile":           {"sale", meanwhile(func(w *world) { w.expires(key) }), "in the meantime"},
		"it comes with an expiry meanwhile, and had none": {"gift",
			meanwhile(func(w *world) { w.expires(event.Key{PK: "GIFT#1", SK: "-"}) }), "in the meantime"},

		"both have nearly expired": {"sale", func(w *world, _ *quarantine.Letter) {
			w.Clock.Set(start.Add(30*24*time.Hour - 5*time.Minute))
		}, "expire"},
		"both have expired": {"sale", func(w *world, _ *quarantine.Letter) { w.Clock.Set(start.Add(31 * 24 * time.Hour)) }, "expire"},
		"the stored one alone": {"sale", func(w *world, l *quarantine.Letter) {
			edit("2030-01-02", "2030-01-20")(w, l)
			w.Clock.Set(start.Add(30*24*time.Hour - 5*time.Minute))
		}, "the stored event expires within ten minutes"},
		"the message alone": {"sale", edit("2030-01-02T03:00", "2029-12-03T03:05"), "and would not be stored"},

		"a newer revision": {"parcel", func(w *world, _ *quarantine.Letter) { w.send(body("parcel", 1, "rev", 9, "weight", 1)) },
			"newer revision"},
		"the message is Poison": {"sale", edit(`"at"`, `"on"`), "missing-field"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.clash(c.typ)
			w.seen(l)
			c.change(w, l)
			var refused *quarantine.Refused
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
	w.refuses(list[1], "another event is stored")
	if w.data() != list[0].Body || !strings.HasSuffix(w.total("sales"), "00, sales 1") {
		t.Errorf("stored %s, sales %s", w.data(), w.total("sales"))
	}
	w.proven()
}
