package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// values returns wrong ways to keep values that are more than sums and extremes.
func values() []Mutant {
	return []Mutant{
		{
			Name: "newest-unguarded", What: "a newest value is set by what was last seen, on no condition", Defends: "P10 I4",
			Checks: checks(sim.Miscounted),
			Edits: edit("rows.Edit.extreme", `	e.Guards = append(e.Guards, Guard{o, beyond, true})
`, `	if !v.Op.Textual() {
		e.Guards = append(e.Guards, Guard{o, beyond, true})
	}
`),
		},
	}
}
