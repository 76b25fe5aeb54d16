package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// arrays returns wrong ways to settle a message that is an array of events.
func arrays() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved}
	return []Mutant{
		{
			Name: "floor-hides-trouble",
			What: "an array has the verdict of an event that a floor refuses, although another one can never be stored", Defends: "P1",
			Checks: lost,
			Edits:  edit("event.Verdict.weight", `return told[v].weight`, `if v == Rejected { return 2 }; return told[v].weight`),
		},
	}
}

// pointers returns wrong ways to settle a message whose text is in an object.
func pointers() []Mutant {
	return []Mutant{
		{
			Name: "group-passes-a-pointer", What: "a FIFO group goes on past a message whose object is not there yet", Defends: "P2",
			Checks: checks(sim.Order),
			Edits: edit("handler.ingestBatch.fifo", `b.goOn(places, b.followOne(&b.outcomes[places[0]]) && b.one(places[0], &mu))`,
				`b.goOn(places, b.followOne(&b.outcomes[places[0]]) && b.one(places[0], &mu) || b.outcomes[places[0]].Item == nil)`),
		},
	}
}
