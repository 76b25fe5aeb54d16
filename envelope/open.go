package envelope

import (
	"maps"

	"github.com/ingot-events/ingot/event"
)

// Message is what a queue delivers of one event.
type Message struct {
	Body string
	// Attributes are the message attributes of type String and Number, by name. A number is its
	// text. Binary attributes are left out.
	Attributes map[string]string
}

// Opened is the event that was in a message, and the envelope that it was in.
type Opened struct {
	event.Event
	Kind Kind
}

// Open recognises the envelope of m and takes out the event. Every error is a *[event.Refusal] with
// verdict Poison. Open keeps no reference to m.Attributes. It may keep m.Body.
func Open(m Message) (Opened, error) {
	opened, refusal := open(m, false)
	if refusal != nil {
		return Opened{}, refusal
	}
	return opened, nil
}

// open reads one layer from the outside in: the attributes, then the body. Inside an SNS
// notification it is called once more. A notification in a notification is a bare payload.
func open(m Message, insideSNS bool) (Opened, *event.Refusal) {
	doc, err := event.ParseDocument(m.Body)
	if err != nil {
		return Opened{}, event.Poisoned(event.Undecodable, "body: "+err.Error())
	}
	root := doc.Root()
	if refusal := pointer(root); refusal != nil {
		return Opened{}, refusal
	}
	attributes, binary := binaryMarkers(m.Attributes)
	structured, isStructured := structuredMarkers(root)
	switch {
	case isStructured && (!binary || structured.sameEvent(attributes)):
		return openStructured(root, structured, m.Attributes)
	case binary:
		return openBinary(doc, attributes, m.Attributes)
	}
	if isEventBridge(root) {
		return openEventBridge(root, m.Attributes)
	}
	if !insideSNS {
		if inner, ok := notification(root); ok {
			return openNotification(inner, m.Attributes)
		}
	}
	return openRaw(doc, m.Attributes)
}

func openRaw(doc event.Document, attributes map[string]string) (Opened, *event.Refusal) {
	if refusal := mustBeObject(doc.Root(), "the body"); refusal != nil {
		return Opened{}, refusal
	}
	return Opened{Event: event.Event{Attributes: maps.Clone(attributes), Data: doc}}, nil
}

// payload returns the document of a payload that is part of a larger text.
func payload(n event.Node, where string) (event.Document, *event.Refusal) {
	if refusal := mustBeObject(n, where); refusal != nil {
		return event.Document{}, refusal
	}
	doc, err := event.ParseDocument(n.Raw())
	if err != nil {
		return event.Document{}, event.Poisoned(event.Undecodable, where+": "+err.Error())
	}
	return doc, nil
}

func mustBeObject(n event.Node, where string) *event.Refusal {
	if n.Kind() == event.Object {
		return nil
	}
	return event.Poisoned(event.NotAnObject, where+" is "+article(n.Kind())+"; a payload must be a JSON object")
}

func article(k event.Kind) string {
	switch k {
	case event.Absent:
		return "missing"
	case event.Null:
		return "null"
	case event.Array:
		return "an array"
	case event.Object:
		return "an object"
	case event.Bool:
		return "a boolean"
	case event.Number:
		return "a number"
	}
	return "a string"
}

// text returns the value of member name if it is a non-empty string.
func text(n event.Node, name string) (string, bool) {
	m := n.Member(name)
	if m.Kind() != event.String || m.Text() == "" {
		return "", false
	}
	return m.Text(), true
}

// texts reports whether every name is a member that is a non-empty string.
func texts(n event.Node, names ...string) bool {
	for _, name := range names {
		if _, ok := text(n, name); !ok {
			return false
		}
	}
	return true
}
