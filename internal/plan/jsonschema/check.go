package jsonschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// MaxFindings is how many findings a check names.
const MaxFindings = 5

// These bound the steps of a check. A step is one rule for one value, a look at one member or
// element, or 64 instructions of a regular expression. A step takes less than a microsecond.
const (
	freeSteps    = 20_000
	stepsForByte = 10
)

// Finding is one place where a payload breaks a schema. It holds no value of the payload.
type Finding struct {
	Where event.Path // no steps: the payload itself
	What  string     // what is wrong there
	Rule  string     // the JSON pointer of the rule in the schema
}

// String returns the finding in one line.
func (f Finding) String() string {
	where := excerpt.Of(f.Where.String(), 200)
	if f.Where.IsZero() {
		where = "the payload"
	}
	return where + " " + f.What + " (" + f.Rule + ")"
}

// Check returns the places where n breaks the schema, at most [MaxFindings] of them. It returns
// none if n is valid. ok is false if the check takes too many steps. Then it is not known whether n
// is valid.
func (s *Schema) Check(n event.Node) (findings []Finding, ok bool) {
	c := checker{tracks: s.tracks, left: freeSteps + stepsForByte*len(n.Raw())}
	c.value(s.root, n, nil, nil)
	if c.left < 0 {
		return nil, false
	}
	return c.findings, true
}

// checker is the state of one check.
type checker struct {
	tracks   bool
	left     int // steps
	quiet    int // above 0: findings are not needed
	findings []Finding
}

// place is the place of a value in the payload: its name or index, and the place of the value
// around it. nil is the payload itself.
type place struct {
	up    *place
	name  string
	index int // of an element; -1 for a member
}

func (p *place) path() event.Path {
	switch {
	case p == nil:
		return event.Path{}
	case p.index >= 0:
		return p.up.path().Index(p.index)
	}
	return p.up.path().Member(p.name)
}

// covered notes which members or elements of one value some rule has covered, by position.
type covered []bool

// spend uses up steps. It returns false if not enough were left.
func (c *checker) spend(steps int) bool {
	c.left -= steps
	return c.left >= 0
}

// ended reports whether the check can stop, because its steps are used up or it has all findings
// that it may return.
func (c *checker) ended() bool { return c.left < 0 || len(c.findings) >= MaxFindings }

// fault adds the finding that the value at p breaks a rule. It returns false, so that its caller
// can return that.
func (c *checker) fault(r *rule, p *place, keyword, format string, args ...any) bool {
	if c.quiet == 0 && len(c.findings) < MaxFindings {
		c.findings = append(c.findings, Finding{p.path(), fmt.Sprintf(format, args...), strings.TrimSuffix(r.where+"/"+keyword, "/")})
	}
	return false
}

// silently reports whether n is valid by r. It adds no findings.
func (c *checker) silently(r *rule, n event.Node, p *place, out covered) bool {
	c.quiet++
	defer func() { c.quiet-- }()
	return c.value(r, n, p, out)
}

// value reports whether n, whose place is p, is valid by r. If it is, value notes in out what r
// covers. out is nil if that is not needed.
func (c *checker) value(r *rule, n event.Node, p *place, out covered) bool {
	if !c.spend(1) || c.ended() {
		return false
	}
	if r.never {
		return c.fault(r, p, "", "is not allowed")
	}
	if r.types != 0 && !r.types.has(n) {
		return c.fault(r, p, "type", "is %s and must be %s", KindText(n), r.types)
	}
	ok := c.oneOf(r, n, p)
	var own covered
	if c.tracks && n.Len() > 0 {
		c.spend(n.Len())
		own = make(covered, n.Len())
	}
	switch n.Kind() {
	case event.Number:
		ok = c.number(r, n, p) && ok
	case event.String:
		ok = c.text(r, n, p) && ok
	case event.Array:
		ok = c.array(r, n, p, own) && ok
	case event.Object:
		ok = c.object(r, n, p, own) && ok
	}
	for i := range r.here {
		if !ok && c.quiet > 0 || c.ended() {
			return false
		}
		ok = c.here(r, &r.here[i], n, p, own) && ok
	}
	if !ok || c.ended() {
		return false
	}
	if !c.rest(r, n, p, own) {
		return false
	}
	for i, yes := range own[:min(len(own), len(out))] {
		out[i] = out[i] || yes
	}
	return true
}

// oneOf checks enum and const.
func (c *checker) oneOf(r *rule, n event.Node, p *place) bool {
	if r.enum == nil {
		return true
	}
	if !c.spend(1 + len(n.Raw())/4) {
		return false
	}
	if r.enum[canonical(n)] {
		return true
	}
	if r.enumName == "const" {
		return c.fault(r, p, r.enumName, "is not the value that it must have")
	}
	return c.fault(r, p, r.enumName, "is not one of the values that it may have")
}

