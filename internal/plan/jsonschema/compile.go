package jsonschema

import (
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// These bound a schema.
const (
	// maxText is how many bytes a schema may have.
	maxText = 256 << 10
	// maxSteps is how many rules may apply to one value. References can double the number of rules
	// with each level, so 30 levels could take a billion steps.
	maxSteps = 2000
	// maxPattern is how many instructions a compiled regular expression may have. The time for a
	// match grows with their number.
	maxPattern = 3000
)

// dialect is the value of $schema for JSON Schema 2020-12.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Compile reads a schema. It returns the first mistake, or nil if there is none.
func Compile(text string) (s *Schema, bad *Mistake) {
	if len(text) > maxText {
		return nil, &Mistake{Where: "#", What: fmt.Sprintf("the schema takes %d bytes, and at most %d are read", len(text), maxText),
			Instead: "a smaller one"}
	}
	doc, err := event.ParseDocument(text)
	if err != nil {
		return nil, &Mistake{Where: "#", What: "this is not JSON: " + err.Error()}
	}
	defer func() {
		if r := recover(); r != nil {
			m, ok := r.(*Mistake)
			if !ok {
				panic(r)
			}
			s, bad = nil, m
		}
	}()
	c := compiler{root: doc.Root(), rules: map[string]*rule{}, anchors: map[string]string{}}
	c.top()
	c.findAnchors("#", c.root)
	s = &Schema{root: c.rule("#", c.root)}
	c.bound()
	s.tracks = c.tracks
	return s, nil
}

// compiler compiles one schema. It panics with a [*Mistake], and Compile recovers it.
type compiler struct {
	root    event.Node
	rules   map[string]*rule  // by JSON pointer
	order   []*rule           // in the order in which they were begun
	anchors map[string]string // JSON pointers, by name
	tracks  bool
}

func wrong(where, what, instead string) { panic(&Mistake{where, what, instead}) }

// top checks the root of the schema.
func (c *compiler) top() {
	if c.root.Kind() != event.Object {
		if c.root.Kind() != event.Bool {
			wrong("#", "a schema is "+KindText(c.root)+", and it must be an object", "an object")
		}
		return
	}
	if s := c.root.Member("$schema"); s.Exists() && strings.TrimSuffix(s.Text(), "#") != dialect {
		wrong("#/$schema", "the schema is not of JSON Schema 2020-12", strconv.Quote(dialect))
	}
}

// findAnchors notes where each $anchor stands.
func (c *compiler) findAnchors(where string, n event.Node) {
	for name, child := range n.Members() {
		if name == "$anchor" && child.Kind() == event.String {
			if _, twice := c.anchors[child.Text()]; twice {
				wrong(where+"/$anchor", "the anchor "+child.Text()+" is there twice", "another name")
			}
			c.anchors[child.Text()] = where
		}
		if name != "enum" && name != "const" && name != "default" && name != "examples" {
			c.findAnchors(where+"/"+escape(name), child)
		}
	}
	i := 0
	for child := range n.Elements() {
		c.findAnchors(where+"/"+strconv.Itoa(i), child)
		i++
	}
}

// rule compiles the schema at where. It compiles a schema only once, even if there are many
// references to it.
func (c *compiler) rule(where string, n event.Node) *rule {
	if r, ok := c.rules[where]; ok {
		return r
	}
	r := &rule{where: where, length: unbounded, count: unbounded, matching: sizes{1, -1}, size: unbounded}
	c.rules[where] = r
	c.order = append(c.order, r)
	switch n.Kind() {
	case event.Bool:
		r.never = n.Text() == "false"
		return r
	case event.Object:
	default:
		wrong(where, "a schema is "+KindText(n)+", and it must be an object, true or false", "an object")
	}
	for name, value := range n.Members() {
		at := where + "/" + escape(name)
		if !c.keyword(r, name, at, value) && !strings.HasPrefix(name, "x-") {
			what, instead := foreign(where, name)
			wrong(at, what, instead)
		}
	}
	c.conditional(r, n)
	return r
}

// conditional compiles if, then and else, which belong together.
func (c *compiler) conditional(r *rule, n event.Node) {
	rules := make([]*rule, 3)
	for i, name := range []string{"if", "then", "else"} {
		if value := n.Member(name); value.Exists() {
			rules[i] = c.rule(r.where+"/"+name, value)
		}
	}
	if rules[0] != nil {
		r.here = append(r.here, inPlace{"if", rules})
	}
}

// ref compiles the schema to which a $ref refers.
func (c *compiler) ref(where, text string) *rule {
	const instead = `a place in this file, such as "#/$defs/address"`
	fragment := text
	if id := strings.TrimSuffix(c.root.Member("$id").Text(), "#"); id != "" {
		fragment = strings.TrimPrefix(fragment, id)
	}
	fragment, local := strings.CutPrefix(fragment, "#")
	if !local && fragment != "" {
		wrong(where, fmt.Sprintf("the schema refers to %q, which is not in this file, and nothing else is read", text), instead)
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		wrong(where, fmt.Sprintf("the reference %q cannot be read", text), instead)
	}
	if pointer, named := c.anchors[fragment]; named {
		fragment = pointer[1:]
	} else if fragment != "" && fragment[0] != '/' {
		wrong(where, "there is no $anchor "+fragment+" in the schema", instead)
	}
	n := c.root
	pointer := "#"
	for step := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if fragment == "" {
			break
		}
		name := unescape(step)
		pointer += "/" + escape(name)
		if n.Kind() == event.Array {
			i, err := strconv.Atoi(name)
			if err != nil {
				i = -1
			}
			n = n.Index(i)
		} else {
			n = n.Member(name)
		}
	}
	if !n.Exists() {
		wrong(where, fmt.Sprintf("the reference %q leads to nothing", text), instead)
	}
	return c.rule(pointer, n)
}

