package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/keys"
)

// Pattern is one question that the file declares: an access pattern. GetItem and Query can answer
// it. [Pattern.Plan] says which ones do, for given values.
type Pattern struct {
	name    string
	index   string   // empty: the table's own key
	types   []string // in byte order
	total   string   // the aggregate, if totals are read
	top     int      // how many totals are read, if those with the greatest values are; otherwise 0
	newest  bool
	since   time.Time
	rate    int64
	pks     []keyTemplate // the first is pk of today; the others are those of was
	sk      keyTemplate   // what the sort keys of all types begin with
	whole   bool          // whether sk is all of each sort key
	by      []keyTemplate // for a pattern that reads totals, in the order of the aggregate's by
	byNames []string
	def     string // everything above as text; what a page token is bound to
	secret  []byte
	lacks   bool // the secret is needed and missing
}

// Name returns the pattern's name.
func (p *Pattern) Name() string { return p.name }

// Index returns the index that is read. It is empty for the table's own key.
func (p *Pattern) Index() string { return p.index }

// Types lists the event types that are read, in byte order. It is empty if totals are read.
func (p *Pattern) Types() []string { return slices.Clone(p.types) }

// Total returns the aggregate whose totals are read. It is empty if events are read.
func (p *Pattern) Total() string { return p.total }

// Top returns how many totals with the greatest values are read. It is 0 if the totals of groups
// are read.
func (p *Pattern) Top() int { return p.top }

// Rate returns how often the question is asked each second. It is 0 if the file does not say.
func (p *Pattern) Rate() int64 { return p.rate }

// Newest reports whether the newest items come first, if the question does not say.
func (p *Pattern) Newest() bool { return p.newest }

// Parameter is a value that a question gives.
type Parameter struct {
	Name string
	// Sort reports whether the parameter is in the sort key alone. Such a parameter may be left
	// out.
	Sort bool
	// Personal reports whether the value is hashed with hmac before it is stored.
	Personal bool
	// Time reports whether the parameter is a time. If it is in the partition key, a range from and
	// to may be given in its place.
	Time bool
}

// Parameters lists what a question can give, in the order of the key.
func (p *Pattern) Parameters() []Parameter {
	var list []Parameter
	add := func(t keyTemplate, sort bool) {
		for _, s := range t {
			if s.kind != slotValue && s.kind != slotTime {
				continue
			}
			i := slices.IndexFunc(list, func(other Parameter) bool { return other.Name == s.name })
			if i < 0 {
				i = len(list)
				list = append(list, Parameter{Name: s.name, Sort: sort})
			}
			list[i].Personal = list[i].Personal || s.hashed()
			list[i].Time = list[i].Time || s.kind == slotTime
		}
	}
	for _, t := range p.pks {
		add(t, false)
	}
	add(p.sk, true)
	for _, t := range p.by {
		add(t, false)
	}
	return list
}

// Patterns lists the patterns by name.
func (p *Pipeline) Patterns() []*Pattern { return slices.Clone(p.patterns) }

// Pattern returns the named pattern. The error names the nearest one.
func (p *Pipeline) Pattern(name string) (*Pattern, error) {
	names := make([]string, len(p.patterns))
	for i, known := range p.patterns {
		if names[i] = known.name; known.name == name {
			return known, nil
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("there is no pattern %s: the pipeline declares none; write patterns: into it", name)
	case nearest.Name(name, names) != "":
		return nil, fmt.Errorf("there is no pattern %s; the nearest is %s", name, nearest.Name(name, names))
	}
	return nil, fmt.Errorf("there is no pattern %s; the pipeline has %s", name, declare.Suggest(name, names))
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

// hashed reports whether hmac is applied to the slot's value.
func (s *slot) hashed() bool {
	return s.part != nil && slices.ContainsFunc(s.part.Funcs, func(f keys.Func) bool { return f.Name == "hmac" })
}

// reversed reports whether the slot's values are in reverse order.
func (s *slot) reversed() bool {
	return s.part != nil && slices.ContainsFunc(s.part.Funcs, func(f keys.Func) bool { return f.Name == "rev" })
}

// String returns the slot as the file writes it.
func (s slot) String() string {
	switch s.kind {
	case slotText:
		return s.text
	case slotTypes:
		return "{@type}"
	}
	name := s.name
	if s.kind == slotShard {
		name = s.reads
	}
	for _, f := range s.part.Funcs {
		name += "|" + f.Name
		if f.Arg != "" {
			name += ":" + f.Arg
		}
	}
	return "{" + name + "}"
}

// String returns the template in one normal spelling, with the names of parameters.
func (t keyTemplate) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.String())
	}
	return b.String()
}

// Partitions returns how many partitions a question reads at least: one for each shard, for each
// type in pk, and for each earlier pk.
func (p *Pattern) Partitions() int { return partitions(p.pks, len(p.types)) }

// partitions returns how many partition keys templates make for one value of each field. If that is
// more than 2^30, it returns some number above 2^30.
func partitions(pks []keyTemplate, types int) int {
	n := 0
	for _, t := range pks {
		each := 1
		for _, s := range t {
			switch s.kind {
			case slotShard:
				each *= s.shards
			case slotTypes:
				each *= types
			}
			if each > 1<<30 {
				return each
			}
		}
		n += each
	}
	return n
}

// Request returns the request that answers the pattern, for people: GetItem or Query, and its key
// as the file writes it.
func (p *Pattern) Request() string {
	if p.top > 0 {
		return fmt.Sprintf("Query the top %d totals of %s", p.top, p.total)
	}
	if p.total != "" {
		texts := make([]string, len(p.by))
		for i, t := range p.by {
			texts[i] = p.byNames[i] + " " + t.String()
		}
		return strings.TrimSpace("Query totals of " + p.total + " " + strings.Join(texts, ", "))
	}
	variable := slices.ContainsFunc(p.sk, func(s slot) bool { return s.kind != slotText })
	pk, sk := p.index+"PK = "+p.pks[0].String(), p.index+"SK"
	switch {
	case p.whole && !variable && p.index == "":
		return "GetItem " + pk + ", SK = " + p.sk.String()
	case p.whole && !variable:
		return "Query " + pk + ", " + sk + " = " + p.sk.String()
	case len(p.sk) > 0 && p.sk[0].kind == slotText:
		return "Query " + pk + ", " + sk + " begins with " + p.sk[0].text
	}
	return "Query " + pk
}
