package explain

import (
	"maps"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// mask takes what is personal out of an explanation, and out of those of its parts and events.
func (e *Explainer) mask(x *Explanation) {
	if e.Personal.None() {
		return
	}
	for i := range x.Parts {
		e.mask(&x.Parts[i])
	}
	for i := range x.Events {
		e.mask(&x.Events[i])
	}
	x.Detail = e.Personal.Detail(event.Reason(x.Reason), x.Detail)
	x.DigestText = e.Personal.Data(x.DigestText)
	if n := x.Quarantined; n != nil {
		key := e.Personal.Item(event.Item{Type: x.Type, Key: event.Key{PK: n.PK, SK: n.SK}}).Key
		n.PK, n.SK, n.Group = key.PK, key.SK, e.Personal.Text(n.Group)
		n.Detail = e.Personal.Detail(event.Reason(n.Reason), n.Detail)
	}
	if x.Digest == "" { // nobody knows from which field the id would come
		x.ID, x.Key = e.Personal.Text(x.ID), nil
		return
	}
	e.maskItem(x)
	for i := range x.Aggregates {
		e.maskTotal(&x.Aggregates[i])
	}
}

// maskItem masks what the item has beside its payload.
func (e *Explainer) maskItem(x *Explanation) {
	item := event.Item{Type: x.Type, ID: x.ID, Key: event.Key{PK: x.Key.PK, SK: x.Key.SK}}
	for _, i := range x.Indexes {
		item.Indexes = append(item.Indexes, event.IndexKey{Name: i.Name, Key: event.Key{PK: i.PK, SK: i.SK}})
	}
	for name, text := range x.Attributes {
		item.Attributes = append(item.Attributes, event.Attribute{Name: name, Text: text})
	}
	shown := e.Personal.Item(item)
	if shown.Key != item.Key && x.Archive != "" {
		x.Archive = archiveFind(shown.Key)
	}
	x.ID, x.Key = shown.ID, &Key{shown.Key.PK, shown.Key.SK}
	for i, index := range shown.Indexes {
		if x.Indexes[i].Missing == "" {
			x.Indexes[i].PK, x.Indexes[i].SK = index.Key.PK, index.Key.SK
		}
	}
	for _, a := range shown.Attributes {
		x.Attributes[a.Name] = a.Text
	}
	if x.Item != nil && x.Item.Kept != "" {
		x.Item.Kept = e.Personal.Data(x.Item.Kept)
	}
}

// maskTotal masks the key of a total that shows something personal, and values taken from one
// event.
func (e *Explainer) maskTotal(a *Aggregate) {
	by := e.described().Spec.Aggregates[a.Name].By
	if a.PK != "" && !maps.Equal(e.Personal.By(a.Name, by), by) {
		a.PK, a.SK = show.Mask, show.Mask
	}
	for i := range a.Adds {
		if e.Personal.Value(a.Name, a.Adds[i].Value) {
			a.Adds[i].Amount = show.Mask
		}
	}
}
