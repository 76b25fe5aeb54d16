package event

import (
	"fmt"
	"strings"
)

// MaxDepth is how many arrays and objects may lie inside each other in a Document.
const MaxDepth = 256

// maxText is the longest text that a Document can be made of, in bytes: tape positions have 28 bits.
const maxText = 1<<28 - 1

// Document is a JSON text, parsed once and strictly. Beyond RFC 8259 it promises that
//
//   - no object has two members of one name, escapes decoded;
//   - the text is valid UTF-8, and no \u escape is half of a surrogate pair;
//   - arrays and objects nest at most MaxDepth deep;
//   - every number has an exponent of at most 18 digits, leading zeros aside, so it is a Decimal.
//
// Numbers stay text. A Document is immutable; the zero Document holds nothing.
type Document struct{ *document }

// document is the text and its values in source order: an object is followed by its members (name, value,
// name, value, …), an array by its elements.
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

// SyntaxError says why a text is not a Document.
type SyntaxError struct {
	Offset int    // bytes before the place, from 0
	What   string // what is wrong there
}

// Error reads "not strict JSON at byte 12: member "id" appears twice".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not strict JSON at byte %d: %s", e.Offset, e.What)
}

// ParseDocument parses src, one JSON value with nothing but white space around it. The error is always a
// *SyntaxError. The Document keeps src.
func ParseDocument(src string) (Document, error) {
	p := parser{src: src}
	if err := p.document(); err != nil {
		return Document{}, err
	}
	return Document{&document{src, p.tape}}, nil
}

// IsZero reports whether d is no document at all.
func (d Document) IsZero() bool { return d.document == nil }

// Text is the JSON text as received; empty for the zero Document.
func (d Document) Text() string {
	if d.document == nil {
		return ""
	}
	return d.src
}

// Root is the document's value; Absent for the zero Document.
func (d Document) Root() Node {
	return Node{doc: d.document}
}

// sizeTape guesses from above how many nodes src makes: each but the first follows a comma, a colon or an
// opening bracket. Text that only pretends to be so rich (":::" in a string) is not believed.
func sizeTape(src string) int {
	bound := 1 + strings.Count(src, ",") + strings.Count(src, ":") + strings.Count(src, "{") + strings.Count(src, "[")
	return min(bound, maxPrealloc)
}
