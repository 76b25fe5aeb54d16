package main

import "github.com/ingot-events/ingot/internal/sim"

// blunders are wrong even where nothing goes wrong. They are no designs that anybody would keep, and so no mutants;
// they show that the checks look at everything that is stored.
func blunders() []Mutant {
	altered, miscounted, cost := []sim.Check{sim.Altered}, []sim.Check{sim.Miscounted}, []sim.Check{sim.Cost}
	list := []Mutant{
		{
			Name: "id-altered", What: "the stored id is the sort key", Checks: altered,
			Patches: []Patch{{"store/codec.go", `text(item.Type), text(item.ID),`, `text(item.Type), text(item.Key.SK),`}},
		},
		{
			Name: "payload-rewritten", What: "the payload is stored in canonical form, not as it was received", Checks: altered,
			Patches: []Patch{{"pipeline/plan.go", `Data: e.Data.Text()}`, `Data: string(keys.Canonical(nil, e.Data.Root(), nil))}`}},
		},
		{
			Name: "digest-of-bytes", What: "the digest is of the bytes received, whatever they say", Checks: altered,
			Patches: []Patch{{"pipeline/plan.go", `	item.Digest = keys.Digest(t.name, w.source.Data, t.ignore)
`, `	item.Digest = sha256.Sum256([]byte(w.source.Data.Raw()))
`}, {"pipeline/plan.go", `import (
`, `import (
	"crypto/sha256"
`}},
		},
		{
			Name: "number-as-text", What: "a declared attribute that is a number is stored as text", Checks: altered,
			Patches: []Patch{{"store/codec.go", `	case event.NumberAttribute:
		return number(a.Text)
`, `	case event.NumberAttribute:
		return text(a.Text)
`}},
		},
		{
			Name: "expires-late", What: "an item expires ten hours after its time", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"pipeline/plan.go", `roundUp(item.At.Add(retain))`, `roundUp(item.At.Add(retain + 10*time.Hour))`}},
		},
		{
			Name: "where-ignored", What: "an aggregate counts what its condition leaves out", Checks: miscounted,
			Patches: []Patch{{"pipeline/contribute.go", `return f.where.Holds(root)`, `return true`}},
		},
		{
			Name: "value-where-ignored", What: "a value takes what its own condition leaves out", Checks: miscounted,
			Patches: []Patch{{"pipeline/value.go", `if !v.set || !v.where.Holds(root) {`, `if !v.set {`}},
		},
		{
			Name: "missing-as-zero", What: "a value whose field is missing is zero", Checks: miscounted,
			Patches: []Patch{{"pipeline/value.go", `	case v.optional:
		return aggregate.Amount{}, nil
`, `	case v.optional:
		return aggregate.Amount{Set: true}, nil
`}},
		},
		{
			Name: "min-as-max", What: "min keeps the greatest", Checks: miscounted,
			Patches: []Patch{{"pipeline/value.go", `"min": aggregate.Min`, `"min": aggregate.Max`}},
		},
		{
			Name: "min-as-text", What: "min compares numbers as text", Checks: []sim.Check{sim.Miscounted, sim.Uncounted, sim.Cost},
			Patches: []Patch{{"aggregate/fold.go", `o == Min && b.Number.Cmp(a.Number) > 0`, `o == Min && b.Number.String() > a.Number.String()`}},
		},
		{
			Name: "reads-first", What: "what is to be put is looked for before", Checks: cost,
			Patches: []Patch{{"store/put_insert.go", `	_, err := p.store.client.PutItem(ctx,`, `	p.store.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		p.store.events: {Keys: []map[string]types.AttributeValue{keyImage(w.item.Key)}}}})
	_, err := p.store.client.PutItem(ctx,`}},
		},
		{
			Name: "update-sent-twice", What: "an update of a total is sent a second time, to be sure", Checks: cost,
			Patches: []Patch{{"store/marks.go", `	answer, img := w.send(ctx, e)
	switch`, `	w.send(ctx, e)
	answer, img := w.send(ctx, e)
	switch`}},
		},
		{
			Name: "receipts-sent-twice", What: "a transaction is sent a second time, to be sure", Checks: cost,
			Patches: []Patch{{"store/receipts.go", `	answer := classify(err)
	g.count`, `	answer := classify(err)
	g.store.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	g.count`}},
		},
		{
			Name: "statement-refuses-request", What: "a statement's refusal is read as the refusal of the whole request", Checks: []sim.Check{sim.Cost},
			Patches: []Patch{{"store/marks_many.go", `	sent := t.waiting
`, `	sent := t.waiting
	for _, r := range responses {
		if r.Error != nil {
			return classifyStatement(r.Error), later
		}
	}
`}},
		},
		{
			Name: "is-missing-alone", What: "a statement holds only where the mark is missing, not where it is below", Checks: cost,
			Patches: []Patch{{"store/statement.go", `add(" IS MISSING OR ").quoted(g.name).add(" ").add(g.sign).add(" ?)")
`, `add(" IS MISSING)")
			compared = compared[:len(compared)-1]
`}},
		},
	}
	for i := range list {
		list[i].Plain = true
	}
	return list
}