func (c *checker) number(r *rule, n event.Node, p *place) bool {
	if r.least == nil && r.above == nil && r.most == nil && r.below == nil && r.multipleOf.IsZero() {
		return true
	}
	c.spend(1 + len(n.Raw())/16)
	d, _ := n.Decimal() // it is a number
	switch {
	case r.least != nil && d.Cmp(r.least.value) < 0:
		return c.fault(r, p, r.least.keyword, "is below %s", shown(r.least.value))
	case r.above != nil && d.Cmp(r.above.value) <= 0:
		return c.fault(r, p, r.above.keyword, "is not above %s", shown(r.above.value))
	case r.most != nil && d.Cmp(r.most.value) > 0:
		return c.fault(r, p, r.most.keyword, "is above %s", shown(r.most.value))
	case r.below != nil && d.Cmp(r.below.value) >= 0:
		return c.fault(r, p, r.below.keyword, "is not below %s", shown(r.below.value))
	case !r.multipleOf.IsZero() && !d.IsMultipleOf(r.multipleOf):
		return c.fault(r, p, "multipleOf", "is not a multiple of %s", shown(r.multipleOf))
	}
	return true
}

// shown returns a limit of a schema as people read it.
func shown(d event.Decimal) string { return excerpt.Of(d.String(), 40) }

func (c *checker) text(r *rule, n event.Node, p *place) bool {
	if r.length == unbounded && r.pattern == nil {
		return true
	}
	c.spend(1 + len(n.Raw())/16)
	text := n.Text()
	if count := utf8.RuneCountInString(text); !r.length.allows(count) {
		keyword, what := r.length.breaks(count)
		return c.fault(r, p, keyword+"Length", "has %s characters", what)
	}
	if r.pattern != nil && !c.matches(r.pattern, text) {
		return c.fault(r, p, "pattern", "does not match the pattern")
	}
	return true
}

func (c *checker) matches(p *pattern, text string) bool {
	return c.spend(1+len(text)*p.instructions/64) && p.MatchString(text)
}

// breaks returns the start of the keyword that n breaks, and text such as "fewer than 2".
func (s sizes) breaks(n int) (keyword, what string) {
	if n < s.least {
		return "min", fmt.Sprintf("fewer than %d", s.least)
	}
	return "max", fmt.Sprintf("more than %d", s.most)
}

func (c *checker) array(r *rule, n event.Node, p *place, own covered) bool {
	if !r.count.allows(n.Len()) {
		keyword, what := r.count.breaks(n.Len())
		return c.fault(r, p, keyword+"Items", "has %s elements", what)
	}
	ok := true
	if r.prefix != nil || r.items != nil || r.contains != nil {
		ok = c.elements(r, n, p, own)
	}
	if r.unique && !c.ended() {
		ok = c.distinct(r, n, p) && ok
	}
	return ok
}

func (c *checker) elements(r *rule, n event.Node, p *place, own covered) bool {
	ok, matched, i := true, 0, -1
	for e := range n.Elements() {
		i++
		if !c.spend(1) || c.ended() || !ok && c.quiet > 0 {
			return false
		}
		at := place{p, "", i}
		rule := r.items
		if i < len(r.prefix) {
			rule = r.prefix[i]
		}
		if rule != nil {
			ok = c.value(rule, e, &at, nil) && ok
			own.set(i)
		}
		if r.contains != nil && c.silently(r.contains, e, &at, nil) {
			matched++
			own.set(i)
		}
	}
	if r.contains != nil && !r.matching.allows(matched) {
		keyword, what := r.matching.breaks(matched)
		if keyword += "Contains"; keyword == "minContains" && r.matching.least == 1 {
			keyword = "contains"
		}
		return c.fault(r, p, keyword, "has %s elements of the kind that contains asks for", what)
	}
	return ok
}

func (o covered) set(i int) {
	if o != nil {
		o[i] = true
	}
}

// distinct checks uniqueItems.
func (c *checker) distinct(r *rule, n event.Node, p *place) bool {
	if n.Len() < 2 {
		return true
	}
	if !c.spend(1 + n.Len() + len(n.Raw())/4) {
		return false
	}
	seen, i := make(map[string]bool, n.Len()), 0
	for e := range n.Elements() {
		text := canonical(e)
		if seen[text] {
			return c.fault(r, p, "uniqueItems", "has element %d twice", i)
		}
		seen[text], i = true, i+1
	}
	return true
}

