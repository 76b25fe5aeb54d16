package main

import (
	"fmt"
	"io"
	"strings"
)

// targets holds the limits of the figures, and the result for each.
type targets struct {
	out    io.Writer
	missed []string
}

// atLeast checks a figure that should be high.
func (t *targets) atLeast(what string, got, limit float64) {
	t.judge(what, got >= limit, fmt.Sprintf("%s, at least %s", short(got), short(limit)))
}

// atMost checks a figure that should be low.
func (t *targets) atMost(what string, got, limit float64) {
	t.judge(what, got <= limit, fmt.Sprintf("%s, at most %s", short(got), short(limit)))
}

func (t *targets) judge(what string, kept bool, figures string) {
	verdict := "kept  "
	if !kept {
		verdict = "MISSED"
		t.missed = append(t.missed, what+": "+figures)
	}
	fmt.Fprintf(t.out, "  %s  %s: %s\n", verdict, what, figures)
}

// short returns a figure with at least three digits, without trailing zeros.
func short(v float64) string {
	text := fmt.Sprintf("%.3f", v)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
