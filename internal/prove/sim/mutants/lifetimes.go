package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// lifetimes returns wrong ideas of expiry and the archive.
func lifetimes() []Mutant {
	return []Mutant{
		{
			Name: "no-expired-check", What: "an event is stored however late it comes", Defends: "C2 I9", Checks: []sim.Check{sim.Reinserted},
			Edits: []Edit{{"store.tooLate", `return item.ExpiresAt != 0 && now.Unix()`, `return item.ExpiresAt < 0 && now.Unix()`}},
		},
		{
			Name: "was-ignored", What: "a longer retain holds for events from before it, too", Defends: "C2 I9", Checks: []sim.Check{sim.Reinserted},
			Edits: []Edit{{"pipeline.retainAt", `if at.Before(w.Before) && lifetime.Shorter`, `if at.IsZero() && lifetime.Shorter`}},
		},
		{
			Name: "was-asks-what-had-expired", What: "an event keeps its shorter life only if it was over when the longer one came", Defends: "C2 I9", Checks: []sim.Check{sim.Reinserted},
			Edits: []Edit{{"pipeline.retainAt", `if at.Before(w.Before) && lifetime.Shorter`, `if at.Add(w.Retain).Before(w.Before) && lifetime.Shorter`}},
		},
		{
			Name: "expired-by-whom", What: "a removal is an expiry if the stream says that time to live made it", Defends: "C3", Checks: []sim.Check{sim.Miscounted, sim.Unarchived},
			Edits: []Edit{{"store.ReadRecord", `	err = decodeImages(&change, before, after)
`, `	err = decodeImages(&change, before, after)
	change.Expired = change.Expired && stringOf(member(member(r, "userIdentity"), "principalId")) == "dynamodb.amazonaws.com"
`}},
		},
		{
			Name: "expired-by-clock", What: "the machine's clock says whether what was removed had expired", Defends: "C3", Checks: []sim.Check{sim.Miscounted, sim.Unarchived},
			Edits: []Edit{{"handler.streamBatch.decode", `		b.changes = append(b.changes, change)
`, `		if change.Kind == event.Remove {
			change.Expired = change.Old.ExpiresAt != 0 && change.Old.ExpiresAt <= b.env.Now().Unix()
		}
		b.changes = append(b.changes, change)
`}},
		},
		{
			Name: "archive-not-awaited", What: "the answer does not wait for the archive", Defends: "I5 I12", Checks: []sim.Check{sim.Afterwards, sim.Unarchived},
			Edits: []Edit{{"handler.streamBatch.archive", `	todo := make([]int, len(expired))
`, `	group := b.env.Group()
	for i, c := range expired {
		errs[i] = nil
		group.Go(func() { b.keep(ctx, c, func(int64) bool { return true }) })
	}
	todo := make([]int, 0)
`}},
		},
		{
			Name: "archive-unproven", What: "an object that the archive did not take is let go", Defends: "I5", Checks: []sim.Check{sim.Unarchived},
			Edits: []Edit{{"handler.streamBatch.archive", `			b.fail(ctx, expired[i].Sequence, "expired item not archived", err)
			return
`, `			errs[i] = nil
			continue
`}},
		},
	}
}
