package planner

import (
	"errors"
	"iter"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// Absences yields the indexes that item's type declares and that item is not in, with what is
// missing for each.
func (p *Planner) Absences(item *event.Item) iter.Seq2[string, string] {
	return func(yield func(index, missing string) bool) {
		t, doc, err := p.payload(item.Type, item.Data)
		if err != nil {
			return
		}
		w := p.workOf(item, doc)
		for _, i := range t.Indexes {
			text, missing := "", &keys.Missing{}
			if !i.Where.Holds(doc.Root()) {
				text = "its where does not hold: " + i.Where.String()
			} else if err := w.pair(i.PK, i.SK); errors.As(err, &missing) {
				text = missing.Error()
			}
			if text != "" && !yield(i.Name, text) {
				return
			}
		}
	}
}

// ShownRevision returns the values that order the versions of item's key, for people. It is empty
// under insert.
func (p *Planner) ShownRevision(item *event.Item) string {
	t, doc, err := p.payload(item.Type, item.Data)
	if err != nil || item.Revision == nil {
		return ""
	}
	values := []string{item.Revision.String()}
	w := newWork(keys.Source{Data: doc.Root()})
	for _, r := range t.Revision[min(1, len(t.Revision)):] {
		value := "missing"
		if d, ok, _ := w.rank(r); ok {
			value = d.String()
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}
