package planner

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/keys"
)

const (
	// MaxParts is how many parts one message may yield.
	MaxParts = 1000
	// maxPartBytes is how many bytes the parts of one message may take together. A message of 1 MiB
	// could otherwise yield a thousand times its size, because every part repeats the members that
	// with names.
	maxPartBytes = 4 << 20
	// MaxAtomic is how many items one transaction puts: a whole and its parts.
	MaxAtomic = 100
	// maxStates is how many states one event may have: the transaction that erases it removes them.
	maxStates = MaxAtomic - 1
)

// Parts makes the parts of a stored whole, as they were planned with it.
func (p *Planner) Parts(whole *event.Item) ([]*event.Item, error) {
	t, ok := p.Types[whole.Type]
	if !ok || len(t.Parts) == 0 {
		return nil, nil
	}
	_, doc, err := p.payload(whole.Type, whole.Data)
	if err != nil {
		return nil, err
	}
	again := *whole
	if refusal := p.planParts(t, doc.Root(), &again, true); refusal != nil {
		refusal.Key, refusal.Type = whole.Key, t.Name
		return nil, refusal
	}
	return again.Parts.Items, nil
}

// WholeOf returns the type, key and expiry of the event that a stored part belongs to.
func (p *Planner) WholeOf(part *event.Item) *event.Item {
	t, ok := p.Types[part.Type]
	if !ok || t.Part == nil {
		return nil
	}
	whole := t.Part.Whole
	used := append(whole.PK.Paths(), whole.SK.Paths()...)
	for _, name := range append(whole.PK.Derived(), whole.SK.Derived()...) {
		switch {
		case name == "@id" && whole.ID != nil && len(whole.ID.Derived()) == 0:
			used = append(used, whole.ID.Paths()...)
		case name != "@type":
			return nil // the envelope's, or made of the whole payload
		}
	}
	for _, path := range used { // an element may have a field of the same name as the whole
		if _, ok := t.Part.InPart(path); !ok {
			return nil
		}
	}
	doc, err := event.ParseDocument(part.Data)
	if err != nil {
		return nil
	}
	key, err := p.Key(whole.Name, envelope.Message{Body: t.Part.back(doc.Root())})
	if err != nil {
		return nil
	}
	item := &event.Item{Type: whole.Name, Key: key}
	switch retain := lifetime.At(whole.Retain, whole.Was, part.At); {
	case len(t.Expires) > 0:
		item.ExpiresAt = part.ExpiresAt
	case len(whole.Expires) > 0:
		item.ExpiresAt = roundUp(part.At) // at any time since
	case retain > 0:
		item.ExpiresAt = roundUp(part.At.Add(retain))
	}
	return item
}

// back returns what a part has of the payload of its whole, where it stands there.
func (p *Part) back(part event.Node) string {
	whole := map[string]any{}
	for _, with := range p.With {
		value := part.Member(with.Name)
		if value.Exists() {
			put(whole, with.Path, json.RawMessage(value.Raw()))
		}
	}
	text, _ := json.Marshal(whole) // its values come from a document
	return string(text)
}

// planParts plans what the payload of a whole yields beside the whole's item. If one part is bad,
// nothing of the message is stored. stored says that the whole is stored already. Then its parts
// are not checked against schemas, which may have changed since. If as many parts were put with the
// whole, two of them may also have one id: they lie under their keys, whatever their ids are today.
func (p *Planner) planParts(t *Type, root event.Node, whole *event.Item, stored bool) *event.Refusal {
	b := partsBuilder{planner: p, stored: stored, root: root, whole: whole, keys: map[event.Key]string{whole.Key: "the whole"}}
	for _, part := range t.Parts {
		if refusal := b.ofType(part); refusal != nil {
			return cmp.Or(b.bad, refusal)
		}
	}
	count := len(b.items) - b.states
	switch put := whole.Parts; {
	case b.bad != nil:
		return b.bad
	case b.clash != nil && (put == nil || put.Count != count):
		return b.clash
	case b.states > maxStates:
		return event.Poisoned(event.TooManyParts, fmt.Sprintf("the message yields %d states, parts with mode latest, and an event has at "+
			"most %d: one transaction removes them when it is erased", b.states, maxStates))
	}
	whole.Parts = &event.Parts{Count: count, Items: b.items, Atomic: t.Atomic && len(b.items) > 0}
	return nil
}

