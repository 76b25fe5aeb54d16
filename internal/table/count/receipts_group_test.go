package count

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// As many changes as fit share a transaction. It holds up to 100 items, where an item that several
// changes touch counts once. It holds up to 3 MB, as far as sizes are known.
func TestChangesShareTransactions(t *testing.T) {
	update := func(name string) *lanes.Update {
		return &lanes.Update{Def: &aggregate.Definition{}, Key: event.Key{PK: name, SK: "-"}}
	}
	one := update("one")
	for name, c := range map[string]struct {
		touches func(i int) []*lanes.Update
		size    int // of each total
		want    []int
	}{
		"one total": {func(int) []*lanes.Update { return []*lanes.Update{one} }, 100, []int{99, 99, 2}},
		"a total each": {func(i int) []*lanes.Update {
			return []*lanes.Update{update(fmt.Sprint(i))}
		}, 100, []int{50, 50, 50, 50}},
		"one and a total each": {func(i int) []*lanes.Update {
			return []*lanes.Update{one, update(fmt.Sprint(i))}
		}, 100, []int{49, 49, 49, 49, 4}},
		"large totals": {func(i int) []*lanes.Update {
			return []*lanes.Update{update(fmt.Sprint(i / 10))}
		}, 400 << 10, []int{70, 70, 60}},
		"one total, which is large": {func(int) []*lanes.Update { return []*lanes.Update{one} }, 400 << 10, []int{99, 99, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			entries := make([]lanes.Entry, 200)
			for i := range entries {
				entries[i].Touches = c.touches(i)
			}
			var got []int
			for _, group := range groupEntries(entries, func(event.Key) int { return c.size }) {
				got = append(got, len(group))
			}
			must.Equal(t, fmt.Sprint(got), fmt.Sprint(c.want), got, c.want)
		})
	}
}
