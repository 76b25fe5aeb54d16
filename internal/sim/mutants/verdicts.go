package main

import "github.com/ingot-events/ingot/internal/sim"

// verdicts are other ideas of what to say of a message.
func verdicts() []Mutant {
	undeserved := []sim.Check{sim.Undeserved}
	return []Mutant{
		{
			Name: "duplicate-as-conflict", What: "a copy of what is stored is a conflict", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `		r.Verdict = event.Duplicate
		return r
`, `		return conflict(event.DigestDiffers, "the key is taken")
`}},
		},
		{
			Name: "stale-as-duplicate", What: "an older revision is a duplicate", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `r.Verdict = event.Stale`, `r.Verdict = event.Duplicate`}},
		},
		{
			Name: "past-time-as-stale", What: "a newer revision that comes too late is stale", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `			r.Verdict = event.Expired
`, `			r.Verdict = event.Stale
			return r
`}},
		},
		{
			Name: "duplicate-as-inserted", What: "a copy of what is stored counts as one more that was inserted", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `		r.Verdict = event.Duplicate
		return r
`, `		r.Verdict = event.Inserted
		return r
`}},
		},
		{
			Name: "updated-as-inserted", What: "a replacement counts as an insert", Checks: undeserved,
			Patches: []Patch{{"store/put_replace.go", `p.written(w, event.Updated)`, `p.written(w, event.Inserted)`}},
		},
		{
			Name: "margin-of-a-day", What: "an event is refused twenty hours before it expires", Checks: undeserved,
			Patches: []Patch{{"store/put.go", `const ExpiryMargin = time.Hour`, `const ExpiryMargin = 20 * time.Hour`}},
		},
		{
			Name: "margin-of-minutes", What: "an event is taken until a minute before it expires", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/put.go", `const ExpiryMargin = time.Hour`, `const ExpiryMargin = time.Minute`}},
		},
		{
			Name: "late-replacement", What: "a newer revision replaces what is stored however late it comes", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/put.go", `if (w.state == inserting || w.state == replacing) && tooLate(`, `if w.state == inserting && tooLate(`},
				{"store/put_read.go", `p.store.older(known, w.item) && !tooLate(w.item, p.store.env.Now())`, `p.store.older(known, w.item) && (!tooLate(w.item, p.store.env.Now()) || w.sent > 0)`}},
		},
		{
			Name: "lowest-copy-tried", What: "of a batch's revisions of a key the lowest is tried first", Checks: undeserved,
			Patches: []Patch{{"store/put.go", `return item.Newer(of)`, `return of.Newer(item)`}},
		},
		{
			Name: "unknown-is-read", What: "a put without an answer is asked about, and what is absent has expired", Checks: undeserved,
			Patches: []Patch{{"store/put.go", `	case unknown, contended:
		p.refuse(w)
`, `	case unknown, contended:
		p.refuse(w)
		w.state = reading
`}, {"store/put.go", `w.state == absent && !tooLate(item, w.missed)`, `false`}},
		},
		{
			Name: "own-as-existing", What: "a conflict shows itself as what is stored", Checks: undeserved,
			Patches: []Patch{{"handler/ingest.go", `		o.Existing = r.Existing
`, `		o.Existing = o.Item
`}},
		},
		{
			Name: "results-shifted", What: "a batch's results are dealt out as if every message had been planned", Checks: undeserved,
			Patches: []Patch{{"handler/ingest.go", `	for n, i := range places {
		b.outcomes[i].take(results[n])
`, `	for n := range places {
		b.outcomes[n].take(results[n])
`}},
		},
		{
			Name: "swept-is-expired", What: "what a put met and a read does not find has expired", Checks: undeserved,
			Patches: []Patch{{"store/put_read.go", `gone when it was read")}
		p.to(w, abandoned)
		return
	}
`, `gone when it was read")}
	}
`}, {"store/put.go", `w.state == absent && !tooLate(item, w.missed)`, `false`}},
		},
	}
}
