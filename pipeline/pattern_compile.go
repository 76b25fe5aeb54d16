package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/keys"
)

// patterns compiles the patterns. Only readers need them, so the two functions do not call this.
func (c *compiler) patterns() {
	for _, name := range slices.Sorted(maps.Keys(c.spec.Patterns)) {
		at := place("patterns").In(name)
		if !plainName(name) || len(name) > 64 {
			c.Misnamed(at, fmt.Sprintf("%q is not a valid name for a pattern", name), plainNameForm+", at most 64")
		}
		if p := c.pattern(at, name, c.spec.Patterns[name]); p != nil {
			p.define()
			c.p.patterns = append(c.p.patterns, p)
		}
	}
}

// pattern compiles one pattern. It returns nil if there is a mistake.
func (c *compiler) pattern(at place, name string, s PatternSpec) *Pattern {
	if c.IsBroken(at) {
		return nil
	}
	p := &Pattern{name: name, index: s.Index, total: s.Total, top: s.Top, newest: s.Newest, since: s.Since, rate: s.Rate,
		secret: c.p.secret}
	switch {
	case s.Total != "" && len(s.Read) > 0:
		c.Mistake(at.In("total"), "a pattern reads events or totals, not both", "read: or total: alone")
		return nil
	case s.Total != "":
		return c.totalPattern(at, p, s)
	case s.Top != 0 && len(s.Read) > 0:
		c.Misnamed(at.In("top"), "top is for totals, but this pattern reads events",
			"total: and an aggregate with rank, or the pattern without top,")
		return nil
	case len(s.Read) == 0:
		if !c.IsBroken(at.In("read")) && !c.IsBroken(at.In("total")) {
			c.Mistake(at, name+" does not say what it reads", "read: [order.placed], or total: and an aggregate,")
		}
		return nil
	}
	types, ok := c.typesOf(at, p, s)
	if !ok {
		return nil
	}
	names, ok := c.as(at, p, s, types)
	if !ok || !c.samePartition(at, p, types, names) {
		return nil
	}
	if n := p.Partitions(); n > MaxPartitions {
		c.Mistake(at, fmt.Sprintf("%s reads %d partitions to answer any question, and one question reads at most %d", name, n,
			MaxPartitions), "a smaller N in shard:N of the pk that it reads")
		return nil
	}
	p.sharedSort(types, names)
	for _, t := range types {
		pk, sk, was := p.templates(t)
		for _, tpl := range append([]*keys.Template{pk, sk}, was...) {
			p.lacks = p.lacks || tpl.UsesHMAC() && len(p.secret) == 0
		}
	}
	return p
}

// typesOf finds the event types and their keys in the pattern's index.
func (c *compiler) typesOf(at place, p *Pattern, s PatternSpec) ([]*eventType, bool) {
	before := len(c.Mistakes)
	known := slices.Sorted(maps.Keys(c.spec.Events))
	if s.Index != "" && !slices.Contains(c.p.indexes, s.Index) {
		index := s.Index
		for n := 1; !itemform.IsIndex(index) || slices.Contains(c.p.indexes, index); n++ {
			index = fmt.Sprint("GSI", n)
		}
		instead := "indexes: {" + index + `: {pk: "…", sk: "…"}} in the event types that it reads`
		if len(c.p.indexes) > 0 {
			instead = declare.Suggest(s.Index, c.p.indexes) + ", or " + instead
		}
		c.Mistake(at.In("index"), "no event type is in "+s.Index, instead+",")
		return nil, false
	}
	var types []*eventType
	for i, name := range s.Read {
		pos := at.In("read").In(strconv.Itoa(i))
		t, ok := c.p.types[name]
		switch {
		case c.IsBroken(pos):
		case !ok:
			c.Mistake(pos, "there is no event type "+name, declare.Suggest(name, known))
		case slices.Contains(s.Read[:i], name):
			c.Mistake(pos, name+" is read twice", "it once")
		default:
			pk, sk, _ := p.templates(t)
			if s.Index != "" && !slices.ContainsFunc(t.indexes, func(ix index) bool { return ix.name == s.Index }) {
				c.Mistake(pos, fmt.Sprintf("events of %s are not in %s", name, s.Index),
					fmt.Sprintf("only the types that are, or %s: {pk: …, sk: …} in the indexes: of %s,", s.Index, name))
			} else if pk == nil || sk == nil {
				return nil, false // the template has a mistake, which was reported
			} else {
				types = append(types, t)
				p.types = append(p.types, name)
			}
		}
	}
	slices.Sort(p.types)
	return types, len(c.Mistakes) == before
}

