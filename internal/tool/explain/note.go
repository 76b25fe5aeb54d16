package explain

import (
	"maps"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// withoutNote returns a message as it was before quarantine, and quarantine's note. If a producer
// has written an attribute of that name, it stays, and the note is nil. The ingest function follows
// the same rule.
func withoutNote(m envelope.Message) (envelope.Message, *quarantine.Note) {
	n, is := quarantine.ReadNote(m.Attributes[quarantine.Attribute])
	if !is {
		return m, nil
	}
	m.Attributes = maps.Clone(m.Attributes)
	delete(m.Attributes, quarantine.Attribute)
	return m, &n
}

// ofStreamDetail says why explain can say no more about such a letter.
const ofStreamDetail = "it is from a function on the stream: about a stored item, and not a message that could be sent"
