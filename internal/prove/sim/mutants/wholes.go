package main

import (
	"github.com/ingot-events/ingot/internal/prove/sim"
)

// wholes returns wrong ways to store a message that yields several items.
func wholes() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved}
	return []Mutant{
		{
			Name: "rejected-part-ignored", What: "a part that a floor refuses does not matter", Defends: "P1 I13", Checks: lost,
			Edits: edit("event.Verdict.Severity", `return told[v].severity`, `if v == Rejected { return 0 }; return told[v].severity`),
		},
	}
}

// partBlunders returns designs for parts that are wrong even if nothing goes wrong.
func partBlunders() []Mutant {
	return []Mutant{
		{
			Name: "parts-before-the-whole", What: "parts are put before their whole", Defends: "P3 I13", Checks: checks(sim.Parted),
			Edits: edit("put.Stages.Put", `	first := newBatch(items)
`, `	first := newBatch(items)
	var parts []*event.Item
	for _, item := range items {
		if item.Parts != nil {
			parts = append(parts, item.Parts.Items...)
		}
	}
	early := newBatch(parts)
	s.PutItems(ctx, parts, early.left, early.results)
`),
		},
	}
}
