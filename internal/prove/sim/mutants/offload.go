package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// offload returns wrong ways to keep payloads in the payload bucket.
func offload() []Mutant {
	altered, returned := []sim.Check{sim.Altered}, []sim.Check{sim.Returned}
	return []Mutant{
		{
			Name: "item-without-its-object", What: "an item is put although its payload is not proven to be in the bucket", Defends: "C1 I14", Checks: altered,
			Edits: []Edit{{"store.stages.upload", `		if err := firstOf(failed, of(items[i])); err != nil {
`, `		if err := firstOf(failed, of(items[i])); err != nil && false {
`}},
		},
		{
			Name: "touched-as-it-was", What: "a touch pass raises the stamp of an item and leaves what it keeps of its payload", Defends: "C3 I14", Checks: []sim.Check{sim.Altered, sim.Miscounted, sim.Uncounted, sim.Wrong},
			Edits: []Edit{{"store.stages.keptToday", ``, `	if item.Payload != nil {
		return item.Data, nil
	}
`}},
		},
		{
			Name: "barred-payload-left", What: "the payload of an erased event that comes again stays in the bucket", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.stages.takeBack", `	for _, c := range list {
`, `	for _, c := range list[:0] {
`}},
		},
		{
			Name: "payload-left-by-erasing", What: "an event is erased and its payload is not", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.stages.EraseWith", `	for _, folder := range e.folders() {
`, `	for _, folder := range e.folders()[:0] {
`}},
		},
		{
			Name: "payload-of-a-duplicate-deleted", What: "a message that comes again deletes the payload of its stored event", Defends: "C1 I14", Checks: altered,
			Edits: []Edit{{"store.stages.takeBack", `	if isBarred(r) {`, `	if r.Verdict == event.Duplicate {`}},
		},
		{
			Name: "kept-part-archived", What: "the archive gets what an item keeps of its payload", Defends: "I5", Checks: []sim.Check{sim.Unarchived},
			Edits: []Edit{{"handler.streamBatch.wholeImage", `if c.Old.Payload == nil {`, `if true {`}},
		},
		{
			Name: "lost-payload-blocks", What: "a payload that is lost holds up the shard", Defends: "C4 I7", Checks: []sim.Check{sim.Stuck},
			Edits: []Edit{{"handler.streamBatch.wholeImage", `case errors.Is(err, store.ErrPayloadLost):`, `case errors.Is(err, store.ErrPayloadLost) && false:`}},
		},
	}
}

// offloadBlunders returns wrong ways that are wrong even if nothing goes wrong.
func offloadBlunders() []Mutant {
	return []Mutant{
		{
			Name: "object-after-the-item", What: "the payload is put into its bucket after the item", Defends: "C1 I14", Checks: []sim.Check{sim.Altered}, Plain: true,
			Edits: []Edit{{"store.stages.putAlone", `	places, cost := s.upload(ctx, items, places, false, results)
`, `	var cost Cost
	defer s.upload(ctx, items, places, false, make([]Result, len(items)))
`}},
		},
	}
}
