// Package excerpt makes text for messages and logs. [Of] shortens text, and [Page] returns the
// address of a page that says more.
package excerpt

import "unicode/utf8"

// Of returns text. If text is longer than most bytes, it returns at most that many bytes of
// it, followed by "…". It never cuts inside a rune.
func Of(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
