package pipeline

import (
	"crypto/sha256"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
)

// offload compiles which payloads of a type go to the payload bucket.
func (c *compiler) offload(p place, t *eventType, s OffloadSpec) {
	t.over = s.Over
	switch least, most := int64(minOver), int64(maxOver); {
	case t.over == 0 && len(s.Keep) == 0:
		return
	case c.IsBroken(p) || c.IsBroken(p.In("over")):
		return
	case t.over < least || t.over > most:
		c.Mistake(p.In("over"), "over is "+declare.SizeText(t.over), "a size from "+declare.SizeText(least)+" to "+declare.SizeText(most))
	case t.latest:
		c.Mistake(p, "offload does not go with mode latest: a newer revision replaces a payload that it has not read",
			"the type without offload")
	case !namesAFolder(t.name):
		c.Mistake(p, "the name "+t.name+" cannot be a folder of the payload bucket, and offload needs one",
			"a name of letters, digits, ., _ and -")
	}
	for i, text := range s.Keep {
		if path, ok := c.path(p.In("keep").In(strconv.Itoa(i)), text); ok {
			t.keep = append(t.keep, path)
		}
	}
}

const (
	// minOver and maxOver are the bounds of over, in bytes. A payload that stays in the item leaves
	// room there for keys and attributes.
	minOver, maxOver = 1 << 10, 256 << 10
)

// namesAFolder reports whether the name of a type can be the first part of the names of objects,
// and the prefix of a lifecycle rule.
func namesAFolder(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// offload takes the payload out of a planned item if the payload belongs in the payload bucket. The
// item keeps what the pipeline uses of it. offload is called after everything else of the item is
// planned.
func (t *eventType) offload(item *event.Item, root event.Node) {
	if t.over == 0 || int64(len(item.Data)) <= t.over {
		return
	}
	item.Payload = &event.Payload{Sum: sumOf(item.Data), Text: item.Data}
	item.Data = t.kept().of(root)
}

// sumOf returns the SHA-256 of a text without copying it: the text may have many megabytes.
func sumOf(text string) (sum [sha256.Size]byte) {
	h := sha256.New()
	_, _ = io.Copy(h, struct{ io.Reader }{strings.NewReader(text)}) // neither fails
	h.Sum(sum[:0])
	return sum
}

// Kept returns what the item of an event keeps of a payload that is in the payload bucket, under
// this pipeline: a JSON object for its data. Keys, attributes, parts and contributions are the same
// whether they are computed from it or from the payload. The error is an [*event.Refusal].
func (p *Pipeline) Kept(eventType, payload string) (string, error) {
	t, doc, err := p.payload(eventType, payload)
	if err != nil {
		return "", err
	}
	return t.kept().of(doc.Root()), nil
}

// OffloadsOver returns how many bytes a payload of the type may have before it goes to the payload
// bucket. It returns 0 if no payload of the type ever goes there.
func (p *Pipeline) OffloadsOver(eventType string) int64 {
	t, ok := p.types[eventType]
	if !ok {
		return 0
	}
	return t.over
}

// UsesOffload reports whether payloads of any event type go to the payload bucket.
func (p *Pipeline) UsesOffload() bool { return len(p.OffloadTypes()) > 0 }

// OffloadTypes returns the names of the event types whose large payloads go to the payload bucket,
// in order.
func (p *Pipeline) OffloadTypes() (names []string) {
	for name, t := range p.types {
		if t.over > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// keptOf collects what the pipeline uses of a type's payload: every field that it reads, and
// everything that parts are made of. The digest covers the whole payload, so it cannot be computed
// from what is kept.
func (p *Pipeline) keptOf(t *eventType) *keptMembers {
	k := &keptMembers{}
	for _, read := range p.reads(t) {
		k.add(read.Path)
	}
	for _, part := range t.parts {
		k.add(part.part.each)
		for _, path := range part.part.with {
			k.add(path)
		}
	}
	for _, path := range t.keep {
		k.add(path)
	}
	return k
}

// keptMembers says which members of an object are kept.
type keptMembers struct {
	all     bool                    // the value is kept as it is
	members map[string]*keptMembers // by name
}

// add keeps what path leads to. A path into an array keeps the whole array, because elements are
// found by their numbers.
func (k *keptMembers) add(path event.Path) {
	name, rest, ok := path.First()
	if !ok { // the payload is an object, so it has no elements
		return
	}
	for ; ok; name, rest, ok = rest.First() {
		if k.all {
			return
		}
		next := k.members[name]
		if next == nil {
			if k.members == nil {
				k.members = map[string]*keptMembers{}
			}
			next = &keptMembers{}
			k.members[name] = next
		}
		k = next
	}
	k.all, k.members = true, nil
}

// of returns the text of an object with only the members that are kept, spelled as they are, and in
// their order. If only a part of a member is kept, and the member is not an object, it has no such
// part and is left out.
func (k *keptMembers) of(object event.Node) string {
	var b strings.Builder
	b.WriteByte('{')
	for name, value := range object.Members() {
		of, ok := k.members[name]
		if !ok || !of.all && value.Kind() != event.Object {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		spelled := object.Spelled(name)
		if of.all {
			b.WriteString(spelled)
			continue
		}
		b.WriteString(strings.TrimSuffix(spelled, value.Raw()))
		b.WriteString(of.of(value))
	}
	b.WriteByte('}')
	return b.String()
}
