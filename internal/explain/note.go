package explain

import (
	"maps"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler"
)

// Note is what quarantine has written beside a message, in its attribute ingot.
type Note struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
}

// withoutNote is a message as it was before quarantine, and quarantine's note. What a producer has put into an attribute
// of that name stays where it is, and the note is nil: the rule is the ingest function's own.
func withoutNote(m envelope.Message) (envelope.Message, *Note) {
	n, is := handler.ReadNote(m.Attributes[handler.Attribute])
	if !is {
		return m, nil
	}
	m.Attributes = maps.Clone(m.Attributes)
	delete(m.Attributes, handler.Attribute)
	return m, (*Note)(&n)
}

// ofStream says that the letter is the streams function's: a record or an update, and no message of a producer.
func (n *Note) ofStream() bool {
	return n.Reason == string(handler.UndecodableRecord) || n.Reason == string(handler.RefusedUpdate)
}

// ofStreamDetail says why nothing more can be said of such a letter.
const ofStreamDetail = "it is from the streams function: about a stored item, and not a message that could be sent"