// templates returns the key of t in the pattern's index, and what pk was earlier.
func (p *Pattern) templates(t *eventType) (pk, sk *keys.Template, was []*keys.Template) {
	if p.index == "" {
		return t.pk, t.sk, nil
	}
	for _, ix := range t.indexes {
		if ix.name == p.index {
			return ix.pk, ix.sk, ix.was
		}
	}
	return nil, nil, nil
}

// as returns the parameter's name for each variable that has one of its own.
func (c *compiler) as(at place, p *Pattern, s PatternSpec, types []*eventType) (map[string]string, bool) {
	before := len(c.Mistakes)
	used := map[string]bool{}
	for _, t := range types {
		pk, sk, was := p.templates(t)
		for _, tpl := range append([]*keys.Template{pk, sk}, was...) {
			for _, part := range tpl.Parts() {
				if part.IsVariable() {
					used[variable(part)] = true
				}
			}
		}
	}
	names := map[string]string{}
	for v := range used { // a field may have the name of a derived value: id and @id
		if path, derived := strings.CutPrefix(v, "@"); derived && used[path] {
			names[v] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.As)) {
		pos := at.In("as").In(name)
		if !plainName(name) {
			c.Misnamed(pos, fmt.Sprintf("%q is not a valid name for a parameter", name), plainNameForm)
		}
		for i, path := range s.As[name] {
			switch {
			case !used[path]:
				c.Mistake(pos.In(strconv.Itoa(i)), p.notInKey(path), p.keyFor(path, used))
			case names[path] != "" && names[path] != name:
				c.Mistake(pos.In(strconv.Itoa(i)), fmt.Sprintf("%s has two names, %s and %s", path, names[path], name), "one of the two")
			default:
				names[path] = name
			}
		}
	}
	return names, len(c.Mistakes) == before
}

// place names the key that the pattern reads by.
func (p *Pattern) place() string {
	if p.index == "" {
		return "the table's own key"
	}
	return p.index
}

func (p *Pattern) notInKey(name string) string {
	if p.index == "" {
		return name + " is not in the table's own key"
	}
	return name + " is in no key of " + p.index
}

// keyFor says what to declare so that a question can ask for a field that is in no key yet.
func (p *Pattern) keyFor(path string, used map[string]bool) string {
	if best := nearest.Name(path, slices.Sorted(maps.Keys(used))); best != "" {
		return best
	}
	if p.index == "" {
		return "an index: whose keys have {" + path + "}"
	}
	return fmt.Sprintf("{%s | pad:12} in a sort key to ask for a range of numbers, or {%s} in a key to ask for one value,", path, path)
}

// samePartition makes the partition keys that the pattern reads. All types must have the same.
func (c *compiler) samePartition(at place, p *Pattern, types []*eventType, names map[string]string) bool {
	for _, t := range types {
		pk, _, was := p.templates(t)
		mine := p.slots(pk, names)
		switch {
		case len(p.pks) == 0:
			p.pks = append(p.pks, mine)
		case mine.String() != p.pks[0].String():
			c.differs(at, p, types[0], t, names)
			return false
		}
		for _, old := range was {
			earlier := p.slots(old, names)
			if slices.ContainsFunc(p.pks, func(k keyTemplate) bool { return k.String() == earlier.String() }) {
				continue
			}
			for _, sl := range earlier {
				if (sl.kind == slotValue || sl.kind == slotTime) && !slices.ContainsFunc(p.pks[0], func(own slot) bool {
					return own.name == sl.name && own.kind == sl.kind
				}) {
					c.Mistake(at,
						fmt.Sprintf("%s cannot read what is stored under %s in %s: %s is not in today's pk, so that nobody gives it",
							p.name, old.Text(), p.place(), sl.reads), "an index of its own, under another name,")
					return false
				}
			}
			p.pks = append(p.pks, earlier)
		}
	}
	return true
}

// differs reports two types with different partition keys. If only names of fields differ, it says
// how to match them.
func (c *compiler) differs(at place, p *Pattern, a, b *eventType, names map[string]string) {
	pkA, _, _ := p.templates(a)
	pkB, _, _ := p.templates(b)
	what := fmt.Sprintf("%s and %s have different pk in %s: %s and %s, so no Query reads both", a.name, b.name, p.place(),
		canonicalTemplate(pkA), canonicalTemplate(pkB))
	x, y := p.slots(pkA, names), p.slots(pkB, names)
	pairs := map[string]bool{}
	var wants []string
	for i := range min(len(x), len(y)) {
		if x[i].kind == y[i].kind && x[i].name != y[i].name {
			if want := fmt.Sprintf("%s: [%s, %s]", lastName(x[i].name), x[i].reads, y[i].reads); !pairs[want] {
				pairs[want] = true
				wants = append(wants, want)
			}
			y[i].name = x[i].name
		}
	}
	instead := "one pattern for each of them, or the same pk in both"
	if len(wants) > 0 && x.String() == y.String() {
		instead = "as: {" + strings.Join(wants, ", ") + "} beside read:"
	}
	c.Mistake(at.In("read"), what, instead)
}

