package main

import "github.com/ingot-events/ingot/internal/sim"

// pruning are other rules for letting go of old marks.
func pruning() []Mutant {
	return []Mutant{
		{
			Name: "pruned-early", What: "a parent's mark goes with its child's first write", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"aggregate/lane.go", `first.Sub(m.Created()) > PruneAfter`, `first.Sub(m.Created()) > PruneAfter/10000`}},
		},
		{
			Name: "pruned-unseen", What: "an old mark is pruned whatever its value is by now", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"store/update.go", `	for i, m := range marks[:min(len(marks), maxPrunes)] {
		e.removes = append(e.removes, m.name)
		e.guards = append(e.guards, guard{operand: operand{m.name, slotNone, ":p" + strconv.Itoa(i), binary(m.mark[:])}, sign: "="})
`, `	for _, m := range marks[:min(len(marks), maxPrunes)] {
		e.removes = append(e.removes, m.name)
`}},
		},
		{
			Name: "pruned-by-clock", What: "the machine's clock says which marks are old", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"store/marks.go", `e.prune(w.seen, w.lane.MarkAttribute(), u.Steps[0].Created)`, `e.prune(w.seen, w.lane.MarkAttribute(), w.store.env.Now())`}},
		},
	}
}
