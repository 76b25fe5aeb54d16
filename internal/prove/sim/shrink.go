package sim

import (
	"encoding/json"
	"reflect"
)

// Shrink makes a failing plan smaller as long as a world of it still breaks the same promise, and
// returns the smallest plan that it found. It calls live at most tries times. The plan that is left
// names the few faults that cause the failure.
func Shrink(p Plan, check Check, tries int, live func(Plan) Result) Plan {
	fails := func(q Plan) bool {
		if tries <= 0 {
			return false
		}
		tries--
		r := live(q)
		return r.Failure != nil && r.Failure.Check == check
	}
	for smaller := true; smaller && tries > 0; {
		smaller = false
		for _, cut := range cuts() {
			for q := cut(p); q != p; q = cut(p) {
				found, ok := retry(q, fails)
				if !ok {
					break
				}
				p, smaller = found, true
			}
		}
	}
	return p
}

// luck is how many seeds a smaller plan is tried with. Every cut shifts all later choices of the
// world.
const luck = 4

func retry(q Plan, fails func(Plan) bool) (Plan, bool) {
	for range luck {
		if fails(q) {
			return q, true
		}
		q.Seed++
	}
	return q, false
}

// cuts returns the ways to make a plan smaller. The most telling ones come first. Each returns the
// plan unchanged when it has nothing left to cut.
func cuts() []func(Plan) Plan {
	list := []func(Plan) Plan{
		func(p Plan) Plan { p.Upgrade, p.Canary, p.Back = 0, false, false; return p },
		func(p Plan) Plan { p.Longer = 0; return p },
		func(p Plan) Plan { p.Phases = less(p.Phases, max(p.Upgrade, p.Weekend, p.Longer)+1); return p },
		func(p Plan) Plan { p.Messages = less(p.Messages, 1); return p },
		func(p Plan) Plan { p.Back = false; return p },
		func(p Plan) Plan { p.Weekend, p.RollAfter = 0, 0; return p },
		func(p Plan) Plan { p.Canary = false; return p },
		func(p Plan) Plan { p.People = false; return p },
		func(p Plan) Plan { p.Crowded = 0; return p },
		func(p Plan) Plan { p.Redrive, p.Receives = false, 1000; return p },
		func(p Plan) Plan { p.Copies = 0; return p },
		func(p Plan) Plan { p.FIFO = false; return p },
		func(p Plan) Plan { p.Skew = false; return p },
		func(p Plan) Plan { p.Bisect = false; return p },
		func(p Plan) Plan { p.ReturnsItem = false; return p },
		func(p Plan) Plan { p.OneByOne = 0; return p },
		func(p Plan) Plan { p.Ingests = 1; return p },
		func(p Plan) Plan { p.Spread = 1; return p },
		func(p Plan) Plan { p.Values = false; return p },
		func(p Plan) Plan { p.Patterns = false; return p },
		func(p Plan) Plan { p.Parts, p.Atomic, p.Claims, p.Transfers = 0, false, false, false; return p },
		func(p Plan) Plan { p.Claims = false; return p },
		func(p Plan) Plan { p.Packed = 0; return p },
		func(p Plan) Plan { p.Put, p.Transfers = 0, false; return p },
		func(p Plan) Plan { p.Transfers = false; return p },
		func(p Plan) Plan { p.Arrays = false; return p },
		func(p Plan) Plan { p.Offload = 0; return p },
		func(p Plan) Plan { p.Pointers = false; return p },
		func(p Plan) Plan { p.Atomic, p.Claims = false, false; return p },
		func(p Plan) Plan { p.Late = 0; return p },
		func(p Plan) Plan { p.Poison = 0; return p },
		func(p Plan) Plan { p.Conflicts = 0; return p },
		func(p Plan) Plan { p.Duplicates = 0; return p },
	}
	for i := range len(new(Faults).each()) {
		list = append(list, func(p Plan) Plan { *p.Faults.each()[i] = 0; return p })
	}
	return append(list,
		func(p Plan) Plan {
			p.Phases = max(1, p.Phases-1, min(p.Phases, max(p.Upgrade, p.Weekend, p.Longer)+1))
			return p
		},
		func(p Plan) Plan { p.Messages = max(1, p.Messages-1); return p },
		func(p Plan) Plan { p.IngestBatch = less(p.IngestBatch, 1); return p },
		func(p Plan) Plan { p.StreamBatch = less(p.StreamBatch, 1); return p })
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

// Overlay returns, as JSON, what a smaller plan changes of the plan it came from. Decoding it over
// the old plan gives the new plan.
func Overlay(from, to Plan) string {
	// The values are numbers and booleans, so Marshal cannot fail.
	text, _ := json.Marshal(differences(reflect.ValueOf(from), reflect.ValueOf(to)))
	return string(text)
}

func differences(from, to reflect.Value) map[string]any {
	changed := map[string]any{}
	for i := range to.NumField() {
		name, was, is := to.Type().Field(i).Name, from.Field(i), to.Field(i)
		switch {
		case is.Equal(was):
		case is.Kind() == reflect.Struct:
			changed[name] = differences(was, is)
		default:
			changed[name] = is.Interface()
		}
	}
	return changed
}