// tooMuchAtOnce refuses a message whose items do not fit into one transaction, together with the
// totals that their puts move.
func (p *Planner) tooMuchAtOnce(whole *event.Item) *event.Refusal {
	if !whole.Parts.Atomic {
		return nil
	}
	items, bytes := 1+len(whole.Parts.Items), whole.Size()
	moving := p.moving(whole, nil)
	for _, part := range whole.Parts.Items {
		bytes += part.Size()
		if items <= MaxAtomic {
			moving = p.moving(part, moving)
		}
	}
	switch {
	case items <= MaxAtomic && items+len(moving) > MaxAtomic:
		return event.Poisoned(event.TooManyParts, fmt.Sprintf("the message yields %d items with its whole, which move %d totals, and %s "+
			"is atomic: a transaction has at most %d items and totals", items, len(moving), whole.Type, MaxAtomic))
	case items > MaxAtomic:
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("the message yields %d items with its whole, and %s is atomic: a transaction puts at most %d items", items,
				whole.Type, MaxAtomic))
	case bytes > itemform.MaxTransaction:
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("the items of the message take %d bytes, and %s is atomic: those of a transaction take at most %d bytes", bytes,
				whole.Type, itemform.MaxTransaction))
	}
	return nil
}

// moving adds to a set of totals those that the put of an item moves.
func (p *Planner) moving(item *event.Item, totals map[event.Key]bool) map[event.Key]bool {
	if item.Put == 0 {
		return totals
	}
	for _, c := range p.Contributions(item).List {
		if c.Def.MovedBy != aggregate.Put {
			continue
		}
		if totals == nil {
			totals = map[event.Key]bool{}
		}
		totals[lanes.ItemKey(item.Key, &c)] = true
	}
	return totals
}

// partsBuilder plans the parts of one message.
type partsBuilder struct {
	planner *Planner
	stored  bool
	root    event.Node // the whole's payload
	whole   *event.Item
	items   []*event.Item
	states  int // among the items
	bytes   int
	keys    map[event.Key]string // the name of the item that has the key, for people
	ids     map[string]string    // likewise for the ids of parts of one type
	clash   *event.Refusal       // two parts of a stored whole have one id
	bad     *event.Refusal       // parts have bad times, and it names each of them
}

func (b *partsBuilder) ofType(t *Type) *event.Refusal {
	with := b.with(t)
	b.ids = map[string]string{}
	if t.Part.Each.IsZero() {
		return b.add(t, 0, t.Name, with)
	}
	list := b.root.At(t.Part.Each)
	switch {
	case !list.Exists() || list.Kind() == event.Null:
		return event.Poisoned(event.MissingField, fmt.Sprintf("part %s: field %s is missing; if there are no parts, it is an empty array",
			t.Name, t.Part.Each))
	case list.Kind() != event.Array:
		return event.Poisoned(event.WrongType, fmt.Sprintf("part %s: field %s is %s, not an array", t.Name, t.Part.Each,
			jsonschema.KindText(list)))
	case len(b.items)+list.Len() > MaxParts:
		return event.Poisoned(event.TooManyParts, fmt.Sprintf("part %s: field %s has %d elements, and a message yields at most %d parts",
			t.Name, t.Part.Each, list.Len(), MaxParts))
	}
	i := 0
	for element := range list.Elements() {
		name := t.Part.Each.Index(i).String()
		var own string
		var has func(name string) bool
		switch element.Kind() {
		case event.Object:
			own, has = inside(element), func(name string) bool { return element.Member(name).Exists() }
		case event.String, event.Number:
			own, has = `"`+ofElement+`":`+element.Raw(), func(name string) bool { return name == ofElement }
		default:
			return event.Poisoned(event.WrongType, fmt.Sprintf("part %s: %s is %s, not an object, a text or a number", t.Name, name,
				jsonschema.KindText(element)))
		}
		for _, w := range t.Part.With {
			if has(w.Name) && b.root.At(w.Path).Exists() {
				return event.Poisoned(event.PartsClash,
					fmt.Sprintf("part %s: both the whole and %s have a member %s, and a part can have only one", t.Name, name, w.Name))
			}
		}
		if refusal := b.add(t, i, name, with, own); refusal != nil {
			return refusal
		}
		i++
	}
	return nil
}

// ofElement is the member that a part has for an element that is a text or a number.
const ofElement = "value"

// with returns the members that parts of the type take from their whole, as they are spelled there.
// A value that is missing is left out.
func (b *partsBuilder) with(t *Type) string {
	var members []string
	for _, w := range t.Part.With {
		name, whole := w.Path.Name()
		value := b.root.At(w.Path)
		switch {
		case !value.Exists():
		case whole && name == w.Name:
			members = append(members, b.root.Spelled(name))
		default:
			members = append(members, event.Quote(w.Name)+":"+value.Raw())
		}
	}
	return strings.Join(members, ",")
}

