package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const parcels = `ingot: 1
epoch: 1
type: parcel
events:
  parcel:
    mode: latest
    revision: revision number
    id: "{id}"
    at: "{at}"
    key: {pk: "PARCEL#{id}", sk: "PARCEL"}
aggregates:
  by_depot:
    since: 1
    by: {depot: "{depot}"}
    onExpire: subtract
    from: {parcel: {values: {parcels: count}}}
`

// TestStaleIsNotInQuarantine shows that an altered message that comes after a newer revision is
// Stale. Nothing says that it is in quarantine, and nothing misses it there.
func TestStaleIsNotInQuarantine(t *testing.T) {
	first := must.Time("2024-05-01T00:00:00Z")
	s := mustRun(t, many(t, parcels, "parcels", 600, func(i int) string { // revisions of 40 parcels
		return fmt.Sprintf(`{"id":"p%d","depot":"d%d","revision":%d,"at":%q}`, i%40, i%3, i,
			first.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
	}))
	agree(t, s)
	for _, one := range s.Trouble {
		if one.Kind != "altered" {
			continue
		}
		if one.Verdicts["Stale"] == 0 {
			t.Fatalf("nothing altered was Stale: %v", one.Verdicts)
		}
		if kept, _, there := strings.Cut(one.Became, ": in quarantine"); there && strings.Contains(kept, "Stale") {
			t.Errorf("what was altered became %q", one.Became)
		}
	}
}

func TestWhatBecameOfTheAltered(t *testing.T) {
	for _, c := range []struct {
		became map[event.Verdict]int
		want   string
	}{
		{map[event.Verdict]int{event.Conflict: 2, event.Poison: 1}, "2 Conflict, 1 Poison: in quarantine"},
		{map[event.Verdict]int{event.Stale: 3}, "3 Stale"},
		{map[event.Verdict]int{event.Stale: 3, event.Updated: 1, event.Conflict: 2}, "2 Conflict: in quarantine; 1 Updated, 3 Stale"},
	} {
		l := newLedger(aggregate.Marks)
		for v, n := range c.became {
			l.became[altered][v] = n
		}
		must.Equal(t, l.inQuarantine(altered), c.want)
	}
}

// TestAccountsSeeWhatIsNotInQuarantine shows that each verdict that puts a message into quarantine
// is checked against the queue.
func TestAccountsSeeWhatIsNotInQuarantine(t *testing.T) {
	w := &world{ledger: newLedger(aggregate.Marks)}
	w.ledger.settled[event.Conflict], w.ledger.settled[event.Poison] = 3, 1
	w.ledger.quarantined = map[string]int{"Conflict": 2, "Poison": 2}
	want := "2 messages are in quarantine as Conflict, and that was the verdict on 3"
	if d := w.accounts(0, 0, Kept{}, true).Differences; len(d) != 1 || d[0] != want {
		t.Errorf("accounts say %q", d)
	}
}

// TestNothingIsCutInsideARune shows that neither a body on its way to the queue nor the by values
// of a total in the text are cut inside a rune.
func TestNothingIsCutInsideARune(t *testing.T) {
	c := readings(t, 1, time.Hour)
	p := &producer{world: &world{plan: c.Plan}, die: source(seed, forProducer)}
	for n := range 8 {
		body := fmt.Sprintf(`{"id":"r1","kind":"%s","celsius":1,"at":"2024-05-01T00:00:00Z"}`, strings.Repeat("x", n)+
			strings.Repeat("日", 40))
		for range 20 {
			if other, _ := p.malformed(body); !utf8.ValidString(other) {
				t.Fatalf("a malformed body is %q", other)
			}
		}
	}
	total := Total{By: []ByValue{{"city", "Großräschen an der Oder"}, {"city", strings.Repeat("東京都", 10) + "一丁目"}}}
	must.Equal(t, total.name(), "Großräschen an der Oder 東京都東京都東京都東京都東京…京都東京都東京都東京都一丁目")
	one := Total{By: []ByValue{{"type", "org.clinic.device.of.the.ward.alarm"}}}
	two := Total{By: []ByValue{{"type", "org.clinic.device.of.the.ward.reading"}}}
	if one.name() == two.name() {
		t.Errorf("both totals are labelled %q", one.name())
	}
}
