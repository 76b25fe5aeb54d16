package show

import (
	"fmt"
	"strconv"
	"strings"
)

// Grouped writes decimal text with its whole part grouped by thousands.
func Grouped(text string) string {
	whole, fraction, has := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || strings.HasPrefix(whole, "-0") {
		return text
	}
	if has {
		return Comma(n) + "." + fraction
	}
	return Comma(n)
}

// Comma writes a number grouped by thousands.
func Comma(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Are writes "1 item is", "1,707 items are".
func Are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return Count(n, noun) + " are"
}

// And joins names as a sentence does.
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Count writes "1 item", "1,707 items".
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return Comma(n) + " " + noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "x"):
		return Comma(n) + " " + noun + "es"
	}
	return fmt.Sprintf("%s %ss", Comma(n), noun)
}
