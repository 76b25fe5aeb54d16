package explain

import (
	"maps"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
)

// Note is what quarantine has written into a message, in its attribute ingot.
type Note struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
	Group   string `json:"group,omitempty"` // the message's group id in its queue
	// Events are the positions of the events that could not be stored, if the message is an array.
	Events []int `json:"events,omitempty"`
}

// withoutNote returns a message as it was before quarantine, and quarantine's note. If a producer
// has written an attribute of that name, it stays, and the note is nil. The ingest function follows
// the same rule.
func withoutNote(m envelope.Message) (envelope.Message, *Note) {
	n, is := handler.ReadNote(m.Attributes[handler.Attribute])
	if !is {
		return m, nil
	}
	m.Attributes = maps.Clone(m.Attributes)
	delete(m.Attributes, handler.Attribute)
	return m, (*Note)(&n)
}

// ofStream reports whether the letter is from the streams function or the publish function: then it
// is about a record or an update, and is not a message of a producer.
func (n *Note) ofStream() bool {
	if n == nil {
		return false
	}
	switch event.Reason(n.Reason) {
	case handler.UndecodableRecord, handler.RefusedUpdate, handler.GivenUp, handler.Unpublished:
		return true
	}
	return false
}

// ofStreamDetail says why explain can say no more about such a letter.
const ofStreamDetail = "it is from a function on the stream: about a stored item, and not a message that could be sent"
