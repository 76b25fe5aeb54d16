package jsonschema

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// keyword compiles one keyword into r. n is the value of the keyword, and at is its JSON pointer.
// keyword reports whether JSON Schema 2020-12 has that keyword.
func (c *compiler) keyword(r *rule, name, at string, n event.Node) bool {
	switch name {
	case "$schema", "$comment", "$anchor", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"format", "contentEncoding", "contentMediaType", "contentSchema":
		// Notes check nothing.
	case "$id":
		id(r, at, n)
	case "$defs", "definitions":
		for name, value := range membersOf(at, n) {
			c.rule(at+"/"+escape(name), value)
		}
	case "$ref":
		r.here = append(r.here, inPlace{name, []*rule{c.ref(at, textOf(at, n))}})
	case "allOf", "anyOf", "oneOf":
		r.here = append(r.here, inPlace{name, c.list(at, n)})
	case "not":
		r.here = append(r.here, inPlace{name, []*rule{c.rule(at, n)}})
	case "if", "then", "else": // conditional combines them
		c.rule(at, n)
	case "type":
		types(r, at, n)
	case "enum":
		enum(r, at, n)
	case "const":
		r.oneOf("const", map[string]bool{canonical(n): true})
	default:
		return r.ofNumbers(name, at, n) || c.ofStrings(r, name, at, n) || c.ofArrays(r, name, at, n) || c.ofObjects(r, name, at, n)
	}
	return true
}

func (r *rule) ofNumbers(name, at string, n event.Node) bool {
	switch name {
	case "minimum":
		r.least = &limit{name, numberOf(at, n)}
	case "exclusiveMinimum":
		r.above = &limit{name, numberOf(at, n)}
	case "maximum":
		r.most = &limit{name, numberOf(at, n)}
	case "exclusiveMaximum":
		r.below = &limit{name, numberOf(at, n)}
	case "multipleOf":
		r.multipleOf = numberOf(at, n)
		if r.multipleOf.Sign() <= 0 || !r.multipleOf.Divides() {
			wrong(at, "multipleOf must be above 0 and have at most 18 digits", "such a number")
		}
	default:
		return false
	}
	return true
}

func (c *compiler) ofStrings(r *rule, name, at string, n event.Node) bool {
	switch name {
	case "minLength":
		r.length.least = sizeOf(at, n)
	case "maxLength":
		r.length.most = sizeOf(at, n)
	case "pattern":
		r.pattern = c.pattern(at, textOf(at, n))
	default:
		return false
	}
	return true
}

func (c *compiler) ofArrays(r *rule, name, at string, n event.Node) bool {
	switch name {
	case "prefixItems":
		r.prefix = c.list(at, n)
	case "items":
		if n.Kind() == event.Array {
			wrong(at, "items is one schema for all elements", "prefixItems for a schema for each of the first elements")
		}
		r.items = c.rule(at, n)
	case "contains":
		r.contains = c.rule(at, n)
	case "minContains":
		r.matching.least = sizeOf(at, n)
	case "maxContains":
		r.matching.most = sizeOf(at, n)
	case "minItems":
		r.count.least = sizeOf(at, n)
	case "maxItems":
		r.count.most = sizeOf(at, n)
	case "uniqueItems":
		if n.Kind() != event.Bool {
			wrong(at, "this is "+KindText(n)+", and it must be true or false", "true or false")
		}
		r.unique = n.Text() == "true"
	case "unevaluatedItems":
		r.otherItems, c.tracks = c.rule(at, n), true
	default:
		return false
	}
	return true
}

func (c *compiler) ofObjects(r *rule, name, at string, n event.Node) bool {
	switch name {
	case "properties":
		r.members = map[string]*rule{}
		for member, value := range membersOf(at, n) {
			r.members[member] = c.rule(at+"/"+escape(member), value)
		}
	case "patternProperties":
		for member, value := range membersOf(at, n) {
			in := at + "/" + escape(member)
			r.patterns = append(r.patterns, patternRule{c.pattern(in, member), c.rule(in, value)})
		}
	case "additionalProperties":
		r.others = c.rule(at, n)
	case "propertyNames":
		r.names = c.rule(at, n)
	case "required":
		r.required = namesOf(at, n)
	case "dependentRequired":
		for member, value := range membersOf(at, n) {
			r.requiredWith = append(r.requiredWith, dependency{member: member, names: namesOf(at+"/"+escape(member), value)})
		}
	case "dependentSchemas":
		for member, value := range membersOf(at, n) {
			r.with = append(r.with, dependency{member: member, rule: c.rule(at+"/"+escape(member), value)})
		}
	case "minProperties":
		r.size.least = sizeOf(at, n)
	case "maxProperties":
		r.size.most = sizeOf(at, n)
	case "unevaluatedProperties":
		r.otherMembers, c.tracks = c.rule(at, n), true
	default:
		return false
	}
	return true
}

