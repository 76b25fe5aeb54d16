package planner

import (
	"crypto/sha256"
	"io"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// offload takes the payload out of a planned item if the payload belongs in the payload bucket. The
// item keeps what the pipeline uses of it. offload is called after everything else of the item is
// planned.
func (t *Type) offload(item *event.Item, root event.Node) {
	if t.Over == 0 || int64(len(item.Data)) <= t.Over {
		return
	}
	item.Payload = &event.Payload{Sum: sumOf(item.Data), Text: item.Data}
	item.Data = t.Kept().of(root)
}

// sumOf returns the SHA-256 of a text without copying it: the text may have many megabytes.
func sumOf(text string) (sum [sha256.Size]byte) {
	h := sha256.New()
	_, _ = io.Copy(h, struct{ io.Reader }{strings.NewReader(text)}) // neither fails
	h.Sum(sum[:0])
	return sum
}

// Kept returns what the item of an event keeps of a payload that is in the payload bucket, under
// this pipeline: a JSON object for its data.
func (p *Planner) Kept(eventType, payload string) (string, error) {
	t, doc, err := p.payload(eventType, payload)
	if err != nil {
		return "", err
	}
	return t.Kept().of(doc.Root()), nil
}

// Kept says which members of an object are kept.
type Kept struct {
	all     bool             // the value is kept as it is
	members map[string]*Kept // by name
}

// Add keeps what path leads to. A path into an array keeps the whole array, because elements are
// found by their numbers.
func (k *Kept) Add(path event.Path) {
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
				k.members = map[string]*Kept{}
			}
			next = &Kept{}
			k.members[name] = next
		}
		k = next
	}
	k.all, k.members = true, nil
}

// of returns the text of an object with only the members that are kept, spelled as they are, and in
// their order. If only a part of a member is kept, and the member is not an object, it has no such
// part and is left out.
func (k *Kept) of(object event.Node) string {
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
