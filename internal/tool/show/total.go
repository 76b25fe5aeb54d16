package show

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

// Total names a total in JSON. Of a head, By and Window are absent.
type Total struct {
	Aggregate string            `json:"aggregate"`
	Since     int64             `json:"since"`
	By        map[string]string `json:"by,omitempty"`
	Window    string            `json:"window,omitempty"` // its start
}

// TotalOf names a total. by is as it is shown, and window is zero if the total has none.
func TotalOf(def *aggregate.Definition, by map[string]string, window time.Time) Total {
	return Total{def.Name, def.Since, by, Start(window)}
}

// String names the total for people.
func (t Total) String() string {
	text := fmt.Sprintf("%s since %d", t.Aggregate, t.Since)
	for _, name := range slices.Sorted(maps.Keys(t.By)) {
		text += fmt.Sprintf(" %s=%s", name, t.By[name])
	}
	if t.Window != "" {
		text += " at " + t.Window
	}
	return text
}
