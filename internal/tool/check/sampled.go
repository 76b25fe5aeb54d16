package check

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/show"
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
			show.Count(r.Events.Rehearsed, "event"), r.Events.File, pair),
		"an id and a key that tell them apart, or ignore for what differs between deliveries of one event")
}

// doubtful warns of what the sample shows to be read, and hardly meant so.
func (r *Report) doubtful(at rules.Places) {
	if r.Events == nil {
		return
	}
	for _, t := range r.Events.Times {
		for _, odd := range []struct {
			n    int
			when string
		}{{t.Early, "in 1970"}, {t.Ahead, "more than a year ahead"}} {
			if 2*odd.n > t.Of {
				what := fmt.Sprintf("%d of %s of %s in %s are %s", odd.n, show.Count(t.Of, "event"), t.Type, r.Events.File, odd.when)
				at.Warn("times", at.Of("events."+t.Type, "at"), what,
					"the field of the event's time, with unix if it is in seconds, unixms in milliseconds, "+
						"or unixns in nanoseconds")
			}
		}
	}
	for _, first := range r.Events.Firsts {
		what := fmt.Sprintf("%s has more than one element in %s of %s, and only %s[0] is read: the others are not counted", first.Array,
			show.Count(first.More, "event"), r.Events.File, first.Array)
		at.Warn("first-element", at.Of("events."+first.Type, ""), what,
			"batches: with each: "+first.Array+" if they are events of their own, or a type that is a part with each: "+
				first.Array)
	}
}
