package keys

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Fold is a field of the payload that an id shows without its spelling, such as {email | lower}. A
// digest takes the field as the id shows it. So an event in another spelling is the same event.
type Fold struct {
	Path   event.Path
	steps  []step
	number bool // it makes numbers
}

// Folding returns the functions with which a variable begins that an id may have, in the spelling
// of [Part.Canonical]. It is empty if there are none.
func (p *Part) Folding() string {
	text := ""
	for _, f := range p.Funcs {
		if !f.Function().Folds {
			break
		}
		text += "|" + f.Name
	}
	return text
}

// LosesBeyond reports whether the variable loses more than the functions of folding do, as
// [Part.Folding] writes them. They must be the first of its functions.
func (p *Part) LosesBeyond(folding string) bool {
	return slices.ContainsFunc(p.Funcs[strings.Count(folding, "|"):], func(f Func) bool {
		of := f.Function()
		return of.Lossy || of.LossyWith && f.Arg != ""
	})
}

// Folds returns the fields that the template, an id, shows in one folded form alone.
func (t *Template) Folds() []Fold {
	var folds []Fold
	for i := range t.parts {
		p := &t.parts[i]
		whole := func(q Part) bool { return q.Path.Equal(p.Path) && q.Folding() == "" && !q.Lossy }
		n := strings.Count(p.Folding(), "|")
		if p.Path.IsZero() || n == 0 || slices.ContainsFunc(t.parts, whole) {
			continue
		}
		folds = append(folds, Fold{p.Path, p.apply[:n], p.Funcs[n-1].Function().keeps == keepsNumber})
	}
	return folds
}

// append appends the canonical form of n as the id shows it. n is text. If a function refuses it,
// the id does so too, and the form does not matter.
func (f *Fold) append(dst []byte, n event.Node) []byte {
	text, err := []byte(n.Text()), error(nil)
	for i := range f.steps {
		if text, err = f.steps[i].run(text, 0, &Source{}); err != nil {
			return appendString(dst, n.Text())
		}
	}
	if f.number {
		return append(dst, text...)
	}
	return appendString(dst, string(text))
}
