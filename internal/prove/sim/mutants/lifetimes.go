package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// lifetimes returns wrong ideas of expiry and the archive.
func lifetimes() []Mutant {
	return []Mutant{
		{
			Name: "was-ignored", What: "a longer retain holds for events from before it, too", Defends: "P2 I9",
			Checks: checks(sim.Reinserted),
			Edits:  edit("lifetime.At", `if at.Before(w.Before) && Shorter`, `if at.IsZero() && Shorter`),
		},
		{
			Name: "type-decides", What: "an event lives as long as its type says, whatever its own end", Defends: "P24 I9",
			Checks: checks(sim.Expiry),
			Edits:  edit("planner.work.expiry", `roundUp(at) < item.ExpiresAt`, `roundUp(at) > item.ExpiresAt`),
		},
		{
			Name: "margin-of-the-type", What: "until when an event may be put, its type decides, and not its own end", Defends: "P24 I9",
			Checks: checks(sim.Expiry, sim.Reinserted),
			Edits: edit("tables.TooLate", `return item.ExpiresAt != 0 && now.Unix()`,
				`return item.ExpiresAt != 0 && (now.Sub(item.At) > 47*time.Hour || item.Type != "payment") && now.Unix()`),
		},
		{
			Name: "unclosed-by-file", What: "whether events that expire leave a total as it is, today's retain decides", Defends: "P11 I9",
			Checks: checks(sim.Wrong, sim.Uncounted),
			Edits: edit("handler.streamBatch.leaves", `b.tables.Heads.Unclosed()[from.Def]`,
				`lanes.Unclosed(from.Def, b.pipeline.ShortestRetain(from.Def, expired.At.AddDate(1, 0, 0)))`),
		},
		{
			Name: "archive-unproven", What: "an object that the archive did not take is let go", Defends: "I5",
			Checks: checks(sim.Unarchived),
			Edits: edit("table/archive.Keeper.Keep", `			kept.First, kept.Err = p.items[0], p.err
			break
`, `			continue
`),
		},
	}
}
