package pipeline

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/keys"
)

// MaxParts is how many parts one message may yield.
const MaxParts = 1000

const (
	// maxPartBytes is how many bytes the parts of one message may take together. A message of 1 MiB
	// could otherwise yield a thousand times its size, because every part repeats the members that
	// with names.
	maxPartBytes = 4 << 20
	// maxAtomic is how many items one transaction puts: a whole and its parts.
	maxAtomic = 100
)

// Parts makes the parts of a stored whole, as they were planned with it. They depend only on the
// whole's payload, id and time, except that their epoch is that of p. It returns nothing for a type
// without parts. The error is an [*event.Refusal]: the whole was stored before these parts were
// declared, and does not hold what they need.
func (p *Pipeline) Parts(whole *event.Item) ([]*event.Item, error) {
	t, ok := p.types[whole.Type]
	if !ok || len(t.parts) == 0 {
		return nil, nil
	}
	_, doc, err := p.payload(whole.Type, whole.Data)
	if err != nil {
		return nil, err
	}
	again := *whole
	if refusal := p.planParts(t, doc.Root(), &again, true); refusal != nil {
		refusal.Key, refusal.Type = whole.Key, t.name
		return nil, refusal
	}
	return again.Parts.Items, nil
}

// WholeOf returns the type, key and expiry of the event that a stored part belongs to. It returns
// nil if the part does not hold all fields of that event's key.
func (p *Pipeline) WholeOf(part *event.Item) *event.Item {
	t, ok := p.types[part.Type]
	if !ok || t.part == nil {
		return nil
	}
	whole := t.part.whole
	used := append(whole.pk.Paths(), whole.sk.Paths()...)
	for _, name := range append(whole.pk.Derived(), whole.sk.Derived()...) {
		switch {
		case name == "@id" && whole.id != nil && len(whole.id.Derived()) == 0:
			used = append(used, whole.id.Paths()...)
		case name != "@type":
			return nil // the envelope's, or made of the whole payload
		}
	}
	for _, path := range used { // an element may have a field of the same name as the whole
		name, _, _ := path.First()
		if !slices.ContainsFunc(t.part.with, func(with event.Path) bool { n, _ := with.Name(); return n == name }) {
			return nil
		}
	}
	key, err := p.Key(whole.name, envelope.Message{Body: part.Data})
	if err != nil {
		return nil
	}
	item := &event.Item{Type: whole.name, Key: key}
	if retain := retainAt(whole.retain, whole.was, part.At); retain > 0 {
		item.ExpiresAt = roundUp(part.At.Add(retain))
	}
	return item
}

// IsPart reports whether events of the type are parts of others. A message cannot be of such a
// type.
func (p *Pipeline) IsPart(eventType string) bool {
	t, ok := p.types[eventType]
	return ok && t.part != nil
}

// ClaimOf returns the type of the wholes that events of this type are claims of: parts that only
// one whole can have, because their key does not show the id of the whole. It returns false for
// every other type.
func (p *Pipeline) ClaimOf(eventType string) (whole string, is bool) {
	t, ok := p.types[eventType]
	if !ok || t.part == nil || !t.part.claim {
		return "", false
	}
	return t.part.whole.name, true
}

// Atomic reports whether events of the type are put together with their parts, in one transaction.
func (p *Pipeline) Atomic(eventType string) bool {
	t, ok := p.types[eventType]
	return ok && t.atomic
}

// UsesAtomic reports whether any event type is atomic.
func (p *Pipeline) UsesAtomic() bool {
	for _, t := range p.types {
		if t.atomic {
			return true
		}
	}
	return false
}

// HasParts reports whether events of the type yield parts.
func (p *Pipeline) HasParts(eventType string) bool {
	t, ok := p.types[eventType]
	return ok && len(t.parts) > 0
}

// planParts plans what the payload of a whole yields beside the whole's item. If one part is bad,
// nothing of the message is stored. stored says that the whole is stored already. Then its parts
// are not checked against schemas, which may have changed since. If as many parts were put with the
// whole, two of them may also have one id: they lie under their keys, whatever their ids are today.
func (p *Pipeline) planParts(t *eventType, root event.Node, whole *event.Item, stored bool) *event.Refusal {
	b := partsBuilder{pipeline: p, stored: stored, root: root, whole: whole, keys: map[event.Key]string{whole.Key: "the whole"}}
	for _, part := range t.parts {
		if refusal := b.ofType(part); refusal != nil {
			return refusal
		}
	}
	if put := whole.Parts; b.clash != nil && (put == nil || put.Count != len(b.items)) {
		return b.clash
	}
	whole.Parts = &event.Parts{Count: len(b.items), Items: b.items, Atomic: t.atomic && len(b.items) > 0}
	return nil
}

// tooMuchAtOnce refuses a message whose items do not fit into one transaction, together with the
// totals that their puts move.
func (p *Pipeline) tooMuchAtOnce(whole *event.Item) *event.Refusal {
	if !whole.Parts.Atomic {
		return nil
	}
	items, bytes := 1+len(whole.Parts.Items), whole.Size()
	moving := p.moving(whole, nil)
	for _, part := range whole.Parts.Items {
		bytes += part.Size()
		if items <= maxAtomic {
			moving = p.moving(part, moving)
		}
	}
	switch {
	case items <= maxAtomic && items+len(moving) > maxAtomic:
		return event.Poisoned(event.TooManyParts, fmt.Sprintf("the message yields %d items with its whole, which move %d totals, and %s "+
			"is atomic: a transaction has at most %d items and totals", items, len(moving), whole.Type, maxAtomic))
	case items > maxAtomic:
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("the message yields %d items with its whole, and %s is atomic: a transaction puts at most %d items", items,
				whole.Type, maxAtomic))
	case bytes > itemform.MaxTransaction:
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("the items of the message take %d bytes, and %s is atomic: those of a transaction take at most %d bytes", bytes,
				whole.Type, itemform.MaxTransaction))
	}
	return nil
}

