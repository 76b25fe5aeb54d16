package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// wholes returns wrong ways to store a message that yields several items.
func wholes() []Mutant {
	lost, parted := []sim.Check{sim.Lost, sim.Undeserved}, []sim.Check{sim.Parted}
	return []Mutant{
		{
			Name: "parts-of-a-conflict", What: "the parts of a message that conflicts are put all the same", Defends: "C2 I13", Checks: parted,
			Edits: []Edit{{"store.stages.putInTurn", `	results, cost := s.putAlone(ctx, items)
`, `	results, cost := s.putAlone(ctx, items)
	for i, item := range items {
		if results[i].Verdict == event.Conflict && item.Parts != nil {
			s.putAlone(ctx, item.Parts.Items)
		}
	}
`}},
		},
		{
			Name: "parts-of-an-erased-whole", What: "the parts of a message whose event was erased are put", Defends: "C2 I13", Checks: parted, Seeds: 2 * mostSeeds,
			Edits: []Edit{{"store.Result.yields", `&& r.Refusal == nil`, ``}},
		},
		{
			Name: "parts-not-proven", What: "a message is done when its whole is, whatever became of its parts", Defends: "C1 I13", Checks: lost,
			Edits: []Edit{{"store.Result.with", `if severity(worst.Verdict) > 0 {`, `if severity(worst.Verdict) > 0 && worst.Verdict != event.Retry {`}},
		},
		{
			Name: "parts-with-the-put-alone", What: "parts are put only by the delivery that puts the whole", Defends: "C1 I13", Checks: lost,
			Edits: []Edit{{"store.Result.yields", `r.Verdict.Stored()`, `r.Verdict == event.Inserted`}},
		},
		{
			Name: "expired-part-ignored", What: "a part that is too late to be put does not matter", Defends: "C1 I13", Checks: lost,
			Edits: []Edit{{"store.severity", `case event.Expired:
		return 1`, `case event.Expired:
		return 0`}},
		},
		{
			Name: "rejected-part-ignored", What: "a part that a floor refuses does not matter", Defends: "C1 I13", Checks: lost,
			Edits: []Edit{{"store.severity", `case event.Rejected:
		return 2`, `case event.Rejected:
		return 0`}},
		},
		{
			Name: "parts-left-by-erasing", What: "an event is erased and its parts are not", Defends: "C2", Checks: []sim.Check{sim.Returned},
			Edits: []Edit{{"store.erasure.try", `range e.parts {`, `range e.parts[:0] {`}},
		},
		{
			Name: "missing-parts-unseen", What: "verify does not count parts that are missing", Defends: "C5 I13", Checks: []sim.Check{sim.Wrong},
			Edits: []Edit{{"verify.reading.missingParts", `s.Seen.Parts += len(missing)`, `_ = missing`}},
		},
		{
			Name: "erased-part-missing", What: "a part that was erased counts as missing", Defends: "C5", Checks: []sim.Check{sim.Wrong},
			Edits: []Edit{{"store.stages.lying", `there[keyOf(img)] = img`, `if !barred(img) {
				there[keyOf(img)] = img
			}`}},
		},
		{
			Name: "atomic-in-two", What: "the parts of an atomic message are put in a second transaction", Defends: "I13", Checks: parted,
			Edits: []Edit{{"store.transactions.putAtomic", `t := s.atomicPut(items[i], items[i].Parts.Items...)`, `alone := s.atomicPut(items[i])
			if r := alone.put(ctx); !r.Verdict.Stored() {
				results[i] = r
				continue
			}
			t := s.atomicPut(items[i], items[i].Parts.Items...)`}},
		},
	}
}

// partBlunders returns designs for parts that are wrong even if nothing goes wrong.
func partBlunders() []Mutant {
	altered := []sim.Check{sim.Altered}
	return []Mutant{
		{
			Name: "parts-before-the-whole", What: "parts are put before their whole", Defends: "C2 I13", Checks: []sim.Check{sim.Parted},
			Edits: []Edit{{"store.stages.putInTurn", `	results, cost := s.putAlone(ctx, items)
`, `	var first []*event.Item
	for _, item := range items {
		if item.Parts != nil {
			first = append(first, item.Parts.Items...)
		}
	}
	s.putAlone(ctx, first)
	results, cost := s.putAlone(ctx, items)
`}},
		},
		{
			Name: "digest-of-the-part-alone", What: "the digest of a part leaves out the id of its whole", Defends: "C2 I13", Checks: altered,
			Edits: []Edit{{"pipeline.Pipeline.planPart", `whole.Type, whole.ID)`, `whole.Type, "")`}},
		},
		{
			Name: "parts-uncounted", What: "a whole does not say how many parts it has", Defends: "C5 I13", Checks: altered,
			Edits: []Edit{{"store.appendAttributes", `if item.Parts != nil {`, `if item.Parts != nil && item.Parts.Count < 0 {`}},
		},
		{
			Name: "part-time-of-the-envelope", What: "a part has the time of the envelope, which differs next time", Defends: "I13", Checks: altered,
			Edits: []Edit{{"pipeline.Pipeline.plan", `		refusal := p.planParts(t, e.Data.Root(), item, false)
`, `		own := item.At
		if !e.At.IsZero() {
			item.At = e.At
		}
		refusal := p.planParts(t, e.Data.Root(), item, false)
		item.At = own
`}},
		},
	}
}
