package main

import "github.com/ingot-events/ingot/internal/sim"

// statements are other ways to write many totals at once.
func statements() []Mutant {
	return []Mutant{
		{
			Name: "insert-without-mark", What: "an INSERT of a total lacks its mark", Checks: counting,
			Patches: []Patch{{"store/statement.go", `	for _, s := range e.sets {
		take(s.operand)
`, `	for _, s := range e.sets[:len(e.sets)-1] {
		take(s.operand)
`}},
		},
		{
			Name: "answers-by-first-place", What: "a request that leaves out what was done is read by the places of the first one", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `	sent := t.waiting
`, `	if t.first == nil {
		t.first = t.waiting
	}
	sent := t.first[:len(responses)]
`}, {"store/marks_many.go", `		refusal := responses[i].Error
`, `		if len(w.update.Steps) == 0 {
			continue
		}
		refusal := responses[i].Error
`}, {"store/marks_many.go", `	waiting []*markedUpdate
`, `	waiting []*markedUpdate
	first   []*markedUpdate
`}},
		},
		{
			Name: "refusal-counts-request", What: "a statement's refusal counts all updates of its request as done", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `		case failed:
			if len`, `		case failed:
			if w.learn(refusal.Item); len(w.update.Steps) == 0 {
				t.waiting = nil
				return answer{}, ended
			}
			if len`}},
		},
		{
			Name: "missing-counts-as-zero", What: "an UPDATE sets a value that was not seen, whether or not it is there by now", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"store/statement.go", `		set, where = set.add("?"), where.add(" AND ").quoted(a.name).add(" IS MISSING")
`, `		set = set.add("?")
`}},
		},
		{
			Name: "is-missing-left-out", What: "a statement holds only where the lane has a mark already", Checks: []sim.Check{sim.Cost},
			Patches: []Patch{{"store/statement.go", `where.add(" AND (").quoted(g.name).add(" IS MISSING OR ").quoted`, `where.add(" AND (").quoted`}},
		},
		{
			Name: "image-of-another", What: "what one refused statement met is taken for what all of them met", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `	size := imageSize(img)
	if w.seen`, `	if t.image == nil && len(img) > 0 {
		t.image = img
	}
	if t.image != nil {
		img = t.image
	}
	size := imageSize(img)
	if w.seen`}, {"store/marks_many.go", `	waiting []*markedUpdate
`, `	waiting []*markedUpdate
	image   image
`}},
		},
		{
			Name: "look-believed", What: "what a BatchGetItem showed of the mark goes into no condition", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"store/marks_many.go", `			w.look(img)
`, `			w.look(img)
			w.believed = true
`}, {"store/marks.go", `	refusal error // why the table`, `	believed bool
	refusal error // why the table`}, {"store/marks.go", `	e.mark(w.lane, &delta)
`, `	if e.mark(w.lane, &delta); w.believed {
		e.guards = e.guards[:len(e.guards)-1]
	}
`}},
		},
		{
			Name: "statement-throttle-counts", What: "an update that is throttled inside a successful answer counts as done", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `			t.retried(a)
			keep(w, a, later)
		}
	}
	t.store`, `			t.retried(a)
		}
	}
	t.store`}},
		},
		{
			Name: "duplicate-is-counted", What: "a total that is there by the time of its INSERT is taken for counted", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `	switch {
	case w.learn(img):
`, `	switch {
	case w.seen.state != present:
	case w.learn(img):
`}},
		},
		{
			Name: "lost-request-counts", What: "a request of statements whose answer is lost counts as done", Checks: counting,
			Patches: []Patch{{"store/marks_many.go", `	t.store.pace.learn(whole)
	t.blind`, `	if whole.outcome == unknown {
		t.waiting = nil
		return whole, ended
	}
	t.store.pace.learn(whole)
	t.blind`}},
		},
	}
}
