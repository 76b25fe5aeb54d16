package demo

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
)

// everywhere has one total for all events. So that total has a mark of every shard of 72 hours.
const everywhere = `ingot: 1
epoch: 1
type: reading
events:
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "READING#{id}", sk: "READING"}
aggregates:
  everywhere:
    since: 1
    by: {kind: "{kind}"}
    from: {reading: {values: {readings: count, heat: sum celsius}}}
`

// readings returns n events, spread evenly over a time.
func readings(t *testing.T, n int, over time.Duration) Config {
	t.Helper()
	first := must.Time("2024-05-01T00:00:00Z")
	c := many(t, everywhere, "readings", n, func(i int) string {
		return fmt.Sprintf(`{"id":"r%d","kind":"all","celsius":%d,"at":%q}`, i, i%40,
			first.Add(over/time.Duration(n)*time.Duration(i)).Format(time.RFC3339))
	})
	c.Data.Events = n
	return c
}

// TestShardsRollByEventTime shows that the time that the events span decides how often shards roll,
// not the number of events. Otherwise the marks in a total, and the cost of each of its updates,
// would grow with the number of events.
func TestShardsRollByEventTime(t *testing.T) {
	const span = 8 * time.Hour
	for _, n := range []int{500, 4000} {
		r := &run{Config: readings(t, n, span)}
		r.setDefaults()
		must.Succeed(t, r.produce(context.Background()))
		most := 1 + int(r.world.Clock.Now().Sub(r.first)/rollAfter)
		if rolls := r.world.ledger.injected[shardsRolled]; rolls < 1 || rolls > most {
			t.Errorf("%d events in %s: the shards rolled %d times, want 1 to %d", n, r.world.Clock.Now().Sub(r.first), rolls, most)
		}
	}
}

// TestClockAheadOfTheEvents sends so many events at once that the demo's own waiting would let them
// expire. The demo says so, and does not count them as a difference.
func TestClockAheadOfTheEvents(t *testing.T) {
	c := readings(t, 1, time.Hour)
	at := must.Time("2024-05-01T00:00:00Z")
	p := &producer{world: &world{plan: c.Plan, World: &testworld.World{Clock: testworld.NewClock(at.Add(11 * time.Hour))}}, newest: at}
	item := &event.Item{At: at, ExpiresAt: at.Add(24 * time.Hour).Unix()}
	must.Succeed(t, p.add(context.Background(), envelope.Message{}, item))
	p.world.Clock.Reach(at.Add(13 * time.Hour))
	must.Fail(t, p.add(context.Background(), envelope.Message{}, item), "the demo's clock is at 2024-05-01T13:00:00Z: it waits 3m0s")
}
