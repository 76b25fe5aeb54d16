package main

import "github.com/ingot-events/ingot/internal/sim"

// ingest are other ways of storing events and of answering the queue.
func ingest() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved} // the verdict comes before the acknowledgement
	return []Mutant{
		{
			Name: "digest-not-compared", What: "the same key is a duplicate, whatever the payload", Checks: lost,
			Patches: []Patch{{"store/judge.go", `	if known.digest == item.Digest || s.today(known) == item.Digest {
`, `	if !known.foreign {
`}},
		},
		{
			Name: "unknown-acknowledged", What: "a put whose answer is lost counts as done", Checks: lost,
			Patches: []Patch{{"store/put_insert.go", `	case done:
		p.charge(w, insertUnits`, `	case done, unknown:
		p.charge(w, insertUnits`}},
		},
		{
			Name: "copies-acknowledged-early", What: "copies in a batch are duplicates before the first is proven stored", Checks: lost,
			Patches: []Patch{{"store/put.go", `				p.results[i] = p.unproven(w, p.items[i])
`, `				if p.results[i] = p.unproven(w, p.items[i]); i != w.place && p.items[i].Digest == w.item.Digest {
					p.results[i] = Result{Verdict: event.Duplicate}
				}
`}},
		},
		{
			Name: "copies-share-verdict", What: "copies in a batch get the first one's verdict", Checks: lost,
			Patches: []Patch{{"store/put.go", `p.store.judge(known, item)`, `p.store.judge(known, w.item)`}},
		},
		{
			Name: "miss-is-duplicate", What: "what BatchGetItem does not find is a duplicate", Checks: lost,
			Patches: []Patch{
				{"store/put_read.go", `gone when it was read")}
		p.to(w, abandoned)
`, `gone when it was read")}
		p.written(w, event.Duplicate)
`},
				{"store/put_read.go", `	p.to(w, absent)
`, `	p.written(w, event.Duplicate)
`},
			},
		},
		{
			Name: "statement-error-ignored", What: "a statement throttled inside a successful answer counts as done", Checks: lost,
			Patches: []Patch{{"store/put_insert.go", `	if e == nil {
		return answer{}
`, `	if e == nil || codeOutcome(string(e.Code)) == throttled {
		return answer{}
`}},
		},
		{
			Name: "conflict-acknowledged", What: "a conflict is not quarantined", Checks: lost,
			Patches: []Patch{{"handler/ingest.go", `		if !o.Verdict.Quarantined() {
`, `		if o.Verdict == event.Conflict {
			o.Failed = false
			continue
		}
		if !o.Verdict.Quarantined() {
`}},
		},
		{
			Name: "quarantine-unproven", What: "a letter that quarantine did not take is acknowledged", Checks: lost,
			Patches: []Patch{{"handler/ingest.go", `if o.Failed = err != nil; o.Failed {`, `if o.Failed = false; err != nil {`}},
		},
		{
			Name: "put-overwrites", What: "a put on no condition", Checks: []sim.Check{sim.Rewritten},
			Patches: []Patch{{"store/put_insert.go", `aws.String("attribute_not_exists(PK)"),
`, `aws.String("attribute_not_exists(PK) OR attribute_exists(PK)"),
`}},
		},
		{
			Name: "revision-not-compared", What: "any other revision replaces what is stored", Checks: []sim.Check{sim.Rewritten},
			Patches: []Patch{{"store/judge.go", `item.Revision != nil && s.order(known, item) < 0`, `item.Revision != nil && s.order(known, item) != 0`}},
		},
		{
			Name: "ties-not-broken", What: "of two events with an equal first revision, the later is a conflict, whatever breaks the tie", Checks: []sim.Check{sim.Undeserved},
			Patches: []Patch{{"store/judge.go", `order != 0 || item.Ties == ""`, `order != 0 || item.Ties != ""`}},
		},
		{
			Name: "last-tie-wins", What: "of two events with an equal first revision, the one that comes later replaces the other", Checks: []sim.Check{sim.Rewritten},
			Patches: []Patch{{"store/judge.go", `	return strings.Compare(*known.ties, item.Ties)`, `	return min(-1, strings.Compare(*known.ties, item.Ties))`}},
		},
		{
			Name: "replaces-unseen", What: "a newer revision replaces whatever is stored by now", Checks: []sim.Check{sim.Rewritten, sim.Expiry},
			Patches: []Patch{{"store/put_replace.go", `"#r = :seen AND #d = :digest AND #p >= :text"`, `"(#r = :seen AND #d = :digest AND #p >= :text) OR attribute_exists(PK)"`},
				{"store/put_replace.go", `if item.Ties != "" {`, `if item.Ties == "-" {`}},
		},
		{
			Name: "fifo-goes-on", What: "a FIFO group goes on after a failure", Checks: []sim.Check{sim.Order},
			Patches: []Patch{{"handler/fifo.go", `		for at, i := range places {
			if !b.one(i, &mu) {
				b.leave(places[at+1:])
				return
			}
		}
`, `		for _, i := range places {
			b.one(i, &mu)
		}
`}},
		},
		{
			Name: "hot-key-waited-for", What: "a batch waits for one hot key until its time is over", Checks: []sim.Check{sim.Cost},
			Patches: []Patch{{"store/put_hot.go", `	now := p.store.env.Now()
	switch {
`, `	now := p.store.env.Now()
	if len(left) > 0 {
		return false
	}
	switch {
`}},
		},
		{
			Name: "request-left-running", What: "an update without an answer is sent once more in the background", Checks: []sim.Check{sim.Afterwards},
			Patches: []Patch{{"store/marks.go", `			w.retried(answer)
`, `			w.retried(answer)
			second := w.edit()
			w.store.env.Group().Go(func() { w.send(ctx, second) })
`}},
		},
	}
}
