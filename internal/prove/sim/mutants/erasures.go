package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// erasures returns wrong ways to erase an event.
func erasures() []Mutant {
	returned, undeserved := []sim.Check{sim.Returned}, []sim.Check{sim.Undeserved}
	return []Mutant{
		{
			Name: "erased-without-a-bar", What: "what remains of an erased event does not bar its key", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.erasure.barring", `	in.Item[barredAttribute] = &types.AttributeValueMemberBOOL{Value: true}
`, ``}},
		},
		{
			Name: "bar-expires-under-latest", What: "the bar goes with the revision that was erased, and a later one comes back", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.erasure.barring", `known["revision"] != nil:`, `known["revision"] != nil && known["expiresAt"] == nil:`}},
		},
		{
			Name: "erased-unseen", What: "an event is erased as it was read, whatever its key holds by now", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.erasure.try", `e.bar(ctx, e.barring(), releases(claims))`, `e.bar(ctx, &dynamodb.PutItemInput{TableName: &e.events, Item: e.barring().Item}, releases(claims))`}},
		},
		{
			Name: "bar-not-read", What: "a read of what holds a key does not ask whether it is barred", Defends: "C1 C2", Checks: undeserved,
			Edits: []Edit{{"store.view.request", `"PK, SK, #t, #d, #r, #e, #s, #i, #b"`, `"PK, SK, #t, #d, #r, #e, #s, #i"`}, {"store.view.request", `, "#b": barredAttribute}`, `}`}},
		},
		{
			Name: "bar-touched", What: "a touch pass stamps what an erased event has left", Defends: "C2", Checks: returned,
			Edits: []Edit{{"store.stages.touching", `"attribute_exists(#t) AND (attribute_not_exists(#e) OR #e < :now)"`, `"(attribute_exists(#t) OR attribute_exists(PK)) AND (attribute_not_exists(#e) OR #e < :now)"`},
				{"store.stages.touchMany", "add(` AND \"type\" IS NOT MISSING`)", "add(``)"}},
		},
		{
			Name: "erasure-uncounted", What: "an event that is replaced by a bar stays in its totals", Defends: "C3", Checks: counting,
			Edits: []Edit{{"handler.streamBatch.decode", `		if change.Old == nil && change.New == nil {
`, `		if change.New == nil && (change.Old == nil || change.Kind == event.Modify) {
`}},
		},
	}
}
