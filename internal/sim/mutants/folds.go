package main

import "github.com/ingot-events/ingot/internal/sim"

// folds are other ideas of what a change adds.
func folds() []Mutant {
	return []Mutant{
		{
			Name: "modify-as-insert", What: "a changed item is counted as one more", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/route.go", `	entry := Entry{Change: c}
`, `	entry := Entry{Change: c}
	if len(new) > 0 {
		old = nil
	}
`}},
		},
		{
			Name: "fingerprint-left-out", What: "the fingerprint is left out of the write when it is sent again", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{
				{"store/marks.go", `	refusal error // why the table`, `	again   bool
	refusal error // why the table`},
				{"store/marks.go", `		w.retried(answer)
`, `		w.again = true
		w.retried(answer)
`},
				{"store/marks.go", `	u, delta, e := w.update, w.update.Fold(), &edit{}
`, `	u, delta, e := w.update, w.update.Fold(), &edit{}
	if w.again {
		delta.FP = event.Decimal{}
	}
`},
			},
		},
		{
			Name: "kept-total-subtracts", What: "what time to live removes is taken out of an all-time total", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/route.go", `		step.Closes = c.Expired && old[i].Def.OnExpire == Keep
`, ``}},
		},
		{
			Name: "correction-as-expiry", What: "what a person removes stays in an all-time total", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/route.go", `step.Closes = c.Expired && `, `step.Closes = c.Kind == event.Remove && `}},
		},
		{
			Name: "removal-needs-aggregate", What: "a removal is counted only if its aggregate item exists", Checks: counting,
			Patches: []Patch{
				{"store/marks.go", `	e.mark(w.lane, &delta)
`, `	e.mark(w.lane, &delta)
	removals := true
	for _, s := range u.Steps {
		removals = removals && s.Plus == nil
	}
	if removals {
		e.guards = append(e.guards, guard{operand: operand{"n", slotN, ":least", number("-1000")}, sign: ">="})
	}
`},
				{"store/marks.go", `	counted, before := w.look(img)
`, `	if len(img) == 0 {
		w.update.Steps = nil
		return true
	}
	counted, before := w.look(img)
`},
			},
		},
		{
			Name: "no-own-expiry", What: "an aggregate item gets its own expiry only from an update that adds to it", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/marks.go", `	e.expiry(u.ExpiresAt)
`, `	if delta.N > 0 {
		e.expiry(u.ExpiresAt)
	}
`}},
		},
	}
}
