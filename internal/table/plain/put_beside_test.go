package plain

import (
	"testing"

	"github.com/ingot-events/ingot/event"
)

// Two transactions that check one whole at the same time would make each other fail, so the states
// of a whole share a request.
func TestStatesOfOneWholeFollowEachOther(t *testing.T) {
	state := func(whole string) *write {
		return &write{item: &event.Item{Whole: &event.Item{Key: event.Key{PK: whole}}}}
	}
	requests := (&put{}).besideRequests([]*write{state("a"), state("b"), state("a")})
	if len(requests) != 2 || len(requests[0].writes) != 2 || len(requests[1].writes) != 1 {
		t.Errorf("%d requests", len(requests))
	}
}
