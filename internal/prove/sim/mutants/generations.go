package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// generations returns wrong ways to start an aggregate on a table that has items.
func generations() []Mutant {
	return []Mutant{
		{
			Name: "generation-without-stamps", What: "a new aggregate counts whatever the stream brings from its start on", Defends: "C3 I8", Checks: counting,
			Edits: []Edit{{"pipeline.Pipeline.Contributions", `f.def.Since > item.Epoch`, `f.def.Since > item.Epoch+1000`}},
		},
		{
			Name: "newer-stamp-ignored", What: "old code counts what newer code has stamped", Defends: "C3 I8", Checks: counting,
			Edits: []Edit{{"handler.streamBatch.decode", `change.Stamp > b.Pipeline.Epoch()`, `change.Stamp > b.Pipeline.Epoch()+1000`}},
		},
		{
			Name: "behind-not-marked", What: "an image below the generation leaves no trace on its head", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"handler.streamBatch.mark", `tables.Of(b.Store).MarkBehind(ctx, h.behind)`, `tables.Of(b.Store).MarkBehind(ctx, nil)`}},
		},
		{
			Name: "told-once-per-process", What: "a function tells each head once that it is behind, whatever pass has begun since", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{
				{"store.generations.MarkBehind", `	m := &marking{store: s, open: defs,`, `	defs = untold(s, defs)
	m := &marking{store: s, open: defs,`},
			},
			Helpers: []Helper{{"store", `import (
	"slices"
	"sync"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

var told sync.Map // of a process

type toldBy struct {
	store *generations
	id    string
}

// untold are those that a store has not told of yet.
func untold(s *generations, defs []*aggregate.Definition) []*aggregate.Definition {
	return slices.DeleteFunc(slices.Clone(defs), func(d *aggregate.Definition) bool {
		_, once := told.LoadOrStore(toldBy{s, lanes.ID(d)}, true)
		return once
	})
}
`}},
		},
		{
			Name: "pass-unnoticed", What: "a touch pass begins, and nothing tells the batches to mark what is behind anew", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"store.generations.beginPass", `	s.env.Each(lanes.PassShards, s.parallel()`, `	s.env.Each(0, s.parallel()`}},
		},
		{
			Name: "rolled-back-unsaid", What: "a function that is rolled back says nothing on the heads of what it does not know", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"handler.streamBatch.contributions", `newer := tables.Of(b.Store).Newer()`, `newer := tables.Of(b.Store).Newer()[:0]`}},
		},
		{
			Name: "let-go-unseen", What: "an aggregate that is declared no longer is let go without a new epoch", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"store.generations.compare", `		case own < d.Since:
`, `		case own == t.epoch:
		case own < d.Since:
`}},
		},
		{
			Name: "looks-once", What: "a function that goes on after newer code has started never learns of it", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"store.generations.Renew", `looked == 0 || now`, `looked >= 0 || now`}},
		},
		{
			Name: "torn-read-believed", What: "a start is refused for what it read before and after another start", Defends: "C4 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"store.generations.Start", `	doubted := false
`, `	doubted := true
`}},
		},
		{
			Name: "complete-unflagged", What: "a generation that lacks an item nobody can read is declared complete without a flag", Defends: "C3 I7", Checks: []sim.Check{sim.Unkept}, Seeds: 2 * mostSeeds,
			Edits: []Edit{{"verify.Report.Finish", `if why := r.missing[def]; why != "" {`, `if why := r.missing[def]; why == "-" {`}},
		},
		{
			Name: "complete-unseen", What: "a generation is declared complete, whatever has been marked behind since the pass began", Defends: "C3 I8", Checks: []sim.Check{sim.Generation},
			Edits: []Edit{{"store.stages.ClearBuilding", `"#behind = :behind AND attribute_exists(#open)"`, `"#behind >= :behind OR attribute_exists(#open)"`}},
		},
	}
}
