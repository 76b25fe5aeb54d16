package keys

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
		if shape := variable.Funcs[n-1].shape(rest); shape != "" {
			return t.notMade(text, shape)
		}
	}
	return nil
}

func (t *Template) notMade(text, shape string) error {
	return fmt.Errorf("%s is not what %s makes, which is %s", quote(text), t.text, shape)
}

// shape returns what the function makes, in words, if text cannot be its result. It returns "" if
// text can be its result.
func (f Func) shape(text string) string {
	n, _ := strconv.Atoi(f.Arg)
	switch f.Name {
	case "hmac", "sha256":
		if n == 0 {
			n = 64
		}
		if len(text) != n || strings.Trim(text, lowerHex) != "" {
			return fmt.Sprintf("%d digits of lower-case hex", n)
		}
	case "lower":
		if strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return "in lower case"
		}
	case "upper":
		if strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") {
			return "in upper case"
		}
	case "trim":
		if asciiSpace(text[0]) || asciiSpace(text[len(text)-1]) {
			return "without white space at either end"
		}
	case "first":
		if utf8.RuneCountInString(text) > n {
			return fmt.Sprintf("at most %d characters long", n)
		}
	case "pad":
		if len(text) != n || !digitsAlone(text) {
			return fmt.Sprintf("%d digits", n)
		}
	case "shard":
		if v, err := strconv.Atoi(text); err != nil || v < 0 || v >= n || strconv.Itoa(v) != text {
			return fmt.Sprintf("a number from 0 to %d", n-1)
		}
	case "unix", "unixms":
		if !digitsAlone(text) {
			return "digits alone"
		}
	default:
		return timeShape(f.Name, text)
	}
	return ""
}

// timeShapes are times as the functions of these names write them.
var timeShapes = map[string]string{"time": "2006-01-02T15:04:05.000000000Z", "minute": "2006-01-02T15:04", "hour": "2006-01-02T15",
	"day": "2006-01-02", "month": "2006-01", "year": "2006"}

func timeShape(function, text string) string {
	example, timed := timeShapes[function]
	if !timed {
		return ""
	}
	// The text is the beginning of a time; the rest of any time completes it.
	whole := text + strings.Replace("2006-01-01T00:00:00.000000000Z"[min(len(text), 30):], "-00", "-01", 1)
	if _, err := ParseTime(whole); err != nil || len(text) != len(example) {
		return "a time like " + example
	}
	return ""
}

func digitsAlone(text string) bool { return strings.Trim(text, "0123456789") == "" }
