package check

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
)

// conflicts reports events of the sample that have the key of another one. More than one in a
// hundred of them are a mistake in the pipeline, not in the events.
func (r *Report) conflicts(at rules.Places) {
	if r.Events == nil || r.Events.RivalType == "" {
		return
	}
	n, lines := r.Events.Count(event.Conflict), r.Events.Rivals
	severity := rules.Warning
	if 100*n > r.Events.Rehearsed {
		severity = rules.Mistake
	}
	pair := fmt.Sprintf("those of lines %d and %d", lines[0], lines[1])
	if lines[0] == lines[1] {
		pair = fmt.Sprintf("two in line %d", lines[0])
	}
	at.Add(severity, "conflicts", at.Of("events."+r.Events.RivalType, "key"),
		fmt.Sprintf("%d of %s in %s would be Conflicts: the first events with one key and different payloads are %s", n,
			count(r.Events.Rehearsed, "event"), r.Events.File, pair),
		"an id and a key that tell them apart, or ignore for what differs between deliveries of one event")
}
