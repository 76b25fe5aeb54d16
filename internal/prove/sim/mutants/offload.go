package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// offload returns wrong ways to keep payloads in the payload bucket.
func offload() []Mutant {
	return []Mutant{
		{
			Name: "touched-as-it-was", What: "a touch pass raises the stamp of an item and leaves what it keeps of its payload",
			Defends: "P4 I14", Checks: checks(sim.Altered, sim.Miscounted, sim.Uncounted, sim.Wrong),
			Edits: edit("repair.Repairer.keptToday", ``, `	if item.Payload != nil {
		return item.Data, nil
	}
`),
		},
		{
			Name: "payload-before-the-archive", What: "erase --payloads does not wait until what has expired is archived",
			Defends: "P4 I14", Checks: checks(sim.Unarchived),
			Edits: edit("stray.Bucket.archived", ``, `	if len(b.Name) > 0 {
		return nil
	}
`),
		},
		{
			Name: "payloads-while-ingest-works", What: "erase --payloads does not ask whether ingest is paused",
			Defends: "P4 I14", Checks: checks(sim.Altered),
			Edits: edit("stray.Bucket.paused", ``, `	if len(b.Name) > 0 {
		return nil
	}
`),
		},
	}
}
