package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Reads has everything that an event type reads of its payload, with the kinds that each use
// accepts.
func TestReads(t *testing.T) {
	p := mustLoad(t,
		strings.Replace(base, "orders: count, revenue: sum total,",
			"orders: count, lines: sum length items?, paid: \"count where exists method and kind in ('a', 'b')\", revenue: sum total,", 1))
	var got []string
	reads := p.Describe().Reads
	for _, typ := range slices.Sorted(maps.Keys(reads)) {
		for _, r := range reads[typ] {
			kinds := make([]string, len(r.Kinds))
			for i, k := range r.Kinds {
				kinds[i] = k.String()
			}
			slices.Sort(kinds)
			need := ""
			if r.Needed {
				need = " needed"
			}
			got = append(got, fmt.Sprintf("%s %s: %s (%s)%s", typ, r.Path, r.Use, strings.Join(slices.Compact(kinds), ", "), need))
		}
	}
	want := `moved type: type (boolean, number, string)
moved parcel: id (boolean, number, string) needed
moved moved_at: at (boolean, number, string) needed
moved parcel: key.pk (boolean, number, string) needed
moved moved_at: revision (string) needed
moved weight: live weight (number) needed
placed type: type (boolean, number, string)
placed shop: id (boolean, number, string) needed
placed order: id (boolean, number, string) needed
placed placed_at: at (boolean, number, string) needed
placed shop: key.pk (boolean, number, string) needed
placed order: key.sk (boolean, number, string) needed
placed status: attribute status (boolean, number, string)
placed shop: daily by shop (boolean, number, string)
placed total: daily where (number)
placed total: daily largest (number)
placed items: daily lines (array)
placed method: daily paid where (array, boolean, number, object, string)
placed kind: daily paid where (string)
placed total: daily revenue (number)`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
