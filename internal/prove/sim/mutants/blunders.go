package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// blunders returns designs that are wrong even if nothing goes wrong. Nobody would keep such a
// design, so they do not count as mutants. They show that the checks look at everything that is
// stored.
func blunders() []Mutant {
	altered, miscounted, cost := []sim.Check{sim.Altered}, []sim.Check{sim.Miscounted}, []sim.Check{sim.Cost}
	list := []Mutant{
		{
			Name: "id-altered", What: "the stored id is the sort key", Defends: "P2", Checks: altered,
			Edits: edit("rows.AppendAttributes", `Attribute{"id", Text(item.ID)}`, `Attribute{"id", Text(item.Key.SK)}`),
		},
		{
			Name: "expires-late", What: "an item expires ten hours after its time", Defends: "I9", Checks: checks(sim.Expiry),
			Edits: edit("planner.work.time", `roundUp(item.At.Add(retain))`, `roundUp(item.At.Add(retain + 10*time.Hour))`),
		},
		{
			Name: "value-where-ignored", What: "a value takes what its own condition leaves out", Defends: "P7", Checks: miscounted,
			Edits: edit("values.Value.Amount", `if !v.Set || !v.Where.Holds(root) {`, `if !v.Set {`),
		},
		{
			Name: "list-of-another-group", What: "a total is in the list of another group", Defends: "P7", Checks: miscounted,
			Edits: edit("lanes.Within", `within = append(within, by[i])`, `within = append(within, by[0])`),
		},
		{
			Name: "reads-first", What: "what is to be put is looked for before", Defends: "P16", Checks: cost,
			Edits: edit("plain.put.insertOne", `	_, err := p.store.Client.PutItem(ctx,`,
				`	p.store.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		p.store.Events: {Keys: []map[string]types.AttributeValue{rows.KeyImage(w.item.Key)}}}})
	_, err := p.store.Client.PutItem(ctx,`),
		},
	}
	list = append(list, partBlunders()...)
	for i := range list {
		list[i].Plain = true
	}
	return list
}
