package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// values returns wrong ways to keep values that are more than sums and extremes.
func values() []Mutant {
	return []Mutant{
		{
			Name: "newest-unguarded", What: "a newest value is set by what was last seen, on no condition", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted},
			Edits: []Edit{{"store.edit.extreme", `	e.guards = append(e.guards, guard{o, beyond, true})
`, `	if !v.Op.Textual() {
		e.guards = append(e.guards, guard{o, beyond, true})
	}
`}},
		},
		{
			Name: "newest-by-arrival", What: "the event that is counted last is the newest", Defends: "C3 I8", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.extreme", `	beyond, within := "<", ">="
`, `	if v.Op == aggregate.Newest {
		e.sets = append(e.sets, assignment{operand: o})
		return
	}
	beyond, within := "<", ">="
`}},
		},
		{
			Name: "ties-by-delivery", What: "of two newest events with one time, the one that is counted first stays", Defends: "C3 I8", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.extreme", `	beyond, within := "<", ">="
`, `	if v.Op == aggregate.Newest {
		at := o
		at.placeholder, at.value = o.placeholder+"t", text(candidate.Text[:30])
		if stored.Set && stored.Text >= candidate.Text[:30] {
			e.guards = append(e.guards, guard{operand: at, sign: ">="})
			return
		}
		e.sets = append(e.sets, assignment{operand: o})
		e.guards = append(e.guards, guard{at, "<", true})
		return
	}
	beyond, within := "<", ">="
`}},
		},
		{
			Name: "cut-inside-a-record", What: "an update with many buckets is cut between two buckets of one record", Defends: "C3 I4", Checks: counting,
			Edits: []Edit{{"lanes.Update.Cut", `	moved := Moved{}
`, `	if len(u.Steps) > 1 && u.Steps[0].Plus != nil && len(u.Steps[0].Plus.Values) > 4 {
		whole := *u.Steps[0].Plus
		whole.Values = append([]aggregate.Amount(nil), whole.Values...)
		begun := whole
		begun.Values = append([]aggregate.Amount(nil), whole.Values...)
		whole.Values[0].Set, begun.Values[1].Set = false, false
		first := u.Steps[0]
		first.Plus = &begun
		rest = append([]Step(nil), u.Steps...)
		rest[0].Plus = &whole
		u.Steps = []Step{first}
		return rest
	}
	moved := Moved{}
`}},
		},
		{
			Name: "sketch-merged-unguarded", What: "a sketch is replaced, whether or not it still is what was seen", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.distinct", `	if !stored.Set {
`, `	if stored.Set {
		return
	}
	if !stored.Set {
`}},
		},
		{
			Name: "rank-stays-behind", What: "the copy that a total is ranked by is written once, and does not move with its value", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.fold", `				e.adds = append(e.adds, operand{lanes.ScoreAttribute, slotScore, ":score", v.value})
`, `				if !seen.has(slotScore) {
					e.adds = append(e.adds, operand{lanes.ScoreAttribute, slotScore, ":score", v.value})
				}
`}},
		},
		{
			Name: "rank-not-taken-back", What: "a total that falls keeps its place in the ranking", Defends: "C3 I4", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Edits: []Edit{{"store.edit.fold", `			if def.Values[i].Name == def.Rank.Value {
`, `			if def.Values[i].Name == def.Rank.Value && amount.Number.Sign() >= 0 {
`}},
		},
		{
			Name: "buckets-of-floats", What: "the bucket of a number is computed with floats", Defends: "C3 I8", Checks: []sim.Check{sim.Miscounted}, Plain: true,
			Helpers: []Helper{{"aggregate", `import (
	"math"
	"strconv"

	"github.com/ingot-events/ingot/event"
)

func floated(d event.Decimal) int {
	f, _ := strconv.ParseFloat(d.String(), 64)
	return int(math.Floor(math.Log(f)/math.Log(10)*perDecade)) - perDecade*firstPower + 1
}
`}},
			Edits: []Edit{{"aggregate.Bucket", `	var room [64]byte
`, `	if d.Sign() > 0 {
		return floated(d)
	}
	var room [64]byte
`}},
		},
	}
}
