// Package shrink makes the plan of a failing world smaller. It knows nothing of what is in a plan.
package shrink

import (
	"encoding/json"
	"reflect"
)

// luck is how many seeds a smaller plan is tried with. Every cut shifts all later choices of the
// world.
const luck = 4

// Plan makes a plan smaller as long as it fails, and returns the smallest plan that it found. It
// asks at most tries times. reseed gives a plan the next seed.
func Plan[P comparable](p P, cuts []func(*P), reseed func(*P), tries int, fails func(P) bool) P {
	retry := func(q P) (P, bool) {
		for range min(luck, tries) {
			if tries--; fails(q) {
				return q, true
			}
			reseed(&q)
		}
		return q, false
	}
	for smaller := true; smaller && tries > 0; {
		smaller = false
		for _, cut := range cuts {
			for {
				q := p
				if cut(&q); q == p {
					break
				}
				found, ok := retry(q)
				if !ok {
					break
				}
				p, smaller = found, true
			}
		}
	}
	return p
}

// Overlay returns, as JSON, what a smaller plan changes of the plan it came from. Decoding it over
// the old plan gives the new plan.
func Overlay[P any](from, to P) string {
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
