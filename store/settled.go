package store

import (
	"context"
	"slices"

	"github.com/ingot-events/ingot/event"
)

// Settled returns the results of those first items which a put would find stored already, with all
// their parts: Duplicate, or Stale. It stops at the first item for which that is not proven, and at
// a read that fails. It reads a hundred keys with one request, and writes nothing.
func (s counter) Settled(ctx context.Context, items []*event.Item) (results []Result, cost Cost) {
	for chunk := range slices.Chunk(items, maxKeys) {
		var wanted []*event.Item
		for _, item := range chunk {
			if wanted = append(wanted, item); item.Parts != nil {
				wanted = append(wanted, item.Parts.Items...)
			}
		}
		there := map[event.Key]image{}
		for some := range slices.Chunk(wanted, maxKeys) {
			found, units, err := s.lying(ctx, summary, some)
			cost.Requests++
			if cost.ReadUnits += units; err != nil {
				return results, cost
			}
			for key, img := range found {
				there[key] = img
			}
		}
		for _, item := range chunk {
			r := s.settled(there, item)
			if r.Verdict == 0 {
				return results, cost
			}
			results = append(results, r)
		}
	}
	return results, cost
}

// settled returns the result of an item that is stored with its parts, or none.
func (s *Store) settled(there map[event.Key]image, item *event.Item) Result {
	img, now := there[item.Key], s.env.Now()
	if len(img) == 0 || tooLate(item, now) {
		return Result{}
	}
	known := readPart(img, false)
	if known.stamp > s.pipeline.Epoch() {
		return Result{}
	}
	r := s.judge(known, item)
	if r.Verdict != event.Duplicate && r.Verdict != event.Stale {
		return Result{}
	}
	if !r.yields(item) {
		return r
	}
	var parts []Result
	for _, part := range item.Parts.Items {
		of := s.settled(there, part)
		if of.Verdict != event.Duplicate {
			return Result{}
		}
		parts = append(parts, of)
	}
	return r.with(parts)
}