// lastName returns the last member of a path as the name of a parameter.
func lastName(path string) string {
	name := path[strings.LastIndexAny(path, ".@")+1:]
	if !plainName(name) {
		return "value"
	}
	return name
}

// slots makes a template's slots.
func (p *Pattern) slots(t *keys.Template, names map[string]string) keyTemplate {
	parts := t.Parts()
	list := make(keyTemplate, 0, len(parts))
	for i := range parts {
		part := &parts[i]
		if !part.IsVariable() {
			list = list.withText(part.Literal)
			continue
		}
		s := slot{kind: slotValue, reads: variable(*part), part: part}
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
		if s.reads == "@type" && s.kind == slotValue && p.total == "" { // of totals, a question gives the type
			if s.kind = slotTypes; len(p.types) == 1 && len(part.Funcs) == 0 {
				list = list.withText(p.types[0])
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

// sharedSort finds what the sort keys of all types begin with.
func (p *Pattern) sharedSort(types []*eventType, names map[string]string) {
	for i, t := range types {
		_, sk, _ := p.templates(t)
		mine := p.slots(sk, names)
		if i == 0 {
			p.sk, p.whole = mine, true
			continue
		}
		shared := p.sk.shared(mine)
		p.whole = p.whole && shared.String() == mine.String() && shared.String() == p.sk.String()
		p.sk = shared
	}
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

// totalPattern compiles a pattern that reads totals.
func (c *compiler) totalPattern(at place, p *Pattern, s PatternSpec) *Pattern {
	before := len(c.Mistakes)
	for _, m := range []struct {
		name  string
		given bool
	}{{"index", s.Index != ""}, {"since", !s.Since.IsZero()}} {
		if m.given {
			c.Misnamed(at.In(m.name), m.name+" cannot be used with totals", "the pattern without it")
		}
	}
	f, ok := c.p.feedOf(s.Total)
	if !ok {
		if _, declared := c.spec.Aggregates[s.Total]; !declared {
			c.Mistake(at.In("total"), "there is no aggregate "+s.Total,
				declare.Suggest(s.Total, slices.Sorted(maps.Keys(c.spec.Aggregates))))
		}
		return nil
	}
	if p.top != 0 {
		return c.topPattern(at, p, s, f.def)
	}
	used, names := map[string]bool{}, map[string]string{}
	for _, t := range f.by {
		for _, part := range t.Parts() {
			if part.IsVariable() {
				used[variable(part)] = true
			}
		}
		p.lacks = p.lacks || t.UsesHMAC() && len(p.secret) == 0
	}
	for _, name := range slices.Sorted(maps.Keys(s.As)) {
		for i, path := range s.As[name] {
			if !used[path] {
				c.Mistake(at.In("as").In(name).In(strconv.Itoa(i)), path+" is not in by of "+s.Total,
					declare.Suggest(path, slices.Sorted(maps.Keys(used))))
			}
			names[path] = name
		}
	}
	p.byNames = f.def.By
	for _, t := range f.by {
		p.by = append(p.by, p.slots(t, names))
	}
	if len(c.Mistakes) > before {
		return nil
	}
	return p
}

// topPattern compiles a pattern that reads the totals with the greatest values of a window.
func (c *compiler) topPattern(at place, p *Pattern, s PatternSpec, def *aggregate.Definition) *Pattern {
	before := len(c.Mistakes)
	if p.top < 0 || p.top > 1000 {
		c.Mistake(at.In("top"), fmt.Sprintf("top is %d", p.top), "a whole number from 1 to 1000")
	}
	if def.Rank.Value == "" {
		c.Mistake(at.In("top"), s.Total+" declares no rank, so its totals are in no order", "rank: and one of its values in "+s.Total+
			", such as rank: {value: "+def.Values[0].Name+"},")
	}
	if len(s.As) > 0 {
		c.Misnamed(at.In("as"), "as cannot be used with top", "the pattern without it")
	}
	if s.Newest {
		c.Misnamed(at.In("newest"), "newest cannot be used with top", "the pattern without it")
	}
	if len(c.Mistakes) > before {
		return nil
	}
	return p
}

// define sets the text that the pattern's page tokens are bound to.
func (p *Pattern) define() {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v", p.index, p.total, p.types, p.newest)
	for _, t := range slices.Concat(p.pks, []keyTemplate{p.sk}, p.by) {
		b.WriteString("\n" + t.String())
	}
	p.def = b.String()
}
