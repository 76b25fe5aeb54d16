package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// receipts returns wrong ways to use receipts.
func receipts() []Mutant {
	return []Mutant{
		{
			Name: "receipts-by-clock", What: "the machine's clock says how long a receipt lives", Defends: "P7 I6",
			Checks: checks(sim.Twice),
			Edits: edit("count.receiptGroup.items", `rows.Integer(entry.Change.Created.Add(receiptLife).Unix())`,
				`rows.Integer(g.store.Env.Now().Add(receiptLife).Unix())`),
		},
	}
}
