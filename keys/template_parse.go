package keys

import (
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
)

// ParseTemplate reads a template. Every error is a *[TemplateError].
func ParseTemplate(text string) (*Template, error) {
	if text == "" {
		return nil, &TemplateError{What: "the template is empty"}
	}
	t := &Template{text: text}
	for at := 0; at < len(text); {
		part, end, err := parsePart(text, at)
		if err != nil {
			return nil, err
		}
		part.Offset = at
		t.parts = append(t.parts, part)
		at = end
	}
	return t, nil
}

func parsePart(text string, at int) (Part, int, error) {
	if text[at] != '{' {
		return parseLiteral(text, at)
	}
	end := endOf(text, at+1, '}')
	if end == len(text) {
		stop := endOf(text, at+1, '#') // no path has one, except in quotes
		instead := text[at:stop] + "}" + text[stop:]
		if _, err := parseVariable(text, at+1, stop); err != nil {
			instead = "a } behind the path of the field"
		}
		return Part{}, 0, &TemplateError{Offset: at, What: "the brace that opens here is not closed", Instead: instead}
	}
	part, err := parseVariable(text, at+1, end)
	return part, end + 1, err
}

func parseLiteral(text string, at int) (Part, int, error) {
	end := len(text)
	if i := strings.IndexByte(text[at:], '{'); i >= 0 {
		end = at + i
	}
	literal := text[at:end]
	for i, r := range literal {
		switch {
		case r == '}':
			return Part{}, 0, &TemplateError{Offset: at + i, What: "a closing brace without an opening one"}
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			return Part{}, 0, &TemplateError{Offset: at + i, What: "a control character in a template's own text"}
		case r == utf8.RuneError && !strings.HasPrefix(literal[i:], "\uFFFD"):
			return Part{}, 0, &TemplateError{Offset: at + i, What: "invalid UTF-8"}
		}
	}
	return Part{Literal: literal}, end, nil
}

// parseVariable reads what stands between the braces, text[at:end].
func parseVariable(text string, at, end int) (Part, error) {
	stop := min(endOf(text, at, '|'), end)
	name, offset := trimmed(text, at, stop)
	part, err := parseName(name, offset)
	for err == nil && stop < end {
		at = stop + 1
		stop = min(endOf(text, at, '|'), end)
		call, offset := trimmed(text, at, stop)
		err = part.addFunc(call, offset)
	}
	return part, err
}

// endOf returns the index of the first c in text[at:] that is not inside quotes, or len(text).
// Quotes belong to a path such as ["odd | name"].
func endOf(text string, at int, c byte) int {
	quoted := false
	for ; at < len(text); at++ {
		switch {
		case quoted && text[at] == '\\':
			at++
		case text[at] == '"':
			quoted = !quoted
		case !quoted && text[at] == c:
			return at
		}
	}
	return len(text)
}

// trimmed returns text[at:end] without the spaces around it, and the index where that begins.
func trimmed(text string, at, end int) (string, int) {
	left := strings.TrimLeft(text[at:end], " ")
	return strings.TrimRight(left, " "), end - len(left)
}

func parseName(name string, offset int) (Part, error) {
	switch {
	case name == "":
		return Part{}, &TemplateError{Offset: offset, What: "there is nothing between the braces",
			Instead: "the path of a field, or one of " + derivedNames}
	case name[0] == '@':
		return parseDerived(name, offset)
	}
	path, err := event.ParsePath(name)
	if err != nil {
		return Part{}, &TemplateError{Offset: offset, What: err.Error()}
	}
	return Part{Path: path, name: "field " + path.String()}, nil
}

const derivedNames = "@id, @at, @type, @source, @digest, @index, @attribute.NAME"

func parseDerived(name string, offset int) (Part, error) {
	switch name {
	case "@id", "@at", "@type", "@source", "@digest", "@index":
		return Part{Derived: name, name: name}, nil
	}
	attribute, found := strings.CutPrefix(name, "@attribute.")
	switch {
	case !found:
		return Part{}, &TemplateError{Offset: offset, What: quote(name) + " is not a derived value", Instead: "one of " + derivedNames}
	case attribute == "" || strings.ContainsFunc(attribute, notInAttributeName):
		return Part{},
			&TemplateError{Offset: offset, What: quote(name) +
				" does not name a message attribute, which has letters, digits, _, - and . only", Instead: "@attribute.NAME"}
	}
	return Part{Derived: name, name: name}, nil
}

// notInAttributeName reports whether r cannot be in the name of an SQS message attribute. SQS
// allows A-Z, a-z, 0-9, underscore, hyphen and period (SQS developer guide, "Message attribute
// components").
func notInAttributeName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.", r))
}
