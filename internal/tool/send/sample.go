package send

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// sampleParts is how many parts of each type a sample yields, if the type has each. There are fewer
// if so many cannot be told apart.
const sampleParts = 2

// Sample makes an event of a type: every field that the pipeline and its schemas need, with a
// made-up value, or the one in set. The names in set are paths with points. now is the time of the
// event, and n makes its id different from that of other samples. An event that would be Poison is
// an error. p needs a secret if it uses hmac, but any secret will do.
func Sample(p *pipeline.Pipeline, eventType string, set map[string]any, now time.Time, n int64) (string, error) {
	return NewMaker(p).sample(eventType, set, now, n, sampleParts, false)
}

// Maker makes up many events. It is not safe for concurrent use.
type Maker struct {
	p         *pipeline.Pipeline
	d         *pipeline.Description
	templates map[string][]*keys.Template // by event type
}

// NewMaker returns a Maker for the events of a pipeline.
func NewMaker(p *pipeline.Pipeline) *Maker {
	return &Maker{p, p.Describe(), map[string][]*keys.Template{}}
}

// Full is like [Sample], but the event has all fields that its type reads, unless it would be
// Poison with them. If types of its parts have each, it yields so many parts of them, or fewer if
// so many cannot be told apart.
func (m *Maker) Full(eventType string, set map[string]any, now time.Time, n int64, parts int) (string, error) {
	if text, err := m.sample(eventType, set, now, n, parts, true); err == nil {
		return text, nil
	}
	return m.sample(eventType, set, now, n, parts, false)
}

func (m *Maker) sample(eventType string, set map[string]any, now time.Time, n int64, parts int, all bool) (string, error) {
	spec, ok := m.d.Spec.Events[eventType]
	if !ok {
		return "", fmt.Errorf("there is no event type %q; there are %s", eventType,
			strings.Join(slices.Sorted(maps.Keys(m.d.Spec.Events)), ", "))
	}
	if spec.Part.Of != "" {
		return "", fmt.Errorf("%s is a part of %s and comes only with it; send a sample of %s", eventType, spec.Part.Of, spec.Part.Of)
	}
	var refusal *event.Refusal // of the first try
	for ; parts >= 0; parts-- {
		s := &sampler{m, now, n, parts, all}
		text, err := s.message(eventType, set)
		if err != nil {
			return "", err
		}
		_, err = m.p.Plan(envelope.Message{Body: text})
		if err == nil {
			return text, nil
		}
		if refusal == nil && !errors.As(err, &refusal) {
			return "", err
		}
	}
	return "",
		fmt.Errorf(
			"the sample of %s would be Poison: %s; give the right values with --set FIELD=VALUE, or send an event of your own from a file",
			eventType, refusal.Detail)
}

// sampler makes up one event.
type sampler struct {
	*Maker
	now   time.Time
	n     int64
	parts int  // of each type
	all   bool // also fields that an event does not need
}

// message makes the event as it is sent. It comes in an envelope if the pipeline takes the id, the
// time, the type or something else from there.
func (s *sampler) message(eventType string, set map[string]any) (string, error) {
	spec := s.d.Spec.Events[eventType]
	payload := map[string]any{}
	bare := s.fillType(payload, eventType) && spec.ID != "" && spec.At != ""
	s.fields(payload, eventType, 0, nil)
	s.elements(payload, eventType)
	s.conform(payload, eventType)
	merge(payload, set)
	sent := payload
	if !bare || slices.ContainsFunc(s.templatesOf(eventType), readsEnvelope) {
		sent = map[string]any{"specversion": "1.0", "id": fmt.Sprintf("sample-%d", s.n), "source": "ingot-send", "type": eventType,
			"time": s.now.UTC().Format(time.RFC3339Nano), "data": payload}
	}
	text, err := json.Marshal(sent)
	return string(text), err
}

func readsEnvelope(t *keys.Template) bool {
	return slices.ContainsFunc(t.Derived(), func(name string) bool { return name == "@source" || strings.HasPrefix(name, "@attribute.") })
}

// fillType puts the fields that say the type of a bare payload. It returns false if no fields can.
func (s *sampler) fillType(payload map[string]any, eventType string) bool {
	for text := range strings.SplitSeq(s.d.Spec.Type, "\n") {
		t, err := keys.ParseTemplate(text)
		if err != nil {
			continue
		}
		fields := map[string]any{}
		if rest, ok := fillName(fields, t.Parts(), eventType); ok && rest == "" {
			merge(payload, fields)
			return true
		}
	}
	return false
}

// fillName puts the fields of which a template makes name. It returns what is left of name.
func fillName(fields map[string]any, parts []keys.Part, name string) (rest string, ok bool) {
	for i, part := range parts {
		switch {
		case !part.IsVariable():
			if name, ok = strings.CutPrefix(name, part.Literal); !ok {
				return name, false
			}
		case part.Derived != "":
			return name, false
		default:
			end := len(name)
			if i+1 < len(parts) {
				end = strings.Index(name, parts[i+1].Literal)
			}
			if end <= 0 {
				return name, false
			}
			put(fields, part.Path, name[:end])
			name = name[end:]
		}
	}
	return name, true
}

