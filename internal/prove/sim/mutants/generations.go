package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// generations returns wrong ways to start an aggregate on a table that has items.
func generations() []Mutant {
	return []Mutant{
		{
			Name: "told-once-per-process", What: "a function tells each head once that it is behind, whatever pass has begun since",
			Defends: "P7 I8", Checks: checks(sim.Generation),
			Edits: edit("generations.Heads.MarkBehind", `	m := &marking{store: s, open: defs,`, `	defs = untold(s, defs)
	m := &marking{store: s, open: defs,`),
			Helpers: []Helper{{"generations", `import (
	"slices"
	"sync"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

var told sync.Map // of a process

type toldBy struct {
	store *Heads
	id    string
}

// untold are those that a store has not told of yet.
func untold(s *Heads, defs []*aggregate.Definition) []*aggregate.Definition {
	return slices.DeleteFunc(slices.Clone(defs), func(d *aggregate.Definition) bool {
		_, once := told.LoadOrStore(toldBy{s, lanes.ID(d)}, true)
		return once
	})
}
`}},
		},
		{
			Name: "complete-unflagged", What: "a generation that lacks an item nobody can read is declared complete without a flag",
			Defends: "P7 I7", Checks: checks(sim.Unkept), Seeds: 2 * mostSeeds,
			Edits: edit("verify.Report.Finish", `if why := r.missing[def]; why != "" {`, `if why := r.missing[def]; why == "-" {`),
		},
	}
}
