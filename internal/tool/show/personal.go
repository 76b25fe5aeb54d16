package show

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Mask stands where a personal value stood.
const Mask = "***"

// StandIn is the key of hmac for what runs on this machine alone, if INGOT_PII_KEY is not set.
const StandIn = "a stand-in for INGOT_PII_KEY"

// Personal knows which values of a pipeline are personal: those that feed hmac, in whatever type.
// It masks them wherever they are shown. Everything that prints a value of an event asks it. The
// zero Personal masks nothing.
type Personal struct {
	paths      []event.Path
	attributes []string // names of message attributes
	spec       pipeline.Spec
}

// Masks returns what a command masks: what is personal, unless it reveals that.
func Masks(p *pipeline.Pipeline, reveal bool) Personal {
	if reveal {
		return Personal{}
	}
	return PersonalOf(p)
}

// PersonalOf returns what is personal under a pipeline.
func PersonalOf(p *pipeline.Pipeline) Personal {
	m := Personal{spec: p.Describe().Spec}
	for _, e := range m.spec.Events {
		m.hashed(e, e.ID, e.At, e.Key.PK, e.Key.SK)
		for _, i := range e.Indexes {
			m.hashed(e, i.PK, i.SK)
		}
	}
	for _, a := range m.spec.Aggregates {
		for name := range a.From {
			for _, text := range a.By {
				m.hashed(m.spec.Events[name], text)
			}
		}
	}
	return m
}

// hashed notes what templates of an event type pass through hmac.
func (m *Personal) hashed(e pipeline.EventSpec, templates ...string) {
	for _, text := range templates {
		for _, part := range partsOf(text) {
			if hashes(part) {
				m.feeds(e, part)
			}
		}
	}
}

// feeds notes that the value of a template's part is personal, and what the value is made of.
func (m *Personal) feeds(e pipeline.EventSpec, part keys.Part) {
	name, attribute := strings.CutPrefix(part.Derived, "@attribute.")
	switch {
	case !part.Path.IsZero():
		m.add(part.Path)
	case attribute:
		m.envelope(name)
	case part.Derived == "@id" && e.ID == "":
		m.envelope("id")
		m.envelope("source") // a CloudEvent's id is both
	case part.Derived == "@id":
		for _, of := range partsOf(e.ID) {
			m.feeds(e, of)
		}
	case part.Derived == "@source":
		m.envelope("source")
	}
}

// envelope notes that what an envelope says under a name is personal. It may be a member of the
// body or a message attribute.
func (m *Personal) envelope(name string) {
	if path, err := event.ParsePath("[" + event.Quote(name) + "]"); err == nil {
		m.add(path)
	}
	if !slices.Contains(m.attributes, name) {
		m.attributes = append(m.attributes, name)
	}
}

func (m *Personal) add(path event.Path) {
	if !slices.ContainsFunc(m.paths, path.Equal) {
		m.paths = append(m.paths, path)
	}
}

// partsOf returns the parts of a template. There are none if it is empty: then an envelope has the
// value.
func partsOf(text string) []keys.Part {
	t, err := keys.ParseTemplate(text)
	if err != nil {
		return nil // the pipeline has compiled it, so it is empty
	}
	return t.Parts()
}

func hashes(part keys.Part) bool {
	return part.Applies(func(f keys.Function) bool { return f.Keyed })
}

// None reports whether there is nothing to mask.
func (m Personal) None() bool { return len(m.paths) == 0 }

// Is reports whether a path leads to a personal value, to a part of one, or to a value that
// contains one.
func (m Personal) Is(path event.Path) bool {
	return slices.ContainsFunc(m.paths, func(p event.Path) bool { return p.Contains(path) || path.Contains(p) })
}

// Member returns the JSON of the member of a payload that a path names, such as one in which two
// payloads differ. An envelope may stand around the payload, so the path may begin outside of it.
func (m Personal) Member(path, text string) string {
	if text == "" || m.None() {
		return text
	}
	at, err := event.ParsePath(path)
	for known := err == nil; !at.IsZero() || !known; _, at, known = at.First() {
		if !known || m.Is(at) {
			return `"` + Mask + `"`
		}
	}
	return m.Data(text)
}

// amounts are those of a total, in the detail of a refusal: its value, and what it would be.
var amounts = regexp.MustCompile(`(is|would be) -?[0-9][^ ,]*,`)

