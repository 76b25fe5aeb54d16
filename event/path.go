package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads from a value to one inside it: customer.address, items[2].sku, ["odd.name"].
//
// Each step is the name of a member or the number of an element. A name follows a point, unless it
// is the first step. Brackets hold an element's number, counted from 0, or a member's name as a
// JSON string. A name needs no brackets if it consists of letters, digits, _, $ and -, and does not
// begin with a digit or -.
type Path struct {
	steps []step
}

type step struct {
	name  string
	index int // or aName, or every
}

// What a step's index is if the step is no element's number.
const (
	aName = -1
	every = -2 // each element of an array
)

// ParsePath reads a path. The error says what to write.
func ParsePath(s string) (Path, error) { return parsePath(s, false) }

// ParseEvery is [ParsePath] for a path that may lead to several values: [] stands for each element
// of an array.
func ParseEvery(s string) (Path, error) { return parsePath(s, true) }

func parsePath(s string, all bool) (Path, error) {
	var p Path
	for rest := s; ; {
		if after, is := strings.CutPrefix(rest, "[]"); is && all && rest != s {
			p.steps = append(p.steps, step{"", every})
			if rest = after; rest == "" {
				return p, nil
			}
			continue
		}
		st, after, err := nextStep(rest, len(p.steps) == 0)
		if err != nil {
			return Path{}, fmt.Errorf("path %q: %w", s, err)
		}
		p.steps = append(p.steps, st)
		if rest = after; rest == "" {
			return p, nil
		}
	}
}

// nextStep cuts the first step off s.
func nextStep(s string, first bool) (step, string, error) {
	switch {
	case s == "":
		return step{}, "", fmt.Errorf("a name is missing")
	case s[0] == '[':
		return bracketStep(s)
	case !first && s[0] != '.':
		return step{}, "", unexpected(s)
	case !first:
		s = s[1:]
	}
	n := bareName(s)
	if n == 0 && s == "" {
		return step{}, "", fmt.Errorf("a name is missing after the last point")
	}
	if n == 0 {
		return step{}, "", unexpected(s)
	}
	return step{s[:n], aName}, s[n:], nil
}

func unexpected(s string) error {
	r, _ := utf8.DecodeRuneInString(s)
	return fmt.Errorf(`%q cannot stand here; odd names are written ["like this"]`, r)
}

func bracketStep(s string) (step, string, error) {
	if len(s) > 1 && s[1] == '"' {
		if !utf8.ValidString(s) {
			return step{}, "", fmt.Errorf("invalid UTF-8")
		}
		end, _, what := scanText(s, 1)
		switch {
		case what != "":
			return step{}, "", fmt.Errorf("%s", what)
		case end == len(s) || s[end] != ']':
			return step{}, "", fmt.Errorf("a closing bracket is missing after %s", s[1:end])
		}
		return step{unescape(s[2 : end-1]), aName}, s[end+1:], nil
	}
	end := digits(s, 1)
	if end == 1 || end == len(s) || s[end] != ']' || s[1] == '0' && end > 2 {
		return step{}, "", fmt.Errorf(`a bracket holds a number from 0 or a name in double quotes: [2], ["odd.name"]`)
	}
	index, err := strconv.Atoi(s[1:end])
	if err != nil {
		return step{}, "", fmt.Errorf("no array has %s elements", s[1:end])
	}
	return step{"", index}, s[end+1:], nil
}

// bareName returns the length of the name at the beginning of s that needs no brackets.
func bareName(s string) int {
	for i, r := range s {
		switch {
		case r == '_' || r == '$' || unicode.IsLetter(r):
		case i > 0 && (r == '-' || unicode.IsDigit(r) || unicode.IsMark(r)):
		default:
			return i
		}
	}
	return len(s)
}

// String returns the path in its shortest form. [ParseEvery] reads it back to an equal path, and so
// does [ParsePath] unless it has [].
func (p Path) String() string {
	var b strings.Builder
	for i, st := range p.steps {
		switch {
		case st.index >= 0:
			fmt.Fprintf(&b, "[%d]", st.index)
		case st.index == every:
			b.WriteString("[]")
		case st.name == "" || bareName(st.name) < len(st.name):
			b.WriteString("[" + Quote(st.name) + "]")
		case i > 0:
			b.WriteString("." + st.name)
		default:
			b.WriteString(st.name)
		}
	}
	return b.String()
}

