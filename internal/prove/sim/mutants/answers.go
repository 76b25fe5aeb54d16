package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// answers returns wrong ways to read an answer that is a success as a whole, or a cancellation with
// its reasons.
func answers() []Mutant {
	return []Mutant{
		{
			Name: "unread-is-absent", What: "a key that BatchGetItem left unprocessed counts as absent", Defends: "P1",
			Checks: checks(sim.Undeserved), Seeds: 1000,
			Edits: edit("plain.put.read", `range out.UnprocessedKeys[p.store.Events].Keys`, `range out.UnprocessedKeys["none"].Keys`),
		},
		{
			Name: "conflict-is-receipt", What: "a transaction's conflict on a receipt reads as: counted already", Defends: "P7 I4",
			Checks: counting,
			Edits: edit("count.receiptGroup.dropCounted", `		if rows.ClassifyReason(reason).Outcome != rows.Failed {
`, `		if o := rows.ClassifyReason(reason).Outcome; o != rows.Failed && o != rows.Contended {
`),
		},
	}
}
