package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// ingest returns wrong ways to store events and to answer the queue.
func ingest() []Mutant {
	return []Mutant{
		{
			Name: "replaces-unseen", What: "a newer revision replaces whatever is stored by now", Defends: "P2",
			Checks: checks(sim.Rewritten, sim.Expiry),
			Edits: []Edit{
				{"plain.Writer.Replacement", `"#r = :seen AND #d = :digest"`, `"(#r = :seen AND #d = :digest OR attribute_exists(PK))"`},
				{"plain.Writer.Replacement", `if item.Ties != "" {`, `if item.Ties == "-" {`}},
		},
		{
			Name: "digest-not-folded", What: "the digest takes a field as it came, and the id shows it in lower case", Defends: "P2 P3",
			Checks: checks(sim.Altered, sim.Undeserved),
			Edits:  edit("keys.canonicalOf", `folds: folds`, `folds: nil`),
		},
		{
			Name: "lost-put-is-expired", What: "an event whose put got no answer is Expired once it is too late", Defends: "P1",
			Checks: checks(sim.Undeserved),
			Edits:  edit("plain.put.note", `a.Outcome == rows.Unknown && (w.state == inserting || w.state == replacing)`, `false`),
		},
		{
			Name: "lost-transaction-is-expired", What: "a message whose transaction got no answer is Expired once it is too late",
			Defends: "P1", Checks: checks(sim.Undeserved),
			Edits: edit("transact.messages.judgeLate", `t.unanswered && t.result != nil`, `false && t.result != nil`),
		},
		{
			Name: "hot-key-waited-for", What: "a batch waits for one hot key until its time is over", Defends: "P15",
			Checks: checks(sim.Cost),
			Edits: edit("plain.put.stuck", `	now := p.store.Env.Now()
	switch {
`, `	now := p.store.Env.Now()
	if len(left) > 0 {
		return false
	}
	switch {
`),
		},
		{
			Name: "request-left-running", What: "an update without an answer is sent once more in the background", Defends: "I12",
			Checks: checks(sim.Afterwards),
			Edits: edit("count.markedUpdate.run", `			w.retried(answer, w.update)
`, `			w.retried(answer, w.update)
			second := w.edit()
			w.store.Env.Group().Go(func() { w.send(ctx, second) })
`),
		},
		{
			Name: "letters-by-position", What: "the answer about letters is read by position, not by id", Defends: "P1",
			Checks: checks(sim.Lost),
			Edits: []Edit{{"handler/quarantine.queue.sendBatch", `	for _, sent := range out.Successful {
		if i, convErr := strconv.Atoi(aws.ToString(sent.Id)); convErr == nil && i >= 0 && i < len(errs) {
`, `	for at := range out.Successful {
		if i := batch[at]; i >= 0 {
`}, {"handler/quarantine.queue.sendBatch", `			again = append(again, i)
`, `			again = again[:0]
`}},
		},
	}
}
