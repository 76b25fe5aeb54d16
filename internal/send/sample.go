package send

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Sample makes an event of a type: every field that the pipeline needs of it, with a made-up value,
// or the one in set. The names in set are paths with points. now is the time of the event, and n
// makes its id another than that of other samples.
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
		var value any = fmt.Sprintf("%s-%d", last(read.Path), n)
		switch {
		case times[read.Path.String()], read.Use == "revision" && slices.Contains(read.Kinds, event.String):
			value = now.UTC().Format(time.RFC3339Nano)
		case !slices.Contains(read.Kinds, event.String) && slices.Contains(read.Kinds, event.Number):
			value = n%100 + 1
		case !slices.Contains(read.Kinds, event.String) && slices.Contains(read.Kinds, event.Array):
			value = []any{}
		}
		put(payload, names(read.Path), value)
	}
	merge(payload, set)
	text, err := json.Marshal(payload)
	return string(text), err
}

func names(path event.Path) []string { return strings.Split(path.String(), ".") }

func last(path event.Path) string {
	all := names(path)
	return all[len(all)-1]
}

// put puts a value where nothing stands, or replaces a text by a number that another use needs.
func put(into map[string]any, names []string, value any) {
	if len(names) > 1 {
		inner, ok := into[names[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[names[0]] = inner
		}
		put(inner, names[1:], value)
		return
	}
	_, number := value.(int64)
	if _, there := into[names[0]]; !there || number {
		into[names[0]] = value
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
