package handler

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

// MessageOf returns the part of a message that the envelope may look at: the body and the textual
// attributes.
func MessageOf(m *events.SQSMessage) envelope.Message {
	out := envelope.Message{Body: m.Body}
	for name, a := range m.MessageAttributes {
		if a.StringValue == nil {
			continue
		}
		if out.Attributes == nil {
			out.Attributes = make(map[string]string, len(m.MessageAttributes))
		}
		out.Attributes[name] = *a.StringValue
	}
	return out
}

// each yields the outcomes that may have an item: those of the events if the message has several,
// or else its own.
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

// sum computes the verdict of a message with several events from their verdicts. If one
// event is Retry, so is the message: it is delivered again, and the events that are stored are then
// Duplicates. Otherwise, if some events can never be stored, the message goes to quarantine with
// the verdict of the first of them that is not Rejected, or with Rejected if all of them are.
// Otherwise all events are stored or dropped, and the message is done.
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
		refusal.Detail = fmt.Sprintf("event %s of the message: %s", first.Place, refusal.Detail)
		if first.Item != nil {
			refusal.Type = first.Item.Type
		}
		o.Refusal = &refusal
	}
	o.fail(!o.Verdict.Done())
}

// fail sets whether a message is returned to SQS, with all its events.
func (o *Outcome) fail(failed bool) {
	o.Failed = failed
	for i := range o.Events {
		o.Events[i].Failed = failed
	}
}

// places returns where the events that can never be stored stand in the message, and where its
// other events do.
func (o *Outcome) places() (refused, others []event.Place) {
	for i := range o.Events {
		if e := &o.Events[i]; e.Verdict.Quarantined() {
			refused = append(refused, e.Place)
		} else {
			others = append(others, e.Place)
		}
	}
	return refused, others
}
