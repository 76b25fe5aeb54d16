package pipeline

import (
	"encoding/json"
	"errors"

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

// Retain is how long an event type keeps its items, as the file writes it; empty: for ever.
func (p *Pipeline) Retain(typ string) string {
	t, ok := p.types[typ]
	if !ok || t.retain == 0 {
		return ""
	}
	return formatDuration(t.retain)
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
