package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/query"
)

// TestNewestOfAPlace runs the example of docs/patterns.md: one question for the newest reading of
// every device of a place, whatever comes late, twice or in between.
func TestNewestOfAPlace(t *testing.T) {
	p := patternPipeline(t, blockWith(t, patternsPage, "yaml pattern", "devices_of_place"))
	reading := func(device, place string, hour, celsius int) string {
		return fmt.Sprintf(`{"type":"reading","device":%q,"place":%q,"at":"2031-03-01T%02d:00:00Z","celsius":%d}`, device, place, hour, celsius)
	}
	ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
		handled(w, reading("a", "hall", 9, 20), reading("b", "hall", 9, 18), reading("c", "yard", 9, 5))
		handled(w, reading("a", "hall", 11, 22), reading("a", "hall", 10, 21), reading("b", "hall", 9, 18))
		var last []string
		for _, total := range w.Read("devices_of_place", query.Ask{Values: map[string][]string{"place": {"hall"}}}).Totals {
			newest, _ := total.Dated("last")
			last = append(last, fmt.Sprint(total.By["device"], " ", newest.JSON))
		}
		slices.Sort(last)
		must.Equal(t, strings.Join(last, ", "), "a 22, b 18")
		w.Verify()
	})
}
