package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// verifying returns wrong ways to verify.
func verifying() []Mutant {
	misjudged, wrong := []sim.Check{sim.Misjudged}, []sim.Check{sim.Wrong}
	return []Mutant{
		{
			Name: "values-compared-twice", What: "a difference is the same if the totals are off by the same number of events",
			Defends: "C5", Checks: misjudged,
			Edits: []Edit{{"verify.merged.compareOne", `print := by.String()`, `print := fmt.Sprint(stored.n - wanted.n)`}},
		},
		{
			Name: "unclosed-under-today", What: "an unclosed total is compared for as long as events live today", Defends: "C5",
			Checks: wrong,
			Edits:  []Edit{{"verify.Config.uncovered", `t.start()`, `c.Env.Now().AddDate(1, 0, 0)`}},
		},
		{
			Name: "read-again-after-resume",
			What: "a pass that goes on reads its segment from the beginning and keeps the sums that it has", Defends: "C5", Checks: wrong,
			Edits: []Edit{{"verify.pass.segment", `return s, s.belongs(p)`, `s.Items.PK, s.Items.SK = "", ""
			return s, s.belongs(p)`}},
		},
	}
}
