package main

import "github.com/ingot-events/ingot/internal/sim"

// generations are other ways of starting an aggregate on a table that has items.
func generations() []Mutant {
	return []Mutant{
		{
			Name: "generation-without-stamps", What: "a new aggregate counts whatever the stream brings from its start on", Checks: counting,
			Patches: []Patch{{"pipeline/contribute.go", `f.def.Since > item.Epoch`, `f.def.Since > item.Epoch+1000`}},
		},
		{
			Name: "newer-stamp-ignored", What: "old code counts what newer code has stamped", Checks: counting,
			Patches: []Patch{{"handler/streams.go", `image != nil && image.Epoch > b.Plan.Epoch()`, `image != nil && image.Epoch > b.Plan.Epoch()+1000`}},
		},
		{
			Name: "epoch-not-raised", What: "the head of a new aggregate is written without raising the epoch", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `to.Item["generations"] = integer(s.pipeline.Epoch()), write`, `to.Item["generations"] = integer(max(from, 1)), write`}},
		},
		{
			Name: "behind-not-marked", What: "an image below the generation leaves no trace on its head", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"handler/streams.go", `b.Store.MarkBehind(ctx, h.behind)`, `b.Store.MarkBehind(ctx, nil)`}},
		},
		{
			Name: "complete-unseen", What: "a generation is declared complete, whatever has been marked behind since the pass began", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/rebuild.go", `"#behind = :behind"`, `"#behind = :behind OR #behind > :behind"`}},
		},
	}
}
