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
			Name: "archive-wrong-body", What: "the archive keeps the payload, not the item", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `ArchiveName(c.Old), c.OldImage)`, `ArchiveName(c.Old), c.Old.Data)`}},
		},
		{
			Name: "archive-by-key", What: "an archive object is named after its key alone", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `+ "/" + item.Digest.String() + ".json"`, `+ ".json"`}},
		},
		{
			Name: "archive-of-removals", What: "what a person removes is archived, too", Checks: []sim.Check{sim.Unarchived},
			Patches: []Patch{{"handler/archive.go", `c.Kind == event.Remove && c.ByTTL && c.Old != nil`, `c.Kind == event.Remove && c.Old != nil`}},
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
