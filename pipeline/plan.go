package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// Plan turns a message into the item to store. It is a pure function of the message and the pipeline. The
// error is always an *event.Refusal with verdict Poison.
func (p *Pipeline) Plan(m envelope.Message) (*event.Item, error) {
	opened, err := envelope.Open(m)
	if err != nil {
		return nil, err
	}
	return p.PlanEvent(opened.Event)
}

// PlanEvent turns an event into the item to store: its type, time, digest, id, keys, expiry, and what it
// will contribute, which is computed now so that nothing is left that the stream could stumble over. The
// error is always an *event.Refusal with verdict Poison.
func (p *Pipeline) PlanEvent(e event.Event) (*event.Item, error) {
	item, refusal := p.plan(&e)
	if refusal != nil {
		return nil, refusal
	}
	return item, nil
}

func (p *Pipeline) plan(e *event.Event) (*event.Item, *event.Refusal) {
	root := e.Data.Root()
	if root.Kind() != event.Object {
		return nil, event.Poisoned(event.NotAnObject, "the payload is "+strings.ToLower(root.Kind().String())+", not an object")
	}
	w := newWork(keys.Source{Data: root, Type: e.Type, Source: e.Source, Attributes: e.Attributes, Secret: p.secret})
	t, refusal := p.typeOf(w)
	if refusal != nil {
		return nil, refusal
	}
	item := &event.Item{Type: t.name, Epoch: p.epoch, Data: e.Data.Text()}
	if refusal := w.fill(t, e, item); refusal != nil {
		refusal.Key = item.Key
		return nil, refusal
	}
	item.Meta = t.metaOf(e)
	if size := item.Size(); size > event.MaxItem {
		refusal := event.Poisoned(event.ItemTooLarge, fmt.Sprintf("the item takes %d bytes, and DynamoDB stores %d", size, event.MaxItem))
		refusal.Key = item.Key
		return nil, refusal
	}
	return item, nil
}

// fill works out the item's parts in the order in which templates need them: the time, the digest, the id,
// the keys.
func (w *work) fill(t *eventType, e *event.Event, item *event.Item) *event.Refusal {
	if refusal := w.time(t, e, item); refusal != nil {
		return refusal
	}
	if refusal := w.identity(t, e, item); refusal != nil {
		return refusal
	}
	if refusal := w.keys(t, item); refusal != nil {
		return refusal
	}
	if refusal := w.attributes(t, item); refusal != nil {
		return refusal
	}
	if refusal := w.revision(t, item); refusal != nil {
		return refusal
	}
	return w.contributions(t)
}

// typeOf finds the event's type: the envelope's own, else what the file's `type` makes of the payload.
func (p *Pipeline) typeOf(w *work) (*eventType, *event.Refusal) {
	t, ok := p.types[w.source.Type]
	if w.source.Type == "" {
		if p.typ == nil {
			return nil, event.Poisoned(event.MissingField, "type: the message has no envelope that says its type, and the pipeline declares no type:")
		}
		name, err := p.typ.Append(w.text[:0], &w.source)
		if err != nil {
			return nil, refuse("type", err)
		}
		if t, ok = p.types[string(name)]; !ok {
			return nil, p.unknownType(string(name))
		}
	}
	if !ok {
		return nil, p.unknownType(w.source.Type)
	}
	w.source.Type = t.name
	return t, nil
}

func (p *Pipeline) unknownType(name string) *event.Refusal {
	shown := name
	if len(shown) > 100 {
		shown = shown[:100] + "…"
	}
	detail := fmt.Sprintf("there is no event type %q in the pipeline; ", shown)
	if best := nearest(shown, p.names); best != "" {
		detail += "the nearest is " + best
	} else {
		detail += "it has " + suggest(shown, p.names)
	}
	return event.Poisoned(event.UnknownType, detail)
}

// work is the state of planning one event.
type work struct {
	source keys.Source
	text   []byte // what templates make; whatever is kept is copied out
	ends   []int  // where the texts in text end
	room   struct {
		text [768]byte
		ends [10]int
	}
}

func newWork(source keys.Source) *work {
	w := &work{source: source}
	w.text, w.ends = w.room.text[:0], w.room.ends[:0]
	return w
}

// refuse turns what a template reports into a refusal that says which member it was for.
func refuse(member string, err error) *event.Refusal {
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		return event.Poisoned(refusal.Reason, member+": "+refusal.Detail)
	}
	return event.Poisoned(event.MissingField, member+": "+err.Error())
}

// isMissing reports whether err says that something is missing, null or empty.
func isMissing(err error) bool {
	var missing *keys.Missing
	return errors.As(err, &missing)
}

// time finds the event time and the expiry.
func (w *work) time(t *eventType, e *event.Event, item *event.Item) *event.Refusal {
	switch {
	case t.at != nil:
		at, err := t.at.Time(&w.source)
		if err != nil {
			return refuse("at", err)
		}
		item.At = at.UTC()
	case e.At.IsZero():
		return event.Poisoned(event.MissingField, "at: the message has no envelope that says its time, and "+t.name+" declares no at:")
	default:
		item.At = e.At.UTC()
	}
	if y := item.At.Year(); y < 1970 || y > 9999 {
		return event.Poisoned(event.BadTime, fmt.Sprintf("at: the year %d is outside of 1970 to 9999", y))
	}
	if t.retain > 0 {
		item.ExpiresAt = roundUp(item.At.Add(t.retain))
	}
	w.source.At, w.source.HasAt = item.At, true
	return nil
}

