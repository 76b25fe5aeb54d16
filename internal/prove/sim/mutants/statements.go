package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// statements returns wrong ways to write many totals at once.
func statements() []Mutant {
	return []Mutant{
		{
			Name: "insert-without-mark", What: "an INSERT of a total lacks its mark", Defends: "C3 I4", Checks: counting,
			Edits: []Edit{{"store.edit.insert", `	for _, s := range e.sets {
		take(s.operand)
`, `	for _, s := range e.sets[:len(e.sets)-1] {
		take(s.operand)
`}},
		},
		{
			Name: "answers-by-first-place", What: "a request that leaves out what was done is read by the places of the first one", Defends: "C3 I5", Checks: counting,
			Edits: []Edit{{"store.together.judge", `	sent := t.waiting
`, `	if t.first == nil {
		t.first = t.waiting
	}
	sent := t.first[:len(responses)]
`}, {"store.together.judge", `		refusal := responses[i].Error
`, `		if len(w.update.Steps) == 0 {
			continue
		}
		refusal := responses[i].Error
`}},
			Fields: []Field{{"store.together", "first []*markedUpdate"}},
		},
		{
			Name: "refusal-counts-request", What: "a statement's refusal counts all updates of its request as done", Defends: "C3 I5", Checks: counting,
			Edits: []Edit{{"store.together.judge", `		case failed:
			if len`, `		case failed:
			if w.learn(refusal.Item); len(w.update.Steps) == 0 {
				t.waiting = nil
				return answer{}, ended
			}
			if len`}},
		},
		{
			Name: "missing-counts-as-zero", What: "an UPDATE sets a value that was not seen, whether or not it is there by now", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.statement", `		set, where = set.add("?"), where.add(" AND ").quoted(a.name).add(" IS MISSING")
`, `		set = set.add("?")
`}},
		},
		{
			Name: "is-missing-left-out", What: "a statement holds only where the lane has a mark already", Defends: "C3 I4", Checks: []sim.Check{sim.Cost}, Plain: true,
			Edits: []Edit{{"store.edit.statement", `where.add(" AND (").quoted(g.name).add(" IS MISSING OR ").quoted`, `where.add(" AND (").quoted`}},
		},
		{
			Name: "image-of-another", What: "what one refused statement met is taken for what all of them met", Defends: "C3 I4", Checks: []sim.Check{sim.Cost}, Plain: true,
			Edits: []Edit{{"store.together.met", `	size := imageSize(img)
	if w.seen`, `	if t.image == nil && len(img) > 0 {
		t.image = img
	}
	if t.image != nil {
		img = t.image
	}
	size := imageSize(img)
	if w.seen`}},
			Fields: []Field{{"store.together", "image image"}},
		},
		{
			Name: "look-believed", What: "what a BatchGetItem showed of the mark goes into no condition", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted},
			Fields: []Field{{"store.markedUpdate", "believed bool"}},
			Edits: []Edit{{"store.apply.lookAt", `		w.look(img)
`, `		w.look(img)
		w.believed = true
`}, {"store.markedUpdate.edit", `	e.mark(w.lane, &delta)
`, `	if e.mark(w.lane, &delta); w.believed {
		e.guards = e.guards[:len(e.guards)-1]
	}
`}},
		},
		{
			Name: "statement-throttle-counts", What: "an update that is throttled inside a successful answer counts as done", Defends: "C3 I5", Checks: counting,
			Edits: []Edit{{"store.together.judge", `			t.retried(a)
			keep(w, a, later)
		}
	}
	t.store`, `			t.retried(a)
		}
	}
	t.store`}},
		},
	}
}
