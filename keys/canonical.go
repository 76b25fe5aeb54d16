package keys

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Canonical appends the canonical JSON text of n to dst: one text for all spellings of one value.
// This is RFC 8785 (no white space, members ordered by the UTF-16 units of their names, the
// shortest escapes), except that numbers keep all their digits: see [event.Decimal.String]. It
// leaves out the values at the ignored paths, which are relative to n, and where [] stands for each
// element of an array. A member is left out together with its name. If an element of an array is
// left out, the later elements move up. If n is Absent, Canonical adds nothing.
func Canonical(dst []byte, n event.Node, ignore []event.Path) []byte {
	return canonicalOf(dst, n, ignore, nil)
}

func canonicalOf(dst []byte, n event.Node, ignore []event.Path, folds []Fold) []byte {
	var room [8]event.Node
	c := canonical{left: room[:0], root: n, folds: folds}
	for _, p := range ignore {
		c.left = leave(c.left, n, p)
	}
	if len(c.left) > len(room) {
		c.many = make(map[event.Node]bool, len(c.left))
		for _, ignored := range c.left {
			c.many[ignored] = true
		}
	}
	return c.value(dst, n)
}

type canonical struct {
	left  []event.Node        // the values that are left out
	many  map[event.Node]bool // the same; nil if there are few
	root  event.Node
	folds []Fold
}

// leave appends every value to which p leads from n.
func leave(left []event.Node, n event.Node, p event.Path) []event.Node {
	if name, rest, ok := p.First(); ok {
		return leave(left, n.Member(name), rest)
	} else if i, rest, ok := p.Number(); ok {
		return leave(left, n.Index(i), rest)
	} else if rest, ok := p.Each(); ok {
		for element := range n.Elements() {
			left = leave(left, element, rest)
		}
	} else if n.Exists() {
		left = append(left, n)
	}
	return left
}

func (c *canonical) leaves(n event.Node) bool {
	return c.many[n] || c.many == nil && slices.Contains(c.left, n)
}

func (c *canonical) value(dst []byte, n event.Node) []byte {
	switch n.Kind() {
	case event.Object:
		return c.object(dst, n)
	case event.Array:
		dst = append(dst, '[')
		comma := false
		for e := range n.Elements() {
			if c.leaves(e) {
				continue
			}
			if comma {
				dst = append(dst, ',')
			}
			dst, comma = c.value(dst, e), true
		}
		return append(dst, ']')
	case event.String:
		for i := range c.folds {
			if c.root.At(c.folds[i].Path) == n {
				return c.folds[i].append(dst, n)
			}
		}
		raw, text := n.Raw(), n.Text()
		if len(raw) == len(text)+len(`""`) {
			return append(dst, raw...) // no escapes, so none are needed
		}
		return appendString(dst, text)
	case event.Number:
		return appendNumber(dst, n.Raw())
	}
	return append(dst, n.Raw()...) // null, true, false; nothing if Absent
}

type member struct {
	name  string
	value event.Node
}

func (c *canonical) object(dst []byte, n event.Node) []byte {
	var room [24]member
	members := room[:0]
	var places [24]uint32
	order := places[:0] // the places are sorted, not the members, which take four times as much memory
	for name, value := range n.Members() {
		if !c.leaves(value) {
			order = append(order, uint32(len(members)))
			members = append(members, member{name, value})
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return compareUTF16(members[a].name, members[b].name) })
	dst = append(dst, '{')
	for i, at := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, members[at].name), ':')
		dst = c.value(dst, members[at].value)
	}
	return append(dst, '}')
}

// compareUTF16 orders valid UTF-8 by its UTF-16 code units. This is byte order with one exception.
// Characters beyond U+FFFF are surrogates in UTF-16, and therefore come before U+E000 to U+FFFF. In
// UTF-8 the former begin with a byte from F0 up, and the latter with EE or EF. If the first
// difference is between two such bytes, byte order is wrong.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
			x, y = y, x
		}
		if x < y {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// appendString quotes s as RFC 8785 does: it escapes only what must be escaped, by its short form
// if it has one.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + 1
		if short := strings.IndexByte("\"\\\b\f\n\r\t", c); short >= 0 {
			dst = append(dst, '\\', `"\bfnrt`[short])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', '0'+c>>4, lowerHex[c&15])
		}
	}
	return append(append(dst, s[done:]...), '"')
}

const lowerHex = "0123456789abcdef"

// appendNumber appends the normal form of a JSON number.
func appendNumber(dst []byte, literal string) []byte {
	if plainInteger(literal) {
		return append(dst, literal...)
	}
	d, err := event.ParseDecimal(literal)
	if err != nil {
		return append(dst, literal...) // no Document holds such a number
	}
	return d.Append(dst)
}

// plainInteger reports whether a JSON number is an integer that is so short that it is its own
// normal form.
func plainInteger(literal string) bool {
	if len(literal) > 18 || literal == "-0" {
		return false
	}
	for i := range len(literal) {
		if c := literal[i]; c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return true
}