// escape and unescape write and read a step of a JSON pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

func (c *compiler) pattern(where, text string) *pattern {
	const instead = "one without references back, looking ahead or looking behind"
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		wrong(where, "the regular expression cannot be used: "+err.Error(), instead)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		wrong(where, "the regular expression cannot be used: "+err.Error(), instead)
	}
	if n := len(program.Inst); n > maxPattern {
		wrong(where, fmt.Sprintf("the regular expression takes %d steps for each character, and at most %d are allowed", n, maxPattern),
			"minLength and maxLength in place of large repetitions")
	}
	return &pattern{regexp.MustCompile(text), len(program.Inst)}
}

// bound refuses a schema in which a rule applies to its own value again without end, or in which
// too many rules apply to one value.
func (c *compiler) bound() {
	steps := map[*rule]int{}
	const open = -1
	var count func(r *rule) int
	count = func(r *rule) int {
		switch n, seen := steps[r]; {
		case seen && n == open:
			wrong(r.where, "the schema applies to a value only if it applies to the same value: it refers to itself without going into a "+
				"member or an element", "a reference below properties or items")
		case seen:
			return n
		}
		steps[r] = open
		n := 1
		for _, child := range r.sameValue() {
			if n += count(child); n > maxSteps {
				wrong(r.where, fmt.Sprintf("over %d rules apply to one value, because references multiply", maxSteps),
					"fewer alternatives or references that lead to references")
			}
		}
		steps[r] = n
		return n
	}
	for _, r := range c.order {
		count(r)
	}
}

// sameValue lists the subschemas of r that apply to the same value as r.
func (r *rule) sameValue() []*rule {
	var list []*rule
	for _, in := range r.here {
		for _, child := range in.rules {
			if child != nil {
				list = append(list, child)
			}
		}
	}
	for _, d := range r.with {
		list = append(list, d.rule)
	}
	return list
}

// canonical returns a text that is the same for all spellings of a value.
func canonical(n event.Node) string { return string(keys.Canonical(nil, n, nil)) }

// KindText returns a value's kind for people: "a string".
func KindText(n event.Node) string {
	switch n.Kind() {
	case event.Null:
		return "null"
	case event.Array, event.Object:
		return "an " + n.Kind().String()
	}
	return "a " + n.Kind().String()
}
