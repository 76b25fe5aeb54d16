package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// states returns wrong ways to keep what is true now beside the events that say so.
func states() []Mutant {
	return []Mutant{
		{
			Name: "older-state-wins", What: "of two equal revisions, the state of the older event wins", Defends: "P22",
			Checks: checks(sim.Rewritten),
			Edits:  edit("plain.Writer.order", `strings.Compare(known.Tied, item.Ties)`, `strings.Compare(item.Ties, known.Tied)`),
		},
		{
			Name: "first-state-stays", What: "of two equal revisions, the state that arrives first wins", Defends: "P22",
			Checks: checks(sim.Undeserved, sim.Parted),
			Edits:  edit("plain.Writer.order", `strings.Compare(known.Tied, item.Ties)`, `1`),
		},
		{
			Name: "newer-state-refuses", What: "an event whose state is older than the stored one is a conflict", Defends: "P22",
			Checks: checks(sim.Undeserved),
			Edits: edit("plain.Writer.JudgeStored", `r.Verdict = event.Stale`, `if r.Verdict = event.Stale; item.Whole != nil {
				return conflict(event.KeyTaken, "a newer state is stored")
			}`),
		},
		{
			Name: "state-of-an-erased-event", What: "a state is put beside its event, whether that is still stored or not",
			Defends: "P17 P22", Checks: checks(sim.Returned),
			Edits: edit("plain.put.beside", `aws.String("#d = :d")`, `aws.String("#d = :d OR attribute_not_exists(#d)")`),
		},
		{
			Name: "state-outlives-its-event", What: "an event that is erased leaves its states", Defends: "P17 P22",
			Checks: checks(sim.Returned),
			Edits: edit("repair.erasure.try", `	for _, part := range e.parts {
`, `	for _, part := range e.parts {
		if isState(part) { continue }
`),
		},
	}
}
