package quarantine

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// keep returns a message without the events that a note does not call refused. These keep their
// spelling, and so does what is around them. moved says for each place where the event stands in
// what is kept, and where it stood. ok is false if the message has no such places.
//
// Where to look was known to the function that refused the events. keep therefore asks no pipeline:
// a place that is declared today was no event then.
func keep(m envelope.Message, note *quarantine.Note) (body string, moved map[string]string, ok bool) {
	k := keeper{moved: map[string]string{}}
	for _, text := range note.Events {
		path, err := event.ParsePath(text)
		if err != nil {
			return "", nil, false
		}
		k.places = append(k.places, path)
	}
	for _, text := range note.Others {
		if path, err := event.ParseEvery(text); err == nil {
			k.others = append(k.others, path)
		}
	}
	body, err := inPayload(m, func(payload event.Node) (string, error) {
		return k.keep(payload, event.Path{}, event.Path{}, k.places), nil
	})
	return body, k.moved, err == nil && len(k.moved) == len(note.Events)
}

type keeper struct {
	places []event.Path
	others []event.Path      // of arrays on the way to these, only elements that lead to places are kept
	moved  map[string]string // from the new place to the old one
}

// keep returns the text of a value that stood at one place and now stands at another, with only
// those of its elements that lead to these places.
func (k *keeper) keep(n event.Node, at, now event.Path, places []event.Path) string {
	if len(places) == 1 && places[0].Equal(at) {
		if n.Exists() {
			k.moved[now.String()] = at.String()
		}
		return n.Raw()
	}
	var list []string
	if n.Kind() == event.Array {
		i := 0
		for element := range n.Elements() {
			if of := under(at.Index(i), places); of != nil {
				list = append(list, k.keep(element, at.Index(i), now.Index(len(list)), of))
			}
			i++
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for name, value := range n.Members() {
		text := n.Spelled(name)
		of := under(at.Member(name), places)
		if of != nil || under(at.Member(name).Every(), k.others) != nil {
			text = strings.TrimSuffix(text, value.Raw()) + k.keep(value, at.Member(name), now.Member(name), of)
		}
		list = append(list, text)
	}
	return "{" + strings.Join(list, ",") + "}"
}

// under returns the places that are at a path or below it.
func under(at event.Path, places []event.Path) (list []event.Path) {
	for _, place := range places {
		if at.Contains(place) {
			list = append(list, place)
		}
	}
	return list
}

// inPayload returns the body of a message in which change has replaced the payload, or the array
// that the message is. What is around it stays.
func inPayload(m envelope.Message, change func(event.Node) (string, error)) (string, error) {
	doc, err := event.ParseDocument(m.Body)
	if err != nil {
		return "", fmt.Errorf("body: %w", err)
	}
	root := doc.Root()
	if root.Kind() == event.Array {
		return change(root)
	}
	if inner := arrayIn(root); inner.Kind() == event.Array { // in a notification
		list, err := change(inner)
		return with(root, "Message", event.Quote(list)), err
	}
	opened, err := envelope.Open(m)
	if err != nil {
		return "", err
	}
	if !opened.Kind.SNS {
		return inEnvelope(root, opened.Kind.Form, change)
	}
	if doc, err = event.ParseDocument(root.Member("Message").Text()); err != nil {
		return "", err
	}
	inner, err := inEnvelope(doc.Root(), opened.Kind.Form, change)
	return with(root, "Message", event.Quote(inner)), err
}

// arrayIn returns the array that a notification holds.
func arrayIn(root event.Node) event.Node {
	if opened, elements, err := envelope.OpenAll(envelope.Message{Body: root.Raw()}, []envelope.Batch{{}}); err != nil ||
		elements == nil || !opened.Kind.SNS {
		return event.Node{}
	}
	doc, _ := event.ParseDocument(root.Member("Message").Text()) // it was just read
	return doc.Root()
}

// changed returns the text of a value in which change has replaced what path leads to. Objects that
// are missing on the way are made.
func changed(n event.Node, path event.Path, change func(event.Node) (string, error)) (string, error) {
	if path.IsZero() {
		return change(n)
	}
	if name, rest, ok := path.First(); ok {
		if n.Exists() && n.Kind() != event.Object {
			return "", errNotAnObject
		}
		text, err := changed(n.Member(name), rest, change)
		return with(n, name, text), err
	}
	index, rest, _ := path.Number()
	if !n.Index(index).Exists() {
		return "", errNoElement
	}
	list := make([]string, 0, n.Len())
	for element := range n.Elements() {
		text := element.Raw()
		if len(list) == index {
			var err error
			if text, err = changed(element, rest, change); err != nil {
				return "", err
			}
		}
		list = append(list, text)
	}
	return "[" + strings.Join(list, ",") + "]", nil
}