// templatesOf returns the templates that make the item of a type, and the keys of its totals.
func (m *Maker) templatesOf(eventType string) []*keys.Template {
	if list, known := m.templates[eventType]; known {
		return list
	}
	spec := m.d.Spec.Events[eventType]
	texts := []string{spec.ID, spec.Key.PK, spec.Key.SK}
	for _, index := range spec.Indexes {
		texts = append(texts, index.PK, index.SK)
	}
	for _, a := range m.d.Spec.Aggregates {
		if _, feeds := a.From[eventType]; feeds {
			texts = slices.AppendSeq(texts, maps.Values(a.By))
		}
	}
	var list []*keys.Template
	for _, text := range texts {
		if t, err := keys.ParseTemplate(text); err == nil {
			list = append(list, t)
		}
	}
	m.templates[eventType] = list
	return list
}

// fields puts the fields that events of a type need, except the members in without. Later elements
// of an array have a higher i, and other values.
func (s *sampler) fields(payload map[string]any, eventType string, i int64, without []string) {
	for _, read := range s.d.Reads[eventType] {
		name, _, _ := read.Path.First()
		if (read.Needed || s.all) && !slices.Contains(without, name) {
			put(payload, read.Path, s.made(eventType, read, i))
		}
	}
}

// made makes up the value of a field.
func (s *sampler) made(eventType string, read event.Read, i int64) any {
	if at, err := keys.ParseTemplate(s.d.Spec.Events[eventType].At); err == nil {
		for _, part := range at.Parts() {
			if part.Path.Equal(read.Path) {
				return s.time(part.Funcs)
			}
		}
	}
	first := s.passedTo(eventType, read.Path)
	text := slices.Contains(read.Kinds, event.String) && (len(read.Kinds) != 2 || read.Kinds[0] != event.Number)
	switch {
	case read.Use == "revision" && text:
		return s.time(nil)
	case first.Function().Reads != "":
		return s.time([]keys.Func{first})
	case first.Function().IsTime():
		return s.time(nil)
	case !text && slices.Contains(read.Kinds, event.Array):
		return []any{}
	case !text && slices.Contains(read.Kinds, event.Number) || first.Function().TakesNumber():
		return s.n%100 + 1 + i
	}
	return fmt.Sprintf("%s-%d", read.Path.Last(), s.n+i)
}

// time returns the time of the event as `at` reads it through functions.
func (s *sampler) time(functions []keys.Func) any {
	for _, f := range functions {
		of := f.Function()
		if of.Number {
			return s.now.UnixNano() / int64(of.Period.Length)
		}
		if of.Reads != "" {
			return s.now.UTC().Format(of.Reads)
		}
	}
	return s.now.UTC().Format(time.RFC3339Nano)
}

// passedTo returns the function to which a template of a type, or of its parts, passes the field at
// path first, if it takes a time or a number alone.
func (s *sampler) passedTo(eventType string, path event.Path) (first keys.Func) {
	all := slices.Clone(s.templatesOf(eventType))
	for name, spec := range s.d.Spec.Events {
		if spec.Part.Of == eventType {
			all = append(all, s.templatesOf(name)...)
		}
	}
	for _, t := range all {
		for _, part := range t.Parts() {
			if !part.Path.Equal(path) || len(part.Funcs) == 0 {
				continue
			}
			if of := part.Funcs[0].Function(); of.IsTime() || of.TakesNumber() {
				first = part.Funcs[0]
			}
		}
	}
	return first
}

// elements fills the arrays that parts are made of. Types with the same array share its elements.
func (s *sampler) elements(payload map[string]any, eventType string) {
	arrays := map[string][]any{}
	for _, name := range s.partsOf(eventType) {
		part := s.d.Spec.Events[name].Part
		if part.Each == "" {
			continue
		}
		if arrays[part.Each] == nil {
			arrays[part.Each] = make([]any, 0, s.parts) // not nil: without parts there is an empty array
			for range s.parts {
				arrays[part.Each] = append(arrays[part.Each], map[string]any{})
			}
			if path, err := event.ParsePath(part.Each); err == nil {
				put(payload, path, arrays[part.Each])
			}
		}
		for i, element := range arrays[part.Each] {
			var taken []string
			for _, with := range part.Takes() {
				taken = append(taken, with.Name)
			}
			s.fields(element.(map[string]any), name, int64(i), taken)
		}
	}
}

// partsOf returns the types that are parts of a type.
func (s *sampler) partsOf(eventType string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.d.Spec.Events)), func(name string) bool {
		return s.d.Spec.Events[name].Part.Of != eventType
	})
}

// put adds a value if there is none yet. It replaces a text by a number if another use needs a
// number, and an empty array by a full one.
func put(into map[string]any, path event.Path, value any) {
	within(into, path, func(there any) any {
		_, text := there.(string)
		empty, array := there.([]any)
		_, fresh := value.(string)
		if there == nil || text && !fresh || array && len(empty) == 0 {
			return value
		}
		return there
	})
}

// within returns what is at the beginning of path, with what change makes of the value at its end.
func within(there any, path event.Path, change func(any) any) any {
	if path.IsZero() {
		return change(there)
	}
	if name, rest, ok := path.First(); ok {
		object, ok := there.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		object[name] = within(object[name], rest, change)
		return object
	}
	index, rest, _ := path.Number()
	list, _ := there.([]any)
	if index > maxElement {
		return there
	}
	for len(list) <= index {
		list = append(list, nil)
	}
	list[index] = within(list[index], rest, change)
	return list
}

// maxElement is the last element of an array that is made up.
const maxElement = 100

// merge puts values over those that are there.
func merge(into, over map[string]any) {
	for name, value := range over {
		inner, both := value.(map[string]any)
		if under, ok := into[name].(map[string]any); both && ok {
			merge(under, inner)
			continue
		}
		into[name] = value
	}
}
