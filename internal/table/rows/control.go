package rows

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

// StatePrefix is what the names of the attributes begin with that hold the states of types.
const StatePrefix = "state:"

// New is the state of a type whose events are stored here. In any other state they are still
// written to the table that is left.
const New = "new"

// Turning is the state of a type whose copies are being counted. No side is written.
const Turning = "turning"

// ControlKey is the key of the control item of a migration, in the aggregates table.
func ControlKey(migration string) event.Key { return event.Key{PK: "M#" + migration, SK: "-"} }

// StatesOf returns the states that a control item gives to types.
func StatesOf(img Image) map[string]string {
	states := map[string]string{}
	for name, state := range img {
		if typ, ok := strings.CutPrefix(name, StatePrefix); ok {
			states[typ] = TextOf(state)
		}
	}
	return states
}
