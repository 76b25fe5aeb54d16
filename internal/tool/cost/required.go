package cost

import (
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// required is what it takes to look for the events that others require. A rehearsal stores events
// without that, because a sample need not have them all.
type required struct {
	units    float64 // a read is consistent
	requests int
	sizes    map[event.Key]int // of items of the sample
}

// look adds the reads of a batch of messages. Each key is read once, unless the batch itself brings
// the event, which requires nothing.
func (s *sampled) look(batch [][]event.Planned) {
	var items []*event.Item
	brought, wanted := map[event.Requirement]bool{}, map[event.Key]bool{}
	for _, planned := range batch {
		for _, e := range planned {
			if e.Item == nil {
				continue
			}
			items = append(items, e.Item)
			for _, item := range e.Item.All() {
				s.required.sizes[item.Key] = item.Size()
				brought[event.Requirement{Type: item.Type, Key: item.Key}] = len(e.Item.Requires) == 0
			}
		}
	}
	for _, item := range items {
		for _, r := range item.Requires {
			if !brought[r] && !wanted[r.Key] {
				wanted[r.Key] = true
				s.required.units += itemform.ReadUnits(s.required.sizes[r.Key])
			}
		}
	}
	s.required.requests += (len(wanted) + rows.MaxKeys - 1) / rows.MaxKeys
}
