package send

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

// conform changes a payload so that it matches the schema of its type, and those of its parts, as
// far as this can be done without a search: it knows the commonest keywords.
func (s *sampler) conform(payload map[string]any, eventType string) {
	s.schemaOf(eventType).fit(payload, "")
	for _, name := range s.partsOf(eventType) {
		part, schema := s.d.Spec.Events[name].Part, s.schemaOf(name)
		elements := []any{map[string]any{}}
		if each, err := event.ParsePath(part.Each); err == nil {
			elements, _ = at(payload, each).([]any)
		}
		for _, element := range elements {
			own := element.(map[string]any)
			whole := map[string]any{}
			taken := map[string]event.Path{}
			for _, with := range part.Takes() {
				taken[with.Name] = with.Path
				if value := at(payload, with.Path); value != nil {
					whole[with.Name] = value
				}
			}
			merge(whole, own)
			schema.fit(whole, "")
			for name, value := range whole {
				if path, of := taken[name]; of {
					within(payload, path, func(any) any { return value })
				} else if part.Each != "" {
					own[name] = value
				}
			}
		}
	}
}

// at returns what is at a path of names.
func at(value any, path event.Path) any {
	for name, rest, ok := path.First(); ok; name, rest, ok = rest.First() {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// fitter changes values so that they match a schema.
type fitter struct {
	sampler *sampler
	root    map[string]any // the whole schema; nil: everything matches
	schema  map[string]any // the one for the value
	depth   int
}

func (s *sampler) schemaOf(eventType string) fitter {
	var root map[string]any
	if text := s.d.Spec.Events[eventType].Schema; text != "" {
		_ = json.Unmarshal([]byte(text), &root) // it was compiled before; if it is not an object, all or nothing matches
	}
	return fitter{s, root, root, 0}
}

// maxNested is how deep a schema is followed, because it may refer to itself.
const maxNested = 20

// below returns the fitter for a part of the schema.
func (f fitter) below(schema any) fitter {
	f.schema, _ = schema.(map[string]any)
	if f.depth++; f.depth > maxNested {
		f.schema = nil
	}
	return f
}

// fit returns value, or one like it that matches the schema. name is that of the member.
func (f fitter) fit(value any, name string) any {
	if ref, ok := f.schema["$ref"].(string); ok {
		value = f.below(f.named(ref)).fit(value, name)
	}
	if only, ok := f.schema["const"]; ok {
		return only
	}
	if list, ok := f.schema["enum"].([]any); ok && len(list) > 0 {
		if !slices.ContainsFunc(list, func(one any) bool { return one == value }) {
			value = list[0]
		}
		return value
	}
	if !f.allows(value) {
		value = f.fresh(name)
	}
	switch v := value.(type) {
	case string:
		value = f.text(v)
	case map[string]any:
		f.object(v)
	case []any:
		value = f.array(v, name)
	case int64:
		value = f.number(float64(v), v)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := f.schema[key].([]any)
		for i, one := range list {
			if key == "allOf" || i == 0 {
				value = f.below(one).fit(value, name)
			}
		}
	}
	return value
}

// named returns what a reference into the same schema names.
func (f fitter) named(ref string) any {
	var value any = f.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#"), "/") {
		if step != "" {
			object, _ := value.(map[string]any)
			value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
	}
	return value
}

// kind returns the type that the schema asks for, or the one that its keywords are about. It is
// empty if the schema says nothing.
func (f fitter) kind() string {
	kind, _ := f.schema["type"].(string)
	if list, ok := f.schema["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	return kind
}

// allows reports whether value has a type that the schema accepts.
func (f fitter) allows(value any) bool {
	kinds, _ := f.schema["type"].([]any)
	if kind := f.kind(); len(kinds) == 0 && kind != "" {
		kinds = []any{kind}
	}
	has := slices.Contains[[]any, any]
	switch value.(type) {
	case string:
		return len(kinds) == 0 || has(kinds, "string")
	case int64:
		return len(kinds) == 0 || has(kinds, "integer") || has(kinds, "number")
	case map[string]any:
		return len(kinds) == 0 || has(kinds, "object")
	case []any:
		return len(kinds) == 0 || has(kinds, "array")
	case nil:
		return has(kinds, "null")
	}
	return true
}

// fresh makes up a value of the schema's type.
func (f fitter) fresh(name string) any {
	about := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { _, there := f.schema[word]; return there })
	}
	switch kind := f.kind(); {
	case kind == "object" || kind == "" && about("properties", "required"):
		return map[string]any{}
	case kind == "array" || kind == "" && about("items", "prefixItems", "minItems"):
		return []any{}
	case kind == "integer" || kind == "number" || kind == "" && about("minimum", "maximum", "exclusiveMinimum", "multipleOf"):
		return f.sampler.n%100 + 1
	case kind == "boolean":
		return true
	case kind == "null":
		return nil
	}
	return fmt.Sprintf("%s-%d", cmp.Or(name, "value"), f.sampler.n)
}

// text returns a text of a length, or of a form, that the schema accepts.
func (f fitter) text(text string) string {
	now := f.sampler.now.UTC()
	switch f.schema["format"] {
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			text = now.Format(time.RFC3339Nano)
		}
	case "date":
		text = now.Format(time.DateOnly)
	case "email":
		text = fmt.Sprintf("sample-%d@example.com", f.sampler.n)
	}
	if least, ok := f.schema["minLength"].(float64); ok && len(text) < int(least) && least <= 1<<16 {
		text += strings.Repeat("x", int(least)-len(text))
	}
	if most, ok := f.schema["maxLength"].(float64); ok && len(text) > int(most) {
		text = text[len(text)-int(most):] // its end is what differs
	}
	return text
}

// number returns a number within the limits of the schema: the whole number itself, if it is.
func (f fitter) number(value float64, whole int64) any {
	fits := true
	limit := func(key string, beyond func(float64) bool, step float64) {
		if bound, ok := f.schema[key].(float64); ok && beyond(bound) {
			value, fits = bound+step, false
		}
	}
	limit("minimum", func(b float64) bool { return value < b }, 0)
	limit("exclusiveMinimum", func(b float64) bool { return value <= b }, 1)
	limit("maximum", func(b float64) bool { return value > b }, 0)
	limit("exclusiveMaximum", func(b float64) bool { return value >= b }, -1)
	if fits {
		return whole
	}
	return value
}

// object fits the members that are there, and those that the schema requires.
func (f fitter) object(object map[string]any) {
	properties, _ := f.schema["properties"].(map[string]any)
	required, _ := f.schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if value, there := object[name]; there {
			object[name] = f.below(properties[name]).fit(value, name)
		}
	}
	for _, one := range required {
		name, _ := one.(string)
		if _, there := object[name]; !there {
			object[name] = f.below(properties[name]).fit(f.below(properties[name]).fresh(name), name)
		}
	}
}

// array fits the elements that are there, and adds as many as the schema asks for.
func (f fitter) array(list []any, name string) []any {
	least, _ := f.schema["minItems"].(float64)
	items := f.below(f.schema["items"])
	for i := range list {
		list[i] = items.fit(list[i], name)
	}
	for len(list) < int(min(least, maxElement)) {
		list = append(list, items.fit(items.fresh(name), name))
	}
	return list
}
