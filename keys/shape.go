package keys

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
)

// CheckMade returns an error if the template can never make this text, whatever the event. text is
// compared before escaping. The error says what the template makes. nil means that it may make the
// text. CheckMade looks only at the template's own text, and at the last function if there is only
// one variable. It therefore accepts some texts that the template never makes.
func (t *Template) CheckMade(text string) error {
	rest, variable := text, (*Part)(nil)
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case p.IsVariable() && variable != nil:
			return nil // with two variables, nobody can tell where one ends
		case p.IsVariable():
			variable = p
		case variable == nil && strings.HasPrefix(rest, p.Literal):
			rest = rest[len(p.Literal):]
		case variable != nil && strings.HasSuffix(rest, p.Literal):
			rest = rest[:len(rest)-len(p.Literal)]
		default:
			return t.notMade(text, fmt.Sprintf("a text with %q in it", p.Literal))
		}
	}
	switch {
	case variable == nil && rest != "":
		return t.notMade(text, "that text alone")
	case variable == nil:
		return nil
	case rest == "":
		return t.notMade(text, "a text that is not empty")
	}
	if n := len(variable.Funcs); n > 0 {
		last := variable.Funcs[n-1]
		arg, _ := strconv.Atoi(last.Arg)
		if shape := last.Function().shape; shape != nil && shape(rest, arg) != "" {
			return t.notMade(text, shape(rest, arg))
		}
	}
	return nil
}

func (t *Template) notMade(text, shape string) error {
	return fmt.Errorf("%s is not what %s makes, which is %s", quote(text), t.text, shape)
}

// Each function here is the shape of one of [Functions].

func ofHex(digits int) func(string, int) string {
	return func(text string, n int) string {
		if n = cmp.Or(n, digits); len(text) != n || strings.Trim(text, lowerHex) != "" {
			return fmt.Sprintf("%d digits of lower-case hex", n)
		}
		return ""
	}
}

// without returns the shape of texts that have none of these characters.
func without(characters, shape string) func(string, int) string {
	return func(text string, _ int) string {
		if strings.ContainsAny(text, characters) {
			return shape
		}
		return ""
	}
}

func unspaced(text string, _ int) string {
	if asciiSpace(text[0]) || asciiSpace(text[len(text)-1]) {
		return "without white space at either end"
	}
	return ""
}

func stripped(text string, _ int) string {
	if strings.TrimSpace(text) != text {
		return "without white space at either end"
	}
	return ""
}

func ofNumber(text string, _ int) string {
	if d, err := event.ParseDecimal(text); err != nil || d.String() != text {
		return "a number such as 12.5"
	}
	return ""
}

func atMost(text string, n int) string {
	if utf8.RuneCountInString(text) > n {
		return fmt.Sprintf("at most %d characters long", n)
	}
	return ""
}

func ofNDigits(text string, n int) string {
	if len(text) != n || ofDigits(text, n) != "" {
		return fmt.Sprintf("%d digits", n)
	}
	return ""
}

func ofDigits(text string, _ int) string {
	if strings.Trim(text, "0123456789") != "" {
		return "digits alone"
	}
	return ""
}

func below(text string, n int) string {
	if v, err := strconv.Atoi(text); err != nil || v < 0 || v >= n || strconv.Itoa(v) != text {
		return fmt.Sprintf("a number from 0 to %d", n-1)
	}
	return ""
}

// timeLike returns the shape of times that are written like this.
func timeLike(layout string) func(string, int) string {
	return func(text string, _ int) string {
		// The text is the beginning of a time; the rest of any time completes it.
		whole := text + strings.Replace("2006-01-01T00:00:00.000000000Z"[min(len(text), 30):], "-00", "-01", 1)
		if _, err := ParseTime(whole); err != nil || len(text) != len(layout) {
			return "a time like " + layout
		}
		return ""
	}
}
