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
// A step is a member's name, after a point unless it is the first, or in brackets an element's number from 0
// or a member's name as a JSON string. A name may stand without brackets if it consists of letters, digits, _,
// $ and -, and begins with none of the digits and not with -.
type Path struct {
	steps []step
}

type step struct {
	name  string
	index int // -1: a name
}

// ParsePath reads a path. The error says what to write.
func ParsePath(s string) (Path, error) {
	var p Path
	for rest := s; ; {
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
	return step{s[:n], -1}, s[n:], nil
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
		return step{unescape(s[2 : end-1]), -1}, s[end+1:], nil
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

// bareName is the length of the name that s begins with and that needs no brackets.
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

// String writes the path in its shortest form; ParsePath reads it back to an equal path.
func (p Path) String() string {
	var b strings.Builder
	for i, st := range p.steps {
		switch {
		case st.index >= 0:
			fmt.Fprintf(&b, "[%d]", st.index)
		case st.name == "" || bareName(st.name) < len(st.name):
			b.WriteString("[" + quoted(st.name) + "]")
		case i > 0:
			b.WriteString("." + st.name)
		default:
			b.WriteString(st.name)
		}
	}
	return b.String()
}

// quoted is s as a JSON string with only the escapes that JSON demands.
func quoted(s string) string {
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

// IsZero reports whether p has no step; At of such a path is the value itself.
func (p Path) IsZero() bool { return len(p.steps) == 0 }

// Equal reports whether both lead to the same place in every document.
func (p Path) Equal(q Path) bool { return slices.Equal(p.steps, q.steps) }

// Contains reports whether what q leads to is what p leads to, or lies inside it.
func (p Path) Contains(q Path) bool {
	return len(p.steps) <= len(q.steps) && slices.Equal(p.steps, q.steps[:len(p.steps)])
}

// Member is the path one member further.
func (p Path) Member(name string) Path { return p.with(step{name, -1}) }

// Index is the path one element further.
func (p Path) Index(i int) Path { return p.with(step{"", i}) }

func (p Path) with(s step) Path {
	return Path{append(slices.Clip(slices.Clone(p.steps)), s)}
}
