package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// claims returns wrong ways to store a message whose items are put in one transaction, and to keep
// values that only one event may have.
func claims() []Mutant {
	return []Mutant{
		{
			Name: "claim-released-early", What: "the claims of an event that is erased are removed before its key is barred", Defends: "P5",
			Checks: checks(sim.Shared),
			Edits: edit("repair.erasure.bar", `	in := &dynamodb.TransactWriteItemsInput{TransactItems:`, `	for i := range list {
		alone := []types.TransactWriteItem{list[i].write(&e.stages.Events)}
		e.stages.Transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: alone})
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems:`),
		},
		{
			Name: "taken-is-duplicate", What: "a value that another event has counts as claimed", Defends: "P5 I13",
			Checks: checks(sim.Lost, sim.Undeserved, sim.Parted),
			Edits: edit("plain.Writer.JudgeStored", `	if known.Digest == item.Digest || s.today(known) == item.Digest {
`, `	if known.Digest == item.Digest || s.today(known) == item.Digest || claim && known.Typ == item.Type {
`),
		},
		{
			Name: "removed-whole-put-again", What: "a person who puts missing parts puts their whole again, which somebody has removed",
			Defends: "P2", Checks: checks(sim.Altered),
			Edits: edit("transact.atomicPut.try", `if t.Beside && !t.Members[0].Met {`, `if false {`),
		},
	}
}
