package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// claims returns wrong ways to store a message whose items are put in one transaction, and to keep
// values that only one event may have.
func claims() []Mutant {
	return []Mutant{
		{
			Name: "duplicate-by-one-part", What: "a transaction that meets one of its items is a duplicate", Defends: "C1 I13", Checks: []sim.Check{sim.Lost, sim.Undeserved},
			Edits: []Edit{
				{"store.atomicPut.decide", `worst, met := &Result{}, true`, `worst, met := &Result{}, false`},
				{"store.atomicPut.decide", `met = met && m.met`, `met = met || m.met`},
			},
		},
		{
			Name: "rest-put-on-no-condition", What: "the rest of a transaction is put, whatever has become of the items that were met", Defends: "I13", Checks: []sim.Check{sim.Parted},
			Edits: []Edit{{"store.atomicItem.check", `	if m.barred {
`, `	if !m.barred {
		c.ConditionExpression = aws.String("attribute_exists(PK) OR attribute_not_exists(PK)")
		return c
	}
	if m.barred {
`}},
		},
		{
			Name: "claim-released-early", What: "the claims of an event that is erased are removed before its key is barred", Defends: "C2", Checks: []sim.Check{sim.Shared},
			Edits: []Edit{{"store.erasure.bar", `	in := &dynamodb.TransactWriteItemsInput{TransactItems:`, `	for i := range claims {
		e.transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{claims[i].write(&e.events)}})
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems:`}},
		},
		{
			Name: "claim-never-released", What: "the claims of an event that is erased stay", Defends: "C2", Checks: []sim.Check{sim.Returned},
			Edits: []Edit{{"store.erasure.bar", `	if len(claims) == 0 {
`, `	if len(claims) >= 0 {
`}},
		},
		{
			Name: "taken-is-duplicate", What: "a value that another event has counts as claimed", Defends: "C2 I13", Checks: []sim.Check{sim.Lost, sim.Undeserved, sim.Parted},
			Edits: []Edit{{"store.plain.judge", `	if known.digest == item.Digest || s.today(known) == item.Digest {
`, `	if known.digest == item.Digest || s.today(known) == item.Digest || claim && known.typ == item.Type {
`}},
		},
		{
			Name: "removed-whole-put-again", What: "a person who puts missing parts puts their whole again, which somebody has removed", Defends: "C2", Checks: []sim.Check{sim.Altered},
			Edits: []Edit{{"store.atomicPut.try", `if t.beside && !t.members[0].met {`, `if false {`}},
		},
		{
			Name: "claim-of-another-released", What: "an event that is erased takes its values from the event that has them by now", Defends: "C2", Checks: []sim.Check{sim.Shared},
			Edits: []Edit{{"store.release.write", `"attribute_not_exists(PK) OR " + condition`, `"attribute_not_exists(PK) OR attribute_exists(#d) OR " + condition`}},
		},
		{
			Name: "bar-of-the-whole-ignored", What: "the parts of an atomic event that was erased are put beside what is left of it", Defends: "C2 I13", Checks: []sim.Check{sim.Parted, sim.Returned},
			Edits: []Edit{{"store.atomicPut.decide", `if whole.met && whole.barred {`, `if false {`}},
		},
	}
}
