package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// questions returns wrong ways to answer questions by patterns.
func questions() []Mutant {
	misread := []sim.Check{sim.Misread}
	return []Mutant{
		{
			Name: "token-skips", What: "a page token stands after an item that the page does not have", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.merge", `if slices.ContainsFunc(lines, func(l *line) bool { return len(l.items) > 0 || !l.done }) {`,
				`if i := slices.IndexFunc(lines, func(l *line) bool { return len(l.items) > 0 || !l.done }); i >= 0 {
				if l := lines[i]; len(l.items) > 0 {
					last.sk, last.partition, last.own = textOf(l.items[0][sk]), l.from.PK, keyOf(l.items[0])
				}`}},
		},
		{
			Name: "rest-of-shard-lost", What: "a merge does not ask again for a partition whose first answer is used up", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.merge", `len(l.items) == 0 && !l.done`, `len(l.items) == 0 && !l.done && !last.begun()`}},
		},
		{
			Name: "shards-one-after-another", What: "partitions of one period are not merged", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.merge", `least == nil || r.before(textOf(l.items[0][sk]), textOf(least.items[0][sk]))`, `least == nil`}},
		},
		{
			Name: "ties-skipped", What: "a token passes the items of all partitions that have its sort key", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.lines", `l.at, l.skip = at, order < 0`, `l.at, l.skip = at, order != 0`}},
		},
		{
			Name: "ties-repeated", What: "a token passes no items of other partitions that have its sort key", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.lines", `l.at, l.skip = at, order < 0`, `l.at, l.skip = at, false && order < 0`}},
		},
		{
			Name: "page-loses-a-period", What: "a page that ends with a period goes on after the next one", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.run", `r.next(position{period: unixOf(period.Start)})`,
				`if r.period+1 < len(r.plan.Periods) {
				period = r.plan.Periods[r.period+1]
			}
			r.next(position{period: unixOf(period.Start)})`}},
		},
		{
			Name: "was-read-alone", What: "while an index has keys of two forms, only the earlier form is read", Defends: "C6", Checks: misread,
			Edits: []Edit{{"pipeline.asked.plan", `range a.pks`, `range a.pks[len(a.pks)-1:]`}},
		},
		{
			Name: "was-not-read", What: "while an index has keys of two forms, only today's form is read", Defends: "C6", Checks: misread,
			Edits: []Edit{{"pipeline.compiler.samePartition", `p.pks = append(p.pks, earlier)`, ``}},
		},
		{
			Name: "token-of-any-question", What: "a page token is not bound to its question", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.parseToken", `subtle.ConstantTimeCompare(digest[:digestBytes], body[1:1+digestBytes]) == 0`, `subtle.ConstantTimeCompare(digest[:digestBytes], body[1:1+digestBytes]) > 1`}},
		},
		{
			Name: "expired-items-shown", What: "an answer has items that have expired and that time to live has not removed", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.take", `expires != 0 && expires <= r.now`, `expires < 0`}},
		},
		{
			Name: "types-not-told-apart", What: "an answer has all that the index holds, also of types that the pattern does not read", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.take", `!slices.Contains(r.plan.Types, textOf(img["type"]))`, `textOf(img["type"]) == ""`}},
		},
		{
			Name: "end-of-range-included", What: "a range has the item at its end", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.fetchPart", `at >= l.from.High`, `at > l.from.High`}},
		},
		{
			Name: "consistent-read-forgotten", What: "a read that is to be consistent may be stale", Defends: "C6", Checks: misread,
			Edits: []Edit{{"store.question.get", `ConsistentRead: aws.Bool(r.ask.Consistent)`, `ConsistentRead: aws.Bool(false)`}},
		},
	}
}
