package planner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/keys"
)

// Plan turns a message into the item to store.
func (p *Planner) Plan(m envelope.Message) (*event.Item, error) {
	opened, err := envelope.Open(m)
	if err != nil {
		return nil, p.unwanted(err)
	}
	return p.PlanEvent(opened.Event)
}

// unwanted returns the refusal of an event whose data cannot be opened. Nobody wants that of a type
// that is dropped.
func (p *Planner) unwanted(err error) error {
	if kind := event.RefusalOf(err).Type; kind != "" {
		if _, dropped := p.typeOf(&work{source: keys.Source{Type: kind}}); dropped != nil && dropped.Verdict == event.Dropped {
			return dropped
		}
	}
	return err
}

// PlanMessage is [Planner.Plan] for a message that may hold several events, if the file says
// batches.
func (p *Planner) PlanMessage(m envelope.Message) (*event.Item, []event.Planned, error) {
	opened, elements, err := envelope.OpenAll(m, p.Batches)
	if err != nil {
		return nil, nil, p.unwanted(err)
	}
	if elements == nil {
		item, err := p.PlanEvent(opened.Event)
		return item, nil, err
	}
	list := make([]event.Planned, len(elements))
	parts, bytes := 0, 0
	for i, element := range elements {
		list[i].Place = element.Place()
		item, err := p.Plan(element)
		if err != nil {
			list[i].Refusal = event.RefusalOf(err)
			continue
		}
		list[i].Item = item
		if item.Parts == nil {
			continue
		}
		parts += len(item.Parts.Items)
		for _, part := range item.Parts.Items {
			bytes += len(part.Text())
		}
		if parts > MaxParts || bytes > maxPartBytes { // the bounds of one message
			return nil, nil,
				event.Poisoned(event.TooManyParts,
					fmt.Sprintf("together, the events of the message yield over %d parts or %d bytes of parts; send several messages",
						MaxParts, maxPartBytes))
		}
	}
	return nil, list, nil
}

// PlanEvent turns an event into the item to store: its type, time, digest, id, keys and expiry.
func (p *Planner) PlanEvent(e event.Event) (*event.Item, error) {
	item, refusal := p.plan(&e)
	if refusal != nil {
		return nil, refusal
	}
	return item, nil
}

func (p *Planner) plan(e *event.Event) (*event.Item, *event.Refusal) {
	w := works.Get().(*work)
	defer w.release()
	t, refusal := p.begin(w, e)
	if refusal != nil {
		return nil, refusal
	}
	if refusal := t.breaksSchema(e.Data.Root()); refusal != nil {
		refusal.Type = t.Name
		return nil, refusal
	}
	item := &event.Item{Type: t.Name, Epoch: p.Epoch, Data: e.Data.Text()}
	if refusal := w.fill(t, e, item); refusal != nil {
		refusal.Key, refusal.Type = item.Key, t.Name
		return nil, refusal
	}
	if refusal := p.requires(w, t, item); refusal != nil {
		refusal.Key, refusal.Type = item.Key, t.Name
		return nil, refusal
	}
	item.Meta = t.metaOf(e)
	t.offload(item, e.Data.Root())
	if len(t.Parts) > 0 {
		refusal := p.planParts(t, e.Data.Root(), item, false)
		if refusal == nil {
			refusal = p.tooMuchAtOnce(item)
		}
		if refusal != nil {
			refusal.Key, refusal.Type = item.Key, t.Name
			return nil, refusal
		}
	}
	if refusal := tooLarge(item); refusal != nil {
		refusal.Key, refusal.Type = item.Key, t.Name
		return nil, refusal
	}
	t.shrink(item)
	return item, nil
}

// shrink compresses the payload of an item if that saves a write unit. An item that is too large
// without compression was refused before. So no reader needs more room for an item than without
// compression.
func (t *Type) shrink(item *event.Item) {
	if t.Pack == nil || item.Payload != nil {
		return
	}
	units := itemform.WriteUnits(item.Size())
	if units == 1 {
		return
	}
	if item.Packed = t.Pack(item.Data); itemform.WriteUnits(item.Size()) >= units {
		item.Packed = nil
	}
}

// StampRoom is what an item leaves free of DynamoDB's 400 KB, in bytes. A touch pass raises the
// item's epoch, which can take 7 bytes more. Also, an update may have to be some 20 bytes
// smaller than a put.
const StampRoom = 32

// tooLarge refuses an item that is too large for DynamoDB.
func tooLarge(item *event.Item) *event.Refusal {
	if size := item.Size(); size > event.MaxItem-StampRoom {
		return event.Poisoned(event.ItemTooLarge,
			fmt.Sprintf("the item takes %d bytes, and DynamoDB stores %d, of which %d are left for its epoch to grow; offload in its type "+
				"puts payloads into a bucket", size, event.MaxItem, StampRoom))
	}
	return nil
}

