package docs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

// TestREADMEStoresWhatItSays shows that the README's messages have the result that it shows under
// its pipeline.yaml. That file is the one that ingot init writes.
func TestREADMEStoresWhatItSays(t *testing.T) {
	text := blocksOf(t, "README.md", "yaml pipeline")[0].text
	if !strings.HasSuffix(read(t, "internal/tool/scaffold/files/pipeline.yaml"), text) {
		t.Error("the README's pipeline.yaml is not the one that ingot init writes")
	}
	w := ingottest.New(t, ingottest.Config{Pipeline: written.Pipeline(t, text)})
	for line := range strings.Lines(blocksOf(t, "README.md", "json messages")[0].text) {
		handled(w, strings.TrimSpace(line)) // each message has its own batch, so that they arrive in this order
	}
	w.Verify()

	var got strings.Builder
	for _, item := range w.Items() {
		fmt.Fprintf(&got, "item        %v\n", item.Key)
	}
	for stored, err := range w.Store().Totals(t.Context()) {
		must.Succeed(t, err)
		window := time.Unix(stored.Address.Window, 0).UTC()
		fmt.Fprintf(&got, "total       %s  %s  %s  %s\n", stored.Address.Name, strings.Join(stored.Address.By, " "),
			window.Format(time.DateOnly), pairs(stored.Values))
	}
	for _, l := range w.Quarantined() {
		fmt.Fprintf(&got, "quarantine  %s  %v\n", l.Verdict, l.Key)
	}
	must.Equal(t, got.String(), blocksOf(t, "README.md", "text stored")[0].text)
}

// pairs writes a map as name=value, in the order of the names.
func pairs[V any](of map[string]V) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%s=%v", name, of[name]))
	}
	return strings.Join(list, " ")
}
