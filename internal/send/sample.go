package send

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Sample makes an event of a type: every field that the pipeline needs of it, with a made-up value,
// or the one in set. The names in set are paths with points. now is the time of the event, and n
// makes its id different from that of other samples.
func Sample(p *pipeline.Pipeline, eventType string, set map[string]any, now time.Time, n int64) (string, error) {
	d := p.Describe()
	spec, ok := d.Spec.Events[eventType]
	if !ok {
		var names []string
		for name := range d.Spec.Events {
			names = append(names, name)
		}
		slices.Sort(names)
		return "", fmt.Errorf("there is no event type %q; there are %s", eventType, strings.Join(names, ", "))
	}
	if spec.Part.Of != "" {
		return "", fmt.Errorf("%s is a part of %s and comes only with it; send a sample of %s", eventType, spec.Part.Of, spec.Part.Of)
	}
	payload := map[string]any{}
	typed, err := keys.ParseTemplate(d.Spec.Type)
	if err == nil && len(typed.Parts()) == 1 && !typed.Parts()[0].Path.IsZero() {
		put(payload, names(typed.Parts()[0].Path), eventType)
	}
	times := map[string]bool{}
	if at, err := keys.ParseTemplate(spec.At); err == nil {
		for _, path := range at.Paths() {
			times[path.String()] = true
		}
	}
	for _, read := range d.Reads[eventType] {
		if !read.Needed {
			continue
		}
		value := made(read, n)
		if times[read.Path.String()] || read.Use == "revision" && slices.Contains(read.Kinds, event.String) {
			value = now.UTC().Format(time.RFC3339Nano)
		}
		put(payload, names(read.Path), value)
	}
	elements(d, eventType, payload, n)
	merge(payload, set)
	text, err := json.Marshal(payload)
	return string(text), err
}

// made makes up the value of a field.
func made(read pipeline.Read, n int64) any {
	switch text := slices.Contains(read.Kinds, event.String); {
	case !text && slices.Contains(read.Kinds, event.Number):
		return n%100 + 1
	case !text && slices.Contains(read.Kinds, event.Array):
		return []any{}
	}
	return fmt.Sprintf("%s-%d", last(read.Path), n)
}

// sampleParts is how many parts of each type a sample yields, if the type has each.
const sampleParts = 2

// elements fills the arrays that parts are made of. Types with the same array share its elements.
func elements(d *pipeline.Description, eventType string, payload map[string]any, n int64) {
	arrays := map[string][]any{}
	for _, name := range slices.Sorted(maps.Keys(d.Spec.Events)) {
		part := d.Spec.Events[name].Part
		if part.Of != eventType || part.Each == "" {
			continue
		}
		if arrays[part.Each] == nil {
			for range sampleParts {
				arrays[part.Each] = append(arrays[part.Each], map[string]any{})
			}
			path := strings.Split(part.Each, ".")
			innermost(payload, path)[path[len(path)-1]] = arrays[part.Each]
		}
		for _, read := range d.Reads[name] {
			if !read.Needed || slices.Contains(part.With, names(read.Path)[0]) {
				continue
			}
			for i, element := range arrays[part.Each] {
				put(element.(map[string]any), names(read.Path), made(read, n+int64(i)))
			}
		}
	}
}

// innermost returns the object that holds the last of names, and makes those on the way that are
// missing.
func innermost(into map[string]any, names []string) map[string]any {
	for _, name := range names[:len(names)-1] {
		inner, ok := into[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[name] = inner
		}
		into = inner
	}
	return into
}

func names(path event.Path) []string { return strings.Split(path.String(), ".") }

func last(path event.Path) string {
	all := names(path)
	return all[len(all)-1]
}

// put adds a value if there is none yet, or replaces a text by a number if another use needs a
// number.
func put(into map[string]any, names []string, value any) {
	into = innermost(into, names)
	name := names[len(names)-1]
	_, number := value.(int64)
	if _, there := into[name]; !there || number {
		into[name] = value
	}
}

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
