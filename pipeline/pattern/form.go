package pattern

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

// MaxPartitions is the largest number of partitions that one question reads.
const MaxPartitions = 1000

// Form is a pattern as a pipeline has compiled it. [New] makes a [Pattern] of it. Programs take
// patterns of a pipeline, and need neither.
type Form struct {
	Name    string
	Index   string   // empty: the table's own key
	Types   []string // in byte order
	Total   string   // the aggregate, if totals are read
	Top     int      // how many totals are read, if those with the greatest values are; otherwise 0
	Newest  bool
	Since   time.Time
	Rate    int64
	PKs     []Key // the first is pk of today; the others are those of was
	SK      Key   // what the sort keys of all types begin with
	Whole   bool  // whether sk is all of each sort key
	By      []Key // for a pattern that reads totals, in the order of the aggregate's by; with Top those that its rank is within
	ByNames []string
	Secret  []byte
	Lacks   error // why no question is answered: the secret is needed and missing; nil: it is not
}

// New makes a pattern of what a pipeline has compiled.
func New(p *Form) *Pattern {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v", p.Index, p.Total, p.Types, p.Newest)
	for _, t := range slices.Concat(p.PKs, []Key{p.SK}, p.By) {
		b.WriteString("\n" + t.String())
	}
	return &Pattern{*p, b.String()}
}

// SlotKind says what a slot of a key is filled with.
type SlotKind uint8

const (
	SlotText  SlotKind = iota // its own text
	SlotValue                 // a parameter
	SlotTime                  // a parameter that is a time: the slot holds the period that the time is in
	SlotShard                 // one of N numbers; all of them are read
	SlotTypes                 // the event type; those of the pattern are read
)

// Slot is a piece of a key as a pattern sees it.
type Slot struct {
	Kind   SlotKind
	Text   string     // of SlotText
	Name   string     // of a parameter
	Reads  string     // what the variable reads: a path, or a derived value with its @
	Part   *keys.Part // the variable
	From   int        // the function that begins with a time, or with the number of a shard
	Unit   string     // of SlotTime: the name of a function that makes times, such as day
	Shards int
	Sorts  string // the function that puts its values in order as text, if the file says that they are numbers or times
}

// Key is a template of a key as a pattern sees it.
type Key []Slot

// Order says of each variable which function puts its values in order as text.
func (t Key) Order(of func(field string) string) {
	for i := range t {
		t[i].Sorts = of(t[i].Reads)
	}
}

// Place names the key that the pattern reads by.
func (p *Form) Place() string {
	if p.Index == "" {
		return "the table's own key"
	}
	return p.Index
}

// NotInKey says that the key has no such variable.
func (p *Form) NotInKey(name string) string {
	if p.Index == "" {
		return name + " is not in the table's own key"
	}
	return name + " is in no key of " + p.Index
}

// KeyFor says what to declare so that a question can ask for a field that is in no key yet.
func (p *Form) KeyFor(path string, used map[string]bool) string {
	if best := nearest.Name(path, slices.Sorted(maps.Keys(used))); best != "" {
		return best
	}
	if p.Index == "" {
		return "an index: whose keys have {" + path + "}"
	}
	return fmt.Sprintf("{%s | pad:12} in a sort key to ask for a range of numbers, or {%s} in a key to ask for one value", path, path)
}

// Slots makes the slots of a template. names has the names of parameters, by what a variable reads.
func (p *Form) Slots(t *keys.Template, names map[string]string) Key {
	parts := t.Parts()
	list := make(Key, 0, len(parts))
	for i := range parts {
		part := &parts[i]
		if !part.IsVariable() {
			list = list.withText(part.Literal)
			continue
		}
		s := Slot{Kind: SlotValue, Reads: part.Variable(), Part: part}
		if s.Name = names[s.Reads]; s.Name == "" {
			s.Name = strings.TrimPrefix(s.Reads, "@")
		}
		for i, f := range part.Funcs {
			switch {
			case s.Kind == SlotShard:
			case f.Function().Spreads:
				s.Kind, s.From = SlotShard, i+1
				s.Shards, _ = strconv.Atoi(f.Arg)
			case f.Function().Reads != "":
				s.Kind, s.From, s.Unit = SlotTime, i+1, "time"
			case f.Function().IsTime():
				s.Kind, s.From, s.Unit = SlotTime, i, f.Name // the last one decides: time | day
			}
		}
		if s.Kind == SlotValue && s.Reads == "@at" {
			s.Kind, s.Unit = SlotTime, "time"
		}
		if s.Reads == "@type" && s.Kind == SlotValue && p.Total == "" { // of totals, a question gives the type
			if s.Kind = SlotTypes; len(p.Types) == 1 && len(part.Funcs) == 0 {
				list = list.withText(p.Types[0])
				continue
			}
		}
		list = append(list, s)
	}
	return list
}

// withText appends text to the last slot if that is text, or as a new one.
func (t Key) withText(text string) Key {
	if n := len(t); n > 0 && t[n-1].Kind == SlotText {
		t[n-1].Text += text
		return t
	}
	return append(t, Slot{Kind: SlotText, Text: text})
}

// Shared returns what t and other begin with.
func (t Key) Shared(other Key) Key {
	for i := range t {
		switch {
		case i == len(other):
			return t[:i]
		case t[i].String() == other[i].String() && t[i].Kind == other[i].Kind:
		case t[i].Kind == SlotText && other[i].Kind == SlotText:
			n := 0
			for n < min(len(t[i].Text), len(other[i].Text)) && t[i].Text[n] == other[i].Text[n] {
				n++
			}
			short := slices.Clone(t[:i])
			if n > 0 {
				short = append(short, Slot{Kind: SlotText, Text: strings.ToValidUTF8(t[i].Text[:n], "")})
			}
			return short
		default:
			return t[:i]
		}
	}
	return t
}

// Partitions returns how many partition keys the templates make for one value of each field. If
// that is more than 2^30, it returns some number above 2^30.
func (p *Form) Partitions() int {
	n := 0
	for _, t := range p.PKs {
		each := 1
		for _, s := range t {
			switch s.Kind {
			case SlotShard:
				each *= s.Shards
			case SlotTypes:
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