// moving adds to a set of totals those that the put of an item moves.
func (p *Pipeline) moving(item *event.Item, totals map[event.Key]bool) map[event.Key]bool {
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
	pipeline *Pipeline
	stored   bool
	root     event.Node // the whole's payload
	whole    *event.Item
	items    []*event.Item
	bytes    int
	keys     map[event.Key]string // the name of the item that has the key, for people
	ids      map[string]string    // likewise for the ids of parts of one type
	clash    *event.Refusal       // two parts of a stored whole have one id
}

func (b *partsBuilder) ofType(t *eventType) *event.Refusal {
	with := b.with(t)
	b.ids = map[string]string{}
	if t.part.each.IsZero() {
		return b.add(t, t.name, with)
	}
	list := b.root.At(t.part.each)
	switch {
	case !list.Exists() || list.Kind() == event.Null:
		return event.Poisoned(event.MissingField, fmt.Sprintf("part %s: field %s is missing; if there are no parts, it is an empty array",
			t.name, t.part.each))
	case list.Kind() != event.Array:
		return event.Poisoned(event.WrongType, fmt.Sprintf("part %s: field %s is %s, not an array", t.name, t.part.each,
			jsonschema.KindText(list)))
	case len(b.items)+list.Len() > MaxParts:
		return event.Poisoned(event.TooManyParts, fmt.Sprintf("part %s: field %s has %d elements, and a message yields at most %d parts",
			t.name, t.part.each, list.Len(), MaxParts))
	}
	i := 0
	for element := range list.Elements() {
		name := t.part.each.Index(i).String()
		if element.Kind() != event.Object {
			return event.Poisoned(event.WrongType, fmt.Sprintf("part %s: %s is %s, not an object", t.name, name,
				jsonschema.KindText(element)))
		}
		for _, path := range t.part.with {
			if member, _ := path.Name(); element.Member(member).Exists() && b.root.Member(member).Exists() {
				return event.Poisoned(event.PartsClash,
					fmt.Sprintf("part %s: both the whole and %s have a member %s, and a part can have only one", t.name, name, path))
			}
		}
		if refusal := b.add(t, name, with, inside(element)); refusal != nil {
			return refusal
		}
		i++
	}
	return nil
}

// with returns the members that parts of the type take from their whole, as they are spelled there.
// A member that is missing is left out.
func (b *partsBuilder) with(t *eventType) string {
	var members []string
	for _, path := range t.part.with {
		name, _ := path.Name()
		if text := b.root.Spelled(name); text != "" {
			members = append(members, text)
		}
	}
	return strings.Join(members, ",")
}

// inside returns the text of an object without its braces and the blanks around its members.
func inside(object event.Node) string {
	text := object.Raw()
	return strings.TrimSpace(text[1 : len(text)-1])
}

// add plans the part with these members. Some of the texts may be empty. name says for people which
// part it is.
func (b *partsBuilder) add(t *eventType, name string, members ...string) *event.Refusal {
	members = slices.DeleteFunc(members, func(text string) bool { return text == "" })
	text := "{" + strings.Join(members, ",") + "}"
	if b.bytes += len(text); b.bytes > maxPartBytes {
		return event.Poisoned(event.TooManyParts,
			fmt.Sprintf("part %s: the parts of the message take over %d bytes, because each of them repeats what with names", t.name,
				maxPartBytes))
	}
	item, refusal := b.pipeline.planPart(t, b.whole, text, b.stored)
	if refusal != nil {
		refusal.Detail = "part " + t.name + ", " + name + ": " + refusal.Detail
		return refusal
	}
	if other, taken := b.keys[item.Key]; taken {
		return event.Poisoned(event.PartsClash, fmt.Sprintf("part %s: %s and %s have the same key", t.name, other, name))
	}
	if other, taken := b.ids[item.ID]; taken {
		b.clash = event.Poisoned(event.PartsClash, fmt.Sprintf("part %s: %s and %s have the same id, so they would be one event", t.name,
			other, name))
		if !b.stored {
			return b.clash
		}
	}
	b.keys[item.Key], b.ids[item.ID] = name, name
	b.items = append(b.items, item)
	return nil
}

// planPart plans one part from its payload.
func (p *Pipeline) planPart(t *eventType, whole *event.Item, text string, stored bool) (*event.Item, *event.Refusal) {
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
	w.source = keys.Source{Data: doc.Root(), Type: t.name, At: whole.At, HasAt: true, Secret: p.secret}
	w.text = keys.PartDigestText(w.text[:0], t.name, doc.Root(), whole.Type, whole.ID)
	item := &event.Item{Type: t.name, At: whole.At, Epoch: p.epoch, Data: text, Digest: sha256.Sum256(w.text)}
	if retain := retainAt(t.retain, t.was, item.At); retain > 0 {
		item.ExpiresAt = roundUp(item.At.Add(retain))
	}
	w.source.Digest = item.Digest
	id, err := t.id.Append(w.text[:0], &w.source)
	if err != nil {
		return nil, refuse("id", err)
	}
	item.ID = string(id)
	w.source.ID = item.ID
	if refusal := w.rest(t, item); refusal != nil {
		return nil, refusal
	}
	t.offload(item, doc.Root())
	if refusal := tooLarge(item); refusal != nil {
		return nil, refusal
	}
	t.shrink(item)
	return item, nil
}
