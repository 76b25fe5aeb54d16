package planner

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/keys"
)

// attributes takes the declared attributes from the payload. It leaves out a field that is missing,
// null, an array or an object.
func (w *work) attributes(t *Type, item *event.Item) *event.Refusal {
	if len(t.Attributes) == 0 {
		return nil
	}
	item.Attributes = make([]event.Attribute, 0, len(t.Attributes))
	for i := range t.Attributes {
		a := &t.Attributes[i]
		n := w.source.Data.At(a.Path)
		switch n.Kind() {
		case event.String:
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.Name, Kind: event.StringAttribute, Text: n.Text()})
		case event.Bool:
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.Name, Kind: event.BoolAttribute, Text: n.Text()})
		case event.Number:
			d, refusal := storable(n, a.Path)
			if refusal != nil {
				refusal.Detail = "attribute " + a.Name + ": " + refusal.Detail
				return refusal
			}
			item.Attributes = append(item.Attributes, event.Attribute{Name: a.Name, Kind: event.NumberAttribute, Text: d.String()})
		}
	}
	return nil
}

// revision reads what orders the versions of a key under mode latest. The first value must exist.
// If one of the others is missing, it ranks below all existing values.
func (w *work) revision(t *Type, item *event.Item) *event.Refusal {
	if !t.Latest {
		return nil
	}
	d, ok, refusal := w.rank(t.Revision[0])
	switch {
	case refusal != nil:
		return refusal
	case !ok:
		return event.Poisoned(event.MissingField, "revision: "+t.Revision[0].name()+" is missing")
	}
	item.Revision = &d
	item.Ties, refusal = w.ties(t)
	return refusal
}

// belowOrdered sorts before every text of [event.Decimal.AppendOrdered].
const belowOrdered = "0"

// ties returns all but the first value of a revision, in the form of [event.Item].
func (w *work) ties(t *Type) (string, *event.Refusal) {
	if len(t.Revision) < 2 {
		return "", nil
	}
	var text []byte
	for i, r := range t.Revision[1:] {
		d, ok, refusal := w.rank(r)
		if refusal != nil {
			return "", refusal
		}
		if i > 0 {
			text = append(text, ',')
		}
		if ok {
			text = d.AppendOrdered(text)
		} else {
			text = append(text, belowOrdered...)
		}
	}
	return string(text), nil
}

// rank returns one value of a revision as a number. ok is false if it is missing or null.
func (w *work) rank(r Revision) (d event.Decimal, ok bool, refusal *event.Refusal) {
	if r.Template != nil {
		return w.made(r)
	}
	n := w.source.Data.At(r.Path)
	want := event.Number
	if r.Time {
		want = event.String
	}
	switch n.Kind() {
	case want:
	case event.Absent, event.Null:
		return d, false, nil
	default:
		return d, false,
			event.Poisoned(event.WrongType, fmt.Sprintf("revision: field %s is %s, and the pipeline declares %s", r.Path,
				jsonschema.KindText(n), r))
	}
	if r.Time {
		at, err := keys.ParseTime(n.Text())
		if err != nil {
			return d, false, event.Poisoned(event.BadTime, "revision: "+err.Error())
		}
		return nanoseconds(at), true, nil
	}
	if d, refusal = storable(n, r.Path); refusal != nil {
		refusal.Detail = "revision: " + refusal.Detail
	}
	return d, refusal == nil, refusal
}

// made returns the value of a revision that a template makes.
func (w *work) made(r Revision) (d event.Decimal, ok bool, refusal *event.Refusal) {
	var err error
	if r.Time {
		var at time.Time
		if at, err = r.Template.Time(&w.source); err == nil {
			return nanoseconds(at), true, nil
		}
	} else {
		var text string
		if text, err = r.Template.Plain(&w.source); err == nil {
			if text = strings.TrimLeft(text, "0"); text == "" || text[0] == '.' { // pad has put zeros before it
				text = "0" + text
			}
			d, err = event.ParseDecimal(text)
		}
		if err == nil && d.Unstorable() != "" {
			return d, false, event.Poisoned(event.NumberOutOfRange, "revision: "+r.name()+" "+d.Unstorable())
		}
	}
	switch {
	case isMissing(err):
		return d, false, nil
	case err != nil:
		return d, false, refuse("revision", err)
	}
	return d, true, nil
}

// name returns what the value is read from, for people.
func (r Revision) name() string {
	if r.Template != nil {
		return r.Template.Text()
	}
	return "field " + r.Path.String()
}

// Ties returns the values of a stored payload that decide between equal revisions, as this pipeline
// declares them.
func (p *Planner) Ties(typ, data string) (string, error) {
	t, doc, err := p.payload(typ, data)
	if err != nil {
		return "", err
	}
	ties, refusal := newWork(keys.Source{Data: doc.Root()}).ties(t)
	if refusal != nil {
		return "", refusal
	}
	return ties, nil
}

// storable returns the number n of the field at path, if DynamoDB can store it.
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

// nanoseconds returns at as unix nanoseconds, exactly, for every year from 1970 to 9999.
func nanoseconds(at time.Time) event.Decimal {
	const perSecond = 1_000_000_000
	if s := at.Unix(); s < 9_000_000_000 {
		return event.DecimalOf(s*perSecond + int64(at.Nanosecond()))
	}
	d, err := event.ParseDecimal(fmt.Sprintf("%d%09d", at.Unix(), at.Nanosecond()))
	if err != nil {
		panic("pipeline: digits that are not a number: " + err.Error()) // cannot happen: at is after 1970
	}
	return d
}