// inside returns the text of an object without its braces and the blanks around its members.
func inside(object event.Node) string {
	text := object.Raw()
	return strings.TrimSpace(text[1 : len(text)-1])
}

// add plans the part with these members. Some of the texts may be empty. index is that of its
// element, and name says for people which part it is.
func (b *partsBuilder) add(t *Type, index int, name string, members ...string) *event.Refusal {
	members = slices.DeleteFunc(members, func(text string) bool { return text == "" })
	text := "{" + strings.Join(members, ",") + "}"
	if b.bytes += len(text); b.bytes > maxPartBytes {
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("part %s: the parts of the message take over %d bytes, because each of them repeats what with names", t.Name,
				maxPartBytes))
	}
	item, refusal := b.planner.planPart(t, b.whole, text, index, b.stored)
	if refusal != nil {
		refusal.Detail = "part " + t.Name + ", " + name + ": " + refusal.Detail
		if refusal.Reason != event.BadTime {
			return refusal
		}
		if b.bad == nil {
			b.bad = refusal
		} else if len(b.bad.Detail) < 1000 { // a note holds hardly more
			b.bad.Detail += "; " + refusal.Detail
		}
		return nil
	}
	if b.newest(item) {
		return nil
	}
	if other, taken := b.keys[item.Key]; taken {
		return event.Poisoned(event.PartsClash, fmt.Sprintf("part %s: %s and %s have the same key", t.Name, other, name))
	}
	if other, taken := b.ids[item.ID]; taken {
		b.clash = event.Poisoned(event.PartsClash, fmt.Sprintf("part %s: %s and %s have the same id, so they would be one event", t.Name,
			other, name))
		if !b.stored {
			return b.clash
		}
	}
	b.keys[item.Key], b.ids[item.ID] = name, name
	b.items = append(b.items, item)
	if item.Whole != nil {
		b.states++
	}
	return nil
}

// newest reports whether item is a state, and a state of its type with its key is planned already.
// The newer one of the two is kept.
func (b *partsBuilder) newest(item *event.Item) bool {
	if _, taken := b.keys[item.Key]; !taken || item.Whole == nil {
		return false
	}
	i := slices.IndexFunc(b.items, func(p *event.Item) bool { return p.Key == item.Key && p.Type == item.Type })
	if i >= 0 && item.NewerThan(b.items[i]) {
		b.items[i] = item
	}
	return i >= 0
}

// planPart plans one part from its payload.
func (p *Planner) planPart(t *Type, whole *event.Item, text string, index int, stored bool) (*event.Item, *event.Refusal) {
	doc, err := event.ParseDocument(text)
	if err != nil { // cannot happen: its members come from a document, and no name is there twice
		return nil, event.Poisoned(event.Undecodable, err.Error())
	}
	if !stored {
		if refusal := t.breaksSchema(doc.Root()); refusal != nil {
			return nil, refusal
		}
	}
	w := works.Get().(*work)
	defer w.release()
	w.source = keys.Source{Data: doc.Root(), Type: t.Name, At: whole.At, HasAt: true, Index: index, Secret: p.Secret}
	w.text = keys.PartDigestText(w.text[:0], t.Name, doc.Root(), whole.Type, whole.ID, t.Folds...)
	item := &event.Item{Type: t.Name, At: whole.At, Epoch: p.Epoch, Data: text, Digest: sha256.Sum256(w.text)}
	if retain := lifetime.At(t.Retain, t.Was, item.At); retain > 0 {
		item.ExpiresAt = roundUp(item.At.Add(retain))
	}
	if len(t.Expires) > 0 { // those of the whole
		item.ExpiresAt = whole.ExpiresAt
	}
	w.source.Digest = item.Digest
	id, err := t.ID.Append(w.text[:0], &w.source)
	if err != nil {
		return nil, refuse("id", err)
	}
	item.ID = string(id)
	w.source.ID = item.ID
	if refusal := w.rest(t, item); refusal != nil {
		return nil, refusal
	}
	if !stored {
		if refusal := p.requires(w, t, whole); refusal != nil {
			return nil, refusal
		}
	}
	if t.Latest {
		item.Whole = whole
		item.Ties = string(append(append(nanoseconds(whole.At).AppendOrdered(nil), ','), whole.ID...))
	}
	t.offload(item, doc.Root())
	if refusal := tooLarge(item); refusal != nil {
		return nil, refusal
	}
	t.shrink(item)
	return item, nil
}
