package docs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/store/repair"
)

// TestStates runs the readings of docs/parts.md, with a total over the last ones, atomic and not.
// Whatever stops or fails, the newest reading is the state of its device, and the total holds it
// alone. The state goes with its reading, and rebuild parts brings back the one before.
func TestStates(t *testing.T) {
	text := blockWith(t, "docs/parts.md", "yaml pipeline", "device.last") +
		"aggregates:\n  devices:\n    since: 1\n    onExpire: subtract\n    by: {celsius: \"{celsius}\"}\n" +
		"    from:\n      device.last: {values: {devices: count}}\n"
	const whole = "  reading.taken:\n"
	for _, text := range []string{text, strings.Replace(text, whole, whole+"    atomic: true\n", 1)} {
		p := written.Pipeline(t, text)
		at := func(hour, celsius int) string {
			return fmt.Sprintf(`{"type":"reading.taken","device":"d","taken_at":"2026-03-01T%d:00:00Z","celsius":%d}`, hour, celsius)
		}
		all := []string{at(10, 20), at(12, 22), at(11, 21)}
		ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
			holds := func(celsius int) {
				t.Helper()
				state, err := w.Store().Item(t.Context(), event.Key{PK: "DEVICE#d", SK: "LAST"})
				if err != nil || state == nil || !strings.Contains(state.Data, fmt.Sprintf(`"celsius":%d`, celsius)) {
					t.Errorf("the state is %+v, want %d: %v", state, celsius, err)
				}
				for c := 20; c <= 22; c++ {
					n := w.Total("devices", map[string]string{"celsius": fmt.Sprint(c)}, time.Time{}).N
					must.Equal(t, n, map[bool]int64{true: 1}[c == celsius], c)
				}
			}
			handled(w, all...)
			holds(22)
			newest, err := p.Plan(envelope.Message{Body: all[1]})
			must.Succeed(t, err)
			if _, err := repair.Of(w.Store()).Erase(t.Context(), newest.Key); err != nil {
				return // a fault; the next try is another run
			}
			handled(w, all[1])
			if _, err := repair.Of(w.Store()).PutParts(t.Context()); err != nil {
				return
			}
			handled(w, all...)
			holds(21)
			w.Verify()
			must.Equal(t, len(w.Quarantined()), 0)
		})
	}
}
