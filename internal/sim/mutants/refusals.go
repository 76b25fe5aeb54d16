package main

import "github.com/ingot-events/ingot/internal/sim"

// refusals are other ways to go on from what can never be counted.
func refusals() []Mutant {
	unkept, stuck := []sim.Check{sim.Unkept}, []sim.Check{sim.Stuck}
	endless := []sim.Check{sim.Stuck, sim.Cost} // one invocation may ask too often before the world can be seen to stand still
	return []Mutant{
		{
			Name: "odd-record-dropped", What: "a record that cannot be understood leaves no letter", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `err := b.send(ctx, letters...)`, `err := ctx.Err()`}},
		},
		{
			Name: "odd-record-blocks", What: "a record that cannot be understood fails its batch", Checks: stuck,
			Patches: []Patch{{"handler/streams_quarantine.go", `	err := b.send(ctx, letters...)
`, `	err := b.send(ctx, letters...)
	if err == nil {
		err = b.odd[0].err
	}
`}},
		},
		{
			Name: "odd-record-unflagged", What: "a record that cannot be understood leaves no flag on the heads", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `slices.Concat(b.Plan.Definitions(), b.Store.Newer()), b.created`, `slices.Concat(b.Plan.Definitions()[:0]), b.created`}},
		},
		{
			Name: "refused-update-dropped", What: "an update that is refused for good leaves no letter", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `err := b.send(ctx, l); err != nil`, `err := ctx.Err(); err != nil`}},
		},
		{
			Name: "refused-update-blocks", What: "an update that is refused for good fails its batch", Checks: stuck,
			Patches: []Patch{{"store/marks.go", `	if !w.quarantined(ctx, w.update, cause) {
`, `	if w.giveUp(cause); true {
`}},
		},
		{
			Name: "refused-update-unflagged", What: "an update that is refused for good leaves no flag on its aggregate item", Checks: unkept,
			Patches: []Patch{{"store/marks.go", `		e.flag(delta.Last.Created(), "an update was refused and is in quarantine: "+w.refusal.Error())
`, ``}},
		},
		{
			Name: "refused-update-keeps-mark", What: "an update that is refused for good does not move the mark", Checks: unkept,
			Patches: []Patch{
				{"store/marks.go", `	e.mark(w.lane, &delta)
`, `	e.mark(w.lane, &delta)
	if w.refusal != nil {
		e.sets = slices.DeleteFunc(e.sets, func(s assignment) bool { return s.placeholder == ":mark" })
	}
`},
				{"store/marks.go", `	"errors"
`, `	"errors"
	"slices"
`},
			},
		},
		{
			Name: "full-item-unflagged", What: "an aggregate item that takes no flag leaves none on its head", Checks: unkept,
			Patches: []Patch{{"store/marks.go", `		if err := w.flagHead(ctx, w.update, w.refusal); err != nil {
			w.giveUp(err)
		}
`, ``}},
		},
		{
			Name: "full-item-in-transaction", What: "an aggregate item that takes no flag stays in its transaction", Checks: endless,
			Patches: []Patch{{"store/receipts.go", `!slices.Contains(touched, u) && !g.full[u.Key]`, `!slices.Contains(touched, u)`}},
		},
		{
			Name: "receipt-before-letter", What: "receipts are written before the letter about a refused update is proven sent", Checks: unkept,
			Patches: []Patch{{"store/receipts_refused.go", `	if err := g.quarantine(ctx, u, a.err); err != nil {
		return false,`, `	g.quarantine(ctx, u, a.err)
	if err := ctx.Err(); err != nil {
		return false,`}},
		},
		{
			Name: "refused-values-again", What: "a refused update's values are sent once more in place of the flag", Checks: unkept,
			Patches: []Patch{{"store/receipts.go", `	if refusal := g.refusals[u.Key]; refusal != nil {
		e.flag`, `	if refusal := g.refusals[u.Key]; refusal != nil && len(u.Steps) > 1 {
		e.flag`}},
		},
		{
			Name: "refusal-spreads", What: "one refused aggregate item takes the values of the others in its transaction with it", Checks: []sim.Check{sim.Miscounted, sim.Unkept},
			Patches: []Patch{{"store/receipts_refused.go", `	g.refusals[u.Key] = a.err
`, `	for _, entry := range g.entries {
		for _, other := range entry.Touches {
			g.refusals[other.Key] = a.err
		}
	}
`}},
		},
		{
			Name: "condition-tried-for-ever", What: "a condition that can never hold is tried until time runs out", Checks: endless,
			Patches: []Patch{{"store/receipts.go", `return g.stuck[u.Key] >= maxStuck`, `return g.stuck[u.Key] < 0`}},
		},
		{
			Name: "letter-names-last-change", What: "the letter about a refused update names its last change alone", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `	for _, s := range u.Steps {
`, `	for _, s := range u.Steps[len(u.Steps)-1:] {
`}},
		},
		{
			Name: "odd-record-flag-unproven", What: "the heads' flags for an odd record are not awaited", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `		err = flagErr
`, `		_ = flagErr
`}},
		},
		{
			Name: "odd-record-overtaken", What: "where several odd records are not kept, the batch goes on from the last", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `	return b.odd[0].change.Sequence
`, `	return b.odd[len(b.odd)-1].change.Sequence
`}},
		},
		{
			Name: "first-letter-proves-all", What: "letters about stream records are proven kept when the first is", Checks: unkept,
			Patches: []Patch{{"handler/streams_quarantine.go", `return errors.Join(errs...)`, `return errs[0]`}},
		},
	}
}