// begin finds the type of e and begins the work on it.
func (p *Planner) begin(w *work, e *event.Event) (*Type, *event.Refusal) {
	root := e.Data.Root()
	if root.Kind() != event.Object {
		return nil, event.Poisoned(event.NotAnObject, "the payload is "+jsonschema.KindText(root)+", not an object")
	}
	w.source = keys.Source{Data: root, Type: e.Type, Source: e.Source, Attributes: e.Attributes, Secret: p.Secret}
	t, refusal := p.typeOf(w)
	if refusal != nil && refusal.Verdict == event.Poison {
		p.explain(refusal, e)
	}
	return t, refusal
}

// fill computes the item's parts in the order in which templates need them: the time, the digest,
// the id, the keys.
func (w *work) fill(t *Type, e *event.Event, item *event.Item) *event.Refusal {
	if refusal := w.time(t, e, item); refusal != nil {
		return refusal
	}
	if refusal := w.identity(t, e, item); refusal != nil {
		return refusal
	}
	return w.rest(t, item)
}

// rest computes what follows from the time, the digest and the id. It is the same for wholes and
// parts.
func (w *work) rest(t *Type, item *event.Item) *event.Refusal {
	if refusal := w.keys(t, item); refusal != nil {
		return refusal
	}
	if refusal := w.attributes(t, item); refusal != nil {
		return refusal
	}
	if refusal := w.revision(t, item); refusal != nil {
		return refusal
	}
	return w.contributions(t, item)
}

// typeOf finds the event's type. It is the envelope's own type, or else what the file's `type`
// makes of the payload.
func (p *Planner) typeOf(w *work) (*Type, *event.Refusal) {
	name := w.source.Type
	if name == "" || p.TypeFirst {
		if len(p.TypeFrom) == 0 {
			return nil,
				event.Poisoned(event.MissingField,
					"type: the message has no envelope that says its type, and the pipeline declares no type:")
		}
		text, refusal := p.typeText(w)
		if refusal != nil {
			return nil, refusal
		}
		if t, ok := p.Types[string(text)]; ok {
			name = t.Name // the text of a declared name is not copied
		} else {
			name = string(text)
		}
	}
	t, ok := p.Types[name]
	if !ok {
		return nil, p.unknownType(name)
	}
	if t.Part != nil {
		refusal := event.Poisoned(event.UnknownType, fmt.Sprintf("%s is a part of %s: it comes only in a message of that type", t.Name,
			t.Part.Whole.Name))
		refusal.Type = t.Name
		return nil, refusal
	}
	w.source.Type = t.Name
	return t, nil
}

// explain adds to the refusal of an event whose type is not known what else may be wrong.
func (p *Planner) explain(refusal *event.Refusal, e *event.Event) {
	near := envelope.Near(e.Data.Root())
	switch {
	case e.Type == "" && near != "":
		refusal.Detail += "; " + near
	case e.Type != "" && len(p.TypeFrom) > 0 && !p.TypeFirst:
		refusal.Detail += "; the type of the envelope (detail-type of EventBridge, type of a CloudEvent) goes first: if the payload says " +
			"it, name both in type, {@type} last"
	}
}

// typeText returns what `type` makes of the payload. Of its templates it uses the first whose
// fields are all there.
func (p *Planner) typeText(w *work) ([]byte, *event.Refusal) {
	var missing []string
	for _, t := range p.TypeFrom {
		name, err := t.Append(w.text[:0], &w.source)
		switch {
		case err == nil:
			return name, nil
		case !isMissing(err):
			return nil, refuse("type", err)
		case !slices.Contains(missing, err.Error()):
			missing = append(missing, err.Error())
		}
	}
	return nil, event.Poisoned(event.MissingField, "type: "+strings.Join(missing, ", and "))
}

func (p *Planner) unknownType(name string) *event.Refusal {
	shown := excerpt.Of(name, 100)
	if slices.ContainsFunc(p.Drop, func(d Drop) bool { return d.Names(name) }) {
		return &event.Refusal{Verdict: event.Dropped, Reason: event.UnwantedType, Detail: "drop names its type, " + shown, Type: shown}
	}
	detail := fmt.Sprintf("there is no event type %q in the pipeline; ", shown)
	if best := nearest.Name(shown, p.Names); best != "" {
		detail += "the nearest is " + best
	} else {
		detail += "it has " + declare.Suggest(shown, p.Names)
	}
	refusal := event.Poisoned(event.UnknownType, detail)
	refusal.Type = shown
	return refusal
}

// work is the state of planning one event.
type work struct {
	source keys.Source
	text   []byte // the texts that templates make; a text that is kept is copied
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

// works holds finished work for reuse, because every message needs one.
var works = sync.Pool{New: func() any { return newWork(keys.Source{}) }}

// maxKept is the largest text, in bytes, that is kept for the next event. A few large events must
// not hold memory that the next ones do not need.
const maxKept = 16 << 10

// release gives w back when its event is planned. Nothing of the event stays in w except the bytes
// of its text, which the next event overwrites.
func (w *work) release() {
	w.source, w.ends = keys.Source{}, w.room.ends[:0]
	if cap(w.text) > maxKept {
		w.text = w.room.text[:0]
	}
	works.Put(w)
}

// refuse turns what a template reports into a refusal that names the member it was for.
func refuse(member string, err error) *event.Refusal {
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		return &event.Refusal{Verdict: refusal.Verdict, Reason: refusal.Reason, Detail: member + ": " + refusal.Detail}
	}
	return event.Poisoned(event.MissingField, member+": "+err.Error())
}

