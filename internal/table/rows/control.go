package rows

import (
	"context"
	"fmt"
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

// Copies returns which items are copies of rows whose type a migration has not turned yet. They are
// no events, so nothing counts them. It reads the control items of the pipeline's migrations.
func (s *Tables) Copies(ctx context.Context) (func(*event.Item) bool, error) {
	states := map[string]map[string]string{}
	for _, name := range s.Pipeline.Migrations() {
		img, err := s.Get(ctx, ControlKey(name))
		if err != nil {
			return nil, fmt.Errorf("reading the control item of migration %s: %w", name, err)
		}
		states[name] = StatesOf(img)
	}
	return func(item *event.Item) bool {
		name := s.Pipeline.Migration(item.Type)
		if name == "" || item.Epoch != 0 {
			return false
		}
		state := states[name][s.Pipeline.WholeType(item.Type)]
		return state == "" // on the way back, they are still events
	}, nil
}

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
