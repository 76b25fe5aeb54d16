package main

import "github.com/ingot-events/ingot/internal/sim"

// lifetimes are other ideas of expiry and the archive.
func lifetimes() []Mutant {
	return []Mutant{
		{
			Name: "no-expired-check", What: "an event is stored however late it comes", Checks: []sim.Check{sim.Reinserted},
			Patches: []Patch{{"store/put.go", `return item.ExpiresAt != 0 && now.Unix()`, `return item.ExpiresAt < 0 && now.Unix()`}},
		},
		{
			Name: "was-ignored", What: "a longer retain holds for events from before it, too", Checks: []sim.Check{sim.Reinserted},
			Patches: []Patch{{"pipeline/retain.go", `if at.Before(w.Before) && shorter`, `if at.IsZero() && shorter`}},
		},
		{
			Name: "was-asks-what-had-expired", What: "an event keeps its shorter life only if it was over when the longer one came", Checks: []sim.Check{sim.Reinserted},
			Patches: []Patch{{"pipeline/retain.go", `if at.Before(w.Before) && shorter`, `if at.Add(w.Retain).Before(w.Before) && shorter`}},
		},
		{
			Name: "archive-wrong-body", What: "the archive keeps the payload, not the item", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `ArchiveName(c.Old), c.OldImage)`, `ArchiveName(c.Old), c.Old.Data)`}},
		},
		{
			Name: "archive-by-key", What: "an archive object is named after its key alone", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `+ "/" + item.Digest.String() + ".json"`, `+ ".json"`}},
		},
		{
			Name: "archive-of-removals", What: "what a person removes is archived, too", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `c.Expired`, `c.Kind == event.Remove && c.Old != nil`}},
		},
		{
			Name: "expired-by-whom", What: "a removal is an expiry if the stream says that time to live made it", Checks: []sim.Check{sim.Miscounted, sim.Unarchived},
			Patches: []Patch{
				{"store/record.go", `change.Kind == event.Remove && pastItsTime(change.Old, change.Created)`, `change.Kind == event.Remove && change.Old != nil && byTTL`},
				{"store/record.go", `	err = decodeImages(&change, before, after)
`, `	byTTL := stringOf(member(member(r, "userIdentity"), "principalId")) == "dynamodb.amazonaws.com"
	err = decodeImages(&change, byTTL, before, after)
`},
				{"store/record.go", `func decodeImages(change *event.Change, before, after event.Node)`, `func decodeImages(change *event.Change, byTTL bool, before, after event.Node)`},
			},
		},
		{
			Name: "expired-by-clock", What: "the machine's clock says whether what was removed had expired", Checks: []sim.Check{sim.Miscounted, sim.Unarchived},
			Patches: []Patch{{"handler/streams.go", `		b.changes = append(b.changes, change)
`, `		if change.Kind == event.Remove {
			change.Expired = change.Old.ExpiresAt != 0 && change.Old.ExpiresAt <= b.env.Now().Unix()
		}
		b.changes = append(b.changes, change)
`}},
		},
		{
			Name: "archive-not-awaited", What: "the answer does not wait for the archive", Checks: []sim.Check{sim.Afterwards, sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `	b.env.Each(len(expired), 8, func(i int) {
		if failed`, `	group := b.env.Group()
	for i, c := range expired {
		errs[i] = nil
		group.Go(func() { b.keep(ctx, c) })
	}
	b.env.Each(0, 8, func(i int) {
		if failed`}},
		},
		{
			Name: "archive-unproven", What: "an object that the archive did not take is let go", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `			b.fail(ctx, expired[i].Sequence, "expired item not archived", err)
			return
`, `			errs[i] = nil
			continue
`}},
		},
	}
}
