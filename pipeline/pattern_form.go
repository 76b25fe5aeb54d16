package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/keys"
)

// Form is a pattern as the pipeline has compiled it. [New] makes a [Pattern] of it.
type Form struct {
	Name    string
	Index   string   // empty: the table's own key
	Types   []string // in byte order
	Total   string   // the aggregate, if totals are read
	Top     int      // how many totals are read, if those with the greatest values are; otherwise 0
	Newest  bool
	Since   time.Time
	Rate    int64
	PKs     []keyTemplate // the first is pk of today; the others are those of was
	SK      keyTemplate   // what the sort keys of all types begin with
	Whole   bool          // whether sk is all of each sort key
	By      []keyTemplate // for a pattern that reads totals, in the order of the aggregate's by
	ByNames []string
	Secret  []byte
	Lacks   error // why no question is answered: the secret is needed and missing; nil: it is not
}

// newPattern makes a pattern. It sets the text that the pattern's page tokens are bound to.
func newPattern(p *Form) *Pattern {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v", p.Index, p.Total, p.Types, p.Newest)
	for _, t := range slices.Concat(p.PKs, []keyTemplate{p.SK}, p.By) {
		b.WriteString("\n" + t.String())
	}
	return &Pattern{*p, b.String()}
}

// slotKind says what a slot of a key is filled with.
type slotKind uint8

const (
	slotText  slotKind = iota // its own text
	slotValue                 // a parameter
	slotTime                  // a parameter that is a time: the slot holds the period that the time is in
	slotShard                 // one of N numbers; all of them are read
	slotTypes                 // the event type; those of the pattern are read
)

// slot is a piece of a key as a pattern sees it.
type slot struct {
	kind   slotKind
	text   string     // of slotText
	name   string     // of a parameter
	reads  string     // what the variable reads: a path, or a derived value with its @
	part   *keys.Part // the variable
	from   int        // the function that begins with a time, or with the number of a shard
	unit   string     // of slotTime: minute, hour, day, month, year, or time, unix and unixms
	shards int
}

// keyTemplate is a template of a key as a pattern sees it.
type keyTemplate []slot

// place names the key that the pattern reads by.
func (p *Form) place() string {
	if p.Index == "" {
		return "the table's own key"
	}
	return p.Index
}

func (p *Form) notInKey(name string) string {
	if p.Index == "" {
		return name + " is not in the table's own key"
	}
	return name + " is in no key of " + p.Index
}

// keyFor says what to declare so that a question can ask for a field that is in no key yet.
func (p *Form) keyFor(path string, used map[string]bool) string {
	if best := nearest.Name(path, slices.Sorted(maps.Keys(used))); best != "" {
		return best
	}
	if p.Index == "" {
		return "an index: whose keys have {" + path + "}"
	}
	return fmt.Sprintf("{%s | pad:12} in a sort key to ask for a range of numbers, or {%s} in a key to ask for one value,", path, path)
}

// slots makes a template's slots.
func (p *Form) slots(t *keys.Template, names map[string]string) keyTemplate {
	parts := t.Parts()
	list := make(keyTemplate, 0, len(parts))
	for i := range parts {
		part := &parts[i]
		if !part.IsVariable() {
			list = list.withText(part.Literal)
			continue
		}
		s := slot{kind: slotValue, reads: part.Variable(), part: part}
		if s.name = names[s.reads]; s.name == "" {
			s.name = strings.TrimPrefix(s.reads, "@")
		}
		for i, f := range part.Funcs {
			switch {
			case s.kind == slotShard:
			case f.Name == "shard":
				s.kind, s.from = slotShard, i+1
				s.shards, _ = strconv.Atoi(f.Arg)
			case f.Function().Time != "" || f.Name == "unix" || f.Name == "unixms":
				s.kind, s.from, s.unit = slotTime, i, f.Name // the last one decides: time | day
			}
		}
		if s.kind == slotValue && s.reads == "@at" {
			s.kind, s.unit = slotTime, "time"
		}
		if s.reads == "@type" && s.kind == slotValue && p.Total == "" { // of totals, a question gives the type
			if s.kind = slotTypes; len(p.Types) == 1 && len(part.Funcs) == 0 {
				list = list.withText(p.Types[0])
				continue
			}
		}
		list = append(list, s)
	}
	return list
}

// withText appends text to the last slot if that is text, or as a new one.
func (t keyTemplate) withText(text string) keyTemplate {
	if n := len(t); n > 0 && t[n-1].kind == slotText {
		t[n-1].text += text
		return t
	}
	return append(t, slot{kind: slotText, text: text})
}

// shared returns what t and other begin with.
func (t keyTemplate) shared(other keyTemplate) keyTemplate {
	for i := range t {
		switch {
		case i == len(other):
			return t[:i]
		case t[i].String() == other[i].String() && t[i].kind == other[i].kind:
		case t[i].kind == slotText && other[i].kind == slotText:
			n := 0
			for n < min(len(t[i].text), len(other[i].text)) && t[i].text[n] == other[i].text[n] {
				n++
			}
			short := slices.Clone(t[:i])
			if n > 0 {
				short = append(short, slot{kind: slotText, text: strings.ToValidUTF8(t[i].text[:n], "")})
			}
			return short
		default:
			return t[:i]
		}
	}
	return t
}

// Partitions returns how many partition keys the templates make for one value of each field. If that
// is more than 2^30, it returns some number above 2^30.
func (p *Form) Partitions() int {
	n := 0
	for _, t := range p.PKs {
		each := 1
		for _, s := range t {
			switch s.kind {
			case slotShard:
				each *= s.shards
			case slotTypes:
				each *= len(p.Types)
			}
			if each > 1<<30 {
				return each
			}
		}
		n += each
	}
	return n
}
