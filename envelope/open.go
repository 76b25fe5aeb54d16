package envelope

import (
	"maps"

	"github.com/ingot-events/ingot/event"
)

// Message is what [Open] reads of a queue's message.
type Message struct {
	Body string
	// Attributes are the message attributes of type String and Number, by name. A number is its
	// text. Binary attributes are left out.
	Attributes map[string]string
	// Payload is the text of the object that the message's [Pointer] names. It is nil if there is
	// no pointer, or if the caller has not read the object.
	Payload *string

	of    *array // it is one of several events of a message
	index int    // in of
	inSNS bool   // it was in an SNS notification
}

// Opened is the event that was in a message, and the envelope that it was in.
type Opened struct {
	event.Event
	Kind Kind
}

// Open recognises the envelope of m and takes out the event. Every error is a *[event.Refusal] with
// verdict Poison. Open keeps no reference to m.Attributes. It may keep m.Body.
func Open(m Message) (Opened, error) {
	if m.of != nil {
		return m.of.open(m)
	}
	opened, refusal := open(m, nil)
	if refusal != nil {
		return Opened{}, refusal
	}
	return opened, nil
}

// open reads one layer from the outside in: the attributes, then the body. Inside an SNS
// notification it is called once more. A notification in a notification is a bare payload. If
// elements is nil, arrays are refused. Otherwise it gets the elements of an array, and Opened is
// empty.
func open(m Message, elements *[]Message) (Opened, *event.Refusal) {
	doc, err := event.ParseDocument(m.Body)
	if err != nil {
		return Opened{}, event.Poisoned(event.Undecodable, "body: "+err.Error())
	}
	root := doc.Root()
	if p, is := pointer(root); is {
		return openPointer(p, m, elements)
	}
	attributes, binary := binaryMarkers(m.Attributes)
	binary = binary && m.of == nil // these attributes have one id, and the message has several events
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
	if !m.inSNS {
		if inner, ok := notification(root); ok {
			inner.Payload = m.Payload
			return openNotification(inner, m.Attributes, elements)
		}
	}
	if elements != nil && root.Kind() == event.Array {
		list, refusal := elementsOf(root, m)
		*elements = list
		return Opened{}, refusal
	}
	return openRaw(doc, m)
}

func openRaw(doc event.Document, m Message) (Opened, *event.Refusal) {
	if m.of != nil {
		return m.of.openRaw(doc, m)
	}
	if refusal := mustBeObject(doc.Root(), "the body"); refusal != nil {
		return Opened{}, refusal
	}
	return Opened{Event: event.Event{Attributes: maps.Clone(m.Attributes), Data: doc}}, nil
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
