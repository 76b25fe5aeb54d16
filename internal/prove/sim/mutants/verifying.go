package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// verifying returns wrong ways to verify.
func verifying() []Mutant {
	misjudged, wrong := []sim.Check{sim.Misjudged}, []sim.Check{sim.Wrong}
	return []Mutant{
		{
			Name: "values-compared-twice", What: "a difference is the same if the totals are off by the same number of events",
			Defends: "P12", Checks: misjudged,
			Edits: edit("verify.found.compareOne", `print := by.String()`, `print := fmt.Sprint(stored.N - wanted.N)`),
		},
		{
			Name: "twice-alike-is-damage", What: "an alarm goes off for what differs in the same way at both looks of a run",
			Defends: "P12", Checks: misjudged,
			Edits: edit("verify.Looks.Prove", `now[d.slot] != "" && now[d.slot] == held[d.slot]`, `now[d.slot] != ""`),
		},
		{
			Name: "unclosed-under-today", What: "an unclosed total is compared for as long as events live today", Defends: "P11",
			Checks: wrong,
			Edits:  edit("verify.Config.uncovered", `t.start()`, `c.Env.Now().AddDate(1, 0, 0)`),
		},
		{
			Name: "read-again-after-resume",
			What: "a pass that goes on reads its segment from the beginning and keeps the sums that it has", Defends: "P11", Checks: wrong,
			Edits: edit("sums.Pass.segment", `return s, p.belongs(&s.manifest)`, `s.manifest.Read[Wanted] = Position{}
			return s, p.belongs(&s.manifest)`),
		},
	}
}
