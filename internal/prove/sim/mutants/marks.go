package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// counting holds the checks that find a wrong total, either when it is written or once the world is
// drained.
var counting = []sim.Check{sim.Miscounted, sim.Uncounted, sim.Wrong}

// marks returns wrong ways to remember what is counted.
func marks() []Mutant {
	return []Mutant{
		{
			Name: "mark-without-lane", What: "one mark per aggregate item, for all shards", Defends: "C3 I1", Checks: counting,
			Edits: []Edit{{"lanes.LaneID.MarkAttribute", `MarkPrefix + l.String()`, `"mark"`}},
		},
		{
			Name: "marks-as-text", What: "sequence numbers compared as the strings they come as", Defends: "C3 I3", Checks: counting,
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
				{"store.edit.mark", `d.First.Bytes()`, `lanes.Text(d.First)`},
			},
		},
		{
			Name: "removal-needs-aggregate", What: "a removal is counted only if its aggregate item exists", Defends: "C3 I11",
			Checks: counting,
			Edits: []Edit{
				{"store.markedUpdate.edit", `	e.mark(w.lane, &delta)
`, `	e.mark(w.lane, &delta)
	removals := true
	for _, s := range u.Steps {
		removals = removals && s.Plus == nil
	}
	if removals {
		e.guards = append(e.guards, guard{operand: operand{"n", slotN, ":least", number("-1000")}, sign: ">="})
	}
`},
				{"store.markedUpdate.learn", `	counted, before := w.look(img)
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
			Checks: []sim.Check{sim.Expiry},
			Edits: []Edit{{"store.markedUpdate.edit", `	e.expiry(u.ExpiresAt)
`, `	if delta.N > 0 {
		e.expiry(u.ExpiresAt)
	}
`}},
		},
		{
			Name: "pruned-unseen", What: "an old mark is pruned whatever its value is by now", Defends: "C3 I6",
			Checks: []sim.Check{sim.Miscounted},
			Edits: []Edit{{"store.edit.prune", `	for i, m := range marks[:min(len(marks), maxPrunes)] {
		e.removes = append(e.removes, m.name)
		e.guards = append(e.guards, guard{operand: operand{m.name, slotNone, ":p" + strconv.Itoa(i), binary(m.mark[:])}, sign: "="})
`, `	for _, m := range marks[:min(len(marks), maxPrunes)] {
		e.removes = append(e.removes, m.name)
`}},
		},
	}
}
