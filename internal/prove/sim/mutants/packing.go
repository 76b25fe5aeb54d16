package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// packing returns wrong ways to store compressed payloads.
func packing() []Mutant {
	return []Mutant{
		{
			Name: "archived-as-stored", What: "a compressed payload is archived as it is stored", Defends: "I5",
			Checks: checks(sim.Unarchived),
			Edits:  edit("rows.asText", `if item.Packed == nil {`, `if true {`),
		},
	}
}
