package put

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Settled returns what puts of these items, one after the other, would answer, as far as what is
// stored proves it: Duplicate, Stale, Conflict or Expired. The other results have no verdict. It
// reads a hundred keys with one request, and five payloads that differ. It writes nothing.
func (s *Stages) Settled(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	var wanted []*event.Item
	once := map[event.Key]bool{} // the keys that one item alone has
	note := func(item *event.Item) {
		_, known := once[item.Key]
		wanted, once[item.Key] = append(wanted, item), !known
	}
	for _, item := range items {
		if note(item); item.Parts != nil {
			for _, part := range item.Parts.Items {
				note(part)
			}
		}
	}
	found, cost := s.Look(ctx, wanted)
	results, now := make([]tables.Result, len(items)), s.Env.Now()
	for i, item := range items {
		own := found[0]
		found = found[1:]
		var parts []tables.Result
		if item.Parts != nil {
			parts, found = found[:len(item.Parts.Items)], found[len(item.Parts.Items):]
		}
		switch {
		case payloads.IsAhead(item, now):
		case own.Verdict == 0 && plain.TooLate(item, now) && once[item.Key] && !rows.IsAtomic(item):
			results[i] = tables.Result{Verdict: event.Expired, Refusal: plain.PastExpiry(item)}
		default:
			results[i] = rows.WithParts(item, own, parts)
		}
	}
	return results, cost
}
