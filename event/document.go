package event

import (
	"fmt"
	"strings"
)

// MaxDepth is how deep arrays and objects may be nested in a [Document].
const MaxDepth = 256

// MaxNodes is how many values and names of members a [Document] has at most, give or take one.
// Without this bound, parsing 16 MiB of text could take a hundred megabytes of memory. A message of
// 1 MiB never has that many.
const MaxNodes = 1 << 21

// maxText is the length in bytes of the longest text of a Document: positions on the tape have 28
// bits.
const maxText = 1<<28 - 1

// Document is a JSON text, parsed once and strictly. Beyond RFC 8259 it guarantees that
//
//   - no object has two members with the same decoded name;
//   - the text is valid UTF-8, and no \u escape is half of a surrogate pair;
//   - arrays and objects are nested at most [MaxDepth] deep, and there are at most [MaxNodes] values;
//   - every number has an exponent of at most 18 digits, not counting leading zeros, so it is a
//     [Decimal].
//
// Numbers stay text. A Document never changes. The zero Document is empty.
type Document struct{ *document }

// document is the text and its values in source order. After an object follow its members (name,
// value, name, value, …), and after an array its elements.
type document struct {
	src  string
	tape []node
}

// node is one value, or one member's name, on the tape.
type node struct {
	start, end uint32 // the source text, quotes and brackets included
	next       uint32 // the index on the tape after this value and all it holds
	bits       uint32 // count<<4 | escaped<<3 | kind
}

const (
	kindBits    = 1<<3 - 1
	escapedBit  = 1 << 3 // a string with at least one backslash
	countShift  = 4      // members or elements
	maxPrealloc = 1 << 16
)

func (n *node) kind() Kind    { return Kind(n.bits & kindBits) }
func (n *node) escaped() bool { return n.bits&escapedBit != 0 }
func (n *node) count() int    { return int(n.bits >> countShift) }

// SyntaxError says why a text is not a [Document].
type SyntaxError struct {
	Offset int    // bytes before the place, from 0
	What   string // what is wrong at that place
}

// Error returns text such as: not strict JSON at byte 12: member "id" appears twice.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not strict JSON at byte %d: %s", e.Offset, e.What)
}

// ParseDocument parses src, which must be one JSON value with only white space around it. Every
// error is a *[SyntaxError]. The Document keeps src.
func ParseDocument(src string) (Document, error) {
	p := parser{src: src}
	if err := p.document(); err != nil {
		return Document{}, err
	}
	return Document{&document{src, p.tape}}, nil
}

// IsZero reports whether d is the zero Document.
func (d Document) IsZero() bool { return d.document == nil }

// Text returns the JSON text as it was received. It is empty for the zero Document.
func (d Document) Text() string {
	if d.document == nil {
		return ""
	}
	return d.src
}

// Root returns the document's value. It is [Absent] for the zero Document.
func (d Document) Root() Node {
	return Node{doc: d.document}
}

// sizeTape estimates an upper bound for the number of nodes in src: each node but the first follows
// a comma, a colon or an opening bracket. The estimate is far too high for some texts, such as a
// string full of colons. So beyond maxPrealloc nodes, the tape gets at most twice as many bytes as
// the text has. An estimate that is too low costs memory too: each time the tape grows, the old one
// is garbage.
func sizeTape(src string) int {
	bound := 1 + strings.Count(src, ",") + strings.Count(src, ":") + strings.Count(src, "{") + strings.Count(src, "[")
	return min(bound, max(maxPrealloc, len(src)/8))
}
