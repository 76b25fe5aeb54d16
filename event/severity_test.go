package event_test

import (
	"slices"
	"testing"

	"github.com/ingot-events/ingot/event"
)

// TestSeverity shows that every verdict has its place among those of a message's items, and of an
// array's events.
func TestSeverity(t *testing.T) {
	worst := []event.Verdict{event.Retry, event.Poison, event.Conflict, event.Rejected, event.Expired}
	for i, v := range worst[1:] {
		if worst[i].Severity() <= v.Severity() || v.Severity() == 0 {
			t.Errorf("%s does not decide over %s", worst[i], v)
		}
	}
	for _, v := range event.Verdicts {
		if v.Done() != (v.Severity() == 0) || v.Done() == slices.Contains(worst, v) || v.Stored() != (v.Done() && v != event.Dropped) {
			t.Errorf("%s has severity %d", v, v.Severity())
		}
		for _, other := range event.Verdicts {
			if v.Done() && !other.Done() && !other.Outweighs(v) || v.Done() && other.Done() && v < other && !v.Outweighs(other) {
				t.Errorf("%s does not outweigh %s", other, v)
			}
		}
	}
}
