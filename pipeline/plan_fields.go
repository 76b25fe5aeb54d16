package pipeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// attributes takes out the declared attributes. What is missing, null, an array or an object is left out.
func (w *work) attributes(t *eventType, item *event.Item) *event.Refusal {
	if len(t.attributes) == 0 {
		return nil
	}
	item.Attributes = make([]event.Attribute, 0, len(t.attributes))
	for i := range t.attributes {
		a := &t.attributes[i]
		n := w.source.Data.At(a.path)
		switch n.Kind() {
		case event.String:
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.name, Kind: event.StringAttribute, Text: n.Text()})
		case event.Bool:
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.name, Kind: event.BoolAttribute, Text: n.Text()})
		case event.Number:
			d, refusal := storable(n, a.path)
			if refusal != nil {
				refusal.Detail = "attribute " + a.name + ": " + refusal.Detail
				return refusal
			}
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.name, Kind: event.NumberAttribute, Text: d.String()})
		}
	}
	return nil
}

// revision reads what orders the versions of a key under mode latest.
func (w *work) revision(t *eventType, item *event.Item) *event.Refusal {
	if !t.latest {
		return nil
	}
	n := w.source.Data.At(t.revision.path)
	want := event.Number
	if t.revision.time {
		want = event.String
	}
	switch n.Kind() {
	case want:
	case event.Absent, event.Null:
		return event.Poisoned(event.MissingField, "revision: field "+t.revision.path.String()+" is missing")
	default:
		return event.Poisoned(event.WrongType, fmt.Sprintf("revision: field %s is %s, and the pipeline declares %s", t.revision.path, strings.ToLower(n.Kind().String()), t.revision))
	}
	if t.revision.time {
		at, err := keys.ParseTime(n.Text())
		if err != nil {
			return event.Poisoned(event.BadTime, "revision: "+err.Error())
		}
		d := nanoseconds(at)
		item.Revision = &d
		return nil
	}
	d, refusal := storable(n, t.revision.path)
	if refusal != nil {
		refusal.Detail = "revision: " + refusal.Detail
		return refusal
	}
	item.Revision = &d
	return nil
}

// storable is the number n of the field at path, if DynamoDB can store it.
func storable(n event.Node, path event.Path) (event.Decimal, *event.Refusal) {
	d, err := n.Decimal()
	if err != nil {
		return d, event.Poisoned(event.NumberOutOfRange, fmt.Sprintf("field %s: %v", path, err))
	}
	if bound := d.Unstorable(); bound != "" {
		return d, event.Poisoned(event.NumberOutOfRange, "field "+path.String()+" "+bound)
	}
	return d, nil
}

// nanoseconds is at as unix nanoseconds, exactly, for every year from 1970 to 9999.
func nanoseconds(at time.Time) event.Decimal {
	const perSecond = 1_000_000_000
	if s := at.Unix(); s < 9_000_000_000 {
		return event.DecimalOf(s*perSecond + int64(at.Nanosecond()))
	}
	d, err := event.ParseDecimal(fmt.Sprintf("%d%09d", at.Unix(), at.Nanosecond()))
	if err != nil {
		panic("pipeline: digits that are no number: " + err.Error()) // cannot be: at is after 1970
	}
	return d
}
