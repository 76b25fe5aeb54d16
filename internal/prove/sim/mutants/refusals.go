package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// refusals returns wrong ways to go on after something that can never be counted.
func refusals() []Mutant {
	unkept, stuck := []sim.Check{sim.Unkept}, []sim.Check{sim.Stuck}
	endless := []sim.Check{sim.Stuck, sim.Cost} // one invocation may ask too often before the world is seen to stand still
	return []Mutant{
		{
			Name: "odd-record-blocks", What: "a record that cannot be understood fails its batch", Defends: "C4 I7", Checks: stuck,
			Edits: []Edit{{"handler.streamBatch.quarantineOdd", `	err := b.send(ctx, letters...)
`, `	err := b.send(ctx, letters...)
	if err == nil {
		err = b.odd[0].err
	}
`}},
		},
		{
			Name: "refused-update-keeps-mark", What: "an update that is refused for good does not move the mark", Defends: "C3 I7", Checks: unkept,
			Edits: []Edit{
				{"store.markedUpdate.edit", `	e.mark(w.lane, &delta)
`, `	e.mark(w.lane, &delta)
	if w.refusal != nil {
		e.sets = e.sets[:len(e.sets)-1]
	}
`},
			},
		},
		{
			Name: "full-item-in-transaction", What: "an aggregate item that takes no flag stays in its transaction", Defends: "C4 I7", Checks: endless,
			Edits: []Edit{{"store.receiptGroup.items", `!slices.Contains(touched, u) && !g.full[u.Key]`, `!slices.Contains(touched, u)`}},
		},
		{
			Name: "receipt-before-letter", What: "receipts are written before the letter about a refused update is proven sent", Defends: "C3 I5", Checks: unkept,
			Edits: []Edit{{"store.receiptGroup.refuse", `	if err := g.quarantine(ctx, u, a.err); err != nil {
		return false,`, `	g.quarantine(ctx, u, a.err)
	if err := ctx.Err(); err != nil {
		return false,`}},
		},
		{
			Name: "odd-record-overtaken", What: "where several odd records are not kept, the batch goes on from the last", Defends: "C3 I5", Checks: unkept,
			Edits: []Edit{{"handler.streamBatch.firstOdd", `	return b.odd[0].change.Sequence
`, `	return b.odd[len(b.odd)-1].change.Sequence
`}},
		},
		{
			Name: "record-before-stamp", What: "a record that cannot be read is odd, whatever newer pipeline has stamped it", Defends: "C3 I7", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"handler.streamBatch.decode", `change.Stamp > b.Pipeline.Epoch()`, `err == nil && change.Stamp > b.Pipeline.Epoch()`}},
		},
		{
			Name: "given-up-in-another-lane", What: "an item X# of another lane gives a record up, too", Defends: "C3 I7", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.generations.GivenUp", `	cost.read(imageSize(img))
`, `	if err == nil && len(img) == 0 {
		img, err = s.get(ctx, lanes.GivenUpKey(event.Lane{StreamARN: lane.StreamARN}, sequence))
	}
	cost.read(imageSize(img))
`}},
		},
		{
			Name: "given-up-unflagged", What: "a record that is given up leaves no flag on the heads", Defends: "I7", Checks: unkept,
			Edits: []Edit{{"handler.streamBatch.quarantineOdd", `tables.Of(b.Store).Flag(ctx, slices.Concat(b.Pipeline.Definitions(), tables.Of(b.Store).Newer()),`, `tables.Of(b.Store).Flag(ctx, unlessGivenUp(b.odd, slices.Concat(b.Pipeline.Definitions(), tables.Of(b.Store).Newer())),`}},
			Helpers: []Helper{{"handler", `import "github.com/ingot-events/ingot/aggregate"

func unlessGivenUp(odd []oddRecord, defs []*aggregate.Definition) []*aggregate.Definition {
	if odd[0].reason == GivenUp {
		return nil
	}
	return defs
}
`}},
		},
		{
			Name: "given-up-dropped", What: "a record that is given up leaves no letter", Defends: "C1 I7", Checks: unkept,
			Edits: []Edit{{"handler.streamBatch.giveUp", `		b.odd = append(b.odd, r)
`, ``}},
		},
	}
}
