package event

import (
	"fmt"
	"iter"
)

// Kind is what a value is.
type Kind uint8

// The kinds. Absent is the kind of what is not there; a JSON null is there.
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

// String is the kind's name, for people.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Node is one value of a Document. The zero Node is Absent. It is a small value that keeps its document.
type Node struct {
	doc *document
	at  uint32 // index on the tape
}

func (n Node) node() *node { return &n.doc.tape[n.at] }

// Kind is what the value is.
func (n Node) Kind() Kind {
	if n.doc == nil {
		return Absent
	}
	return n.node().kind()
}

// Exists reports whether there is a value; null is one.
func (n Node) Exists() bool { return n.doc != nil }

// Text is a string decoded, a number as it was written, true or false; of other values the source text.
func (n Node) Text() string {
	if n.doc == nil {
		return ""
	}
	if n.Kind() == String {
		return decoded(n.doc.src, n.node())
	}
	return n.Raw()
}

// Raw is the value's source text; empty if it is Absent.
func (n Node) Raw() string {
	if n.doc == nil {
		return ""
	}
	return n.doc.src[n.node().start:n.node().end]
}

// Len is the number of members or elements; 0 for what has none.
func (n Node) Len() int {
	if n.doc == nil {
		return 0
	}
	return n.node().count()
}

// Member is the value of an object's member. It is Absent if the object has no member of that name, and
// if n is not an object.
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

// Index is element i of an array, from 0; Absent if there is none or it is no array.
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

// Members yields an object's members in source order, names decoded; nothing if it is no object.
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

// Elements yields an array's elements; nothing if it is no array.
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

// At is the value that p leads to from n. It is Absent if any step is missing or steps into a value of
// another kind.
func (n Node) At(p Path) Node {
	for i := range p.steps {
		if step := &p.steps[i]; step.index >= 0 {
			n = n.Index(step.index)
		} else {
			n = n.Member(step.name)
		}
	}
	return n
}

// Decimal is the number's exact value; an error if the value is no number.
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

// decoded is what the string n of src means.
func decoded(src string, n *node) string {
	inside := src[n.start+1 : n.end-1]
	if n.escaped() {
		return unescape(inside)
	}
	return inside
}
