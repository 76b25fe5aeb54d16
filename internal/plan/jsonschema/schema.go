package jsonschema

import (
	"regexp"

	"github.com/ingot-events/ingot/event"
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root *rule
	// tracks says that the schema has unevaluatedItems or unevaluatedProperties. Only then does a
	// check note which members or elements the rules have covered.
	tracks bool
}

// Mistake says what is wrong with a schema.
type Mistake struct {
	Where   string // a JSON pointer into the schema, such as "#/properties/sku/pattern"
	What    string
	Instead string // what to write; may be empty
}

// String returns the mistake in one line.
func (m *Mistake) String() string {
	text := m.Where + ": " + m.What
	if m.Instead != "" {
		text += "; write " + m.Instead
	}
	return text
}

// rule is one compiled subschema. A field whose keyword is missing has its zero value, unless the
// comment of the field says otherwise.
type rule struct {
	where string // its JSON pointer, for people
	never bool   // the schema false

	types        kinds           // the allowed types; 0: any
	enum         map[string]bool // canonical texts; nil: any value
	enumName     string          // enum or const
	least, above *limit          // minimum and exclusiveMinimum
	most, below  *limit          // maximum and exclusiveMaximum
	multipleOf   event.Decimal   // 0: no such rule

	length  sizes // of a string, in code points
	pattern *pattern

	prefix   []*rule
	items    *rule
	contains *rule
	count    sizes // of elements
	matching sizes // of elements that contains matches; its least is 1 by default
	unique   bool

	members      map[string]*rule
	patterns     []patternRule
	others       *rule // additionalProperties
	names        *rule
	required     []string
	requiredWith []dependency
	with         []dependency // dependentSchemas
	size         sizes        // of members

	here         []inPlace // rules for the same value, in the order of this package's list of keywords
	otherItems   *rule     // unevaluatedItems
	otherMembers *rule     // unevaluatedProperties
}

// inPlace is a keyword whose rules apply to the same value.
type inPlace struct {
	keyword string  // $ref, allOf, anyOf, oneOf, not, if
	rules   []*rule // for if: the rules of if, then and else, of which the last two may be nil
}

type dependency struct {
	member string
	names  []string
	rule   *rule
}

type patternRule struct {
	*pattern
	rule *rule
}

type pattern struct {
	*regexp.Regexp
	instructions int
}

// sizes bounds a number of things. most is -1 if it has no bound.
type sizes struct{ least, most int }

func (s sizes) allows(n int) bool { return n >= s.least && (s.most < 0 || n <= s.most) }

var unbounded = sizes{0, -1}

// limit bounds a number on one side.
type limit struct {
	keyword string
	value   event.Decimal
}

// kinds is a set of types.
type kinds uint8

const (
	aNull kinds = 1 << iota
	aBool
	aNumber
	aString
	anArray
	anObject
	anInteger
)

var kindOf = map[string]kinds{"null": aNull, "boolean": aBool, "number": aNumber, "string": aString, "array": anArray, "object": anObject,
	"integer": anInteger}

var kindOfNode = [...]kinds{event.Null: aNull, event.Bool: aBool, event.Number: aNumber, event.String: aString, event.Array: anArray,
	event.Object: anObject}

// has reports whether a value is of one of the types.
func (k kinds) has(n event.Node) bool {
	if k&kindOfNode[n.Kind()] != 0 {
		return true
	}
	if k&anInteger == 0 || n.Kind() != event.Number {
		return false
	}
	d, err := n.Decimal()
	return err == nil && d.IsInteger()
}
