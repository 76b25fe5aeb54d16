package main

import "github.com/ingot-events/ingot/internal/sim"

// values returns wrong ways to keep values that are more than sums and extremes.
func values() []Mutant {
	return []Mutant{
		{
			Name: "newest-unguarded", What: "a newest value is set by what was last seen, on no condition", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted},
			Edits: []Edit{{"store.edit.extreme", `	e.guards = append(e.guards, guard{o, beyond, true})
`, `	if !v.Op.Textual() {
		e.guards = append(e.guards, guard{o, beyond, true})
	}
`}},
		},
		{
			Name: "newest-by-arrival", What: "the event that is counted last is the newest", Defends: "C3 I8", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.extreme", `	beyond, within := "<", ">="
`, `	if v.Op == aggregate.Newest {
		e.sets = append(e.sets, assignment{operand: o})
		return
	}
	beyond, within := "<", ">="
`}},
		},
		{
			Name: "ties-by-delivery", What: "of two newest events with one time, the one that is counted first stays", Defends: "C3 I8", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.extreme", `	beyond, within := "<", ">="
`, `	if v.Op == aggregate.Newest {
		at := o
		at.placeholder, at.value = o.placeholder+"t", text(candidate.Text[:30])
		if stored.Set && stored.Text >= candidate.Text[:30] {
			e.guards = append(e.guards, guard{operand: at, sign: ">="})
			return
		}
		e.sets = append(e.sets, assignment{operand: o})
		e.guards = append(e.guards, guard{at, "<", true})
		return
	}
	beyond, within := "<", ">="
`}},
		},
	}
}
