package pipeline

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// Absence is one index that an event type declares and an item is not in.
type Absence struct {
	Index   string
	Missing string // "field status is missing"
}

// Absences lists the indexes that item's type declares and item is not in, and for want of what.
func (p *Pipeline) Absences(item *event.Item) []Absence {
	t, ok := p.types[item.Type]
	if !ok {
		return nil
	}
	doc, err := event.ParseDocument(item.Data)
	if err != nil {
		return nil
	}
	w := p.workOf(item, doc)
	var list []Absence
	for _, i := range t.indexes {
		var missing *keys.Missing
		if err := w.pair(i.pk, i.sk); errors.As(err, &missing) {
			list = append(list, Absence{Index: i.name, Missing: missing.Error()})
		}
	}
	return list
}

// DigestText is the text that item's digest hashes, under today's ignore.
func (p *Pipeline) DigestText(item *event.Item) (string, error) {
	t, ok := p.types[item.Type]
	if !ok {
		return "", p.unknownType(item.Type)
	}
	doc, err := event.ParseDocument(item.Data)
	if err != nil {
		return "", event.Poisoned(event.Undecodable, "data: "+err.Error())
	}
	return string(keys.DigestText(nil, t.name, doc.Root(), t.ignore)), nil
}

// Revision is what orders the versions of item's key, for people: each value of the list, "missing" where it is; empty
// under insert. A time is in nanoseconds since 1970.
func (p *Pipeline) Revision(item *event.Item) string {
	t, doc, err := p.payload(item.Type, item.Data)
	if err != nil || item.Revision == nil {
		return ""
	}
	values := []string{item.Revision.String()}
	w := newWork(keys.Source{Data: doc.Root()})
	for _, r := range t.revision[min(1, len(t.revision)):] {
		value := "missing"
		if d, ok, _ := w.rank(r); ok {
			value = d.String()
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}

// Retain is how long an event type keeps the item of an event of time at, as the file writes it; empty: for ever.
func (p *Pipeline) Retain(typ string, at time.Time) string {
	t, ok := p.types[typ]
	if !ok || t.retainAt(at) == 0 {
		return ""
	}
	return formatDuration(t.retainAt(at))
}

// Condition is the `where` that events of a type must meet to count in an aggregate, in canonical spelling;
// empty: all of them count.
func (p *Pipeline) Condition(typ, aggregate string) string {
	def, ok := p.Definition(aggregate)
	if !ok {
		return ""
	}
	var form definitionForm
	if json.Unmarshal([]byte(def.Text), &form) != nil {
		return "" // cannot be: it is our own text
	}
	return form.From[typ].Where
}
