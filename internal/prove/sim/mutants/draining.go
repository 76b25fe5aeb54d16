package main

import (
	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/draining"
)

// drainings returns wrong ways to learn that a stream is read to its end.
func drainings() []Mutant {
	list := []Mutant{
		{
			Name: "fence-unproven", What: "a fence is noted though a record before it is not proven", Defends: "P13",
			Edits: []Edit{{"fences.Notes.Write", `passed := unproven.IsZero() || c.Sequence.Compare(unproven) < 0`, `passed := true`}},
		},
		{
			Name: "one-shard-is-all", What: "one shard with a note stands for all of them", Defends: "P13",
			Edits: []Edit{{"drained.asking.done", `len(a.missing()) == 0`, `len(a.missing()) < len(a.leaves)`}},
		},
		{
			Name: "silence-is-done", What: "a mapping that says nothing for 15 minutes has nothing to do", Defends: "P13",
			Edits: []Edit{{"drained.asking.wait", `case a.Env.Now().Sub(a.began) >= a.Patience:
			return a.unknown("")`, `case a.Env.Now().Sub(a.began) >= a.Patience:
			return nil`}},
		},
		{
			Name: "few-blind-fences", What: "without shards, one fence for each of them is enough", Defends: "P13",
			Edits: []Edit{{"drained.asking.fence", `n = Blind * shards`, `n = shards`}},
		},
		{
			Name: "shards-listed-once", What: "shards are listed when the question begins, and never again", Defends: "P13",
			Plain: true,
			Edits: []Edit{{"drained.asking.wait", `{a.again, a.list, a.fence}`, `{a.again, a.fence}`},
				{"drained.asking.wait", `if err := a.list(ctx); err != nil || a.done() {
				return errors.Join(err, a.again(ctx))
			}`, `return a.again(ctx)`}},
		},
	}
	for i := range list {
		list[i].Worlds, list[i].Checks = "draining", []sim.Check{draining.Unproven, draining.Endless}
	}
	return list
}
