package sim

import (
	"reflect"

	"github.com/ingot-events/ingot/internal/prove/sim/shrink"
)

// Shrink makes a failing plan smaller as long as a world of it still breaks the same promise, and
// returns the smallest plan that it found. It calls live at most tries times. The plan that is left
// names the few faults that cause the failure.
func Shrink(p Plan, check Check, tries int, live func(Plan) Result) Plan {
	return shrink.Plan(p, cuts(), func(p *Plan) { p.Seed++ }, tries, func(q Plan) bool {
		r := live(q)
		return r.Failure != nil && r.Failure.Check == check
	})
}

// cuts returns the ways to make a plan smaller. The most telling ones come first. Each leaves
// the plan unchanged when it has nothing left to cut.
func cuts() []func(*Plan) {
	list := []func(*Plan){
		func(p *Plan) { p.Upgrade, p.Canary, p.Back = 0, false, false },
		func(p *Plan) { p.Longer = 0 },
		func(p *Plan) { p.Phases = less(p.Phases, max(p.Upgrade, p.Weekend, p.Longer)+1) },
		func(p *Plan) { p.Messages = less(p.Messages, 1) },
		func(p *Plan) { p.Back = false },
		func(p *Plan) { p.Weekend, p.RollAfter = 0, 0 },
		func(p *Plan) { p.Canary = false },
		func(p *Plan) { p.People = false },
		func(p *Plan) { p.Crowded = 0 },
		func(p *Plan) { p.Redrive, p.Receives = false, 1000 },
		func(p *Plan) { p.Copies = 0 },
		func(p *Plan) { p.Small = false },
		func(p *Plan) { p.FIFO = false },
		func(p *Plan) { p.Skew = false },
		func(p *Plan) { p.Bisect = false },
		func(p *Plan) { p.ReturnsItem = false },
		func(p *Plan) { p.OneByOne = 0 },
		func(p *Plan) { p.Ingests = 1 },
		func(p *Plan) { p.Spread = 1 },
		func(p *Plan) { p.Values = false },
		func(p *Plan) { p.Patterns = false },
		func(p *Plan) { p.Parts, p.Atomic, p.Claims, p.Transfers = 0, false, false, false },
		func(p *Plan) { p.Claims = false },
		func(p *Plan) { p.Packed = 0 },
		func(p *Plan) { p.Put, p.Transfers = 0, false },
		func(p *Plan) { p.Transfers = false },
		func(p *Plan) { p.Requires, p.Ends = false, false },
		func(p *Plan) { p.Ends = false },
		func(p *Plan) { p.States = false },
		func(p *Plan) { p.Arrays = false },
		func(p *Plan) { p.Offload = 0 },
		func(p *Plan) { p.Pointers = false },
		func(p *Plan) { p.Atomic, p.Claims = false, false },
		func(p *Plan) { p.Late = 0 },
		func(p *Plan) { p.Poison = 0 },
		func(p *Plan) { p.Conflicts = 0 },
		func(p *Plan) { p.Duplicates = 0 },
	}
	for i := range len(new(Faults).each()) {
		list = append(list, func(p *Plan) { *p.Faults.each()[i] = 0 })
	}
	return append(list,
		func(p *Plan) { p.Phases = max(1, p.Phases-1, min(p.Phases, max(p.Upgrade, p.Weekend, p.Longer)+1)) },
		func(p *Plan) { p.Messages = max(1, p.Messages-1) },
		func(p *Plan) { p.IngestBatch = less(p.IngestBatch, 1) },
		func(p *Plan) { p.StreamBatch = less(p.StreamBatch, 1) })
}

// less returns half of n, but not less than low.
func less(n, low int) int { return min(n, max(low, n/2)) }

// each returns every chance.
func (f *Faults) each() (list []*float64) {
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		list = append(list, v.Field(i).Addr().Interface().(*float64))
	}
	return list
}
