package plain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/table/rows"
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

// differences says which members differ between two payloads, as their digests see them: " (they
// differ in total_cents, customer.email)". Members that are ignored today do not count. No values
// are shown, because they may be personal. The text is empty if nothing can be said.
func (s *Writer) differences(known *rows.Stored, item *event.Item) string {
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
	a, b := s.canonical(known.Typ, known.Data), s.canonical(item.Type, item.Text())
	if a.Kind() != event.Object || b.Kind() != event.Object {
		return ""
	}
	var d differing
	d.objects("", a, b)
	if d.count == 0 {
		return ""
	}
	text := " (they differ in " + strings.Join(d.names, ", ")
	if more := d.count - len(d.names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

// canonical returns a payload as its digest sees it, so that equal values have equal text.
func (s *Writer) canonical(typ, data string) event.Node {
	text, err := s.Pipeline.DigestText(typ, data)
	if err != nil {
		return event.Node{}
	}
	d, err := event.ParseDocument(text)
	if err != nil {
		return event.Node{} // the digest's array is one level deeper than the payload, which may use all levels
	}
	return d.Root().Index(1)
}

// differing collects where two payloads differ.
type differing struct {
	names []string
	count int
}

// objects compares two objects. It goes into members that are objects on both sides. It compares
// every other member as a whole.
func (d *differing) objects(at string, a, b event.Node) {
	others := make(map[string]event.Node, b.Len())
	for name, inB := range b.Members() {
		others[name] = inB
	}
	for name, inA := range a.Members() {
		inB := others[name]
		delete(others, name)
		switch {
		case inB.Exists() && inA.Raw() == inB.Raw():
		case inA.Kind() == event.Object && inB.Kind() == event.Object:
			d.objects(joined(at, name), inA, inB)
		default:
			d.add(joined(at, name))
		}
	}
	for name := range b.Members() { // in the order of b, because a map has no order
		if _, left := others[name]; left {
			d.add(joined(at, name))
		}
	}
}

func (d *differing) add(path string) {
	if d.count++; len(d.names) < shownDifferences {
		d.names = append(d.names, path)
	}
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
