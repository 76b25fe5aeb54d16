package pipeline

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/keys"
)

// Key computes the key of an event's item. A JSON object that holds only the fields of the key is
// enough, and those of the id or the time if the key uses them. If the message has an envelope, the
// envelope's id and time are used, as in [Pipeline.Plan]. The error is an [*event.Refusal] that
// names the missing or wrong field, or an unknown type.
func (p *Pipeline) Key(eventType string, m envelope.Message) (event.Key, error) {
	t, ok := p.types[eventType]
	if !ok {
		return event.Key{}, p.unknownType(eventType)
	}
	opened, err := envelope.Open(m)
	if err != nil {
		return event.Key{}, err
	}
	root := opened.Data.Root()
	if root.Kind() != event.Object {
		return event.Key{}, event.Poisoned(event.NotAnObject, "the payload is "+jsonschema.KindText(root)+", not an object")
	}
	e := &opened.Event
	w := newWork(keys.Source{Data: root, Type: t.name, Source: e.Source, Attributes: e.Attributes, Secret: p.secret})
	item := &event.Item{}
	uses := func(name string) bool {
		return slices.Contains(t.pk.Derived(), name) || slices.Contains(t.sk.Derived(), name)
	}
	identity := uses("@id") || uses("@digest")
	if t.part != nil {
		return w.partKey(t, item, identity)
	}
	if uses("@at") || identity && t.id != nil && slices.Contains(t.id.Derived(), "@at") {
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
func (w *work) partKey(t *eventType, item *event.Item, identity bool) (event.Key, error) {
	used := slices.Concat(t.pk.Derived(), t.sk.Derived())
	if identity {
		used = append(used, t.id.Derived()...)
	}
	if slices.Contains(used, "@at") || slices.Contains(used, "@digest") {
		return event.Key{},
			event.Poisoned(event.MissingField,
				fmt.Sprintf("the key of %s uses the time or the digest of its whole, %s; look it up by the fields of that", t.name,
					t.part.whole.name))
	}
	if identity {
		id, err := t.id.Append(w.text[:0], &w.source)
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
