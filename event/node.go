package event

import (
	"fmt"
	"iter"
)

// Kind is the type of a JSON value.
type Kind uint8

// These are the kinds. Absent is the kind of a missing value. A JSON null is not missing.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}

// String returns the kind's name, for people.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Node is one value of a [Document]. The zero Node is [Absent]. A Node is small, and keeps its
// document in memory.
type Node struct {
	doc *document
	at  uint32 // index on the tape
}

func (n Node) node() *node { return &n.doc.tape[n.at] }

// Kind returns the type of the value.
func (n Node) Kind() Kind {
	if n.doc == nil {
		return Absent
	}
	return n.node().kind()
}

// Exists reports whether there is a value. A null is a value.
func (n Node) Exists() bool { return n.doc != nil }

// Text returns a decoded string, a number as it was written, or true or false. For other values it
// returns the source text.
func (n Node) Text() string {
	if n.doc == nil {
		return ""
	}
	if n.Kind() == String {
		return decoded(n.doc.src, n.node())
	}
	return n.Raw()
}

// Raw returns the value's source text. It is empty if the value is [Absent].
func (n Node) Raw() string {
	if n.doc == nil {
		return ""
	}
	return n.doc.src[n.node().start:n.node().end]
}

// Len returns the number of members or elements. It is 0 for other values.
func (n Node) Len() int {
	if n.doc == nil {
		return 0
	}
	return n.node().count()
}

// Member returns the value of an object's member. It is [Absent] if the object has no member of
// that name, or if n is not an object.
func (n Node) Member(name string) Node {
	if n.Kind() != Object {
		return Node{}
	}
	for at, left := n.at+1, n.Len(); left > 0; left-- {
		key := &n.doc.tape[at]
		// The length rules out most names that have no escapes.
		if (key.escaped() || int(key.end-key.start)-len(`""`) == len(name)) && decoded(n.doc.src, key) == name {
			return Node{n.doc, at + 1}
		}
		at = n.doc.tape[at+1].next
	}
	return Node{}
}

// Spelled returns an object's member as it stands in the source text, from its name to the end of
// its value. It is empty if there is no such member.
func (n Node) Spelled(name string) string {
	value := n.Member(name)
	if !value.Exists() {
		return ""
	}
	return n.doc.src[n.doc.tape[value.at-1].start:value.node().end]
}

// Index returns element i of an array, counted from 0. It is [Absent] if there is no such element,
// or if n is not an array.
func (n Node) Index(i int) Node {
	if n.Kind() != Array || i < 0 || i >= n.Len() {
		return Node{}
	}
	at := n.at + 1
	for ; i > 0; i-- {
		at = n.doc.tape[at].next
	}
	return Node{n.doc, at}
}

// Members yields an object's members in source order, with decoded names. It yields nothing if n is
// not an object.
func (n Node) Members() iter.Seq2[string, Node] {
	return func(yield func(string, Node) bool) {
		if n.Kind() != Object {
			return
		}
		for at, left := n.at+1, n.Len(); left > 0; left-- {
			name := &n.doc.tape[at]
			if !yield(decoded(n.doc.src, name), Node{n.doc, at + 1}) {
				return
			}
			at = n.doc.tape[at+1].next
		}
	}
}

// Elements yields an array's elements. It yields nothing if n is not an array.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Array {
			return
		}
		for at, left := n.at+1, n.Len(); left > 0; left-- {
			if !yield(Node{n.doc, at}) {
				return
			}
			at = n.doc.tape[at].next
		}
	}
}

// At returns the value that p leads to from n. It is [Absent] if a step is missing, or if a step
// goes into a value that has no members or elements.
func (n Node) At(p Path) Node {
	for i := range p.steps {
		if step := &p.steps[i]; step.index == aName {
			n = n.Member(step.name)
		} else {
			n = n.Index(step.index) // Absent for []
		}
	}
	return n
}

// Decimal returns the number's exact value. It returns an error if the value is not a number.
func (n Node) Decimal() (Decimal, error) {
	if n.Kind() != Number {
		return Decimal{}, fmt.Errorf("%s is not a number", short(n.describe()))
	}
	return ParseDecimal(n.Raw())
}

func (n Node) describe() string {
	switch n.Kind() {
	case Absent, Array, Object:
		return n.Kind().String() + " value"
	}
	return n.Raw()
}

// decoded returns the decoded value of the string n of src.
func decoded(src string, n *node) string {
	inside := src[n.start+1 : n.end-1]
	if n.escaped() {
		return unescape(inside)
	}
	return inside
}
