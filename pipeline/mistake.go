package pipeline

import (
	"strings"

	"github.com/ingot-events/ingot/internal/plan/declare"
)

// Mistake is one thing wrong with a declaration.
type Mistake struct {
	File         string // empty for a Spec declared in Go
	Line, Column int    // from 1, columns in characters; 0 for a Spec declared in Go
	Where        string // the member: "events.order.placed.key.pk"
	What         string // what is wrong
	Instead      string // what to write; may be empty
}

// String returns "file:line:column: what; write …".
func (m Mistake) String() string { return declare.Mistake(m).String() }

// Mistakes lists everything that is wrong with a declaration, in the order of the file.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// mistakes returns what is wrong with a declaration, in the order of the file, without repetitions.
func mistakes(list declare.Mistakes) Mistakes {
	ms := make(Mistakes, 0, len(list))
	for _, m := range list.Sorted() {
		ms = append(ms, Mistake(m))
	}
	return ms
}

// These are what a declaration is read with.
type (
	report   = declare.Report
	place    = declare.Place
	position = declare.Position
)
