package keys

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Append appends the template's text for s to dst. The error is a *[Missing] or a *[event.Refusal].
// The verdict of the refusal is Poison, or Retry if hmac has no secret, which is not the event's
// fault.
func (t *Template) Append(dst []byte, s *Source) ([]byte, error) { return t.expand(dst, s, escapeFrom) }

// Plain is [Template.Expand] for text that is not a key: values are not escaped.
func (t *Template) Plain(s *Source) (string, error) {
	text, err := t.expand(nil, s, func(dst []byte, _ int) []byte { return dst })
	return string(text), err
}

func (t *Template) expand(dst []byte, s *Source, escape func([]byte, int) []byte) ([]byte, error) {
	start := len(dst)
	for i := range t.parts {
		p := &t.parts[i]
		if !p.IsVariable() {
			dst = append(dst, p.Literal...)
			continue
		}
		from := len(dst)
		filled, err := p.fill(dst, from, s)
		if err != nil {
			return dst[:start], err
		}
		dst = escape(filled, from)
	}
	return dst, nil
}

// Expand returns the template's text for s. It has the errors of [Template.Append].
func (t *Template) Expand(s *Source) (string, error) {
	if len(t.parts) == 1 && !t.parts[0].IsVariable() {
		return t.text, nil
	}
	var room [128]byte
	text, err := t.Append(room[:0], s)
	return string(text), err
}

// fill appends the variable's value at from, before escaping.
func (p *Part) fill(dst []byte, from int, s *Source) ([]byte, error) {
	dst, err := p.read(dst, s)
	if err != nil {
		return dst, err
	}
	if len(dst) == from {
		return dst, &Missing{What: p.name + " is empty"}
	}
	for i := range p.apply {
		if dst, err = p.apply[i].run(dst, from, s); err != nil {
			return dst, p.explain(err, i)
		}
	}
	if len(dst) == from {
		return dst, &Missing{What: p.name + " contains only white space"}
	}
	return dst, nil
}

// read appends the value without any function.
func (p *Part) read(dst []byte, s *Source) ([]byte, error) {
	if !p.Path.IsZero() {
		return p.readField(dst, s.Data.At(p.Path))
	}
	switch p.Derived {
	case "@id":
		return append(dst, s.ID...), nil
	case "@type":
		return append(dst, s.Type...), nil
	case "@source":
		return append(dst, s.Source...), nil
	case "@index":
		return strconv.AppendInt(dst, int64(s.Index), 10), nil
	case "@digest":
		if s.Digest.IsZero() {
			return dst, &Missing{What: "@digest is missing"}
		}
		return append(dst, s.Digest.String()...), nil
	case "@at":
		if !s.HasAt {
			return dst, &Missing{What: "@at is missing"}
		}
		return AppendTime(dst, s.At), nil
	}
	value, found := s.Attributes[strings.TrimPrefix(p.Derived, "@attribute.")]
	if !found {
		return dst, &Missing{What: p.name + " is missing"}
	}
	return append(dst, value...), nil
}

func (p *Part) readField(dst []byte, n event.Node) ([]byte, error) {
	switch n.Kind() {
	case event.String:
		return append(dst, n.Text()...), nil
	case event.Number:
		return appendNumber(dst, n.Raw()), nil
	case event.Bool:
		return append(dst, n.Raw()...), nil
	case event.Absent:
		return dst, &Missing{What: p.name + " is missing"}
	case event.Null:
		return dst, &Missing{What: p.name + " is null"}
	}
	return dst, event.Poisoned(event.WrongType, fmt.Sprintf("%s is an %s, which cannot become text", p.name, n.Kind()))
}

// explain adds the value that function i was given to the function's refusal.
func (p *Part) explain(err error, i int) error {
	if missing, ok := err.(*Missing); ok {
		return &Missing{What: p.name + " | " + p.apply[i].written + ": " + missing.What}
	}
	refusal, ok := err.(*event.Refusal)
	if !ok {
		refusal = event.Poisoned(event.BadTime, err.Error()+p.advice(err, i))
	}
	refusal.Detail = p.name + " | " + p.apply[i].written + ": " + refusal.Detail
	return refusal
}

// advice says which function before function i would read the text of which err is about.
func (p *Part) advice(err error, i int) string {
	bad, ok := err.(*timeError)
	if !ok || bad.text == "" {
		return ""
	}
	f, known := lookup(readerOf(bad.text))
	if !known {
		return ""
	}
	if f.Number && i < len(p.apply) {
		return ": let at: read it with " + f.Name + ", and use @at"
	}
	text := ": write {" + p.Variable()
	for j, applied := range p.apply {
		if j == i {
			text += " | " + f.Name
		}
		text += " | " + applied.written
	}
	if i == len(p.apply) {
		text += " | " + f.Name
	}
	if f.AssumesUTC() {
		return text + "} if it is UTC"
	}
	return text + "}"
}
