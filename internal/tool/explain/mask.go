package explain

import (
	"maps"

	"github.com/ingot-events/ingot/event"
)

// mask takes what is personal out of an explanation, and out of those of its parts and events.
// What belongs to an item or a total is masked already.
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
		key := e.Personal.KeyOf(x.Type, event.Key{PK: n.PK, SK: n.SK})
		n.PK, n.SK, n.Group = key.PK, key.SK, e.Personal.Text(n.Group)
		n.Detail = e.Personal.Detail(event.Reason(n.Reason), n.Detail)
	}
	if x.Digest == "" { // nobody knows from which field the id would come
		x.ID, x.Key = e.Personal.Text(x.ID), nil
	}
}

// hides reports whether the key of a total shows something personal.
func (e *Explainer) hides(aggregate string) bool {
	by := e.described().Spec.Aggregates[aggregate].By
	return !maps.Equal(e.Personal.By(aggregate, by), by)
}
