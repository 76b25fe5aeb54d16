package envelope

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

const (
	// MaxEvents is how many events a message may hold.
	MaxEvents = 1000
	// maxWith is how many bytes the events of a message may take of the objects around them. Each
	// event repeats them.
	maxWith = 4 << 20
)

// Batch is a place where a message holds several events.
type Batch struct {
	// Each leads from the payload to arrays of events. Without steps, the message itself is the
	// array.
	Each event.Path
	// With are values of the objects around an event, which it takes into its payload.
	With []With
	// Optional says that an object without the array holds no events of this batch.
	Optional bool
}

// With is a value of an object, and the name that it gets in the payloads that take it.
type With struct {
	Name string
	Path event.Path // from the payload of the message
}

// OpenAll is [Open] for a message that may hold several events: in an array, bare or in an SNS
// notification, or in arrays inside its payload. It then returns each of them as a message of its
// own for Open, in the order of the document. They share their Attributes, and Opened is what is
// around them. If the message holds one event, there are none, and Opened is what Open returns.
func OpenAll(m Message, batches []Batch) (Opened, []Message, error) {
	opened, elements, refusal := openAll(m, batches)
	if refusal != nil {
		return Opened{}, nil, refusal
	}
	return opened, elements, nil
}

func openAll(m Message, batches []Batch) (Opened, []Message, *event.Refusal) {
	var elements *[]Message
	if slices.ContainsFunc(batches, func(b Batch) bool { return b.Each.IsZero() }) {
		elements = new([]Message)
	}
	opened, refusal := open(m, elements)
	switch {
	case refusal != nil:
		return Opened{}, nil, refusal
	case elements != nil && *elements != nil:
		return *(*elements)[0].of.around, *elements, nil
	}
	list, refusal := inside(opened, batches)
	return opened, list, refusal
}

// Place returns where the event stands in its message, if that has several.
func (m Message) Place() event.Place {
	if m.of == nil {
		return event.Place{}
	}
	return event.Place{In: m.of.in, Index: m.index}
}

// array is one array of events, and what they share.
type array struct {
	in      event.Path
	around  *Opened
	with    []With         // that the object around has
	text    string         // those as members
	refusal *event.Refusal // why its events cannot be opened
}

// open opens one event of the array.
func (a *array) open(m Message) (Opened, error) {
	if a.refusal != nil {
		return Opened{}, a.refusal
	}
	opened, refusal := open(m, nil)
	if refusal != nil {
		return Opened{}, refusal
	}
	opened.Kind.SNS = opened.Kind.SNS || a.around.Kind.SNS
	if a.text == "" {
		return opened, nil
	}
	root := opened.Data.Root()
	for _, with := range a.with {
		if root.Member(with.Name).Exists() {
			return Opened{}, event.Poisoned(event.PartsClash,
				fmt.Sprintf("it has a member %s, and with gives it %s under that name: choose another name", with.Name, with.Path))
		}
	}
	text := a.text
	if root.Len() > 0 {
		text += ","
	}
	doc, err := event.ParseDocument("{" + text + strings.TrimLeft(root.Raw(), "{ \t\r\n"))
	if err != nil { // cannot happen: its members come from documents, and no name is there twice
		return Opened{}, event.Poisoned(event.Undecodable, err.Error())
	}
	opened.Data = doc
	return opened, nil
}

// openRaw opens an event without an envelope of its own. What is around the array applies to it,
// except the id, of which all its events would be one.
func (a *array) openRaw(doc event.Document, m Message) (Opened, *event.Refusal) {
	if refusal := mustBeObject(doc.Root(), "it"); refusal != nil {
		return Opened{}, refusal
	}
	opened := *a.around
	opened.ID, opened.Attributes, opened.Data = "", maps.Clone(m.Attributes), doc
	return opened, nil
}

// elementsOf returns the elements of a message that is an array as messages of their own.
func elementsOf(root event.Node, m Message) ([]Message, *event.Refusal) {
	if root.Len() == 0 {
		return nil, event.Poisoned(event.BadArray, "the array holds no events; do not send a message without events")
	}
	w := walk{elements: make([]Message, 0, min(root.Len(), MaxEvents))}
	w.events(root, array{around: &Opened{Event: event.Event{Attributes: m.Attributes}, Kind: Kind{SNS: m.inSNS}}})
	return w.elements, w.refusal
}

// walk collects the events of one message.
type walk struct {
	opened   *Opened
	found    int // arrays
	elements []Message
	bytes    int // that the elements take of the objects around them
	refusal  *event.Refusal
}

// events adds the elements of an array.
func (w *walk) events(list event.Node, of array) {
	w.found++
	w.bytes += len(of.text) * list.Len()
	switch n := len(w.elements) + list.Len(); {
	case w.refusal != nil:
	case n > MaxEvents:
		w.refusal = event.Poisoned(event.BadArray,
			fmt.Sprintf("the array holds %d events, and a message brings at most %d; send several messages", n, MaxEvents))
	case w.bytes > maxWith:
		w.refusal = event.Poisoned(event.BadArray,
			fmt.Sprintf("what the events of the message take of the objects around them is over %d bytes; send several messages", maxWith))
	default:
		i := 0
		for element := range list.Elements() {
			w.elements = append(w.elements, Message{Body: element.Raw(), Attributes: of.around.Attributes, of: &of, index: i,
				inSNS: of.around.Kind.SNS})
			i++
		}
	}
}