// roundUp is the first whole second at or after at.
func roundUp(at time.Time) int64 {
	s := at.Unix()
	if at.Nanosecond() > 0 {
		s++
	}
	return s
}

// identity computes the digest and the id.
func (w *work) identity(t *eventType, e *event.Event, item *event.Item) *event.Refusal {
	item.Digest = keys.Digest(t.name, w.source.Data, t.ignore)
	w.source.Digest = item.Digest
	switch {
	case t.id != nil:
		id, err := t.id.Expand(&w.source)
		if err != nil {
			return refuse("id", err)
		}
		item.ID = id
	case e.ID == "":
		return event.Poisoned(event.MissingField, "id: the message has no envelope that says its id, and "+t.name+" declares no id:")
	default:
		item.ID = e.ID
	}
	w.source.ID = item.ID
	return nil
}

// keys computes where the item lives in the table and in its indexes. Where something is missing the item
// is simply not in that index. All of them are cut out of one string.
func (w *work) keys(t *eventType, item *event.Item) *event.Refusal {
	w.text, w.ends = w.text[:0], w.ends[:0]
	if err := w.pair(t.pk, t.sk); err != nil {
		return refuse("key", err)
	}
	if refusal := w.pairLength("key"); refusal != nil {
		return refusal
	}
	if len(t.indexes) > 0 {
		item.Indexes = make([]event.IndexKey, 0, len(t.indexes))
	}
	for i := range t.indexes {
		index := &t.indexes[i]
		if err := w.pair(index.pk, index.sk); isMissing(err) {
			continue
		} else if err != nil {
			return refuse(index.name, err)
		}
		if refusal := w.pairLength(index.name); refusal != nil {
			return refusal
		}
		item.Indexes = append(item.Indexes, event.IndexKey{Name: index.name})
	}
	all, from := string(w.text), 0
	next := func() string {
		piece := all[from:w.ends[0]]
		from, w.ends = w.ends[0], w.ends[1:]
		return piece
	}
	item.Key = event.Key{PK: next(), SK: next()}
	for i := range item.Indexes {
		item.Indexes[i].Key = event.Key{PK: next(), SK: next()}
	}
	return nil
}

// pair appends the texts of two templates to w.text and their ends to w.ends, or neither.
func (w *work) pair(pk, sk *keys.Template) error {
	text, ends := w.text, w.ends
	for _, t := range [...]*keys.Template{pk, sk} {
		var err error
		if text, err = t.Append(text, &w.source); err != nil {
			return err
		}
		ends = append(ends, len(text))
	}
	w.text, w.ends = text, ends
	return nil
}

// pairLength checks the pair that was appended last against the service's limits.
func (w *work) pairLength(member string) *event.Refusal {
	n := len(w.ends)
	start := 0
	if n > 2 {
		start = w.ends[n-3]
	}
	pk, sk := w.ends[n-2]-start, w.ends[n-1]-w.ends[n-2]
	switch {
	case pk > event.MaxPK:
		return event.Poisoned(event.KeyTooLong, fmt.Sprintf("%s pk takes %d bytes, and DynamoDB allows %d", member, pk, event.MaxPK))
	case sk > event.MaxSK:
		return event.Poisoned(event.KeyTooLong, fmt.Sprintf("%s sk takes %d bytes, and DynamoDB allows %d", member, sk, event.MaxSK))
	}
	return nil
}

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
			d, err := n.Decimal()
			if err != nil || !d.Storable() {
				return event.Poisoned(event.NumberOutOfRange, fmt.Sprintf("attribute %s: field %s has more than 38 digits or is out of range, and DynamoDB cannot store it", a.name, a.path))
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
	d, err := n.Decimal()
	if err != nil || !d.Storable() {
		return event.Poisoned(event.NumberOutOfRange, "revision: field "+t.revision.path.String()+" has more than 38 digits or is out of range, and DynamoDB cannot store it")
	}
	item.Revision = &d
	return nil
}

// contributions computes what the item will add to every aggregate, and keeps none of it: what cannot be
// computed is refused now.
func (w *work) contributions(t *eventType) *event.Refusal {
	for i := range t.feeds {
		f := &t.feeds[i]
		if !f.applies(w.source.Data) {
			continue
		}
		if refusal := w.grouping(f, nil); refusal != nil {
			return refusal
		}
		if refusal := w.amounts(f, nil); refusal != nil {
			return refusal
		}
	}
	return nil
}

// metaOf takes out of the event what templates use and the payload does not have.
func (t *eventType) metaOf(e *event.Event) map[string]string {
	var meta map[string]string
	for _, m := range t.meta {
		text := e.Source
		if m.attribute != "" {
			text = e.Attributes[m.attribute]
		}
		if text == "" {
			continue
		}
		if meta == nil {
			meta = make(map[string]string, len(t.meta))
		}
		meta[m.stored] = text
	}
	return meta
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
