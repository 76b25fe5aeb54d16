package keys

import "unicode/utf8"

// Escape returns a value as it stands in a key. '%', '#' and control characters (Unicode category
// Cc: U+0000 to U+001F, U+007F to U+009F) become %XX for each of their UTF-8 bytes, in upper-case
// hex. A byte that is not UTF-8 becomes %XX too. Different values stay different. The result
// contains no '#', so a '#' in a template's own text always separates.
func Escape(s string) string {
	if firstEscaped(s) == len(s) {
		return s
	}
	return string(escapeFrom([]byte(s), 0))
}

// escapeFrom escapes dst[from:] in place.
func escapeFrom(dst []byte, from int) []byte {
	clean := firstEscaped(dst[from:])
	if clean == len(dst)-from {
		return dst
	}
	rest := append([]byte(nil), dst[from+clean:]...)
	dst = dst[:from+clean]
	for len(rest) > 0 {
		n := firstEscaped(rest)
		dst = append(dst, rest[:n]...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		_, width := utf8.DecodeRune(rest)
		for _, b := range rest[:width] {
			dst = append(dst, '%', upperHex[b>>4], upperHex[b&15])
		}
		rest = rest[width:]
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// firstEscaped returns the index of the first byte of s that Escape changes, or the length of s.
func firstEscaped[T string | []byte](s T) int {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c < 0x20 || c == '%' || c == '#' || c == 0x7f:
			return i
		case c < utf8.RuneSelf:
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r <= 0x9f || r == utf8.RuneError && width == 1 {
			return i
		}
		i += width
	}
	return len(s)
}