func (c *checker) object(r *rule, n event.Node, p *place, own covered) bool {
	if !r.size.allows(n.Len()) {
		keyword, what := r.size.breaks(n.Len())
		return c.fault(r, p, keyword+"Properties", "has %s members", what)
	}
	ok := c.present(r, n, p, "required", r.required)
	for _, d := range r.requiredWith {
		if c.has(n, d.member) {
			ok = c.present(r, n, p, "dependentRequired", d.names) && ok
		}
	}
	for _, d := range r.with {
		if c.has(n, d.member) {
			ok = c.value(d.rule, n, p, own) && ok
		}
	}
	if r.members == nil && r.patterns == nil && r.others == nil && r.names == nil {
		return ok
	}
	i := -1
	for name, value := range n.Members() {
		i++
		if !c.spend(1) || c.ended() || !ok && c.quiet > 0 {
			return false
		}
		ok = c.member(r, name, value, &place{p, name, -1}, i, own) && ok
	}
	return ok
}

// member checks one member. i is its position.
func (c *checker) member(r *rule, name string, value event.Node, at *place, i int, own covered) bool {
	ok, met := true, false
	if rule := r.members[name]; rule != nil {
		ok, met = c.value(rule, value, at, nil), true
	}
	for _, pr := range r.patterns {
		if c.matches(pr.pattern, name) {
			ok, met = c.value(pr.rule, value, at, nil) && ok, true
		}
	}
	if !met && r.others != nil {
		ok, met = c.value(r.others, value, at, nil), true
	}
	if met {
		own.set(i)
	}
	if r.names != nil && !c.name(r, name, at) {
		return false
	}
	return ok
}

// name checks propertyNames.
func (c *checker) name(r *rule, name string, at *place) bool {
	text, _ := json.Marshal(name) // it is a string
	doc, err := event.ParseDocument(string(text))
	if err != nil || !c.spend(1+len(name)/4) {
		return false // only the steps can be missing: a string is JSON
	}
	return c.silently(r.names, doc.Root(), at, nil) || c.fault(r, at, "propertyNames", "has a name that is not allowed")
}

// has reports whether an object has a member.
func (c *checker) has(n event.Node, name string) bool {
	return c.spend(1+n.Len()/8) && n.Member(name).Exists()
}

// present checks that an object has the members.
func (c *checker) present(r *rule, n event.Node, p *place, keyword string, names []string) bool {
	var missing []string
	for _, name := range names {
		if !c.has(n, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return true
	}
	return c.fault(r, p, keyword, "has no %s", excerpt.Of(strings.Join(missing, ", "), 100))
}

// here checks rules that apply to the same value.
func (c *checker) here(r *rule, in *inPlace, n event.Node, p *place, own covered) bool {
	switch in.keyword {
	case "$ref", "allOf":
		ok := true
		for _, rule := range in.rules {
			ok = c.value(rule, n, p, own) && ok
		}
		return ok
	case "not":
		if c.silently(in.rules[0], n, p, nil) {
			return c.fault(r, p, "not", "is of a kind that is not allowed")
		}
		return true
	case "if":
		next := in.rules[2]
		if c.silently(in.rules[0], n, p, own) {
			next = in.rules[1]
		}
		return next == nil || c.value(next, n, p, own)
	}
	matched := 0
	for _, rule := range in.rules {
		if c.silently(rule, n, p, own) {
			if matched++; in.keyword == "anyOf" && own == nil || matched > 1 && in.keyword == "oneOf" {
				break
			}
		}
	}
	switch {
	case matched == 0:
		return c.fault(r, p, in.keyword, "fits none of the alternatives")
	case matched > 1 && in.keyword == "oneOf":
		return c.fault(r, p, in.keyword, "fits more than one of the alternatives")
	}
	return true
}

// rest checks unevaluatedItems and unevaluatedProperties, which apply to everything that no other
// rule has covered.
func (c *checker) rest(r *rule, n event.Node, p *place, own covered) bool {
	ok, i := true, 0
	switch {
	case n.Kind() == event.Array && r.otherItems != nil:
		for e := range n.Elements() {
			if !own[i] {
				ok = c.value(r.otherItems, e, &place{p, "", i}, nil) && ok
				own[i] = true
			}
			i++
		}
	case n.Kind() == event.Object && r.otherMembers != nil:
		for name, value := range n.Members() {
			if !own[i] {
				ok = c.value(r.otherMembers, value, &place{p, name, -1}, nil) && ok
				own[i] = true
			}
			i++
		}
	}
	return ok && !c.ended()
}

// String lists the types for people: "number or string".
func (k kinds) String() string {
	var names []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if k&kindOf[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
