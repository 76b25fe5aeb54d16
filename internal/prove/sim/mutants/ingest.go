package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// ingest returns wrong ways to store events and to answer the queue.
func ingest() []Mutant {
	lost := []sim.Check{sim.Lost, sim.Undeserved} // the verdict comes before the acknowledgement
	return []Mutant{
		{
			Name: "digest-not-compared", What: "the same key is a duplicate, whatever the payload", Defends: "C2", Checks: lost,
			Edits: []Edit{{"store.plain.judge", `	if known.digest == item.Digest || s.today(known) == item.Digest {
`, `	if !known.foreign {
`}},
		},
		{
			Name: "unknown-acknowledged", What: "a put whose answer is lost counts as done", Defends: "C1", Checks: lost,
			Edits: []Edit{{"store.put.inserted", `	case done:
		p.charge(w, insertUnits`, `	case done, unknown:
		p.charge(w, insertUnits`}},
		},
		{
			Name: "copies-acknowledged-early", What: "copies in a batch are duplicates before the first is proven stored", Defends: "C1", Checks: lost,
			Edits: []Edit{{"store.put.judgeRest", `				p.results[i] = p.unproven(w, p.items[i])
`, `				if p.results[i] = p.unproven(w, p.items[i]); i != w.place && p.items[i].Digest == w.item.Digest {
					p.results[i] = Result{Verdict: event.Duplicate}
				}
`}},
		},
		{
			Name: "miss-is-duplicate", What: "what BatchGetItem does not find is a duplicate", Defends: "C1", Checks: lost,
			Edits: []Edit{
				{"store.put.miss", `		p.to(w, abandoned)
`, `		p.written(w, event.Duplicate)
`},
				{"store.put.miss", `	p.to(w, absent)
`, `	p.written(w, event.Duplicate)
`},
			},
		},
		{
			Name: "last-tie-wins", What: "of two events with an equal first revision, the one that comes later replaces the other", Defends: "C2", Checks: []sim.Check{sim.Rewritten},
			Edits: []Edit{{"store.plain.order", `	return strings.Compare(*known.ties, item.Ties)`, `	return min(-1, strings.Compare(*known.ties, item.Ties))`}},
		},
		{
			Name: "replaces-unseen", What: "a newer revision replaces whatever is stored by now", Defends: "C2", Checks: []sim.Check{sim.Rewritten, sim.Expiry},
			Edits: []Edit{{"store.put.replace", `"#r = :seen AND #d = :digest"`, `"(#r = :seen AND #d = :digest OR attribute_exists(PK))"`},
				{"store.put.replace", `if item.Ties != "" {`, `if item.Ties == "-" {`}},
		},
		{
			Name: "fifo-goes-on", What: "a FIFO group goes on after a failure", Defends: "C2", Checks: []sim.Check{sim.Order},
			Edits: []Edit{{"handler.ingestBatch.untilPointer", `b.goOn(places, planned && b.one(places[0], mu))`, `b.goOn(places, planned && b.one(places[0], mu) || true)`}},
		},
		{
			Name: "hot-key-waited-for", What: "a batch waits for one hot key until its time is over", Defends: "C4", Checks: []sim.Check{sim.Cost},
			Edits: []Edit{{"store.put.stuck", `	now := p.store.env.Now()
	switch {
`, `	now := p.store.env.Now()
	if len(left) > 0 {
		return false
	}
	switch {
`}},
		},
		{
			Name: "request-left-running", What: "an update without an answer is sent once more in the background", Defends: "I12", Checks: []sim.Check{sim.Afterwards},
			Edits: []Edit{{"store.markedUpdate.run", `			w.retried(answer)
`, `			w.retried(answer)
			second := w.edit()
			w.store.env.Group().Go(func() { w.send(ctx, second) })
`}},
		},
		{
			Name: "margin-of-minutes", What: "an event is taken until a minute before it expires", Defends: "C2 I9", Checks: []sim.Check{sim.Expiry},
			Edits: []Edit{{"store.tooLate", `ExpiryMargin`, `time.Minute`}},
		},
		{
			Name: "swept-is-expired", What: "what a put met and a read does not find has expired", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.put.miss", `		p.to(w, abandoned)
		return
`, ``}, {"store.put.unproven", `w.state == absent && !tooLate(item, w.missed)`, `false`}},
		},
		{
			Name: "letters-by-position", What: "the answer about letters is read by position, not by id", Defends: "C1", Checks: []sim.Check{sim.Lost},
			Edits: []Edit{{"handler.sqsQuarantine.sendBatch", `	for _, sent := range out.Successful {
		if i, convErr := strconv.Atoi(aws.ToString(sent.Id)); convErr == nil && i >= 0 && i < len(errs) {
`, `	for at := range out.Successful {
		if i := batch[at]; i >= 0 {
`}, {"handler.sqsQuarantine.sendBatch", `			again = append(again, i)
`, `			again = again[:0]
`}},
		},
		{
			Name: "stamp-kept", What: "a replacement keeps the stamp of what it replaces", Defends: "C3 I8", Checks: []sim.Check{sim.Altered},
			Edits: []Edit{{"store.put.replace", `	item := *w.item
`, `	item := *w.item
	if seen.stamp != 0 {
		item.Epoch = seen.stamp
	}
`}},
		},
		{
			Name: "image-before-stamp", What: "an item that cannot be read is in the way, whatever newer pipeline has stamped it", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.put.meet", `known.ahead(epoch); err != nil`, `known.ahead(epoch); err != nil && known.stamp <= epoch`}},
		},
		{
			Name: "digest-before-stamp", What: "an item with the same digest is a copy, whatever newer pipeline has stamped it", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.put.meet", `!known.payload && known.stamp > epoch`, `!known.payload && known.stamp < 0`}},
		},
		{
			Name: "secret-not-read", What: "no function asks which secret of hmac the tables were filled with", Defends: "C2", Checks: []sim.Check{sim.Altered},
			Edits: []Edit{{"store.generations.CheckSecret", `check == "" ||`, `check != "" ||`}},
		},
		{
			Name: "secret-believed-when-absent", What: "where no check value of the secret is there, any secret is believed, and none is put", Defends: "C2", Checks: []sim.Check{sim.Altered},
			Edits: []Edit{{"store.generations.checkSecret", `if err == nil && known == "" {`, `if err == nil && known == "" {
		return nil
`}},
		},
	}
}
