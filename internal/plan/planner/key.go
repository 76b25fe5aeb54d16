package planner

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/keys"
)

// Key computes the key of an event's item.
func (p *Planner) Key(eventType string, m envelope.Message) (event.Key, error) {
	t, ok := p.Types[eventType]
	if !ok {
		return event.Key{}, p.unknownType(eventType)
	}
	opened, err := envelope.Open(m)
	if err != nil {
		return event.Key{}, err
	}
	key, refusal := p.keyOf(t, &opened.Event)
	if refusal != nil {
		return event.Key{}, refusal
	}
	return key, nil
}

// keyOf computes the key of an event of a type.
func (p *Planner) keyOf(t *Type, e *event.Event) (event.Key, *event.Refusal) {
	root := e.Data.Root()
	if root.Kind() != event.Object {
		return event.Key{}, event.Poisoned(event.NotAnObject, "the payload is "+jsonschema.KindText(root)+", not an object")
	}
	w := newWork(keys.Source{Data: root, Type: t.Name, Source: e.Source, Attributes: e.Attributes, Secret: p.Secret})
	item := &event.Item{}
	uses := func(name string) bool {
		return slices.Contains(t.PK.Derived(), name) || slices.Contains(t.SK.Derived(), name)
	}
	identity := uses("@id") || uses("@digest")
	if t.Part != nil {
		return w.partKey(t, item, identity)
	}
	if uses("@at") || identity && t.ID != nil && slices.Contains(t.ID.Derived(), "@at") {
		if refusal := w.time(t, e, item); refusal != nil {
			return event.Key{}, refusal
		}
	}
	if identity {
		if refusal := w.identity(t, e, item); refusal != nil {
			return event.Key{}, refusal
		}
	}
	if refusal := w.keys(t, item); refusal != nil {
		return event.Key{}, refusal
	}
	return item.Key, nil
}

// partKey computes the key of a part. The time and the id are not known, because only the whole has
// them.
func (w *work) partKey(t *Type, item *event.Item, identity bool) (event.Key, *event.Refusal) {
	used := slices.Concat(t.PK.Derived(), t.SK.Derived())
	if identity {
		used = append(used, t.ID.Derived()...)
	}
	if slices.ContainsFunc(used, func(name string) bool { return name == "@at" || name == "@digest" || name == "@index" }) {
		return event.Key{},
			event.Poisoned(event.MissingField,
				fmt.Sprintf("the key of %s uses its position, or the time or the digest of its whole, %s; look it up by the fields of that",
					t.Name, t.Part.Whole.Name))
	}
	if identity {
		id, err := t.ID.Append(w.text[:0], &w.source)
		if err != nil {
			return event.Key{}, refuse("id", err)
		}
		w.source.ID = string(id)
	}
	if refusal := w.keys(t, item); refusal != nil {
		return event.Key{}, refusal
	}
	return item.Key, nil
}
