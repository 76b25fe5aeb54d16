package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// trips adds a whole with stops, the last visit of its device, and the last stop at each place.
// The latter two are states.
func trips(s *setup) {
	adds(&s.Spec, `
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: VISIT}, retain: 90d, ignore: [trace]}
  stop: {part: {of: visit, each: stops, with: [id]}, id: "{id}#{@index}", key: {pk: "VISIT#{id}", sk: "STOP#{@index}"}}
  device:
    {part: {of: visit, with: [device, n, color]}, id: "{device}", key: {pk: "DEVICE#{device}", sk: LAST},
     mode: latest, revision: n number}
  place:
    {part: {of: visit, each: stops, with: [id]}, id: "{place}", key: {pk: "PLACE#{place}", sk: LAST},
     mode: latest, revision: n number}
aggregates:
  colors: {since: 1, by: {color: "{color}"}, onExpire: subtract, from: {device: {values: {devices: count}}}}
`)
}

// together makes the trips atomic.
func together(s *setup) {
	trips(s)
	ofType("visit", func(e *pipeline.EventSpec) { e.Atomic = true })(&s.Spec)
}

// moving makes the trips atomic, together with a total that moves with the put.
func moving(s *setup) {
	together(s)
	adds(&s.Spec, `aggregates: {visits: {since: 1, movedBy: put, from: {visit: {values: {visits: count}}}}}`)
}

// inTurn makes a store send its requests in turn, so that a run depends on its seed alone.
func inTurn(s *setup) {
	s.tables.Env.Group = func() env.Group { return inline{} }
}

