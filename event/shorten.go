package event

import "unicode/utf8"

// Shorten returns text. If text is longer than most bytes, it returns at most that many bytes of
// it, followed by "…". It never cuts inside a rune.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
