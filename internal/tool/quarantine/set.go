package quarantine

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

// Assignment is a field of a payload and the value that it gets.
type Assignment struct {
	Field event.Path
	Value string // JSON
	// Overwrite says that the field is set whatever it holds. Otherwise it is set only where it is
	// missing, null or empty text.
	Overwrite bool
}

var (
	// errFilled says that there was nothing to set.
	errFilled      = errors.New("what you set has a value there already; --overwrite replaces it")
	errNotAnObject = errors.New("what is around it is not an object")
	errNoElement   = errors.New("there is no element of that number")
)

// Set returns the body that the letter would send, with these fields set in the payload. If the
// message has several events, they are set in each event that is sent again and can take them.
// Everything else stays as it is written, also the envelope. The error says why the fields cannot
// be set.
func (l *Letter) Set(fields []Assignment) (string, error) {
	m := l.Message()
	if _, is := envelope.PointerOf(m); is {
		return "", errors.New("its payload is in S3: edit the object there")
	}
	text, err := inPayload(m, func(payload event.Node) (string, error) {
		if places := l.placesIn(payload); places != nil {
			return inEach(payload, places, fields)
		}
		return assign(payload, fields)
	})
	if err != nil {
		return "", detail(err)
	}
	return text, nil
}

// detail returns what is wrong with the fields, without the verdict, which is for events.
func detail(err error) error {
	if refusal := (*event.Refusal)(nil); errors.As(err, &refusal) {
		return errors.New(refusal.Detail)
	}
	return err
}

// placesIn returns where the events stand in what the letter sends, if that may be several. It
// cannot know that of a message that is not an array and has no note of some refused events.
func (l *Letter) placesIn(payload event.Node) (places []event.Path) {
	if payload.Kind() == event.Array {
		for i := range payload.Len() {
			places = append(places, event.Path{}.Index(i))
		}
		return places
	}
	_, moved := l.kept()
	for now := range moved {
		if path, err := event.ParsePath(now); err == nil {
			places = append(places, path)
		}
	}
	return places
}

// inEach sets the fields in each event at these places. One in which they cannot be set, because it
// is no object, stays as it is. If that holds for all, the error says why of the first.
func inEach(payload event.Node, places []event.Path, fields []Assignment) (string, error) {
	text, unset := payload.Raw(), []error{}
	for _, place := range places {
		doc, err := event.ParseDocument(text)
		if err != nil {
			return "", err
		}
		done, err := changed(doc.Root(), place, func(one event.Node) (string, error) {
			_, alone, err := envelope.OpenAll(envelope.Message{Body: "[" + one.Raw() + "]"}, []envelope.Batch{{}})
			if err != nil {
				return "", err
			}
			opened, err := envelope.Open(alone[0])
			if err != nil {
				return "", err
			}
			return inEnvelope(one, opened.Kind.Form, func(payload event.Node) (string, error) { return assign(payload, fields) })
		})
		switch {
		case err == nil:
			text = done
		case errors.Is(err, errFilled):
			unset = append(unset, err)
		default:
			unset = append(unset, fmt.Errorf("event %s of what is sent: %w", place, detail(err)))
		}
	}
	if len(unset) < len(places) {
		return text, nil
	}
	for _, err := range unset {
		if !errors.Is(err, errFilled) {
			return "", err
		}
	}
	return "", errFilled
}

// inEnvelope changes the payload of a message that has been opened and has this form.
func inEnvelope(root event.Node, form envelope.Form, change func(event.Node) (string, error)) (string, error) {
	member := ""
	switch form {
	case envelope.EventBridgeStructured:
		detail, err := inEnvelope(root.Member("detail"), envelope.Structured, change)
		if err != nil {
			return "", err
		}
		return with(root, "detail", detail), nil
	case envelope.EventBridge:
		member = "detail"
	case envelope.Structured:
		member = "data"
	}
	payload, coded := root, root.Member("data_base64")
	if member != "" {
		payload = root.Member(member)
	}
	if form == envelope.Structured && payload.Kind() != event.Object {
		text, err := base64.StdEncoding.DecodeString(coded.Text())
		if err != nil {
			return "", err
		}
		doc, err := event.ParseDocument(string(text))
		if err != nil {
			return "", err
		}
		payload, member = doc.Root(), "data_base64"
	}
	text, err := change(payload)
	switch {
	case err != nil || member == "":
		return text, err
	case member == "data_base64":
		text = event.Quote(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return with(root, member, text), nil
}

// assign sets fields in a payload. The error is errFilled if all of them have a value already.
func assign(payload event.Node, fields []Assignment) (string, error) {
	text, filled := payload.Raw(), 0
	for _, f := range fields {
		doc, err := event.ParseDocument(text)
		switch {
		case err == nil && !f.Overwrite && hasValue(doc.Root().At(f.Field)):
			filled++
		case err == nil:
			text, err = changed(doc.Root(), f.Field, func(event.Node) (string, error) { return f.Value, nil })
		}
		if err != nil {
			return "", fmt.Errorf("field %s cannot be set: %w", f.Field, err)
		}
	}
	if filled == len(fields) {
		return "", errFilled
	}
	return text, nil
}

// hasValue reports whether a field is there, and neither null nor empty text.
func hasValue(n event.Node) bool {
	return n.Exists() && n.Kind() != event.Null && !(n.Kind() == event.String && n.Text() == "")
}

// with returns an object with this member. A member of the same name is replaced where it stands.
// The others stay as they are written.
func with(n event.Node, name, value string) string {
	var b strings.Builder
	add := func(member string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(member)
	}
	for each := range n.Members() {
		if each == name {
			add(event.Quote(name) + ":" + value)
		} else {
			add(n.Spelled(each))
		}
	}
	if !n.Member(name).Exists() {
		add(event.Quote(name) + ":" + value)
	}
	return "{" + b.String() + "}"
}
