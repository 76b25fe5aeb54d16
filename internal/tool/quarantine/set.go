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
	Field string // a name, or several with points between them, such as customer.id
	Value string // JSON
	// Overwrite says that the field is set whatever it holds. Otherwise it is set only where it is
	// missing, null or empty text.
	Overwrite bool
}

// errFilled says that there was nothing to set.
var errFilled = errors.New("what you set has a value there already; --overwrite replaces it")

// Set returns the body that the letter would send, with these fields set in the payload. If the
// message is an array, they are set in each event that is sent again. Everything else stays as it
// is written, also the envelope. The error says why the fields cannot be set.
func (l *Letter) Set(fields []Assignment) (string, error) {
	m := l.Message()
	if _, is := envelope.PointerOf(m); is {
		return "", errors.New("its payload is in S3: edit the object there")
	}
	opened, elements, err := envelope.OpenArray(m)
	if err != nil {
		return "", errors.New(event.RefusalOf(err).Detail)
	}
	doc, err := event.ParseDocument(m.Body)
	if err != nil {
		return "", err
	}
	root := doc.Root()
	if elements == nil && !opened.Kind.SNS {
		return inEnvelope(root, opened.Kind.Form, fields)
	}
	var inner string
	if elements != nil {
		inner, err = inEach(elements, fields)
	} else if doc, err = event.ParseDocument(root.Member("Message").Text()); err == nil {
		inner, err = inEnvelope(doc.Root(), opened.Kind.Form, fields)
	}
	if err != nil || root.Kind() == event.Array {
		return inner, err
	}
	return with(root, "Message", event.Quote(inner)), nil
}

// inEach sets the fields in each event of an array.
func inEach(elements []envelope.Message, fields []Assignment) (string, error) {
	list, filled := make([]string, len(elements)), 0
	for i, element := range elements {
		opened, err := envelope.Open(element)
		if err != nil {
			return "", fmt.Errorf("event [%d] of what is sent: %s", i, event.RefusalOf(err).Detail)
		}
		doc, err := event.ParseDocument(element.Body)
		if err == nil {
			list[i], err = inEnvelope(doc.Root(), opened.Kind.Form, fields)
		}
		if errors.Is(err, errFilled) {
			list[i], err = element.Body, nil
			filled++
		}
		if err != nil {
			return "", fmt.Errorf("event [%d] of what is sent: %w", i, err)
		}
	}
	if filled == len(list) {
		return "", errFilled
	}
	return "[" + strings.Join(list, ",") + "]", nil
}

// inEnvelope sets the fields in the payload of a message that has been opened and has this form.
func inEnvelope(root event.Node, form envelope.Form, fields []Assignment) (string, error) {
	member := ""
	switch form {
	case envelope.EventBridgeStructured:
		detail, err := inEnvelope(root.Member("detail"), envelope.Structured, fields)
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
	text, err := assign(payload, fields)
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
		names := strings.Split(f.Field, ".")
		doc, err := event.ParseDocument(text)
		switch {
		case err == nil && !f.Overwrite && hasValue(doc.Root(), names):
			filled++
		case err == nil:
			text, err = set(doc.Root(), names, f.Value)
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

// hasValue reports whether the field of these names is there, and neither null nor empty text.
func hasValue(n event.Node, names []string) bool {
	for _, name := range names {
		n = n.Member(name)
	}
	return n.Exists() && n.Kind() != event.Null && !(n.Kind() == event.String && n.Text() == "")
}

// set returns an object with a value under the name that is reached through the others. Objects
// that are missing on the way are made.
func set(n event.Node, names []string, value string) (string, error) {
	if len(names) == 1 {
		return with(n, names[0], value), nil
	}
	inner := n.Member(names[0])
	if inner.Exists() && inner.Kind() != event.Object {
		return "", fmt.Errorf("%s is not an object", names[0])
	}
	text, err := set(inner, names[1:], value)
	return with(n, names[0], text), err
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
