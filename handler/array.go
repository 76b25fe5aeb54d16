package handler

import (
	"fmt"
)

// each yields the outcomes that may have an item: those of the events if the message is an array, or
// else its own.
func (o *Outcome) each(yield func(*Outcome) bool) {
	if o.Events == nil {
		yield(o)
		return
	}
	for i := range o.Events {
		if !yield(&o.Events[i]) {
			return
		}
	}
}

// sum makes the verdict of a message that is an array from those of its events. If one of them is
// Retry, the message is: it is delivered again, and what is stored is then Duplicate. Otherwise, if
// some can never be stored, the message goes to quarantine for them, and the first of them gives its
// verdict. Otherwise all of them are stored, and the message is done.
func (o *Outcome) sum() {
	if o.Events == nil {
		return
	}
	decides := 0
	for i := range o.Events {
		if o.Events[i].Verdict.Outweighs(o.Events[decides].Verdict) {
			decides = i
		}
	}
	first := &o.Events[decides]
	if o.Verdict = first.Verdict; first.Refusal != nil {
		refusal := *first.Refusal
		refusal.Detail = fmt.Sprintf("event [%d] of the array: %s", decides, refusal.Detail)
		if first.Item != nil {
			refusal.Type = first.Item.Type
		}
		o.Refusal = &refusal
	}
	o.fail(!o.Verdict.Stored())
}

// fail says of a message, and of all its events, whether it is returned to SQS.
func (o *Outcome) fail(failed bool) {
	o.Failed = failed
	for i := range o.Events {
		o.Events[i].Failed = failed
	}
}

// refused returns the positions of the events that can never be stored, counted from 0.
func (o *Outcome) refused() (positions []int) {
	for i := range o.Events {
		if o.Events[i].Verdict.Quarantined() {
			positions = append(positions, i)
		}
	}
	return positions
}
