package console

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/fields"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// keyFields returns the fields of a payload that the key of a type is made of, in their order
// there.
func keyFields(spec pipeline.EventSpec) []string {
	list := []string{}
	var add func(template string)
	add = func(template string) {
		t, err := keys.ParseTemplate(template)
		if err != nil {
			return // the pipeline has compiled, so the template is empty and the envelope supplies the value
		}
		for _, part := range t.Parts() {
			name := part.Path.String()
			switch {
			case part.Derived == "@id" && template != spec.ID:
				add(spec.ID)
			case part.Derived == "@at" && template != spec.At:
				add(spec.At)
			case !part.Path.IsZero() && !slices.Contains(list, name):
				list = append(list, name)
			}
		}
	}
	add(spec.Key.PK)
	add(spec.Key.SK)
	return list
}

// keyOf returns the key for a question that has a type and the fields of the key. It takes the
// fields as texts first. If no key can be made of texts, it takes fields that look like JSON
// numbers as numbers.
func keyOf(p *pipeline.Pipeline, q Question) (event.Key, error) {
	key, err := keyFrom(p, q, func(text string) any { return text })
	var refusal *event.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != event.WrongType {
		return key, err
	}
	if numbers, again := keyFrom(p, q, func(text string) any {
		if _, err := event.ParseDecimal(text); err == nil {
			return json.RawMessage(text)
		}
		return text
	}); again == nil {
		return numbers, nil
	}
	return key, err
}

func keyFrom(p *pipeline.Pipeline, q Question, value func(string) any) (event.Key, error) {
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
		if err := fields.Set(all, name, value(q.Fields[name])); err != nil {
			return event.Key{}, &mistake{err.Error()}
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return event.Key{}, err
	}
	return p.Key(q.Type, envelope.Message{Body: string(body)})
}
