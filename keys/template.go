package keys

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

// Template makes text from an event. Its own text stays as it is. What is in braces is filled in:
//
//	MERCHANT#{merchant_id}        a field of the payload, by its event.Path
//	{@at | time}#{@id}            a derived value, passed through functions
//	{customer_id | trim | hmac}   functions from left to right; an argument follows a colon: {@id | shard:8}
//
// The derived values are @id, @at (the time in the form of [FormatTime]), @type, @source, @digest
// and @attribute.NAME. [Functions] lists the functions. A string is filled in decoded, a number in
// normal form ([event.Decimal]), and a boolean as true or false. Then the functions are applied.
// The last step is [Escape], for every value. A Template never changes, and is safe for concurrent
// use.
type Template struct {
	text  string
	parts []Part
}

// Part is a piece of a template: its own text, or a variable.
type Part struct {
	Literal string     // the text, if there is neither Path nor Derived
	Path    event.Path // the field, if IsZero is false
	Derived string     // "@id", "@at", "@type", "@source", "@digest", "@attribute.NAME"
	Funcs   []Func     // in order of application
	// Lossy reports whether different values can give the same text. Such a part cannot tell events
	// apart.
	Lossy  bool
	Offset int // where the part begins in the template's text, in bytes

	name  string // for messages: "field a.b", "@id"
	apply []step
}

// Variable returns what a part reads, as text: a path, or a derived value with its @.
func (p Part) Variable() string {
	if p.Derived != "" {
		return p.Derived
	}
	return p.Path.String()
}

// Func is one function of a variable, with the text of its argument.
type Func struct{ Name, Arg string }

// IsVariable reports whether the part is filled in.
func (p *Part) IsVariable() bool { return p.name != "" }

// Applies reports whether one of the part's functions is one of which is reports true.
func (p *Part) Applies(is func(Function) bool) bool {
	return slices.ContainsFunc(p.Funcs, func(f Func) bool { return is(f.Function()) })
}

// Text returns the template as it was written.
func (t *Template) Text() string { return t.text }

// Parts returns the pieces in order. The caller must not change them.
func (t *Template) Parts() []Part { return t.parts }

// Constant reports whether nothing is filled in.
func (t *Template) Constant() bool {
	return !slices.ContainsFunc(t.parts, func(p Part) bool { return p.IsVariable() })
}

// Paths returns the fields that the template reads, each once, in order.
func (t *Template) Paths() []event.Path {
	var paths []event.Path
	for _, p := range t.parts {
		if !p.Path.IsZero() && !slices.ContainsFunc(paths, p.Path.Equal) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// Derived returns the derived values that the template reads, each once, in order.
func (t *Template) Derived() []string {
	var names []string
	for _, p := range t.parts {
		if p.Derived != "" && !slices.Contains(names, p.Derived) {
			names = append(names, p.Derived)
		}
	}
	return names
}

// UsesHMAC reports whether the template needs the secret.
func (t *Template) UsesHMAC() bool {
	return slices.ContainsFunc(t.parts, func(p Part) bool {
		return p.Applies(func(f Function) bool { return f.Keyed })
	})
}

// UsesLabel reports whether the template needs a key that is derived from the secret: hmac:LABEL.
func (t *Template) UsesLabel() bool {
	return slices.ContainsFunc(t.parts, func(p Part) bool {
		return slices.ContainsFunc(p.Funcs, func(f Func) bool { return f.Arg != "" && f.Function().Keyed })
	})
}

// CheckSeparated returns an error if the texts of two neighbouring variables could run into each
// other. The text between them must contain '#', which no escaped value contains. Without it,
// {a}{b} makes one key of (x, yz) and (xy, z). The error is a *[TemplateError].
func (t *Template) CheckSeparated() error {
	before, between := "", "#"
	for _, p := range t.parts {
		switch {
		case !p.IsVariable():
			between += p.Literal
		case !strings.Contains(between, "#"):
			why := "nothing separates " + before + " from " + p.name
			if between != "" {
				why = fmt.Sprintf("%q does not separate %s from %s, because their values may contain it too", between, before, p.name)
			}
			return &TemplateError{Offset: p.Offset, What: why + ", so different values can make the same key", Instead: "a # between them"}
		default:
			before, between = p.name, ""
		}
	}
	return nil
}

// Source is what a template reads. Zero fields are missing.
type Source struct {
	Data             event.Node // the payload's root
	Type, ID, Source string
	At               time.Time // in the years 1970 to 9999
	HasAt            bool
	Digest           event.Digest
	Index            int               // @index: the position of a part's element, from 0
	Attributes       map[string]string // @attribute.NAME
	Secret           []byte            // the key of hmac
}

// TemplateError says what is wrong with a template, Offset bytes into its text.
type TemplateError struct {
	Offset  int
	What    string
	Instead string // what to write; empty if there is no one answer
}

// Error says what is wrong and what to write.
func (e *TemplateError) Error() string {
	if e.Instead == "" {
		return e.What
	}
	return e.What + "; write " + e.Instead
}

// Missing says that a value is missing: it is absent, null or empty text, or trim left nothing of
// it. The caller decides what follows. If the value is for an index, the item is not in that index.
// If it is for an id, the event is refused.
type Missing struct{ What string }

// Error returns text such as "field order_id is null".
func (m *Missing) Error() string { return m.What }
