package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// byPut returns wrong ways to move totals in the transaction that puts an event.
func byPut() []Mutant {
	alone := Edit{"transact.pack.together", `	if len(p.puts) < 2 {
		return
	}
	tries, last, held := 0, rows.Answer{}, false
`, `	p.leave(func(*atomicPut) bool { return true })
	tries, last, held := 0, rows.Answer{}, false
`}
	return []Mutant{
		{
			Name: "touch-uncounted", What: "what a touch pass brings in is not counted for a total that moves with the put",
			Defends: "P7 I8", Checks: checks(sim.Uncounted, sim.Miscounted),
			Edits: []Edit{
				{"handler.uncounted", `if c.Kind != event.Insert || c.New == nil || c.New.Put == 0 {`, `if c.New == nil {`},
				{"handler.uncounted", `of.Def.MovedBy == aggregate.Put && of.Def.Since <= c.New.Put`, `of.Def.MovedBy == aggregate.Put`},
			},
		},
		{
			Name: "floor-checked-before", What: "a floor is checked before the transaction, not in it", Defends: "P8",
			Checks: checks(sim.Overdrawn),
			Fields: []Field{{"transact.TotalMove", "unguarded bool"}},
			Edits: []Edit{
				alone,
				{"transact.TotalMove.update", `if nears {`, `if nears && !u.unguarded {`},
				{"transact.atomicPut.try", `	moves := TotalMoves(t.unmet())
`, `	moves := TotalMoves(t.unmet())
	for _, u := range moves {
		if img, err := t.store.Get(ctx, u.Key); err == nil {
			beyond, _ := u.Beyond(img)
			u.unguarded = beyond == nil
		}
	}
`},
			},
		},
		{
			Name: "ceiling-without-the-event", What: "a ceiling is compared with the sum without what the event adds", Defends: "P8",
			Checks: checks(sim.Overdrawn),
			Edits: edit("transact.TotalMove.before", `	return u.Def.Bounds[i].Before(`, `	if u.Def.Bounds[i].Ceiling {
		return u.Def.Bounds[i]
	}
	return u.Def.Bounds[i].Before(`),
		},
	}
}
