package event

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// parser fills a tape in one pass. When a method begins, p.at is at the first byte of what the
// method reads. When it ends, p.at is after the last byte.
type parser struct {
	src  string
	at   int
	tape []node
}

func (p *parser) wrong(offset int, format string, args ...any) error {
	return &SyntaxError{Offset: offset, What: fmt.Sprintf(format, args...)}
}

func (p *parser) document() error {
	if len(p.src) > maxText {
		return p.wrong(0, "the text has %d bytes, more than %d", len(p.src), maxText)
	}
	if !utf8.ValidString(p.src) {
		return p.wrong(invalidUTF8(p.src), "invalid UTF-8")
	}
	p.tape = make([]node, 0, sizeTape(p.src))
	p.space()
	if err := p.value(0); err != nil {
		return err
	}
	p.space()
	if p.at < len(p.src) {
		return p.wrong(p.at, "%s after the end of the value", p.found())
	}
	return nil
}

// value reads any value. depth is the number of arrays and objects around it.
func (p *parser) value(depth int) error {
	if p.at == len(p.src) {
		return p.wrong(p.at, "a value is missing")
	}
	if len(p.tape) >= MaxNodes {
		return p.wrong(p.at, "more than %d values and names of members", MaxNodes)
	}
	switch c := p.src[p.at]; c {
	case '{', '[':
		if depth == MaxDepth {
			return p.wrong(p.at, "more than %d arrays and objects inside each other", MaxDepth)
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case '"':
		return p.text()
	case 't':
		return p.word("true", Bool)
	case 'f':
		return p.word("false", Bool)
	case 'n':
		return p.word("null", Null)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, what := scanNumber(p.src, p.at)
		if what != "" {
			return p.wrong(end, "%s", what)
		}
		p.add(Number, end)
		return nil
	}
	return p.wrong(p.at, "%s is not a value", p.found())
}

func (p *parser) object(depth int) error {
	self := p.open(Object)
	if p.space(); p.peek() == '}' {
		p.shut(self, 0)
		return nil
	}
	var seen names
	for count := 1; ; count++ {
		if p.peek() != '"' {
			return p.wrong(p.at, "a member's name in quotes is missing before %s", p.found())
		}
		name, start := len(p.tape), p.at
		if err := p.text(); err != nil {
			return err
		}
		if seen.repeats(p, self, name) {
			return p.wrong(start, "member %s appears twice", short(p.src[start:p.at]))
		}
		if p.space(); p.peek() != ':' {
			return p.wrong(p.at, "a colon is missing before %s", p.found())
		}
		p.at++
		p.space()
		if err := p.value(depth); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.at++
			p.space()
		case '}':
			p.shut(self, count)
			return nil
		default:
			return p.wrong(p.at, "a comma or a closing brace is missing before %s", p.found())
		}
	}
}

func (p *parser) array(depth int) error {
	self := p.open(Array)
	if p.space(); p.peek() == ']' {
		p.shut(self, 0)
		return nil
	}
	for count := 1; ; count++ {
		if err := p.value(depth); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.at++
			p.space()
		case ']':
			p.shut(self, count)
			return nil
		default:
			return p.wrong(p.at, "a comma or a closing bracket is missing before %s", p.found())
		}
	}
}

func (p *parser) text() error {
	end, escaped, what := scanText(p.src, p.at)
	if what != "" {
		return p.wrong(end, "%s", what)
	}
	p.add(String, end)
	if escaped {
		p.tape[len(p.tape)-1].bits |= escapedBit
	}
	return nil
}

func (p *parser) word(word string, kind Kind) error {
	if !strings.HasPrefix(p.src[p.at:], word) {
		return p.wrong(p.at, "%s is not a value", p.found())
	}
	p.add(kind, p.at+len(word))
	return nil
}

// add puts the value from p.at to end on the tape, and moves p.at to end.
func (p *parser) add(kind Kind, end int) {
	next := uint32(len(p.tape)) + 1
	p.tape = append(p.tape, node{start: uint32(p.at), end: uint32(end), next: next, bits: uint32(kind)})
	p.at = end
}

// open begins an array or object at its opening bracket. shut ends it at the closing bracket.
func (p *parser) open(kind Kind) (self int) {
	p.add(kind, p.at+1)
	return len(p.tape) - 1
}

func (p *parser) shut(self, count int) {
	p.at++
	n := &p.tape[self]
	n.end, n.next = uint32(p.at), uint32(len(p.tape))
	n.bits |= uint32(count) << countShift
}

func (p *parser) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek returns the byte at p.at, or 0 at the end. No JSON text needs a NUL there.
func (p *parser) peek() byte {
	if p.at == len(p.src) {
		return 0
	}
	return p.src[p.at]
}

// found describes what is at p.at, for messages.
func (p *parser) found() string {
	if p.at == len(p.src) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.at:])
	if r == '\ufeff' {
		return "a byte order mark, as some editors write,"
	}
	return fmt.Sprintf("%q", r)
}

// short shortens the producer's text, so that a message stays readable.
func short(s string) string { return excerpt.Of(s, 60) }

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return len(s)
}
