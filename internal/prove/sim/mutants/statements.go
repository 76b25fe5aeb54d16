package main

// statements returns wrong ways to write many totals at once.
func statements() []Mutant {
	return []Mutant{
		{
			Name: "answers-by-first-place", What: "a request that leaves out what was done is read by the places of the first one",
			Defends: "P7 I5", Checks: counting,
			Edits: []Edit{{"count.together.judge", `	sent := t.waiting
`, `	if t.first == nil {
		t.first = t.waiting
	}
	sent := t.first[:len(responses)]
`}, {"count.together.judge", `		refusal := responses[i].Error
`, `		if len(w.update.Steps) == 0 {
			continue
		}
		refusal := responses[i].Error
`}},
			Fields: []Field{{"count.together", "first []*markedUpdate"}},
		},
	}
}
