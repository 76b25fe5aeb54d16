package envelope

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/event"
)

// inside returns the events in arrays inside a payload. A payload of which no batch's first name is
// a member is an event itself, and inside then returns none.
func inside(opened Opened, batches []Batch) ([]Message, *event.Refusal) {
	root := opened.Data.Root()
	var all []cursor
	for i := range batches {
		if first, _, ok := batches[i].Each.First(); ok && root.Member(first).Exists() {
			all = append(all, cursor{&batches[i], batches[i].Each})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	w := walk{opened: &opened}
	w.object(root, event.Path{}, all)
	switch {
	case w.refusal != nil:
		return nil, w.refusal
	case len(w.elements) == 0:
		return nil, typed(event.Poisoned(event.BadArray, "the arrays of the message hold no events; do not send a message without events"),
			opened.Type)
	case w.found == 0:
		return nil, w.elements[0].of.refusal
	}
	return w.elements, nil
}

// cursor is a batch, and what is left of its path.
type cursor struct {
	*Batch
	rest event.Path
}

// object looks for arrays of events in a value, to which a path leads that ends there or goes
// through the elements of an array. If it has none, that takes the place of its events: one that
// can never be stored, or one that is dropped if the file says that the arrays are optional.
func (w *walk) object(n event.Node, at event.Path, all []cursor) {
	before := w.found
	if w.members(n, at, all); w.found > before || w.refusal != nil {
		return
	}
	refusal := typed(event.Poisoned(event.NoEvents, fmt.Sprintf("%s has no array of events: none at %s", placed(at), restsOf(all))),
		w.opened.Type)
	if !slices.ContainsFunc(all, func(c cursor) bool { return !c.Optional }) {
		refusal.Verdict = event.Dropped
	}
	w.elements = append(w.elements, Message{Body: n.Raw(), of: &array{in: at, around: w.opened, refusal: refusal}, index: -1})
	if len(w.elements) > MaxEvents {
		w.refusal = event.Poisoned(event.BadArray,
			fmt.Sprintf("the message holds over %d events, or objects without any; send several messages", MaxEvents))
	}
}

// members follows the paths from an object, member by member.
func (w *walk) members(n event.Node, at event.Path, all []cursor) {
	if w.refusal != nil {
		return
	}
	for name, value := range n.Members() {
		var next, through []cursor
		var list *Batch
		for _, c := range all {
			first, rest, named := c.rest.First()
			if !named || first != name {
				continue
			}
			switch element, each := rest.Each(); {
			case rest.IsZero():
				list = c.Batch
			case each:
				through = append(through, cursor{c.Batch, element})
			default:
				next = append(next, cursor{c.Batch, rest})
			}
		}
		if list == nil && next == nil && through == nil {
			continue
		}
		place := at.Member(name)
		if list != nil && value.Kind() == event.Array {
			w.events(value, w.around(list, place))
		}
		if through != nil && value.Kind() == event.Array {
			w.found++
			i := 0
			for element := range value.Elements() {
				w.object(element, place.Index(i), through)
				i++
			}
		}
		if next != nil {
			w.members(value, place, next)
		}
	}
}

// around returns the array of events at a place, with what they take of the objects around it.
func (w *walk) around(b *Batch, place event.Path) array {
	a := array{in: place, around: w.opened}
	for _, with := range b.With {
		value := w.opened.Data.Root().At(with.Path.At(place))
		switch value.Kind() {
		case event.Absent:
			continue
		case event.Array, event.Object:
			a.refusal = event.Poisoned(event.WrongType, fmt.Sprintf("%s is %s, and with takes text, numbers, true, false and null",
				with.Path.At(place), article(value.Kind())))
			return a
		}
		if a.with = append(a.with, with); a.text != "" {
			a.text += ","
		}
		a.text += event.Quote(with.Name) + ":" + value.Raw()
	}
	return a
}

// placed names a place for people.
func placed(at event.Path) string {
	if at.IsZero() {
		return "the payload"
	}
	return at.String()
}

// restsOf names what is left of paths, for people.
func restsOf(all []cursor) (text string) {
	for i, c := range all {
		if i > 0 {
			text += " or "
		}
		text += c.rest.String()
	}
	return text
}