// Detail masks what the detail of a refusal quotes, because it does not say from which field that
// comes. The name of a type is never personal.
func (m Personal) Detail(reason event.Reason, text string) string {
	switch {
	case m.None() || reason == event.UnknownType:
		return text
	case reason == event.BelowFloor, reason == event.AboveCeiling:
		text = amounts.ReplaceAllString(text, "$1 "+Mask+",")
	}
	return m.Quoted(text)
}

// Quoted masks what a text quotes: Ingot's messages have values and keys of events in double
// quotes. A quote that is not closed is masked to its end, because a long text may have been cut.
func (m Personal) Quoted(text string) string {
	if m.None() {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `"`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if strings.HasSuffix(before, "'") && strings.HasPrefix(after, "'") { // a character in single quotes
			b.WriteByte('"')
			text = after
			continue
		}
		b.WriteString(`"` + Mask + `"`)
		if text = closed(after); text == "" {
			return b.String()
		}
	}
}

// closed returns what follows the quote that closes a quoted text. It is empty if there is none.
func closed(text string) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:]
		}
	}
	return ""
}

// All masks what each of several texts quotes, such as the flags of a total.
func (m Personal) All(texts []string) []string {
	if m.None() {
		return texts
	}
	masked := make([]string, len(texts))
	for i, text := range texts {
		masked[i] = m.Quoted(text)
	}
	return masked
}

// Finding masks what verify says of a flag or of an item that it cannot read. What is left is the
// aggregate that it begins with, if it does. So the fact shows, and no key of it.
func (m Personal) Finding(text string) string {
	if m.None() {
		return text
	}
	name, after, _ := strings.Cut(text, " since ")
	if _, known := m.spec.Aggregates[name]; !known {
		return Mask
	}
	since := len(after) - len(strings.TrimLeft(after, "0123456789"))
	return name + " since " + after[:since] + ": " + Mask
}

// Attribute masks a message attribute.
func (m Personal) Attribute(name, text string) string {
	for _, prefix := range []string{"", "ce-", "ce_", "cloudEvents_"} { // of a CloudEvent
		if bare, is := strings.CutPrefix(name, prefix); is && slices.Contains(m.attributes, bare) {
			return Mask
		}
	}
	if doc, err := event.ParseDocument(text); err == nil && doc.Root().Kind() != event.Number {
		return m.Data(text)
	}
	return text
}

// Text masks a text of which nobody knows from which field it comes, such as a message's group.
func (m Personal) Text(text string) string {
	if text == "" || m.None() {
		return text
	}
	return Mask
}

// reveals reports whether a template of an event type shows a personal value, because it does not
// pass it through hmac.
func (m Personal) reveals(e pipeline.EventSpec, text string) bool {
	return slices.ContainsFunc(partsOf(text), func(part keys.Part) bool {
		name, attribute := strings.CutPrefix(part.Derived, "@attribute.")
		switch {
		case hashes(part):
			return false
		case !part.Path.IsZero():
			return m.Is(part.Path)
		case attribute:
			return slices.Contains(m.attributes, name)
		case part.Derived == "@id":
			return m.revealsID(e)
		case part.Derived == "@source":
			return slices.Contains(m.attributes, "source")
		}
		return false
	})
}

// revealsID reports whether the id of an event type is personal.
func (m Personal) revealsID(e pipeline.EventSpec) bool {
	if e.ID == "" {
		return slices.Contains(m.attributes, "id")
	}
	return m.reveals(e, e.ID)
}

// Key reports whether what an event type's template makes must not be shown: it has a personal
// value, or a hash of one. The template may show the id of the event.
func (m Personal) Key(eventType, text string) bool {
	t, err := keys.ParseTemplate(text)
	if err != nil || m.None() {
		return false
	}
	e := m.spec.Events[eventType]
	if slices.Contains(t.Derived(), "@id") && e.ID != text && m.Key(eventType, e.ID) {
		return true
	}
	return t.UsesHMAC() || m.reveals(e, text)
}

// Total reports whether the keys of an aggregate's totals must not be shown.
func (m Personal) Total(aggregate string) bool {
	a := m.spec.Aggregates[aggregate]
	for _, text := range a.By {
		for eventType := range a.From {
			if m.Key(eventType, text) {
				return true
			}
		}
	}
	return false
}
