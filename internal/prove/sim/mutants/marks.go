package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// counting holds the checks that find a wrong total, either when it is written or once the world is
// drained.
var counting = []sim.Check{sim.Miscounted, sim.Uncounted, sim.Wrong}

// marks returns wrong ways to remember what is counted.
func marks() []Mutant {
	return []Mutant{
		{
			Name: "mark-without-lane", What: "one mark per aggregate item, for all shards", Defends: "P7 I1", Checks: counting,
			Edits: edit("lanes.LaneID.MarkAttribute", `MarkPrefix + l.String()`, `"mark"`),
		},
		{
			Name: "marks-as-text", What: "sequence numbers compared as the strings they come as", Defends: "P7 I3", Checks: counting,
			Helpers: []Helper{{"lanes", `import "github.com/ingot-events/ingot/event"

// Text packs the digits from the left, so that byte order is string order.
func Text(sequence event.Sequence) (b [17]byte) {
	for i, digit := range []byte(sequence.String()) {
		b[i/2] |= (digit - '0' + 1) << (4 * (1 - i%2))
	}
	return b
}
`}},
			Edits: []Edit{
				{"lanes.LaneID.MarkAttribute", `MarkPrefix`, `"text:"`},
				{"lanes.MarkAt", `	var m Mark
	number := sequence.Bytes()`, `	var m Mark
	number := Text(sequence)`},
				{"lanes.Mark.Covers", `	number := sequence.Bytes()
	return string`, `	number := Text(sequence)
	return string`},
				{"rows.Edit.Mark", `d.First.Bytes()`, `lanes.Text(d.First)`},
			},
		},
		{
			Name: "removal-needs-aggregate", What: "a removal is counted only if its aggregate item exists", Defends: "P7 I11",
			Checks: counting,
			Edits: []Edit{
				{"count.markedUpdate.edit", `	e.Mark(w.lane, &delta)
`, `	e.Mark(w.lane, &delta)
	removals := true
	for _, s := range u.Steps {
		removals = removals && s.Plus == nil
	}
	if removals {
		e.Guards = append(e.Guards, rows.Guard{Operand: rows.Operand{Name: "n", Placeholder: ":least", Value: rows.Number("-1000")}, Sign: ">="})
	}
`},
				{"count.markedUpdate.learn", `	counted, before := w.look(img)
`, `	if len(img) == 0 {
		w.update.Steps = nil
		return true
	}
	counted, before := w.look(img)
`},
			},
		},
		{
			Name: "no-own-expiry", What: "an aggregate item gets its own expiry only from an update that adds to it", Defends: "I10",
			Checks: checks(sim.Expiry),
			Edits: edit("count.markedUpdate.edit", `	e.Expiry(u.ExpiresAt)
`, `	if delta.N > 0 {
		e.Expiry(u.ExpiresAt)
	}
`),
		},
		{
			Name: "pruned-unseen", What: "an old mark is pruned whatever its value is by now", Defends: "P7 I6",
			Checks: checks(sim.Miscounted),
			Edits: edit("rows.Edit.Prune", `	for i, m := range marks[:min(len(marks), maxPrunes)] {
		e.Removes = append(e.Removes, m.Name)
		e.Guards = append(e.Guards, Guard{Operand: Operand{m.Name, SlotNone, ":p" + strconv.Itoa(i), Binary(m.mark[:])}, Sign: "="})
`, `	for _, m := range marks[:min(len(marks), maxPrunes)] {
		e.Removes = append(e.Removes, m.Name)
`),
		},
	}
}
