package handler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/verify"
)

// goldenValues has every kind of value that is not a number of its own.
const goldenValues = `
ingot: 1
epoch: 1
type: "{type}"
events:
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "SITE#{site | lower}", sk: "{@at | time}#{id}"}
    retain: 3d
aggregates:
  sensors:
    since: 1
    spread: 2
    by: {sensor: "{sensor}"}
    window: 1mo
    from:
      reading:
        values:
          readings: count
          state: newest state?
          first: oldest level
          last: {newest: level, where: "level > 3"}
          levels: histogram level
          states: distinct state?
    retain: 30d
`

var valuesPipeline = loaded(goldenValues)

// goldenDated are messages for that pipeline. Two events of a sensor have one time, and the newest
// does not come last.
func goldenDated() [][]string {
	few := []string{
		reading(1, "s1", "10:15:00", "20.5", `,"state":"on"`),
		reading(2, "s1", "10:45:00", "1e1", `,"state":true`),
		reading(3, "s1", "10:45:00", "-3.0", `,"state":"\u0041"`),
		reading(4, "s1", "10:30:00", "4", `,"state":null`),
		reading(5, "s1", "10:50:00", "4", `,"state":{}`),
	}
	var many []string
	for i := range 26 {
		many = append(many, reading(100+i, fmt.Sprintf("t%02d", i), "09:00:00", fmt.Sprint(i), `,"state":"x"`))
	}
	return [][]string{few, {reading(6, "s1", "10:44:59.999999999", "99", `,"state":"old"`)}, many}
}

// naiveReading is what the naive sums know of an event.
type naiveReading struct {
	id, level int
	sensor    string
	at        time.Time
	state     string // JSON; empty: none
}

// Newest and oldest values are those of the events' own times, whatever the order of delivery, how
// the batches are cut, how often they come, and in which way totals are written.
func TestDatedValues(t *testing.T) {
	for _, c := range bothWays {
		for _, oneByOne := range []int{0, -1} {
			t.Run(fmt.Sprint(c, oneByOne), func(t *testing.T) {
				w := newWorld(t, counting(c), func(s *setup) { s.load, s.store.OneByOne = valuesPipeline, oneByOne }).started()
				all := randomReadings(150)
				for start := 0; start < len(all); {
					end := min(len(all), start+1+len(all)/5)
					var records []map[string]any
					for i := start; i < end; i++ {
						r := all[i]
						records = append(records, insert(i+1, w.image(r.body())))
					}
					w.expect(batch(records[:1+len(records)/2]...), done)
					w.expect(batch(records...), done) // its first half comes again
					start = end
				}
				for _, sensor := range []string{"s0", "s1", "s29"} {
					w.compareDated(t, sensor, all)
				}
				var bodies []string
				for _, r := range all {
					bodies = append(bodies, r.body())
				}
				w.receive(messages(bodies...))
				if report, err := verify.Totals(context.Background(), w.plan, w.store, epoch); err != nil || !report.OK() ||
					report.Totals < 30 {
					t.Errorf("%v %+v", err, report)
				}
			})
		}
	}
}

func randomReadings(n int) (all []naiveReading) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range n {
		r := naiveReading{id: i, level: rng.IntN(20) - 5, sensor: fmt.Sprint("s", i%30),
			at: epoch.Add(-time.Duration(rng.IntN(5)) * time.Hour)}
		if rng.IntN(3) > 0 {
			r.state = strconv.Quote(fmt.Sprint("state", rng.IntN(4)))
		}
		all = append(all, r)
	}
	return all
}

func (r naiveReading) body() string {
	state := ""
	if r.state != "" {
		state = `,"state":` + r.state
	}
	return fmt.Sprintf(`{"type":"reading","id":"%d","sensor":%q,"site":"north","at":%q,"level":%d%s}`, r.id, r.sensor,
		r.at.Format(time.RFC3339), r.level, state)
}

