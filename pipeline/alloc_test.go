package pipeline

import (
	"testing"

	"github.com/ingot-events/ingot/envelope"
)

// Decoding and planning an order must not allocate more often than stated here. It allocates the
// document, the item, its id, its digest, one string for all keys, its lists, and a few times
// inside the functions of its templates.
func TestPlanAllocations(t *testing.T) {
	p := plain(t)
	m := envelope.Message{Body: order400}
	got := testing.AllocsPerRun(200, func() {
		if _, err := p.Plan(m); err != nil {
			t.Fatal(err)
		}
	})
	if got > 14 {
		t.Errorf("%v allocations", got)
	}
}
