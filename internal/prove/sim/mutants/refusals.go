package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// refusals returns wrong ways to go on after something that can never be counted.
func refusals() []Mutant {
	unkept, stuck := []sim.Check{sim.Unkept}, []sim.Check{sim.Stuck}
	endless := []sim.Check{sim.Stuck, sim.Cost} // one invocation may ask too often before the world is seen to stand still
	return []Mutant{
		{
			Name: "odd-record-blocks", What: "a record that cannot be understood fails its batch", Defends: "P15 I7", Checks: stuck,
			Edits: edit("handler.streamBatch.quarantineOdd", `	err := b.send(ctx, letters...)
`, `	err := b.send(ctx, letters...)
	if err == nil {
		err = b.odd[0].err
	}
`),
		},
		{
			Name: "full-item-in-transaction", What: "an aggregate item that takes no flag stays in its transaction", Defends: "P16 I7",
			Checks: endless,
			Edits:  edit("count.receiptGroup.items", `!slices.Contains(touched, u) && !g.full[u.Key]`, `!slices.Contains(touched, u)`),
		},
		{
			Name: "receipt-before-letter", What: "receipts are written before the letter about a refused update is proven sent",
			Defends: "P7 I5", Checks: unkept,
			Edits: edit("count.receiptGroup.refuse", `	if err := g.quarantine(ctx, u, a.Err); err != nil {
		return false,`, `	g.quarantine(ctx, u, a.Err)
	if err := ctx.Err(); err != nil {
		return false,`),
		},
	}
}
