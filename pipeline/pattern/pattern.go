// Package pattern has the access patterns that pipeline.yaml declares: which index a [Pattern]
// reads, and which parameters it has. Package question plans what answers one.
package pattern

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/keys"
)

// Pattern is one question that the file declares: an access pattern. GetItem and Query can answer
// it.
type Pattern struct {
	is  Form
	Def string // the form as text; what a page token is bound to
}

// Form returns what the pattern is made of. The caller must not change it.
func (p *Pattern) Form() *Form { return &p.is }

// Name returns the pattern's name.
func (p *Pattern) Name() string { return p.is.Name }

// Index returns the index that is read. It is empty for the table's own key.
func (p *Pattern) Index() string { return p.is.Index }

// Types lists the event types that are read, in byte order. It is empty if totals are read.
func (p *Pattern) Types() []string { return slices.Clone(p.is.Types) }

// Total returns the aggregate whose totals are read. It is empty if events are read.
func (p *Pattern) Total() string { return p.is.Total }

// Top returns how many totals with the greatest values are read. It is 0 if the totals of groups
// are read.
func (p *Pattern) Top() int { return p.is.Top }

// Rate returns how often the question is asked each second. It is 0 if the file does not say.
func (p *Pattern) Rate() int64 { return p.is.Rate }

// Newest reports whether the newest items come first, if the question does not say.
func (p *Pattern) Newest() bool { return p.is.Newest }

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
	add := func(t Key, sort bool) {
		for _, s := range t {
			if s.Kind != SlotValue && s.Kind != SlotTime {
				continue
			}
			i := slices.IndexFunc(list, func(other Parameter) bool { return other.Name == s.Name })
			if i < 0 {
				i = len(list)
				list = append(list, Parameter{Name: s.Name, Sort: sort})
			}
			list[i].Personal = list[i].Personal || s.Hashed()
			list[i].Time = list[i].Time || s.Kind == SlotTime
		}
	}
	for _, t := range p.is.PKs {
		add(t, false)
	}
	add(p.is.SK, true)
	for _, t := range p.is.By {
		add(t, false)
	}
	return list
}

// Hashed reports whether hmac is applied to the slot's value.
func (s *Slot) Hashed() bool {
	return s.Part != nil && s.Part.Applies(func(f keys.Function) bool { return f.Keyed })
}

// Reversed reports whether the slot's values are in reverse order.
func (s *Slot) Reversed() bool {
	return s.Part != nil && s.Part.Applies(func(f keys.Function) bool { return f.Reverses })
}

// String returns the slot as the file writes it.
func (s Slot) String() string {
	switch s.Kind {
	case SlotText:
		return s.Text
	case SlotTypes:
		return "{@type}"
	}
	name := s.Name
	if s.Kind == SlotShard {
		name = s.Reads
	}
	for _, f := range s.Part.Funcs {
		name += "|" + f.Name
		if f.Arg != "" {
			name += ":" + f.Arg
		}
	}
	return "{" + name + "}"
}

// String returns the template in one normal spelling, with the names of parameters.
func (t Key) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.String())
	}
	return b.String()
}

// Partitions returns how many partitions a question reads at least: one for each shard, for each
// type in pk, and for each earlier pk.
func (p *Pattern) Partitions() int { return p.is.Partitions() }

// Request returns the request that answers the pattern, for people: GetItem or Query, and its key
// as the file writes it.
func (p *Pattern) Request() string {
	if p.is.Total != "" {
		texts := make([]string, len(p.is.By))
		for i, t := range p.is.By {
			texts[i] = p.is.ByNames[i] + " " + t.String()
		}
		top := ""
		if p.is.Top > 0 {
			top = fmt.Sprintf("the top %d ", p.is.Top)
		}
		return strings.TrimSpace("Query " + top + "totals of " + p.is.Total + " " + strings.Join(texts, ", "))
	}
	variable := slices.ContainsFunc(p.is.SK, func(s Slot) bool { return s.Kind != SlotText })
	pk, sk := p.is.Index+"PK = "+p.is.PKs[0].String(), p.is.Index+"SK"
	switch {
	case p.is.Whole && !variable && p.is.Index == "":
		return "GetItem " + pk + ", SK = " + p.is.SK.String()
	case p.is.Whole && !variable:
		return "Query " + pk + ", " + sk + " = " + p.is.SK.String()
	case len(p.is.SK) > 0 && p.is.SK[0].Kind == SlotText:
		return "Query " + pk + ", " + sk + " begins with " + p.is.SK[0].Text
	}
	return "Query " + pk
}
