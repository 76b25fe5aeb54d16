package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// Text makes any text safe for a terminal, on one line: it escapes control characters, characters
// that change the direction of writing, and characters that cannot be seen.
func Text(s string) string {
	clean := strings.IndexFunc(s, odd) < 0 && utf8.ValidString(s)
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case odd(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Abridged makes a text safe as [Text] does, and shows about so many bytes of it at most.
func Abridged(text string, most int) string {
	if len(text) <= most {
		return Text(text)
	}
	return Text(excerpt.Of(text, most)) + fmt.Sprintf(" (%s bytes, whole with --output json)", Comma(len(text)))
}

// odd reports whether a character could do something to a terminal, or hide something in it.
func odd(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// Cell makes a text fit for a cell of CSV. A program for tables would take a text that begins with
// =, +, - or @ for a formula, and run it. Such a text gets an apostrophe in front, unless it is a
// plain number.
func Cell(s string) string {
	s = Text(s)
	if s == "" || !strings.ContainsRune("=+-@", rune(s[0])) {
		return s
	}
	if s[0] == '-' && len(s) > 1 && strings.Trim(s[1:], "0123456789.") == "" {
		return s
	}
	return "'" + s
}
