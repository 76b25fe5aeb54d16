package envelope

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// MaxEvents is how many events an array may hold.
const MaxEvents = 1000

// OpenArray is [Open] for a message that may be a JSON array of events, bare or in an SNS
// notification. It then returns each of them as a message of its own, in order, for Open. They
// share their Attributes. If the message is not an array, there are none, and Opened is what Open
// returns.
func OpenArray(m Message) (Opened, []Message, error) {
	var elements []Message
	opened, refusal := open(m, &elements)
	if refusal != nil {
		return Opened{}, nil, refusal
	}
	return opened, elements, nil
}

// elementsOf returns the elements of an array as messages of their own.
func elementsOf(array event.Node, m Message) ([]Message, *event.Refusal) {
	switch n := array.Len(); {
	case n == 0:
		return nil, event.Poisoned(event.BadArray, "the array holds no events; do not send a message without events")
	case n > MaxEvents:
		return nil,
			event.Poisoned(event.BadArray, fmt.Sprintf("the array holds %d events, and a message brings at most %d; send several messages",
				n, MaxEvents))
	}
	list := make([]Message, 0, array.Len())
	for element := range array.Elements() {
		list = append(list, Message{Body: element.Raw(), Attributes: m.Attributes, element: true, inSNS: m.inSNS})
	}
	return list, nil
}

// Keep returns the body of a message that is an array of events with only those at these positions,
// counted from 0. What is around the array stays. It returns false if m is not an array of events,
// or has no such positions.
func Keep(m Message, positions []int) (body string, ok bool) {
	_, elements, err := OpenArray(m)
	if err != nil || elements == nil {
		return "", false
	}
	var b strings.Builder
	for i, at := range positions {
		if at < 0 || at >= len(elements) {
			return "", false
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(elements[at].Body)
	}
	list := "[" + b.String() + "]"
	doc, err := event.ParseDocument(m.Body)
	if err != nil || doc.Root().Kind() == event.Array {
		return list, err == nil
	}
	b.Reset() // it is a notification
	for name := range doc.Root().Members() {
		member := doc.Root().Spelled(name)
		if name == "Message" {
			member = `"Message":` + event.Quote(list)
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(member)
	}
	return "{" + b.String() + "}", true
}
