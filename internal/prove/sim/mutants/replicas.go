package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// replicas returns reads that do not ask for the current table, and so get an earlier state.
func replicas() []Mutant {
	return []Mutant{
		{
			Name: "stale-verdict", What: "what holds a key is read from a replica that may be behind", Defends: "P1 P2",
			Checks: checks(sim.Undeserved, sim.Lost, sim.Rewritten),
			Edits:  edit("rows.View.Request", `aws.Bool(true)`, `aws.Bool(false)`),
		},
	}
}
