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
				{"store/apply.go", `a.markUpdate(lane, u, seen, prune, refusal))`, `a.markUpdate(lane, u, seen, prune, refusal, round > 1))`},
				{"store/apply.go", `prune bool, refusal error) *dynamodb.UpdateItemInput {
	delta, e := u.Fold(), newExpression()
`, `prune bool, refusal error, again bool) *dynamodb.UpdateItemInput {
	delta, e := u.Fold(), newExpression()
	if again {
		delta.FP = event.Decimal{}
	}
`},
			},
		},
		{
			Name: "kept-total-subtracts", What: "what time to live removes is taken out of an all-time total", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/route.go", `		step.Closes = c.ByTTL && old[i].Def.OnExpire == Keep
`, ``}},
		},
		{
			Name: "correction-as-expiry", What: "what a person removes stays in an all-time total", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/route.go", `step.Closes = c.ByTTL && `, `step.Closes = c.Kind == event.Remove && `}},
		},
		{
			Name: "removal-needs-aggregate", What: "a removal is counted only if its aggregate item exists", Checks: counting,
			Patches: []Patch{
				{"store/apply.go", `	e.mark(lane, &delta)
`, `	e.mark(lane, &delta)
	removals := true
	for _, s := range u.Steps {
		removals = removals && s.Plus == nil
	}
	if removals {
		e.conditions = append(e.conditions, "attribute_exists("+e.name("n")+")")
	}
`},
				{"store/apply.go", `			counted := 0
`, `			if len(img) == 0 {
				return
			}
			counted := 0
`},
			},
		},
		{
			Name: "no-own-expiry", What: "an aggregate item gets its own expiry only from an update that adds to it", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/apply.go", `	e.expiry(u.ExpiresAt)
`, `	if delta.N > 0 {
		e.expiry(u.ExpiresAt)
	}
`}},
		},
	}
}
