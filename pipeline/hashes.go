package pipeline

import (
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// TypeOf is the event type that PlanEvent finds for e; empty if it finds none.
func (p *Pipeline) TypeOf(e event.Event) string {
	_, t, refusal := p.begin(&e)
	if refusal != nil {
		return ""
	}
	return t.name
}

// Hashes reports whether hmac makes a part of what is stored of an event type: its "id", its "key", its key in an
// index by that name ("GSI1"), or the keys of the totals it moves in an aggregate ("aggregates.merchant_daily").
func (p *Pipeline) Hashes(eventType, part string) bool {
	t, ok := p.types[eventType]
	if !ok {
		return false
	}
	var templates []*keys.Template
	switch part {
	case "id":
		templates = []*keys.Template{t.id}
	case "key":
		templates = []*keys.Template{t.pk, t.sk}
	}
	for _, i := range t.indexes {
		if i.name == part {
			templates = []*keys.Template{i.pk, i.sk}
		}
	}
	for _, f := range t.feeds {
		if "aggregates."+f.def.Name == part {
			templates = f.by
		}
	}
	return slices.ContainsFunc(templates, t.hashes)
}

// hashes reports whether hmac makes a part of what the template gives for an event of this type: by itself, or by the
// id that it shows.
func (t *eventType) hashes(tpl *keys.Template) bool {
	return tpl != nil && (tpl.UsesHMAC() || t.id != nil && t.id.UsesHMAC() && slices.Contains(tpl.Derived(), "@id"))
}
