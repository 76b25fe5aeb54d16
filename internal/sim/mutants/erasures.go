package main

import "github.com/ingot-events/ingot/internal/sim"

// erasures are other ways of erasing an event.
func erasures() []Mutant {
	returned, undeserved := []sim.Check{sim.Returned}, []sim.Check{sim.Undeserved}
	return []Mutant{
		{
			Name: "erased-without-a-bar", What: "what remains of an erased event does not bar its key", Checks: returned,
			Patches: []Patch{{"store/erase.go", `	in.Item[barredAttribute] = &types.AttributeValueMemberBOOL{Value: true}
`, ``}},
		},
		{
			Name: "bar-for-ever", What: "the bar of an event that expires stays for ever", Checks: returned,
			Patches: []Patch{{"store/erase.go", `		in.Item["expiresAt"] = known["expiresAt"]
`, ``}},
		},
		{
			Name: "bar-expires-under-latest", What: "the bar goes with the revision that was erased, and a later one comes back", Checks: returned,
			Patches: []Patch{{"store/erase.go", `known["revision"] != nil:`, `known["revision"] != nil && known["expiresAt"] == nil:`}},
		},
		{
			Name: "erased-unseen", What: "an event is erased as it was read, whatever its key holds by now", Checks: returned,
			Patches: []Patch{{"store/erase.go", `s.client.PutItem(ctx, s.barring(key, known))`, `s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.events, Item: s.barring(key, known).Item})`}},
		},
		{
			Name: "barred-as-conflict", What: "what comes under a barred key is a conflict", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `	if known.barred {
`, `	if known.barred && !known.foreign {
`}},
		},
		{
			Name: "bar-not-read", What: "a read of what holds a key does not ask whether it is barred", Checks: undeserved,
			Patches: []Patch{{"store/put_read.go", `#i, #b")`, `#i")`}, {"store/put_read.go", `, "#b": barredAttribute}`, `}`}},
		},
		{
			Name: "bar-touched", What: "a touch pass stamps what an erased event has left", Checks: returned,
			Patches: []Patch{{"store/rebuild.go", `attribute_exists(#t) AND (attribute_not_exists(#e)`, `(attribute_exists(#t) OR attribute_exists(PK)) AND (attribute_not_exists(#e)`}},
		},
		{
			Name: "erasure-uncounted", What: "an event that is replaced by a bar stays in its totals", Checks: counting,
			Patches: []Patch{{"handler/streams.go", `		if change.Old == nil && change.New == nil {
`, `		if change.New == nil && (change.Old == nil || change.Kind == event.Modify) {
`}},
		},
	}
}
