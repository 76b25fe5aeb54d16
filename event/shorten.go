package event

import "unicode/utf8"

// Shorten returns text, or of a longer one the first bytes, at most so many, and "…". It never cuts inside a rune.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