// compareDated compares a total with a plain search. Of equal times, the hash of the key decides,
// so any of them that has the greatest time is accepted if it has the greatest text.
func (w *world) compareDated(t *testing.T, sensor string, all []naiveReading) {
	t.Helper()
	var state, first, last string
	var states aggregate.Sketch
	for _, r := range all {
		if r.sensor != sensor {
			continue
		}
		item, err := w.plan.Plan(envelope.Message{Body: r.body()})
		must.Succeed(t, err)
		dated := func(json string) string {
			return aggregate.DatedText(aggregate.Dated{At: r.at, JSON: json}, item.Key)
		}
		if r.state != "" {
			state = max(state, dated(r.state))
			must.Succeed(t, states.Merge(aggregate.DistinctText([]byte(r.state))))
		}
		if text := dated(strconv.Itoa(r.level)); first == "" || text < first {
			first = text
		}
		if r.level > 3 {
			last = max(last, dated(strconv.Itoa(r.level)))
		}
	}
	totals, err := query.Of(w.store).Total(context.Background(), "sensors", map[string]string{"sensor": sensor}, time.Time{}, time.Time{})
	if err != nil || len(totals) == 0 {
		t.Fatal(err)
	}
	total := totals[len(totals)-1]
	for name, want := range map[string]string{"state": state, "first": first, "last": last} {
		must.Equal(t, total.Texts[name], want, sensor, name)
		d, ok := total.Dated(name)
		if wanted, err := aggregate.ParseDated(want); ok != (err == nil) || d != wanted {
			t.Errorf("%s: %s is %+v, want %+v", sensor, name, d, wanted)
		}
	}
	if got, ok := total.Distinct("states"); !ok || *got != states || total.Texts["states"] != states.Text() {
		t.Errorf("%s: the sketch is another, of about %d values, want %d", sensor, got.Estimate(), states.Estimate())
	}
	if _, ok := total.Dated("readings"); ok || total.Texts["readings"] != "" {
		t.Error("a count has a date")
	}
}

// A batch that moves more buckets than an expression can hold is written in parts, each of whole
// records, and each record counts once however often the batch comes and wherever it breaks off.
func TestManyBuckets(t *testing.T) {
	for _, c := range bothWays {
		for _, oneByOne := range []int{0, -1} {
			t.Run(fmt.Sprint(c, oneByOne), func(t *testing.T) {
				w := newWorld(t, counting(c), func(s *setup) { s.load, s.store.OneByOne = valuesPipeline, oneByOne }).started()
				want := aggregate.Buckets{}
				var records []map[string]any
				for i := range 600 {
					level := fmt.Sprintf("%d.5", i*i*i*i*i*i*(1-i%2*2)) // those of one batch are too many for one expression
					body := fmt.Sprintf(`{"type":"reading","id":"%d","sensor":"s1","site":"north","at":%q,"level":%s}`, i,
						epoch.Format(time.RFC3339), level)
					d, err := event.ParseDecimal(level)
					must.Succeed(t, err)
					want[aggregate.Bucket(d)]++
					records = append(records, insert(i+1, w.image(body)))
				}
				if len(want) < 400 {
					t.Fatalf("only %d buckets", len(want))
				}
				for _, api := range []string{"UpdateItem", "TransactWriteItems"} { // the second part is counted, and nobody learns of it
					asked := 0
					second := func(any) bool { asked++; return asked == 2 }
					w.faults = append(w.faults, fault{API: api, Applies: second, After: errLost})
				}
				w.expect(batch(records[:250]...), done)
				w.expect(batch(records...), done)
				w.expect(batch(records[100:]...), done)
				totals, err := query.Of(w.store).Total(context.Background(), "sensors", map[string]string{"sensor": "s1"}, time.Time{},
					time.Time{})
				if err != nil || len(totals) != 1 {
					t.Fatal(len(totals), err)
				}
				got, ok := totals[0].Buckets("levels")
				if !ok || got.Text() != want.Text() || totals[0].N != 600 {
					t.Errorf("n %d, and the buckets are\n%s, want\n%s", totals[0].N, got.Text(), want.Text())
				}
				if _, ok := totals[0].Buckets("readings"); ok {
					t.Error("a count is a histogram")
				}
			})
		}
	}
}
