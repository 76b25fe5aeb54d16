package event

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxExponentDigits is how many digits an exponent may have, not counting leading zeros. With it,
// every exponent fits into an int64, even after the digits of the longest text are added to it.
const maxExponentDigits = 18

// scanNumber finds the end of the JSON number at s[at:]. If there is no number, what says why, and
// end says where.
func scanNumber(s string, at int) (end int, what string) {
	i := at
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := i
	i = digits(s, i)
	switch {
	case i == whole:
		return i, "a number lacks a digit"
	case i > whole+1 && s[whole] == '0':
		return whole, "a number begins with a needless 0"
	}
	if i < len(s) && s[i] == '.' {
		fraction := i + 1
		if i = digits(s, fraction); i == fraction {
			return i, "a number lacks a digit after its point"
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		return scanExponent(s, i)
	}
	return i, ""
}

func scanExponent(s string, at int) (end int, what string) {
	i := at + 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	first := i
	i = digits(s, i)
	if i == first {
		return i, "a number lacks a digit in its exponent"
	}
	for first < i && s[first] == '0' {
		first++
	}
	if i-first > maxExponentDigits {
		return at, "a number's exponent has more than 18 digits"
	}
	return i, ""
}

func digits(s string, i int) int {
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i
}

// scanText finds the end of the JSON string whose quote is s[at], and whether it has escapes. If it
// is not a JSON string, what says why, and end says where. s is valid UTF-8.
func scanText(s string, at int) (end int, escaped bool, what string) {
	for i := at + 1; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			return i + 1, escaped, ""
		case c == '\\':
			escaped = true
			n, what := scanEscape(s[i:])
			if what != "" {
				return i, true, what
			}
			i += n
		case c < 0x20:
			return i, escaped, "a control character in a string must be escaped"
		default:
			i++
		}
	}
	return at, escaped, "a string has no closing quote"
}

// scanEscape returns the length of the escape that s begins with. A surrogate pair is one escape.
func scanEscape(s string) (n int, what string) {
	if len(s) < 2 {
		return 0, "a string has no closing quote"
	}
	if s[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, s[1]) < 0 {
			return 0, "an unknown escape in a string"
		}
		return 2, ""
	}
	r, ok := hex4(s)
	switch {
	case !ok:
		return 0, `\u must be followed by four hex digits`
	case !utf16.IsSurrogate(r):
		return 6, ""
	}
	if low, ok := hex4(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		return 12, ""
	}
	return 0, "half of a surrogate pair stands alone"
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape decodes the inside of a string that scanText accepted.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		n, _ := scanEscape(s[i:])
		b.WriteRune(escapedRune(s[i : i+n]))
		s = s[i+n:]
	}
}

func escapedRune(escape string) rune {
	switch escape[1] {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		r, _ := hex4(escape)
		if len(escape) == 12 {
			low, _ := hex4(escape[6:])
			return utf16.DecodeRune(r, low)
		}
		return r
	}
	return rune(escape[1])
}
