package transact

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/event"
)

// Events that have a key of a state in common, directly or by another event, go one after another.
func TestEventsWithOneStateFollowEachOther(t *testing.T) {
	item := func(key string, states ...string) *event.Item {
		whole := &event.Item{Key: event.Key{PK: key}, Parts: &event.Parts{Atomic: true}}
		for _, state := range states {
			whole.Parts.Items = append(whole.Parts.Items, &event.Item{Key: event.Key{PK: state}, Whole: whole})
		}
		return whole
	}
	items := []*event.Item{item("a", "x"), item("b", "y"), item("c"), item("d", "y", "x"), item("a"), item("e", "z")}
	if got := fmt.Sprint(apart(items, []int{0, 1, 2, 3, 4, 5})); got != "[[0 1 3 4] [2] [5]]" {
		t.Error(got)
	}
}
