package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// blunders returns designs that are wrong even if nothing goes wrong. Nobody would keep such a
// design, so they do not count as mutants. They show that the checks look at everything that is
// stored.
func blunders() []Mutant {
	altered, miscounted, cost := []sim.Check{sim.Altered}, []sim.Check{sim.Miscounted}, []sim.Check{sim.Cost}
	list := []Mutant{
		{
			Name: "id-altered", What: "the stored id is the sort key", Defends: "C2", Checks: altered,
			Edits: []Edit{{"store.appendAttributes", `attribute{"id", text(item.ID)}`, `attribute{"id", text(item.Key.SK)}`}},
		},
		{
			Name: "expires-late", What: "an item expires ten hours after its time", Defends: "I9", Checks: []sim.Check{sim.Expiry},
			Edits: []Edit{{"pipeline.work.time", `roundUp(item.At.Add(retain))`, `roundUp(item.At.Add(retain + 10*time.Hour))`}},
		},
		{
			Name: "value-where-ignored", What: "a value takes what its own condition leaves out", Defends: "C3", Checks: miscounted,
			Edits: []Edit{{"pipeline.value.amount", `if !v.set || !v.where.Holds(root) {`, `if !v.set {`}},
		},
		{
			Name: "missing-as-zero", What: "a value whose field is missing is zero", Defends: "C3", Checks: miscounted,
			Edits: []Edit{{"pipeline.value.amount", `	case v.optional:
		return aggregate.Amount{}, nil
`, `	case v.optional:
		return aggregate.Amount{Set: true}, nil
`}},
		},
		{
			Name: "reads-first", What: "what is to be put is looked for before", Defends: "C4", Checks: cost,
			Edits: []Edit{{"store.put.insertOne", `	_, err := p.store.client.PutItem(ctx,`, `	p.store.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		p.store.events: {Keys: []map[string]types.AttributeValue{keyImage(w.item.Key)}}}})
	_, err := p.store.client.PutItem(ctx,`}},
		},
		{
			Name: "statement-refuses-request", What: "a statement's refusal is read as the refusal of the whole request", Defends: "I5", Checks: []sim.Check{sim.Cost},
			Edits: []Edit{{"store.together.judge", `	sent := t.waiting
`, `	sent := t.waiting
	for _, r := range responses {
		if r.Error != nil {
			return classifyStatement(r.Error), later
		}
	}
`}},
		},
		{
			Name: "is-missing-alone", What: "a statement holds only where the mark is missing, not where it is below", Defends: "I4", Checks: cost,
			Edits: []Edit{{"store.edit.statement", `add(" IS MISSING OR ").quoted(g.name).add(" ").add(g.sign).add(" ?)")
`, `add(" IS MISSING)")
			compared = compared[:len(compared)-1]
`}},
		},
	}
	list = append(list, partBlunders()...)
	list = append(list, packingBlunders()...)
	list = append(list, putBlunders()...)
	list = append(list, offloadBlunders()...)
	for i := range list {
		list[i].Plain = true
	}
	return list
}
