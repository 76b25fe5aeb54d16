package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// receipts returns wrong ways to use receipts.
func receipts() []Mutant {
	return []Mutant{
		{
			Name: "receipt-per-batch", What: "one receipt for a batch, named after its first and last change", Defends: "C3 I4", Checks: []sim.Check{sim.Twice},
			Edits: []Edit{
				{"store.groupEntries", `> maxTransaction`, `> 99`},
				{"store.receiptGroup.items", `Item: receipt, ConditionExpression: aws.String("attribute_not_exists(PK)")}})`, `Item: receipt}})`},
				{"store.receiptGroup.items", `	return items, updates
}
`, `	first, last := g.entries[0].Change.Sequence, g.entries[len(g.entries)-1].Change.Sequence
	batch := keyImage(event.Key{PK: "B#" + first.String() + "-" + last.String(), SK: "-"})
	batch["expiresAt"] = items[0].Put.Item["expiresAt"]
	items = append(items, types.TransactWriteItem{Put: &types.Put{
		TableName: &g.store.aggregates, Item: batch, ConditionExpression: aws.String("attribute_not_exists(PK)")}})
	return items, updates
}
`},
				{"store.receiptGroup.cancelled", `	if len(reasons) != len(g.entries)+len(updates) {
`, `	if n := len(g.entries) + len(updates); len(reasons) == n+1 {
		if classifyReason(reasons[n]).outcome == failed {
			g.dropped(len(g.entries))
			g.entries = nil
			return true, why
		}
		reasons = reasons[:n]
	}
	if len(reasons) != len(g.entries)+len(updates) {
`},
			},
		},
		{
			Name: "receipts-by-clock", What: "the machine's clock says how long a receipt lives", Defends: "C3 I6", Checks: []sim.Check{sim.Twice},
			Edits: []Edit{{"store.receiptGroup.items", `integer(entry.Change.Created.Add(receiptLife).Unix())`, `integer(g.store.env.Now().Add(receiptLife).Unix())`}},
		},
	}
}
