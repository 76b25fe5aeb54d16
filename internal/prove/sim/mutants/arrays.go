package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// arrays returns wrong ways to settle a message with several events.
func arrays() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved}
	return []Mutant{
		{
			Name: "floor-hides-trouble",
			What: "an array has the verdict of an event that a floor refuses, although another one can never be stored", Defends: "P1",
			Checks: lost,
			Edits:  edit("event.Verdict.weight", `return told[v].weight`, `if v == Rejected { return 2 }; return told[v].weight`),
		},
		{
			Name: "first-array-takes-the-message", What: "of several arrays inside a message, the first one's events are all",
			Defends: "P1",
			Checks:  lost,
			Edits:   edit("envelope.walk.events", `case w.refusal != nil:`, `case w.refusal != nil || len(w.elements) > 0:`),
		},
		{
			Name: "time-of-the-message", What: "all events of a message have the time of the first", Defends: "P1",
			Checks: checks(sim.Altered),
			Edits: edit("planner.Planner.PlanMessage", `list[i].Item = item`,
				`list[i].Item = item; if list[0].Item != nil { item.At = list[0].Item.At }`),
		},
		{
			Name: "grouping-is-part-of-the-event", What: "the payload of an event says where it stood in its message", Defends: "P1",
			Checks: checks(sim.Altered),
			Edits: edit("envelope.array.open", `event.ParseDocument("{" + text`,
				`event.ParseDocument("{\"at\\u0020\":" + m.Place().Path().String()[11:12] + "," + text`),
		},
		{
			Name: "declared-type-dropped", What: "drop takes a type that is declared", Defends: "P1", Checks: lost,
			Edits: edit("planner.Planner.typeOf", `if !ok {
		return nil, p.unknownType(name)`, `if !ok || len(p.Drop) > 0 && name == "parcel" {
		return nil, &event.Refusal{Verdict: event.Dropped, Reason: event.UnwantedType, Detail: "dropped"}`),
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
