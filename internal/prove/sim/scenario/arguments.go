package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// arguments are the words and name=value pairs after a command. Each is taken once. What is left
// over is a mistake.
type arguments struct {
	left []string
	body []string
	err  error
}

// word takes the next argument that is not a pair. It returns an empty text if there is none.
func (a *arguments) word() string {
	for i, s := range a.left {
		if !strings.Contains(s, "=") {
			a.left = append(a.left[:i:i], a.left[i+1:]...)
			return s
		}
	}
	return ""
}

// flag takes the word if it is there, and reports whether it was.
func (a *arguments) flag(word string) bool {
	for i, s := range a.left {
		if s == word {
			a.left = append(a.left[:i:i], a.left[i+1:]...)
			return true
		}
	}
	return false
}

// pair takes the value of a name. It returns an empty text if the name is not given.
func (a *arguments) pair(name string) string {
	for i, s := range a.left {
		if value, ok := strings.CutPrefix(s, name+"="); ok {
			a.left = append(a.left[:i:i], a.left[i+1:]...)
			return value
		}
	}
	return ""
}

func (a *arguments) number(name string, otherwise int) int {
	text := a.pair(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		a.err = fmt.Errorf("%s=%s is not a number", name, text)
	}
	return n
}

func (a *arguments) duration(name string, otherwise time.Duration) time.Duration {
	text := a.pair(name)
	if text == "" {
		return otherwise
	}
	d, err := span(text)
	if err != nil {
		a.err = fmt.Errorf("%s=%s: %w", name, text, err)
	}
	return d
}

func (a *arguments) done() error {
	if a.err == nil && len(a.left) > 0 {
		a.err = fmt.Errorf("does not know %q", a.left[0])
	}
	return a.err
}

// span reads a duration. Days may precede what time.ParseDuration knows: 6d23h, -7d.
func span(text string) (time.Duration, error) {
	sign, rest := time.Duration(1), text
	if cut, ok := strings.CutPrefix(text, "-"); ok {
		sign, rest = -1, cut
	}
	var total time.Duration
	if days, after, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration", text)
		}
		total, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration", text)
		}
		total += d
	}
	return sign * total, nil
}