// Quote returns s as a JSON string, with only the escapes that JSON demands.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// IsZero reports whether p has no step. [Node.At] of such a path returns the value itself.
func (p Path) IsZero() bool { return len(p.steps) == 0 }

// Equal reports whether p and q lead to the same place in every document.
func (p Path) Equal(q Path) bool { return slices.Equal(p.steps, q.steps) }

// Contains reports whether q leads to the same place as p, or to a place inside it. A [] of p
// stands for each element.
func (p Path) Contains(q Path) bool {
	return len(p.steps) <= len(q.steps) && slices.EqualFunc(p.steps, q.steps[:len(p.steps)], func(a, b step) bool {
		return a == b || a.index == every && b.index >= 0
	})
}

// Name returns the name of the member that p leads to, if that is p's only step.
func (p Path) Name() (name string, ok bool) {
	if len(p.steps) != 1 || p.steps[0].index != aName {
		return "", false
	}
	return p.steps[0].name, true
}

// First returns the name of the member that p's first step leads to, and the rest of the path. It
// returns false if p has no step, or begins with the number of an element.
func (p Path) First() (name string, rest Path, ok bool) {
	if len(p.steps) == 0 || p.steps[0].index != aName {
		return "", Path{}, false
	}
	return p.steps[0].name, Path{p.steps[1:]}, true
}

// Number returns the number of the element that p's first step leads to, and the rest of the path.
// It returns false if p has no step, or begins with anything else.
func (p Path) Number() (index int, rest Path, ok bool) {
	if len(p.steps) == 0 || p.steps[0].index < 0 {
		return 0, Path{}, false
	}
	return p.steps[0].index, Path{p.steps[1:]}, true
}

// Each returns the path that is left after its first step, if that is []. Otherwise it returns
// false.
func (p Path) Each() (rest Path, ok bool) {
	if len(p.steps) == 0 || p.steps[0].index != every {
		return Path{}, false
	}
	return Path{p.steps[1:]}, true
}

// Around divides p after its last []. If it has none, all of it is below.
func (p Path) Around() (above, below Path) {
	n := len(p.steps)
	for n > 0 && p.steps[n-1].index != every {
		n--
	}
	return Path{p.steps[:n]}, Path{p.steps[n:]}
}

// At returns p below a place: p has the steps of the place as far as its last [], each number of
// an element in place of a [].
func (p Path) At(place Path) Path {
	above, below := p.Around()
	return Path{slices.Concat(place.steps[:len(above.steps)], below.steps)}
}

// Moved returns the path that leads to the same place as p if what is at from stands at to. It
// returns false if p leads to another place.
func (p Path) Moved(from, to Path) (Path, bool) {
	if !from.Contains(p) {
		return Path{}, false
	}
	return Path{slices.Concat(to.steps, p.steps[len(from.steps):])}, true
}

// Last returns the name of the last member on the way. It is empty if there is none.
func (p Path) Last() string {
	for i := len(p.steps) - 1; i >= 0; i-- {
		if p.steps[i].index == aName {
			return p.steps[i].name
		}
	}
	return ""
}

// Numbered reports whether p has the number of an element.
func (p Path) Numbered() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.index >= 0 })
}

// Member returns the path that goes one step further, to this member.
func (p Path) Member(name string) Path { return p.with(step{name, aName}) }

// Every returns p with [] in place of each number of an element.
func (p Path) Every() Path {
	p.steps = slices.Clone(p.steps)
	for i := range p.steps {
		if p.steps[i].index >= 0 {
			p.steps[i].index = every
		}
	}
	return p
}

// Index returns the path that goes one step further, to this element.
func (p Path) Index(i int) Path { return p.with(step{"", i}) }

func (p Path) with(s step) Path {
	return Path{append(slices.Clip(slices.Clone(p.steps)), s)}
}

// Read is one use of a field of the payload.
type Read struct {
	Path Path
	Use  string // "id", "key.pk", "GSI1.sk", "attribute status", "merchant_daily by merchant", "merchant_daily where"
	// Kinds are the kinds of values that the use accepts. A field of another kind makes the event
	// Poison, or it counts as missing if the use does not need it.
	Kinds []Kind
	// Needed reports whether an event without the field is Poison.
	Needed bool
}
