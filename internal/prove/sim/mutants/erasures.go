package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// erasures returns wrong ways to erase an event.
func erasures() []Mutant {
	returned := []sim.Check{sim.Returned}
	return []Mutant{
		{
			Name: "erased-unseen", What: "an event is erased as it was read, whatever its key holds by now", Defends: "P17",
			Checks: returned,
			Edits: edit("repair.erasure.try", `e.bar(ctx, e.barring(), releases(released))`,
				`e.bar(ctx, &dynamodb.PutItemInput{TableName: &e.stages.Events, Item: e.barring().Item}, releases(released))`),
		},
	}
}