// foreign says why a keyword of the schema at where is refused, and what to write.
func foreign(where, name string) (what, instead string) {
	switch name {
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor":
		return name + " is not read", `$ref with a place in this file, such as "#/$defs/address"`
	case "$vocabulary":
		return "$vocabulary is not read: the keywords are those of JSON Schema 2020-12", "the schema without it"
	case "dependencies":
		return "dependencies is not a keyword of JSON Schema 2020-12", "dependentRequired or dependentSchemas"
	case "additionalItems":
		return "additionalItems is not a keyword of JSON Schema 2020-12",
			"prefixItems for the first elements and items for those after them"
	case "id":
		if where != "#" {
			return "id is not a keyword of JSON Schema 2020-12", "the schema without it"
		}
		return "id is not a keyword of JSON Schema 2020-12", "$id"
	}
	return fmt.Sprintf("%q is not a keyword of JSON Schema 2020-12", name),
		"a keyword, or a name that begins with x- for a note of your own"
}

func id(r *rule, at string, n event.Node) {
	if textOf(at, n); r.where != "#" {
		wrong(at, "$id stands below the root of the schema, where it would change what references mean",
			"the schema without it, and references such as \"#/$defs/address\"")
	}
}

// list compiles an array of schemas.
func (c *compiler) list(at string, n event.Node) []*rule {
	if n.Kind() != event.Array || n.Len() == 0 {
		wrong(at, "this must be an array of schemas with at least one of them", "[{…}]")
	}
	var list []*rule
	for value := range n.Elements() {
		list = append(list, c.rule(fmt.Sprintf("%s/%d", at, len(list)), value))
	}
	return list
}

func types(r *rule, at string, n event.Node) {
	names := []string{n.Text()}
	if n.Kind() == event.Array {
		names = namesOf(at, n)
	}
	for _, name := range names {
		if kindOf[name] == 0 {
			wrong(at, fmt.Sprintf("%q is not a type", name), "null, boolean, object, array, number, string or integer")
		}
		r.types |= kindOf[name]
	}
	if r.types == 0 {
		wrong(at, "the list of types is empty", "a type")
	}
}

func enum(r *rule, at string, n event.Node) {
	if n.Kind() != event.Array || n.Len() == 0 {
		wrong(at, "enum must be an array with at least one value", "[…]")
	}
	values := map[string]bool{}
	for value := range n.Elements() {
		values[canonical(value)] = true
	}
	r.oneOf("enum", values)
}

// oneOf narrows r to some values. A schema may have both enum and const.
func (r *rule) oneOf(name string, values map[string]bool) {
	if r.enum != nil {
		for value := range r.enum {
			if !values[value] {
				delete(r.enum, value)
			}
		}
		return
	}
	r.enum, r.enumName = values, name
}

func textOf(at string, n event.Node) string {
	if n.Kind() != event.String {
		wrong(at, "this is "+KindText(n)+", and it must be a string", `"…"`)
	}
	return n.Text()
}

func numberOf(at string, n event.Node) event.Decimal {
	d, err := n.Decimal()
	if err != nil {
		wrong(at, "this is "+KindText(n)+", and it must be a number", "a number")
	}
	return d
}

// sizeOf reads the value of a keyword such as maxItems. It lowers larger values to the largest
// int32, because no payload has more of anything.
func sizeOf(at string, n event.Node) int {
	d := numberOf(at, n)
	if !d.IsInteger() || d.Sign() < 0 {
		wrong(at, "this must be a whole number from 0", "such a number")
	}
	v, ok := d.Int64()
	if !ok || v > 1<<31-1 {
		return 1<<31 - 1
	}
	return int(v)
}

func membersOf(at string, n event.Node) func(func(string, event.Node) bool) {
	if n.Kind() != event.Object {
		wrong(at, "this is "+KindText(n)+", and it must be an object", "{…}")
	}
	return n.Members()
}

// namesOf reads an array of different strings.
func namesOf(at string, n event.Node) []string {
	if n.Kind() != event.Array {
		wrong(at, "this is "+KindText(n)+", and it must be an array of strings", `["…"]`)
	}
	var names []string
	seen := map[string]bool{}
	for e := range n.Elements() {
		name := textOf(at, e)
		if seen[name] {
			wrong(at, fmt.Sprintf("%q is there twice", name), "it once")
		}
		seen[name] = true
		names = append(names, name)
	}
	return names
}
