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
			Patches: []Patch{{"handler/streams.go", `change.Stamp > b.Plan.Epoch()`, `change.Stamp > b.Plan.Epoch()+1000`}},
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
			Name: "told-once-per-process", What: "a function tells each head once that it is behind, whatever pass has begun since", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{
				{"store/behind.go", `import (
`, `import (
	"slices"
	"sync"
`},
				{"store/behind.go", `// MarkBehind records`, `var told sync.Map // of a process

type toldBy struct {
	store *Store
	id    string
}

// MarkBehind records`},
				{"store/behind.go", `	m := &marking{store: s, open: defs,`, `	defs = slices.DeleteFunc(slices.Clone(defs), func(d *aggregate.Definition) bool {
		_, once := told.LoadOrStore(toldBy{s, d.ID()}, true)
		return once
	})
	m := &marking{store: s, open: defs,`},
			},
		},
		{
			Name: "pass-unnoticed", What: "a touch pass begins, and nothing tells the batches to mark what is behind anew", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/behind.go", `	s.env.Each(aggregate.PassShards, s.parallel()`, `	s.env.Each(0, s.parallel()`}},
		},
		{
			Name: "rolled-back-unsaid", What: "a function that is rolled back says nothing on the heads of what it does not know", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"handler/streams.go", `newer := b.Store.Newer()`, `newer := b.Store.Newer()[:0]`}},
		},
		{
			Name: "let-go-unseen", What: "an aggregate that is declared no longer is let go without a new epoch", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `		case own < d.Since:
`, `		case own == t.epoch:
		case own < d.Since:
`}},
		},
		{
			Name: "goes-on-after-a-gap", What: "an aggregate that was taken out goes on with its old totals", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `head.Retired > 0 && head.Retired <= own`, `head.Retired > own`}},
		},
		{
			Name: "looks-once", What: "a function that goes on after newer code has started never learns of it", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `looked == 0 || now`, `looked >= 0 || now`}},
		},
		{
			Name: "torn-read-believed", What: "a start is refused for what it read before and after another start", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `	doubted := false
`, `	doubted := true
`}},
		},
		{
			Name: "complete-unflagged", What: "a generation that lacks an item nobody can read is declared complete without a flag", Checks: []sim.Check{sim.Unkept},
			Patches: []Patch{{"verify/verify.go", `if why := report.missing[def]; why != "" {`, `if why := report.missing[def]; why == "-" {`}},
		},
		{
			Name: "complete-unseen", What: "a generation is declared complete, whatever has been marked behind since the pass began", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/rebuild.go", `"#behind = :behind AND attribute_exists(#open)"`, `"#behind >= :behind OR attribute_exists(#open)"`}},
		},
	}
}
