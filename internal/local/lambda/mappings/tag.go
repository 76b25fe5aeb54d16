package mappings

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unfit returns why Lambda refuses a tag, or "" if it accepts the tag. The rules are in the
// Developer Guide, "Using tags": a key has up to 128 characters and a value up to 256; both may
// have letters, spaces, numbers, and + - = . _ : / @.
func unfit(name, value string) string {
	odd := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.Zs) && !strings.ContainsRune("_.:/=+-@", r)
	}
	switch {
	case name == "" || utf8.RuneCountInString(name) > 128 || strings.HasPrefix(strings.ToLower(name), "aws:"):
		return "the tag key is empty, longer than 128 characters, or begins with aws:"
	case utf8.RuneCountInString(value) > 256:
		return "the tag value is longer than 256 characters"
	case strings.ContainsFunc(name, odd) || strings.ContainsFunc(value, odd):
		return "the tag holds a character that is not allowed"
	}
	return ""
}