// isMissing reports whether err says that something is missing, null or empty.
func isMissing(err error) bool {
	var missing *keys.Missing
	return errors.As(err, &missing)
}

// time finds the event time and the expiry.
func (w *work) time(t *Type, e *event.Event, item *event.Item) *event.Refusal {
	switch {
	case t.At != nil:
		at, err := t.At.Time(&w.source)
		if err != nil {
			return refuse("at", err)
		}
		item.At = at.UTC()
	case e.BadAt != nil:
		return e.BadAt
	case e.At.IsZero():
		return event.Poisoned(event.MissingField, "at: the message has no envelope that says its time, and "+t.Name+" declares no at:")
	default:
		item.At = e.At.UTC()
	}
	if y := item.At.Year(); y < 1970 || y > 9999 {
		return event.Poisoned(event.BadTime, fmt.Sprintf("at: the year %d is outside of 1970 to 9999", y))
	}
	if retain := lifetime.At(t.Retain, t.Was, item.At); retain > 0 {
		item.ExpiresAt = roundUp(item.At.Add(retain))
	}
	w.source.At, w.source.HasAt = item.At, true
	return w.expiry(t, item)
}

// expiry shortens the life of an event to what its payload says. Under mode latest, the item lives
// as long as retain says, because a newer revision may have a later end, and keeps the item:
// readers hide it from its end on. See [Planner.Ended].
func (w *work) expiry(t *Type, item *event.Item) *event.Refusal {
	for _, e := range t.Expires {
		if !e.Before.IsZero() && !item.At.Before(e.Before) {
			continue
		}
		at, err := e.At.Time(&w.source)
		switch today := e.Before.IsZero(); {
		case err != nil && !today: // then it was not stored under that declaration
		case err != nil:
			return refuse("expires", err)
		case today && at.After(item.At.Add(t.Retain)):
			return event.Poisoned(event.BadTime, fmt.Sprintf("expires: %s is more than %s after the event's own time, which "+
				"is its retain", at.UTC().Format(time.RFC3339Nano), lifetime.Format(t.Retain)))
		case t.Latest:
		case item.ExpiresAt == 0 || roundUp(at) < item.ExpiresAt:
			item.ExpiresAt = max(1, roundUp(at)) // 0 is never
		}
	}
	return nil
}

// Ended reports whether a stored item of mode latest has ended at a time in unix seconds, as its
// payload says. What does not say it, because it was stored before the type had expires, has not.
func (p *Planner) Ended(item *event.Item, now int64) bool {
	t, known := p.Types[item.Type]
	if !known || !t.Latest || len(t.Expires) == 0 {
		return false
	}
	doc, err := event.ParseDocument(item.Data)
	if err != nil {
		return false
	}
	at, err := t.Expires[0].At.Time(&keys.Source{Data: doc.Root()})
	return err == nil && roundUp(at) <= now
}

// roundUp returns the first whole second at or after at.
func roundUp(at time.Time) int64 {
	s := at.Unix()
	if at.Nanosecond() > 0 {
		s++
	}
	return s
}

// identity computes the digest and the id.
func (w *work) identity(t *Type, e *event.Event, item *event.Item) *event.Refusal {
	w.text = keys.DigestText(w.text[:0], t.Name, w.source.Data, t.Ignore, t.Folds...)
	item.Digest = sha256.Sum256(w.text)
	w.source.Digest = item.Digest
	switch {
	case t.ID != nil:
		id, err := t.ID.Append(w.text[:0], &w.source)
		if err != nil {
			return refuse("id", err)
		}
		item.ID = string(id)
	case e.ID == "":
		return event.Poisoned(event.MissingField, "id: the message has no envelope that says its id, and "+t.Name+" declares no id:")
	default:
		item.ID = e.ID
	}
	w.source.ID = item.ID
	return nil
}

// contributions computes what the item will add to every aggregate, and does not keep the result.
// It refuses the event if anything cannot be computed. It notes on the item whether its put will
// move totals.
func (w *work) contributions(t *Type, item *event.Item) *event.Refusal {
	for i := range t.Feeds {
		f := &t.Feeds[i]
		if !f.applies(w.source.Data) {
			continue
		}
		if refusal := w.grouping(f, nil); refusal != nil {
			return refusal
		}
		if refusal := w.amounts(f, nil, nil); refusal != nil {
			return refusal
		}
		if f.Def.MovedBy == aggregate.Put {
			item.Put = item.Epoch
		}
	}
	return nil
}

// metaOf takes from the event what templates use and the payload does not have.
func (t *Type) metaOf(e *event.Event) map[string]string {
	var meta map[string]string
	for _, m := range t.Meta {
		text := e.Source
		if m.Attribute != "" {
			text = e.Attributes[m.Attribute]
		}
		if text == "" {
			continue
		}
		if meta == nil {
			meta = make(map[string]string, len(t.Meta))
		}
		meta[m.Stored] = text
	}
	return meta
}
