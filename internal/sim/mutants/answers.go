package main

import "github.com/ingot-events/ingot/internal/sim"

// answers are other ways of reading an answer that is a success as a whole, or a cancellation with its reasons.
func answers() []Mutant {
	return []Mutant{
		{
			Name: "failed-letters-ignored", What: "a letter that stands under Failed in a successful answer counts as sent", Checks: []sim.Check{sim.Lost, sim.Unkept},
			Patches: []Patch{{"handler/quarantine.go", `	for _, failed := range out.Failed {
`, `	for _, i := range batch {
		errs[i] = nil
	}
	for _, failed := range out.Failed[:0] {
`}},
		},
		{
			Name: "unread-is-absent", What: "a key that BatchGetItem left unprocessed counts as absent", Checks: []sim.Check{sim.Undeserved},
			Patches: []Patch{{"store/put_read.go", `range out.UnprocessedKeys[p.store.events].Keys`, `range out.UnprocessedKeys["none"].Keys`}},
		},
		{
			Name: "unread-head-is-absent", What: "a head that BatchGetItem left unprocessed counts as absent", Checks: []sim.Check{sim.Generation},
			Patches: []Patch{{"store/start.go", `	if len(out.UnprocessedKeys) > 0 {
`, `	if len(out.UnprocessedKeys) > len(request.Keys) {
`}},
		},
		{
			Name: "internal-error-is-done", What: "a statement that is told of an internal error counts as done", Checks: []sim.Check{sim.Lost, sim.Undeserved},
			Patches: []Patch{{"store/put_insert.go", `	if e == nil {
		return answer{}
`, `	if e == nil || e.Code == types.BatchStatementErrorCodeEnumInternalServerError {
		return answer{}
`}},
		},
		{
			Name: "conflict-is-receipt", What: "a transaction's conflict on a receipt reads as: counted already", Checks: counting,
			Patches: []Patch{{"store/receipts.go", `		if classifyReason(reason).outcome != failed {
`, `		if o := classifyReason(reason).outcome; o != failed && o != contended {
`}},
		},
		{
			Name: "cancelled-is-done", What: "a transaction that is cancelled without a reason for each item counts as done", Checks: counting,
			Patches: []Patch{{"store/receipts.go", `	if len(reasons) != len(g.entries)+len(updates) {
		return g.cancelledSilently(ctx)
`, `	if len(reasons) != len(g.entries)+len(updates) {
		g.entries = nil
		return true, why
`}},
		},
		{
			Name: "counted-ends-transaction", What: "a transaction that is cancelled for one counted change counts as done", Checks: counting,
			Patches: []Patch{{"store/receipts.go", `		return true, why // the rest`, `		g.entries = nil
		return true, why // the rest`}},
		},
		{
			Name: "unknown-is-for-good", What: "an update whose answer is lost goes to quarantine, as one that is refused for good", Checks: counting,
			Patches: []Patch{{"store/errors.go", `	return answer{unknown, "", err}
}

// ofCode`, `	return answer{invalid, "", err}
}

// ofCode`}},
		},
		{
			Name: "capacity-is-for-good", What: "an update that is throttled goes to quarantine, as one that is refused for good", Checks: counting,
			Patches: []Patch{{"store/errors.go", `		return answer{throttled, throttlingReason(capacity.ThrottlingReasons), err}
`, `		return answer{invalid, "", err}
`}},
		},
	}
}
