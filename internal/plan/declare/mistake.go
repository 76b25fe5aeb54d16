package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// Mistake is one thing wrong with a declaration.
type Mistake struct {
	File         string // empty for a declaration made in Go
	Line, Column int    // from 1, columns in characters; 0 for a declaration made in Go
	Where        string // the member: "events.order.placed.key.pk"
	What         string // what is wrong
	Instead      string // what to write; may be empty
}

// String returns "file:line:column: what; write …".
func (m Mistake) String() string {
	var b strings.Builder
	switch {
	case m.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", m.File, m.Line, m.Column)
	case m.File != "":
		fmt.Fprintf(&b, "%s: ", m.File)
	case m.Where != "":
		fmt.Fprintf(&b, "%s: ", m.Where)
	}
	b.WriteString(m.What + yamlfile.Advice(m.Instead))
	return b.String()
}

// Mistakes lists everything that is wrong with a declaration, in the order of the file.
type Mistakes []Mistake

// Sorted returns ms in file order, without repetitions.
func (ms Mistakes) Sorted() Mistakes {
	slices.SortStableFunc(ms, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Where, b.Where), strings.Compare(a.What, b.What))
	})
	return slices.Compact(ms)
}
