package planner

import (
	"encoding/json"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// Require is an event that must be stored before an event of a type is put.
type Require struct {
	Type *Type
	From []From // the fields of its key
}

// From makes a field of another event.
type From struct {
	Path     event.Path // where it stands there
	Template *keys.Template
}

// requires adds what an event or part requires to the item of the whole.
func (p *Planner) requires(w *work, t *Type, whole *event.Item) *event.Refusal {
	for _, r := range t.Requires {
		fields := map[string]any{}
		for _, from := range r.From {
			text, err := from.Template.Plain(&w.source)
			if err != nil {
				return refuse("requires", err)
			}
			put(fields, from.Path, text)
		}
		text, _ := json.Marshal(fields) // a map of texts
		doc, err := event.ParseDocument(string(text))
		if err != nil {
			return refuse("requires", err)
		}
		key, refusal := p.keyOf(r.Type, &event.Event{Data: doc})
		if refusal != nil {
			refusal.Detail = "requires " + r.Type.Name + ": " + refusal.Detail
			return refusal
		}
		if needed := (event.Requirement{Type: r.Type.Name, Key: key}); !slices.Contains(whole.Requires, needed) {
			whole.Requires = append(whole.Requires, needed)
		}
	}
	return nil
}

// put puts a value into an object, and makes the objects around it.
func put(object map[string]any, at event.Path, value any) {
	for name, rest, _ := at.First(); ; name, rest, _ = rest.First() {
		if rest.IsZero() {
			object[name] = value
			return
		}
		inner, there := object[name].(map[string]any)
		if !there {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
}
