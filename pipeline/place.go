package pipeline

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// place names a member of the declaration by the path of names that leads to it. Names may contain
// dots, so the parts are separated by a byte that YAML refuses.
type place string

const placeSeparator = "\x1f"

func (p place) in(name string) place {
	if p == "" {
		return place(name)
	}
	return p + placeSeparator + place(name)
}

// parent returns the place that contains p. ok is false for the root.
func (p place) parent() (place, bool) {
	i := strings.LastIndex(string(p), placeSeparator)
	switch {
	case i >= 0:
		return p[:i], true
	case p != "":
		return "", true
	}
	return "", false
}

// String returns the place as people read it.
func (p place) String() string { return strings.ReplaceAll(string(p), placeSeparator, ".") }

// position is where a member stands in the file. A zero position means that it is not there.
type position struct {
	yamlfile.Position
	// verbatim says that the scalar stands in the file exactly as it reads, on one line. Then an
	// offset into the text is also an offset into the line. inset is the length of its quote, which
	// comes before it.
	verbatim bool
	inset    int
}

// report collects mistakes and knows where members stand.
type report struct {
	file     string
	keys     map[place]position // of member names
	values   map[place]position
	broken   map[place]bool // already reported, so mistakes that follow from it are not reported
	mistakes Mistakes
}

func newReport(file string) *report {
	const usual = 200 // members of a file, so that the maps need not grow
	return &report{file: file, keys: make(map[place]position, usual), values: make(map[place]position, usual), broken: map[place]bool{}}
}

// mistake reports what is wrong with the value at p.
func (r *report) mistake(p place, what, instead string) {
	if !r.isBroken(p) {
		r.mistakes = append(r.mistakes, r.at(p, r.position(p), what, instead))
	}
}

// mistakeAt reports what is wrong offset bytes into text, the value at p.
func (r *report) mistakeAt(p place, text string, offset int, what, instead string) {
	if r.isBroken(p) {
		return
	}
	pos := r.position(p)
	if pos.verbatim && offset >= 0 && offset <= len(text) {
		pos.Column += pos.inset + utf8.RuneCountInString(text[:offset])
	}
	r.mistakes = append(r.mistakes, r.at(p, pos, what, instead))
}

// misnamed reports what is wrong with the name of the member at p.
func (r *report) misnamed(p place, what, instead string) {
	if r.isBroken(p) {
		return
	}
	pos, ok := r.keys[p]
	if !ok {
		pos = r.position(p)
	}
	r.mistakes = append(r.mistakes, r.at(p, pos, what, instead))
}

func (r *report) at(p place, pos position, what, instead string) Mistake {
	return Mistake{File: r.file, Line: pos.Line, Column: pos.Column, Where: p.String(), What: what, Instead: instead}
}

// position returns the position of the value at p. If the file does not have that value, position
// returns the position of the nearest member around it.
func (r *report) position(p place) position {
	for {
		if pos, ok := r.values[p]; ok {
			return pos
		}
		if pos, ok := r.keys[p]; ok {
			return pos
		}
		up, ok := p.parent()
		if !ok {
			return position{}
		}
		p = up
		if pos, ok := r.keys[p]; ok { // a missing member: use the name of what should contain it
			return pos
		}
	}
}

// entries yields the texts of a member that may be a list, each with its place.
func (r *report) entries(p place, text string) iter.Seq2[place, string] {
	return func(yield func(place, string) bool) {
		i := 0
		for line := range strings.SplitSeq(text, "\n") {
			at := p.in(strconv.Itoa(i))
			if _, listed := r.values[at]; !listed && !strings.Contains(text, "\n") {
				at = p // one text, which is not a list
			}
			if !yield(at, line) {
				return
			}
			i++
		}
	}
}

func (r *report) isBroken(p place) bool {
	for {
		if r.broken[p] {
			return true
		}
		up, ok := p.parent()
		if !ok {
			return false
		}
		p = up
	}
}
