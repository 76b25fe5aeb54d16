package declare

import (
	"cmp"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// Place names a member of the declaration by the path of names that leads to it. Names may contain
// dots, so the parts are separated by a byte that YAML refuses.
type Place string

// Separator is between the names of a Place.
const Separator = "\x1f"

// In returns the place of a member of p.
func (p Place) In(name string) Place {
	if p == "" {
		return Place(name)
	}
	return p + Separator + Place(name)
}

// Parent returns the place that contains p. ok is false for the root.
func (p Place) Parent() (Place, bool) {
	i := strings.LastIndex(string(p), Separator)
	switch {
	case i >= 0:
		return p[:i], true
	case p != "":
		return "", true
	}
	return "", false
}

// String returns the place as people read it.
func (p Place) String() string { return strings.ReplaceAll(string(p), Separator, ".") }

// Position is where a member stands in the file. A zero position means that it is not there.
type Position struct {
	yamlfile.Position
	// Verbatim says that the scalar stands in the file exactly as it reads, on one line. Then an
	// offset into the text is also an offset into the line. Inset is the length of its quote, which
	// comes before it.
	Verbatim bool
	Inset    int
}

// Report collects mistakes and knows where members stand.
type Report struct {
	File     string
	Keys     map[Place]Position // of member names
	Values   map[Place]Position
	Broken   map[Place]bool // already reported, so mistakes that follow from it are not reported
	Mistakes Mistakes
}

// NewReport returns a report on the file of this name. A declaration made in Go has none.
func NewReport(file string) *Report {
	const usual = 200 // members of a file, so that the maps need not grow
	return &Report{File: file, Keys: make(map[Place]Position, usual), Values: make(map[Place]Position, usual), Broken: map[Place]bool{}}
}

// Mistake reports what is wrong with the value at p.
func (r *Report) Mistake(p Place, what, instead string) {
	if !r.IsBroken(p) {
		r.Mistakes = append(r.Mistakes, r.At(p, r.Position(p), what, instead))
	}
}

// MistakeAt reports what is wrong offset bytes into text, the value at p.
func (r *Report) MistakeAt(p Place, text string, offset int, what, instead string) {
	if r.IsBroken(p) {
		return
	}
	pos := r.Position(p)
	if pos.Verbatim && offset >= 0 && offset <= len(text) {
		pos.Column += pos.Inset + utf8.RuneCountInString(text[:offset])
	}
	r.Mistakes = append(r.Mistakes, r.At(p, pos, what, instead))
}

// Misnamed reports what is wrong with the name of the member at p.
func (r *Report) Misnamed(p Place, what, instead string) {
	if r.IsBroken(p) {
		return
	}
	pos, ok := r.Keys[p]
	if !ok {
		pos = r.Position(p)
	}
	r.Mistakes = append(r.Mistakes, r.At(p, pos, what, instead))
}

func (r *Report) At(p Place, pos Position, what, instead string) Mistake {
	return Mistake{File: r.File, Line: pos.Line, Column: pos.Column, Where: p.String(), What: what, Instead: instead}
}

// Position returns the position of the value at p. If the file does not have that value, Position
// returns the position of the nearest member around it.
func (r *Report) Position(p Place) Position {
	for {
		if pos, ok := r.Values[p]; ok {
			return pos
		}
		if pos, ok := r.Keys[p]; ok {
			return pos
		}
		up, ok := p.Parent()
		if !ok {
			return Position{}
		}
		p = up
		if pos, ok := r.Keys[p]; ok { // a missing member: use the name of what should contain it
			return pos
		}
	}
}

// Entries yields the texts of a member that may be a list, each with its place.
func (r *Report) Entries(p Place, text string) iter.Seq2[Place, string] {
	return func(yield func(Place, string) bool) {
		i := 0
		for line := range strings.SplitSeq(text, "\n") {
			at := p.In(strconv.Itoa(i))
			if _, listed := r.Values[at]; !listed && !strings.Contains(text, "\n") {
				at = p // one text, which is not a list
			}
			if !yield(at, line) {
				return
			}
			i++
		}
	}
}

func (r *Report) IsBroken(p Place) bool {
	for {
		if r.Broken[p] {
			return true
		}
		up, ok := p.Parent()
		if !ok {
			return false
		}
		p = up
	}
}

// Compare orders positions by where they stand in the file.
func (a Position) Compare(b Position) int {
	return cmp.Or(a.Line-b.Line, a.Column-b.Column)
}
