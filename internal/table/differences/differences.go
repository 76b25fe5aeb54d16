// Package differences says in what two payloads of an event differ.
package differences

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

// These constants limit what a Conflict's detail shows of the members that differ. The producer
// chooses the names of the members, and they may have any length.
const (
	shownDifferences = 5
	maxShownName     = 40  // bytes of one name, before it is quoted
	maxShownPath     = 120 // bytes of a whole path
	tooLong          = ".…"
	// maxCompared is how many bytes two payloads may have together. To compare them takes up to
	// twenty times as much memory.
	maxCompared = 2 << 20
)

// Text says which members differ between a stored payload and that of an item: " (they differ in
// total_cents, customer.email)". No values are shown, because they may be personal. The text is
// empty if nothing can be said.
func Text(p *pipeline.Pipeline, known *rows.Stored, item *event.Item) string {
	if known.Typ != item.Type {
		return fmt.Sprintf(" (the stored one is of type %q, this one of type %q)", excerpt.Of(known.Typ, maxShownName),
			excerpt.Of(item.Type, maxShownName))
	}
	if known.Object != nil {
		return " (the payload bucket does not have the stored payload any more, so it is not known in what they differ)"
	}
	if len(known.Data)+len(item.Text()) > maxCompared {
		return " (together they have more than 2 MiB, so their members are not compared)"
	}
	var names []string
	count := 0
	for m := range Members(p, item.Type, known.Data, item.Text()) {
		if count++; count <= shownDifferences {
			path := ""
			for _, name := range m.Path {
				path = joined(path, name)
			}
			names = append(names, path)
		}
	}
	if count == 0 {
		return ""
	}
	text := " (they differ in " + strings.Join(names, ", ")
	if more := count - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

// Member is a member in which two payloads differ. Stored and Message are JSON. One of them is
// empty if the member is missing there.
type Member struct {
	Path            []string // of names, from the payload down
	Stored, Message string
}

// Members returns the members in which two payloads of a type differ, as their digests see them:
// those that are ignored today do not count. It goes into members that are objects on both sides,
// and compares every other member as a whole.
func Members(p *pipeline.Pipeline, typ, stored, message string) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		a, b := canonical(p, typ, stored), canonical(p, typ, message)
		if a.Kind() == event.Object && b.Kind() == event.Object {
			objects(nil, a, b, yield)
		}
	}
}

// canonical returns a payload as its digest sees it, so that equal values have equal text.
func canonical(p *pipeline.Pipeline, typ, data string) event.Node {
	text, err := p.DigestText(typ, data)
	if err != nil {
		return event.Node{}
	}
	d, err := event.ParseDocument(text)
	if err != nil {
		return event.Node{} // the digest's array is one level deeper than the payload, which may use all levels
	}
	return d.Root().Index(1)
}

func objects(at []string, a, b event.Node, yield func(Member) bool) bool {
	others := make(map[string]event.Node, b.Len())
	for name, inB := range b.Members() {
		others[name] = inB
	}
	for name, inA := range a.Members() {
		inB, path := others[name], append(slices.Clip(at), name)
		delete(others, name)
		switch {
		case inB.Exists() && inA.Raw() == inB.Raw():
		case inA.Kind() == event.Object && inB.Kind() == event.Object:
			if !objects(path, inA, inB, yield) {
				return false
			}
		case !inB.Exists():
			if !yield(Member{Path: path, Stored: inA.Raw()}) {
				return false
			}
		default:
			if !yield(Member{path, inA.Raw(), inB.Raw()}) {
				return false
			}
		}
	}
	for name, inB := range b.Members() { // in the order of b, because a map has no order
		if _, left := others[name]; left && !yield(Member{Path: append(slices.Clip(at), name), Message: inB.Raw()}) {
			return false
		}
	}
	return true
}

// joined returns the path with one more member, as pipeline.yaml writes it: a.b["odd name"]. A path
// that is too long ends with a point and an ellipsis.
func joined(at, name string) string {
	if strings.HasSuffix(at, tooLong) {
		return at
	}
	step := shownName(name)
	if step != name {
		step = "[" + step + "]"
	} else if at != "" {
		step = "." + step
	}
	if len(at)+len(step) > maxShownPath {
		return at + tooLong
	}
	return at + step
}

// shownName returns a name that is safe in a log. A short and plain name stays as it is. Any other
// name is cut and quoted.
func shownName(name string) string {
	plain := name != "" && len(name) <= maxShownName
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		plain = plain && (letter || i > 0 && (c == '-' || '0' <= c && c <= '9'))
	}
	if plain {
		return name
	}
	return strconv.Quote(excerpt.Of(name, maxShownName))
}
