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
		w.settleWritten`, `	case done, unknown:
		w.settleWritten`}},
		},
		{
			Name: "copies-acknowledged-early", What: "copies in a batch are duplicates before the first is proven stored", Checks: lost,
			Patches: []Patch{{"store/put.go", `			case w.state != settled || w.known == nil:
`, `			case w.state != settled && !first && item.Digest == w.item.Digest:
				p.results[i] = Result{Verdict: event.Duplicate}
			case w.state != settled || w.known == nil:
`}},
		},
		{
			Name: "copies-share-verdict", What: "copies in a batch get the first one's verdict", Checks: lost,
			Patches: []Patch{{"store/put.go", `p.store.judge(w.known, item)`, `p.store.judge(w.known, w.item)`}},
		},
		{
			Name: "miss-is-duplicate", What: "what BatchGetItem does not find is a duplicate", Checks: lost,
			Patches: []Patch{
				{"store/put_read.go", `		w.state = abandoned
`, `		w.settleWritten(event.Duplicate)
`},
				{"store/put_read.go", `	w.state, w.absent = settled, p.store.env.Now()
`, `	w.settleWritten(event.Duplicate)
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
			Patches: []Patch{{"store/judge.go", `item.Revision != nil && s.revision.Cmp(*item.Revision) < 0`, `item.Revision != nil && s.revision.Cmp(*item.Revision) != 0`}},
		},
		{
			Name: "replaces-unseen", What: "a newer revision replaces whatever is stored by now", Checks: []sim.Check{sim.Rewritten, sim.Expiry},
			Patches: []Patch{{"store/put_replace.go", `"#r = :seen AND #d = :digest"`, `"(#r = :seen AND #d = :digest) OR attribute_exists(PK)"`}},
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
			Name: "request-left-running", What: "an update without an answer is sent once more in the background", Checks: []sim.Check{sim.Afterwards},
			Patches: []Patch{{"store/marks.go", `		w.retried(answer)
		if !w.store.backoff(`, `		w.retried(answer)
		again := w.request()
		w.store.env.Group().Go(func() { w.store.client.UpdateItem(ctx, again) })
		if !w.store.backoff(`}},
		},
	}
}
