package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// arrays returns wrong ways to settle a message that is an array of events.
func arrays() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved}
	return []Mutant{
		{
			Name: "array-done-with-a-retry", What: "an array is done although nothing is proven of one of its events", Defends: "C1", Checks: lost,
			Edits: []Edit{{"handler.Outcome.sum", `	o.fail(!o.Verdict.Stored())
`, `	o.fail(!o.Verdict.Stored())
	if !o.Verdict.Stored() && !o.Verdict.Quarantined() && len(o.Events) > 1 {
		o.fail(false)
	}
`}},
		},
		{
			Name: "array-kept-before-the-put", What: "an array goes to quarantine for a bad event before its other events are stored", Defends: "C1", Checks: lost,
			Edits: []Edit{{"handler.ingestBatch.standard", `	b.put(&load)
	b.follow(elsewhere)
	for i := range b.outcomes {
		b.outcomes[i].sum()
	}
	b.quarantine(b.outcomes)
`, `	for i := range b.outcomes {
		if o := &b.outcomes[i]; len(o.refused()) > 0 {
			o.sum()
		}
	}
	b.quarantine(b.outcomes)
	b.put(&load)
	b.follow(elsewhere)
	for i := range b.outcomes {
		if o := &b.outcomes[i]; len(o.refused()) == 0 {
			o.sum()
		}
	}
`}},
		},
		{
			Name: "first-bad-event-named", What: "the letter of an array names only the first of its bad events", Defends: "C1", Checks: lost,
			Edits: []Edit{{"handler.Outcome.refused", `positions = append(positions, i)`, `return []int{i}`}},
		},
		{
			Name: "floor-hides-trouble", What: "an array has the verdict of an event that a floor refuses, although another one can never be stored", Defends: "C1", Checks: lost,
			Edits: []Edit{{"event.Verdict.weight", `case v == Rejected:
		return 1`, `case v == Rejected:
		return 2`}},
		},
		{
			Name: "array-goes-on", What: "the events of an array in a FIFO group are put after one of which nothing is proven", Defends: "C2", Checks: []sim.Check{sim.Order},
			Edits: []Edit{{"handler.ingestBatch.one", `stopped = e.Verdict == event.Retry`, `stopped = false`}},
		},
		{
			Name: "bad-event-spoils-array", What: "an array is refused as a whole for one bad event", Defends: "C1", Checks: lost,
			Edits: []Edit{{"handler.Outcome.sum", `	o.fail(!o.Verdict.Stored())
`, `	if o.Verdict.Quarantined() {
		for i := range o.Events {
			o.Events[i].Verdict = o.Verdict
		}
	}
	o.fail(!o.Verdict.Stored())
`}},
		},
		{
			Name: "array-done-by-its-first", What: "an array in a FIFO group whose first event is a duplicate counts as stored before", Defends: "C1", Checks: []sim.Check{sim.Lost, sim.Undeserved},
			Edits: []Edit{{"handler.ingestBatch.one", `		case e.Item != nil && e.Verdict == 0:
`, `		case len(o.Events) > 0 && e != &o.Events[0] && o.Events[0].Verdict == event.Duplicate && e.Item != nil:
			e.Verdict = event.Duplicate
		case e.Item != nil && e.Verdict == 0:
`}},
		},
	}
}

// pointers returns wrong ways to settle a message whose text is in an object.
func pointers() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved}
	return []Mutant{
		{
			Name: "missing-object-is-poison", What: "a message goes to quarantine because the object that it points to is not there yet", Defends: "C1", Checks: lost,
			Edits: []Edit{{"payloads.unread", `Verdict: event.Retry`, `Verdict: event.Poison`}},
		},
		{
			Name: "missing-object-is-done", What: "a message is done although the object that it points to is not there", Defends: "C1", Checks: lost,
			Edits: []Edit{{"handler.Outcome.unread", `	o.Verdict = o.Refusal.Verdict
`, `	o.Verdict, o.Failed = o.Refusal.Verdict, false
`}},
		},
		{
			Name: "missing-object-awaited", What: "a batch waits for an object that is not there", Defends: "C4", Checks: []sim.Check{sim.Cost},
			Edits: []Edit{{"payloads.Reader.Read", `if missing || awserr`, `if missing && false || awserr`}},
		},
		{
			Name: "objects-mixed-up", What: "a message gets the text of another object that its batch reads", Defends: "C1 C2", Checks: lost,
			Edits: []Edit{{"handler.ingestBatch.followSome", `case b.plan(o, &texts[n]) &&`, `case b.plan(o, &texts[len(texts)-1]) &&`}},
		},
		{
			Name: "group-passes-a-pointer", What: "a FIFO group goes on past a message whose object is not there yet", Defends: "C2", Checks: []sim.Check{sim.Order},
			Edits: []Edit{{"handler.ingestBatch.fifo", `b.goOn(places, b.followOne(&b.outcomes[places[0]]) && b.one(places[0], &mu))`,
				`b.goOn(places, b.followOne(&b.outcomes[places[0]]) && b.one(places[0], &mu) || b.outcomes[places[0]].Item == nil)`}},
		},
		{
			Name: "pointers-after-the-others", What: "the messages of a FIFO group whose text is in an object are settled after all others", Defends: "C2", Checks: []sim.Check{sim.Order},
			Edits: []Edit{{"handler.ingestBatch.untilPointer", `		if planned && b.outcomes[places[0]].pointer != nil {
			break
		}
		places = b.goOn(places, planned && b.one(places[0], mu))
	}
`, `		if planned && b.outcomes[places[0]].pointer != nil {
			if len(places) > 1 {
				return append(b.untilPointer(places[1:], mu), places[0])
			}
			break
		}
		places = b.goOn(places, planned && b.one(places[0], mu))
	}
`}},
		},
	}
}
