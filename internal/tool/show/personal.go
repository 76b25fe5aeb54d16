package show

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Mask stands where a personal value stood.
const Mask = "***"

// Personal knows which values of a pipeline are personal: those on the paths that feed hmac, in
// whatever type. It masks them wherever they are shown. The zero Personal masks nothing.
type Personal struct {
	paths []event.Path
	spec  pipeline.Spec
}

// PersonalOf returns what is personal under a pipeline.
func PersonalOf(p *pipeline.Pipeline) Personal {
	m := Personal{spec: p.Describe().Spec}
	add := func(text string) {
		t, err := keys.ParseTemplate(text)
		if err != nil {
			return // the pipeline has compiled it, so it is empty: an envelope has the value
		}
		for _, part := range t.Parts() {
			if !part.Path.IsZero() && slices.ContainsFunc(part.Funcs, func(f keys.Func) bool { return f.Name == "hmac" }) && !slices.ContainsFunc(m.paths, part.Path.Equal) {
				m.paths = append(m.paths, part.Path)
			}
		}
	}
	for _, e := range m.spec.Events {
		for _, text := range []string{e.ID, e.At, e.Key.PK, e.Key.SK} {
			add(text)
		}
		for _, i := range e.Indexes {
			add(i.PK)
			add(i.SK)
		}
	}
	for _, a := range m.spec.Aggregates {
		for _, text := range a.By {
			add(text)
		}
	}
	return m
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

// quotes are the parts of a detail that may quote a payload, a key or a total. amounts are those of
// a total: its value, and what it would be.
var (
	quotes  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	amounts = regexp.MustCompile(`(is|would be) -?[0-9][^ ,]*,`)
)

// Detail masks what the detail of a refusal quotes, because it does not say from which field that
// comes. The name of a type is never personal.
func (m Personal) Detail(reason event.Reason, text string) string {
	switch {
	case m.None() || reason == event.UnknownType:
		return text
	case reason == event.BelowFloor:
		text = amounts.ReplaceAllString(text, "$1 "+Mask+",")
	}
	return quotes.ReplaceAllString(text, `"`+Mask+`"`)
}

// Text masks a text of which nobody knows from which field it comes, such as a message's group.
func (m Personal) Text(text string) string {
	if text == "" || m.None() {
		return text
	}
	return Mask
}

// reveals reports whether the template's text shows a personal value, because the template does not
// pass it through hmac.
func (m Personal) reveals(text string) bool {
	t, err := keys.ParseTemplate(text)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(t.Parts(), func(part keys.Part) bool {
		return !part.Path.IsZero() && m.Is(part.Path) && !slices.ContainsFunc(part.Funcs, func(f keys.Func) bool { return f.Name == "hmac" })
	})
}

// Key reports whether what an event type's template makes must not be shown: it has a personal
// value, or a hash of one. The template may show the id of the event.
func (m Personal) Key(eventType, text string) bool {
	t, err := keys.ParseTemplate(text)
	if err != nil || m.None() {
		return false
	}
	if id := m.spec.Events[eventType].ID; slices.Contains(t.Derived(), "@id") && id != text && m.Key(eventType, id) {
		return true
	}
	return t.UsesHMAC() || m.revealsOf(eventType, text)
}

// revealsOf reports whether the template of an event type shows a personal value, by itself or in
// the id.
func (m Personal) revealsOf(eventType, text string) bool {
	t, err := keys.ParseTemplate(text)
	return m.reveals(text) || err == nil && slices.Contains(t.Derived(), "@id") && m.reveals(m.spec.Events[eventType].ID)
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

// Data masks a payload or a whole message. The paths are looked for wherever an object is, so that
// an envelope does not hide them, also in JSON that is the text of a string. A text that is not
// strict JSON is masked as a whole, because nobody knows what it holds.
func (m Personal) Data(text string) string {
	if m.None() {
		return text
	}
	doc, err := event.ParseDocument(text)
	if err != nil {
		return fmt.Sprintf("%s (%d bytes that are not JSON)", Mask, len(text))
	}
	var b strings.Builder
	m.write(&b, doc.Root(), map[event.Node]bool{})
	return b.String()
}

// write writes a value without those that are masked.
func (m Personal) write(b *strings.Builder, n event.Node, masked map[event.Node]bool) {
	if masked[n] {
		b.WriteString(`"` + Mask + `"`)
		return
	}
	between := ""
	switch n.Kind() {
	case event.Object:
		for _, path := range m.paths {
			if at := n.At(path); at.Exists() {
				masked[at] = true
			}
		}
		b.WriteByte('{')
		for name, value := range n.Members() {
			b.WriteString(between + quoted(name) + ":")
			m.write(b, value, masked)
			between = ","
		}
		b.WriteByte('}')
	case event.Array:
		b.WriteByte('[')
		for value := range n.Elements() {
			b.WriteString(between)
			m.write(b, value, masked)
			between = ","
		}
		b.WriteByte(']')
	case event.String:
		inner := strings.TrimSpace(n.Text())
		if doc, err := event.ParseDocument(inner); err == nil && (doc.Root().Kind() == event.Object || doc.Root().Kind() == event.Array) {
			b.WriteString(quoted(m.Data(inner)))
			return
		}
		b.WriteString(n.Raw())
	default:
		b.WriteString(n.Raw())
	}
}

// quoted writes a text as JSON, without the escapes that HTML would need.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// Item returns a copy of an item without what is personal in it.
func (m Personal) Item(item event.Item) event.Item {
	if m.None() {
		return item
	}
	item.Data = m.Data(item.Data)
	spec := m.spec.Events[item.Type]
	mask := func(value, template string) string {
		if m.revealsOf(item.Type, template) {
			return Mask
		}
		return value
	}
	item.ID = mask(item.ID, spec.ID)
	item.Key = event.Key{PK: mask(item.Key.PK, spec.Key.PK), SK: mask(item.Key.SK, spec.Key.SK)}
	item.Indexes = slices.Clone(item.Indexes)
	for i, index := range item.Indexes {
		templates := spec.Indexes[index.Name]
		item.Indexes[i].Key = event.Key{PK: mask(index.Key.PK, templates.PK), SK: mask(index.Key.SK, templates.SK)}
	}
	item.Attributes = slices.Clone(item.Attributes)
	for i, a := range item.Attributes {
		if path, err := event.ParsePath(spec.Attributes[a.Name]); err == nil && m.Is(path) {
			item.Attributes[i].Text = Mask
		}
	}
	return item
}

// By returns a copy of the values of an aggregate's by without what is personal in them.
func (m Personal) By(aggregate string, by map[string]string) map[string]string {
	by = maps.Clone(by)
	for name, template := range m.spec.Aggregates[aggregate].By {
		if _, there := by[name]; !there {
			continue
		}
		for eventType := range m.spec.Aggregates[aggregate].From {
			if m.revealsOf(eventType, template) {
				by[name] = Mask
			}
		}
	}
	return by
}

// Value reports whether a value of an aggregate shows something personal: one that it takes from a
// single event. Counts, sums and estimates of many events are not personal.
func (m Personal) Value(aggregate, name string) bool {
	for _, from := range m.spec.Aggregates[aggregate].From {
		op, operand, _ := strings.Cut(strings.TrimSpace(from.Values[name]), " ")
		if !slices.Contains([]string{"newest", "oldest", "min", "max"}, op) {
			continue
		}
		operand, _, _ = strings.Cut(operand, " where ")
		path, err := event.ParsePath(strings.TrimSuffix(strings.TrimSpace(operand), "?"))
		if !m.None() && (err != nil || m.Is(path)) {
			return true
		}
	}
	return false
}