// visit returns a visit of device d as its n-th version. Stops are pairs of a place and its
// version.
func (w *world) visit(id, at string, n int, stops ...any) *event.Item {
	var list []string
	for i := 0; i < len(stops); i += 2 {
		list = append(list, fmt.Sprintf(`{"place":%q,"n":%d}`, stops[i], stops[i+1]))
	}
	return w.item(`"type":"visit"`, fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"at":"2099-03-01T%s:00Z"`, at),
		`"device":"d"`, `"color":"red"`, fmt.Sprintf(`"n":%d`, n), `"stops":[`+strings.Join(list, ",")+`]`)
}

// visitOf returns the visit v as a pipeline plans it.
func (w *world) visitOf(p *pipeline.Pipeline, stops string, more ...string) *event.Item {
	return w.itemOf(p, append([]string{`"type":"visit"`, `"id":"v"`, `"at":"2099-03-01T10:00:00Z"`, `"device":"d"`, `"color":"red"`,
		`"n":1`, `"stops":[` + stops + `]`}, more...)...)
}

var deviceKey = under("DEVICE#d", "LAST")

func placeKey(name string) event.Key { return under("PLACE#"+name, "LAST") }

// holds fails unless the state under a key is that of the event with this id. Empty: there is none.
func (w *world) holds(key event.Key, id string) {
	w.t.Helper()
	if got := w.author(key); got != id {
		w.t.Errorf("%s holds the state of %q, want %q", key, got, id)
	}
}

// author returns the id of the event whose state is stored under a key.
func (w *world) author(key event.Key) string {
	_, id, _ := strings.Cut(strings.TrimPrefix(show(w.stored("events", key)["i:revision"]), "S "), ",")
	return id
}

// Of all states under a key, the one with the greatest revision is kept, in any order of arrival:
// of equal ones that of the later event, and of equally late ones that with the greater id.
func TestPutStates(t *testing.T) {
	for name, olderAndNewer := range map[string]string{
		"revision": "visit z 11:00 9, visit a 10:00 10",
		"time":     "visit z 10:00 9, visit a 11:00 9",
		"id":       "visit a 10:00 9, visit a! 10:00 9",
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 8 {
				oneBatch, newerFirst, declared := n&1 > 0, n&2 > 0, trips
				if n&4 > 0 {
					declared = together
				}
				w := newWorld(t, declared)
				list := w.events(olderAndNewer)
				newer := list[1]
				if newerFirst {
					slices.Reverse(list)
				}
				var got string
				if oneBatch {
					got = w.judged(list...)
				} else {
					got = w.judged(list[0]) + " " + w.judged(list[1])
				}
				if again := w.judged(list...); got != "Inserted Inserted" || again != "Duplicate Duplicate" {
					t.Errorf("%d: %s, and again %s", n, got, again)
				}
				w.holds(deviceKey, newer.ID)
			}
		})
	}
}

// The verdicts of states say nothing about their whole, unless nothing is proven, or the key holds
// something that is no state of the type.
func TestVerdictsOfStates(t *testing.T) {
	for name, c := range map[string]struct {
		want   string // of the visit, and of its device
		before func(w *world)
	}{
		"nothing is stored": {"Inserted (Inserted)", func(*world) {}},
		"older":             {"Inserted (Updated)", func(w *world) { w.puts("visit a 10:00 1") }},
		"newer":             {"Inserted (Stale)", func(w *world) { w.puts("visit a 10:00 9") }},
		"the same":          {"Duplicate (Duplicate)", func(w *world) { w.puts("visit v 10:00 5") }},
		"another item":      {"Conflict key-taken (Conflict key-taken)", func(w *world) { w.keepAs(deviceKey, w.order("1", 1)) }},
		"barred by hand":    {"Inserted (Duplicate barred)", func(w *world) { w.erase(deviceKey) }},
		"too late":          {"Expired past-expiry", func(w *world) { w.Clock.Set(must.Time("2099-05-30T09:55:00Z")) }},
		"no capacity": {"Retry throttled (Retry throttled)", func(w *world) {
			w.faults = []fault{{API: "TransactWriteItems", Before: errThrottled, Always: true}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, trips)
			c.before(w)
			results, _ := w.store.Put(context.Background(), w.events("visit v 10:00 5")) // bounded by rounds
			must.Equal(t, told(results), c.want)
		})
	}
}

// keepAs stores an item under another key.
func (w *world) keepAs(key event.Key, item *event.Item) {
	other := *item
	other.Key = key
	w.keep(&other)
}

// A state that is too late to be put, while its whole is stored already, leaves the message a
// Duplicate.
func TestLateStates(t *testing.T) {
	for _, declared := range []option{trips, together} {
		w := newWorld(t, declared)
		alone := *w.visit("v", "10:00", 5)
		alone.Parts = nil
		w.keep(&alone)
		w.Clock.Set(must.Time("2099-05-30T09:55:00Z"))
		must.Equal(t, told(w.puts("visit v 10:00 5")), "Duplicate (Expired past-expiry)")
		w.holds(deviceKey, "")
	}
}

// An atomic event is stored with its states, or not at all: an older state is replaced in its
// transaction, and of a newer one the transaction checks that it is still there.
func TestAtomicStates(t *testing.T) {
	for name, c := range map[string]struct {
		stored string // empty: nothing; one message after the other
		want   string // of the visit, and of its device, place and stop
		units  float64
	}{
		"nothing is stored":        {"", "Inserted (Inserted, Inserted, Inserted)", 8},
		"older":                    {"visit a 10:00 1 p 1", "Inserted (Updated, Updated, Inserted)", 8},
		"newer":                    {"visit a 10:00 9 p 9", "Inserted (Stale, Stale, Inserted)", 8},
		"one is newer":             {"visit a 10:00 9 p 1", "Inserted (Stale, Updated, Inserted)", 8},
		"the same":                 {"visit v 10:00 5 p 5", "Duplicate (Duplicate, Duplicate, Duplicate)", 8},
		"the same and a newer one": {"visit v 10:00 5 p 5, visit a 10:00 9 p 9", "Duplicate (Stale, Stale, Duplicate)", 8},
		"another item":             {"order 1 1", "Conflict key-taken", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, together)
			for _, item := range w.events(c.stored) {
				if name == "another item" {
					item.Key = deviceKey
				}
				w.keep(item)
			}
			meter := w.meter()
			results, cost := w.arrive(w.events("visit v 10:00 5 p 5")...)
			must.Equal(t, told(results), c.want)
			if used := meter(); used.WriteUnits() != c.units || cost.WriteUnits != c.units {
				t.Errorf("%v units, and the service has counted %v, want %v", cost.WriteUnits, used.WriteUnits(), c.units)
			}
			if results[0].Verdict == event.Conflict && w.lies(w.visit("v", "10:00", 5).Key) != "" {
				t.Error("its event is stored all the same")
			}
		})
	}
}

// A state is replaced, or goes, between the look and the transaction of an atomic event.
func TestAtomicStatesMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(w *world)
		want      string
		holds     string
	}{
		"a newer one comes":      {func(w *world) { w.puts("visit b 10:00 9") }, "Inserted (Stale)", "b"},
		"another older one":      {func(w *world) { w.puts("visit b 10:00 3") }, "Inserted (Updated)", "v"},
		"it goes with its event": {func(w *world) { w.erase(w.visit("a", "10:00", 1).Key) }, "Inserted (Inserted)", "v"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, together)
			w.arrive(w.events("visit a 10:00 1")...)
			w.meanwhile("TransactWriteItems", func() { c.meanwhile(w) })
			must.Equal(t, told(w.puts("visit v 10:00 5")), c.want)
			w.holds(deviceKey, c.holds)
		})
	}
	w := newWorld(t, together) // a newer one is checked, and goes with its event
	w.arrive(w.events("visit a 10:00 9")...)
	w.meanwhile("TransactWriteItems", func() {
		_, err := w.erase(w.visit("a", "10:00", 9).Key)
		must.Succeed(t, err)
	})
	w.says("visit v 10:00 5", "Inserted")
	w.holds(deviceKey, "v")
}

// Of several states with one key in one message, the newest is the message's. It has no other
// parts of that key, and no more than 99 states.
func TestStatesOfOneMessage(t *testing.T) {
	w := newWorld(t, trips)
	item := w.visit("v", "10:00", 5, "p", 2, "q", 1, "p", 3, "p", 1)
	if n := len(item.Parts.Items); n != 7 || item.Parts.Count != 4 { // four stops, one device, two places
		t.Errorf("%d items, %d of them parts that are counted", n, item.Parts.Count)
	}
	w.judges("Inserted", item)
	if lies := w.lies(placeKey("p")); !strings.Contains(lies, "revision=N 3") {
		t.Error(lies)
	}
	must.Say(t, w.lies(item.Key), "i:parts=N 4")
}

// Two states of one event that have the same revision, in one message or by two versions of the
// file, are told apart by their digests: the same one wins in any order.
func TestStatesOfOneEventTie(t *testing.T) {
	w := newWorld(t, trips)
	colored := func(stops string) *event.Item {
		return w.visitOf(w.plan, stops)
	}
	const x, y = `{"place":"p","n":1,"by":"x"}`, `{"place":"p","n":1,"by":"y"}`
	one, other := colored(x + "," + y).Parts.Items[1], colored(y + "," + x).Parts.Items[1]
	if one.Type != "place" || one.Digest != other.Digest {
		t.Errorf("%+v, and in another order %+v", one, other)
	}
	more := ofType("device", func(e *pipeline.EventSpec) { e.Part.With = append(e.Part.With, "type") })
	changed := w.changed(more).Config().Pipeline
	var left []string
	for _, plans := range [][2]*pipeline.Pipeline{{w.plan, changed}, {changed, w.plan}} {
		w := newWorld(t, trips)
		for range 2 {
			for _, p := range plans {
				item := w.visitOf(p, "")
				results, _ := w.open(tables.Config{Pipeline: p, Env: w.Env}).Put(deadline(t), events{item})
				if v := results[0].Verdict; v != event.Inserted && v != event.Duplicate {
					t.Error(results[0].Refusal)
				}
			}
		}
		left = append(left, show(w.stored("events", deviceKey)["digest"]))
	}
	if left[0] != left[1] {
		t.Errorf("the state depends on the order: %q", left)
	}
	both := w.visitOf(changed, "")
	for _, list := range []events{{both, colored("")}, {colored(""), both}} { // in one batch
		w := newWorld(t, trips)
		w.arrive(list...)
		must.Equal(t, show(w.stored("events", deviceKey)["digest"]), left[0], "in one batch")
	}
}

// A FIFO queue asks what is proven already: states that are stored, and newer ones.
func TestSettledStates(t *testing.T) {
	w := newWorld(t, trips)
	a, b, c, alone := w.visit("a", "10:00", 1), w.visit("b", "10:00", 2), w.visit("c", "10:00", 3), *w.visit("d", "10:00", 4)
	w.arrive(a, b)
	alone.Parts = nil
	w.keep(&alone)
	got, cost := w.store.Inside().Puts.Settled(deadline(t), events{a, b, c, w.visit("d", "10:00", 4)})
	must.Equal(t, told(got), "Duplicate (Stale), Duplicate (Duplicate), None, None")
	must.Equal(t, cost.WriteUnits, 0)
}

// The whole that is stored may have another digest than the message that comes again, because more
// is ignored today. Its states are put beside it all the same.
func TestStatesBesideAnOlderDigest(t *testing.T) {
	w := newWorld(t, trips, func(s *setup) {
		ofType("visit", func(e *pipeline.EventSpec) { e.Ignore = nil })(&s.Spec)
	})
	traced := func(p *pipeline.Pipeline, trace string) *event.Item {
		return w.visitOf(p, "", `"trace":"`+trace+`"`)
	}
	alone := *traced(w.plan, "1")
	alone.Parts = nil
	w.keep(&alone)
	today := w.changed(ofType("visit", func(e *pipeline.EventSpec) { e.Ignore = []string{"trace"} }))
	results, _ := today.Put(deadline(t), events{traced(today.Config().Pipeline, "2")})
	must.Equal(t, told(results), "Duplicate (Inserted)")
	w.holds(deviceKey, "v")
}

// A batch puts each state once, at four units: two for the state, and two for the check of its
// whole. Before that it reads a hundred keys with one request.
func TestCostOfStates(t *testing.T) {
	for _, c := range []struct{ keys, requests int }{{1, 2}, {100, 101}, {1000, 1010}} {
		w := newWorld(t, func(s *setup) {
			trips(s)
			delete(s.Events, "stop")
			delete(s.Events, "place")
		})
		items := make(events, 1000)
		for i := range items {
			items[i] = w.item(`"type":"visit"`, fmt.Sprintf(`"id":"v%d"`, i), `"at":"2099-03-01T10:00:00Z"`,
				fmt.Sprintf(`"device":"d%d"`, i%c.keys), `"color":"red"`, fmt.Sprintf(`"n":%d`, (i*7919)%1000))
		}
		results, cost := w.arrive(items...)
		for i, r := range results {
			if r.Verdict != event.Inserted {
				t.Fatalf("%d: %+v", i, r)
			}
		}
		if units, requests := cost.WriteUnits, cost.Requests; units != float64(1000+4*c.keys) || requests != 40+c.requests {
			t.Errorf("%d keys: %v units, %d requests", c.keys, units, requests)
		}
		must.Equal(t, cost.WriteUnits, w.Engine.Usage().WriteUnits(), c.keys)
	}
}

// Whatever happens to the requests, nothing is lost, and the next delivery settles what is open.
func TestEveryFaultOfStates(t *testing.T) {
	for n := range 6 {
		for _, before := range []bool{true, false} {
			for name, f := range map[string]fault{
				"lost before": {Before: errLost}, "lost after": {After: errLost}, "throttled": {Before: errThrottled},
			} {
				w := newWorld(t, trips, inTurn)
				if before {
					w.arrive(w.events("visit a 09:00 1 p 1")...)
				}
				calls := 0
				w.onCall = func(api string, _ any) error {
					if calls++; calls == n+1 {
						w.mu.Lock()
						defer w.mu.Unlock()
						f := f
						f.API, f.Always = api, true
						w.faults = append(w.faults, f)
					}
					return nil
				}
				results, _ := w.store.Put(context.Background(), w.events("visit v 10:00 5 p 5")) // bounded by rounds
				w.onCall, w.faults = nil, nil
				if v := results[0].Verdict; v != event.Retry && w.author(deviceKey) != "v" {
					t.Errorf("%s, request %d: %s, and the state is not stored", name, n, v)
				}
				if got := w.judged(w.events("visit v 10:00 5 p 5")...); got != "Duplicate" && got != "Inserted" {
					t.Errorf("%s, request %d, delivered again: %s", name, n, got)
				}
				w.holds(deviceKey, "v")
				w.holds(placeKey("p"), "v")
			}
		}
	}
}

// Erasing an event removes the states that it wrote, and no other. A state that is on its way does
// not come back: it is put on condition that its whole is stored.
func TestEraseStates(t *testing.T) {
	w := newWorld(t, trips)
	w.arrive(w.events("visit a 10:00 1 p 1, visit b 10:00 2 q 1")...)
	w.holds(deviceKey, "b")
	erased, err := w.erase(w.visit("a", "10:00", 1).Key)
	must.Succeed(t, err)
	w.holds(deviceKey, "b") // another's
	w.holds(placeKey("p"), "")
	if lies := w.lies(placeKey("p")); !erased || lies != "" {
		t.Errorf("%v, and the state remains as %s", erased, lies)
	}
	w.says("visit a 10:00 1 p 1", "Duplicate")
	w.holds(placeKey("p"), "")

	_, err = w.erase(deviceKey)
	must.Say(t, fmt.Sprint(err), "the key holds a state, which is erased with its whole alone: erase the visit that wrote it")

	// Its whole is erased between the put of the whole and that of the state.
	w.onCall = func(api string, in any) error {
		if tx, is := in.(*dynamodb.TransactWriteItemsInput); is && tx.TransactItems[0].ConditionCheck != nil {
			w.onCall = nil
			_, err := w.erase(w.visit("c", "10:00", 9).Key)
			must.Succeed(t, err)
		}
		return nil
	}
	w.says("visit c 10:00 9", "Retry")
	w.holds(deviceKey, "b")
	w.says("visit c 10:00 9", "Duplicate")
	w.holds(deviceKey, "b")
}

// A hot state is replaced while its event is erased.
func TestEraseStatesMeanwhile(t *testing.T) {
	w := newWorld(t, trips)
	w.arrive(w.events("visit a 10:00 1")...)
	tries := 0
	w.onCall = func(api string, in any) error {
		if tx, is := in.(*dynamodb.TransactWriteItemsInput); is && tx.TransactItems[0].Put != nil {
			tries++
			on := w.onCall
			w.onCall = nil
			w.arrive(w.visit(fmt.Sprint("b", tries), "10:00", 1+tries))
			w.onCall = on
		}
		return nil
	}
	erased, err := w.erase(w.visit("a", "10:00", 1).Key)
	if must.Succeed(t, err); !erased || tries != 2 { // the second try finds that the state is another's
		t.Errorf("%v after %d tries", erased, tries)
	}
	w.holds(deviceKey, "b2")
}

// What is missing is what no state and an older one stand for.
func TestMissingStates(t *testing.T) {
	t.Run("one by one", func(t *testing.T) { missingStates(t, trips) })
	t.Run("atomic", func(t *testing.T) { missingStates(t, together) })
}

func missingStates(t *testing.T, declared option) {
	w := newWorld(t, declared)
	r := w.repair()
	missing := func(items ...*event.Item) int {
		list, _, err := r.MissingParts(deadline(t), items)
		must.Succeed(t, err)
		return len(list)
	}
	must.Succeed(t, w.store.Start(deadline(t)))
	a, b := w.visit("a", "10:00", 1, "p", 1), w.visit("b", "10:00", 2)
	w.arrive(a, b)
	if n := missing(a, b); n != 0 {
		t.Errorf("%d are missing", n)
	}
	_, err := w.erase(b.Key)
	must.Succeed(t, err)
	if n := missing(a); n != 1 {
		t.Errorf("%d are missing, want the device's", n)
	}
	done, err := r.PutParts(deadline(t))
	if must.Succeed(t, err); done.Missing != 1 || done.Put != 1 || len(done.Refused) != 0 {
		t.Errorf("%+v", done)
	}
	w.holds(deviceKey, "a")
	late := w.visit("c", "10:00", 3)
	alone := *late
	alone.Parts = nil
	w.keep(&alone)
	if n := missing(&alone); n != 1 {
		t.Errorf("%d are missing, want the one in place of an older one", n)
	}
	orphans, _, err := r.OrphanedParts(deadline(t), events{a.Parts.Items[1]})
	if must.Succeed(t, err); len(orphans) != 0 {
		t.Errorf("%v", orphans)
	}
}

// Under any order, doubled, divided into batches, with faults, with other deliveries and erasures
// between any two requests: in the end each state is the greatest of those whose events are stored.
func TestStatesAgainstANaiveTwin(t *testing.T) {
	for seed := range slow.Number(60, 3_000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 41))
		w := newWorld(t, []option{trips, together, moving}[seed%3], inTurn)
		must.Succeed(t, w.store.Start(deadline(t)))
		var all events
		for i := range 2 + rng.IntN(6) {
			id := fmt.Sprintf("%c%d", 'a'+rng.IntN(3), i)
			at := fmt.Sprintf("1%d:00", rng.IntN(2))
			all = append(all, w.visit(id, at, rng.IntN(3), string(rune('p'+rng.IntN(2))), rng.IntN(3), "p", rng.IntN(3)))
		}
		gone := map[string]bool{}
		some := func() (list events) {
			for range 1 + rng.IntN(4) {
				again := *all[rng.IntN(len(all))]
				list = append(list, w.again(&again))
			}
			return list
		}
		erase := func() {
			item := all[rng.IntN(len(all))]
			if _, err := w.erase(item.Key); err == nil {
				gone[item.ID] = true
			}
		}
		depth := 0
		w.onCall = func(api string, _ any) error {
			if depth > 2 || rng.IntN(8) > 0 {
				return nil
			}
			depth++
			defer func() { depth-- }()
			switch rng.IntN(5) {
			case 0:
				w.mu.Lock()
				w.faults = append(w.faults,
					[]fault{{API: api, Before: errLost}, {API: api, After: errLost}, {API: api, Before: errThrottled}}[rng.IntN(3)])
				w.mu.Unlock()
			case 1:
				erase()
			case 2:
				_, _ = w.repair().PutParts(deadline(t))
			default:
				w.arrive(some()...)
			}
			return nil
		}
		for range 6 {
			w.arrive(some()...)
		}
		w.onCall, w.faults = nil, nil
		for range 2 {
			for _, item := range all {
				results, _ := w.arrive(w.again(item))
				if v := results[0].Verdict; v != event.Inserted && v != event.Duplicate {
					t.Fatalf("seed %d: %s is %s: %+v", seed, item.ID, v, results[0].Refusal)
				}
			}
		}
		for _, key := range []event.Key{deviceKey, placeKey("p"), placeKey("q")} {
			if id := w.author(key); gone[id] {
				t.Fatalf("seed %d: %s holds the state of %s, which was erased", seed, key, id)
			}
		}
		_, err := w.repair().PutParts(deadline(t))
		must.Succeed(t, err)
		for key, want := range greatest(all, gone) {
			if got := w.stored("events", key); w.author(key) != want.id || show(got["revision"]) != fmt.Sprintf("N %d", want.n) {
				t.Fatalf("seed %d: %s holds %s of %s, want %+v", seed, key, show(got["revision"]), w.author(key), want)
			}
		}
	}
}

// again returns what another delivery plans.
func (w *world) again(item *event.Item) *event.Item {
	planned, err := w.plan.Plan(envelopeOf(item.Data))
	must.Succeed(w.t, err)
	return planned
}

// version is a state in the naive twin.
type version struct {
	n  int64
	at time.Time
	id string
}

// greatest computes the states from the payloads of the events that are left.
func greatest(all events, gone map[string]bool) map[event.Key]version {
	best := map[event.Key]version{}
	for _, item := range all {
		if gone[item.ID] {
			continue
		}
		doc, _ := event.ParseDocument(item.Data)
		note := func(key event.Key, n event.Node) {
			number, _ := n.Decimal()
			v, was := version{0, item.At, item.ID}, best[key]
			_, _ = fmt.Sscan(number.String(), &v.n)
			if cmp.Or(cmp.Compare(v.n, was.n), v.at.Compare(was.at), strings.Compare(v.id, was.id)) > 0 || was.id == "" {
				best[key] = v
			}
		}
		note(deviceKey, doc.Root().Member("n"))
		for stop := range doc.Root().Member("stops").Elements() {
			note(placeKey(stop.Member("place").Text()), stop.Member("n"))
		}
	}
	return best
}
