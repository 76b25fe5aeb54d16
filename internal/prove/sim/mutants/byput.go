package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// byPut returns wrong ways to move totals in the transaction that puts an event.
func byPut() []Mutant {
	alone := Edit{"store.pack.together", `	if len(p.puts) < 2 {
		return
	}
	tries, last, held := 0, answer{}, false
`, `	p.leave(func(*atomicPut) bool { return true })
	tries, last, held := 0, answer{}, false
`}
	return []Mutant{
		{
			Name: "touch-uncounted", What: "what a touch pass brings in is not counted for a total that moves with the put", Defends: "C3 I8", Checks: []sim.Check{sim.Uncounted, sim.Miscounted},
			Edits: []Edit{
				{"handler.uncounted", `if c.Kind != event.Insert || c.New == nil || c.New.Put == 0 {`, `if c.New == nil {`},
				{"handler.uncounted", `of.Def.MovedBy == aggregate.Put && of.Def.Since <= c.New.Put`, `of.Def.MovedBy == aggregate.Put`},
			},
		},
		{
			Name: "floor-checked-before", What: "a floor is checked before the transaction, not in it", Defends: "C3", Checks: []sim.Check{sim.Overdrawn},
			Fields: []Field{{"store.totalMove", "unguarded bool"}},
			Edits: []Edit{
				alone,
				{"store.totalMove.update", `if takes {`, `if takes && !u.unguarded {`},
				{"store.atomicPut.try", `	moves := totalMoves(t.unmet())
`, `	moves := totalMoves(t.unmet())
	for _, u := range moves {
		if img, err := t.store.get(ctx, u.Key); err == nil {
			floor, _ := u.below(img)
			u.unguarded = floor == ""
		}
	}
`},
			},
		},
		{
			Name: "total-named-twice", What: "a transaction has two updates of one total", Defends: "C4", Checks: []sim.Check{sim.Cost},
			Edits: []Edit{{"store.totalMoves", `if u == nil {`, `if u == nil || true {`}},
		},
		{
			Name: "floor-before-digest", What: "an event is rejected before its own digest is looked at", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.atomicPut.cancelled", ``, `	for i := range moves {
		if at := len(t.members) + i; at < len(sent.reasons) && !t.unanswered && classifyReason(sent.reasons[at]).outcome == failed {
			return t.refusedBy(ctx, moves[i], sent.reasons[at])
		}
	}
`}},
		},
		{
			Name: "rejected-unanswered", What: "an event is rejected while a try of its delivery may still be carried out", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.messages.onlyTotals", `case t.unanswered:`, `case t.unanswered && false:`}},
		},
		{
			Name: "rejected-for-another", What: "messages of one transaction are all rejected if one total refuses it", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.pack.divide", ``, `	p.take(func(t *atomicPut) bool {
		for _, u := range totalMoves(t.unmet()) {
			if rooms[u.Key] != nil && len(t.floors()) > 0 {
				t.refused(&event.Refusal{Verdict: event.Rejected, Reason: event.BelowFloor, Detail: "its total is too low"})
			}
		}
		return t.result != nil
	})
`}},
		},
		{
			Name: "unanswered-together-forgotten", What: "a message is rejected alone after a transaction with others got no answer", Defends: "C1", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{{"store.pack.try", `		for _, t := range p.puts {
			t.unanswered = true
		}
`, ``}},
		},
		{
			Name: "put-on-no-condition", What: "a transaction that moves totals puts an event whose key is taken", Defends: "C3", Checks: []sim.Check{sim.Miscounted, sim.Undeserved, sim.Rewritten},
			Edits: []Edit{{"store.transactions.transaction", `	for _, u := range moves {
`, `	for i := range in.TransactItems {
		if put := in.TransactItems[i].Put; put != nil && len(moves) > 0 {
			put.ConditionExpression = aws.String("attribute_not_exists(PK) OR attribute_exists(PK)")
		}
	}
	for _, u := range moves {
`}},
		},
		{
			Name: "moved-after-the-put", What: "a total moves in a request of its own, after the put of the event", Defends: "C3", Checks: []sim.Check{sim.Miscounted, sim.Wrong},
			Edits: []Edit{
				alone,
				{"store.atomicPut.try", `	sent := t.store.transact(ctx, t.store.transaction(t.members, t.blind, moves), sendOnce(moves)...)
`, `	var after []*totalMove
	all := moves
	moves = nil
	for _, u := range all {
		if u.Def.AtLeast != nil {
			moves = append(moves, u)
		} else {
			after = append(after, u)
		}
	}
	sent := t.store.transact(ctx, t.store.transaction(t.members, t.blind, moves), sendOnce(all)...)
	if sent.outcome == done && len(after) > 0 {
		t.store.transact(ctx, t.store.transaction(nil, false, after), sendOnce(all)...)
	}
`},
			},
		},
		{
			Name: "floor-of-the-whole-alone", What: "a floor does not hold for what the parts of an event take", Defends: "C3", Checks: []sim.Check{sim.Overdrawn},
			Edits: []Edit{{"store.totalMoves", `u.subtracts[v] || subtracts(c, v, amount)`, `u.subtracts[v] || subtracts(c, v, amount) && m.item.Type != "line"`}},
		},
		{
			Name: "taken-while-built", What: "an event takes from a total that lacks older events", Defends: "C3 I8", Checks: []sim.Check{sim.Overdrawn},
			Edits: []Edit{{"store.messages.mayTake", `if !t.ready && why[t] == nil {`, `if !t.ready && why[t] == nil && false {`}},
		},
		{
			Name: "rejected-while-built", What: "an event is rejected by a total that lacks older events", Defends: "C1 I8", Checks: []sim.Check{sim.Undeserved},
			Edits: []Edit{
				{"store.messages.mayTake", `if !t.ready && why[t] == nil {`, `if !t.ready && why[t] == nil && false {`},
				{"store.atomicPut.refusedBy", `u.Def, true, &t.cost); why != nil`, `u.Def, true, &t.cost); why != nil && false`},
				{"store.pack.divide", `if why == nil {`, `if why == nil || true {`},
			},
		},
		{
			Name: "complete-once-read", What: "a total that was once complete is taken for complete, whatever older code has put since", Defends: "C1 I8", Checks: []sim.Check{sim.Overdrawn, sim.Undeserved},
			Helpers: []Helper{{"store", `import "github.com/ingot-events/ingot/event"

func (f *recentHeads) ever(head event.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.seen[head].IsZero()
}
`}},
			Edits: []Edit{{"store.heads.incomplete", `!now && s.complete.recently(key, s.env.Now())`, `s.complete.ever(key)`}},
		},
		{
			Name: "transfer-in-two", What: "the sides of an atomic event that moves totals are put one after the other", Defends: "C3 I13", Checks: []sim.Check{sim.Parted},
			Edits: []Edit{{"store.transactions.putMoved", `		first[items[i].Key] = true
`, `		first[items[i].Key] = true
		if len(atomicParts(items[i])) > 0 {
			s.atomicPut(items[i]).put(ctx)
		}
`}},
		},
	}
}

// putBlunders returns wrong ways that are wrong even if nothing goes wrong.
func putBlunders() []Mutant {
	return []Mutant{
		{
			Name: "put-counted-again", What: "the stream counts an insert that the put has counted", Defends: "C3", Checks: []sim.Check{sim.Miscounted},
			Edits: []Edit{{"handler.uncounted", `if c.Kind != event.Insert || c.New == nil || c.New.Put == 0 {`, `if c.New == nil || c.New.Put >= 0 {`}},
		},
		{
			Name: "put-unsaid", What: "an item does not say that its put has counted it", Defends: "C3", Checks: []sim.Check{sim.Altered},
			Edits: []Edit{{"store.atomicItem.encode", `if len(m.moves) > 0 {`, `if len(m.moves) < 0 {`}},
		},
	}
}
