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
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// Patterns lists the patterns by name.
func (p *Pipeline) Patterns() []*pattern.Pattern { return slices.Clone(p.patterns) }

// Pattern returns the named pattern. The error names the nearest one.
func (p *Pipeline) Pattern(name string) (*pattern.Pattern, error) {
	names := make([]string, len(p.patterns))
	for i, known := range p.patterns {
		if names[i] = known.Name(); known.Name() == name {
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

// patterns compiles the patterns. Only readers need them, so the two functions do not call this.
func (c *compiler) patterns() {
	for _, name := range slices.Sorted(maps.Keys(c.spec.Patterns)) {
		at := place("patterns").In(name)
		if !plainName(name) || len(name) > 64 {
			c.Misnamed(at, fmt.Sprintf("%q is not a valid name for a pattern", name), plainNameForm+", at most 64")
		}
		if p := c.pattern(at, name, c.spec.Patterns[name]); p != nil {
			c.p.patterns = append(c.p.patterns, pattern.New(p))
		}
	}
}

// pattern compiles one pattern. It returns nil if there is a mistake.
func (c *compiler) pattern(at place, name string, s PatternSpec) *pattern.Form {
	if c.IsBroken(at) {
		return nil
	}
	p := &pattern.Form{Name: name, Index: s.Index, Total: s.Total, Top: s.Top, Newest: s.Newest, Since: s.Since, Rate: s.Rate,
		Secret: c.p.plan.Secret}
	switch {
	case s.Total != "" && len(s.Read) > 0:
		c.Mistake(at.In("total"), "a pattern reads events or totals, not both", "read: or total: alone")
		return nil
	case s.Total != "":
		return c.totalPattern(at, p, s)
	case s.Top != 0 && len(s.Read) > 0:
		c.Misnamed(at.In("top"), "top is for totals, but this pattern reads events",
			"total: and an aggregate with rank, or the pattern without top")
		return nil
	case len(s.Read) == 0:
		if !c.IsBroken(at.In("read")) && !c.IsBroken(at.In("total")) {
			c.Mistake(at, name+" does not say what it reads", "read: ["+firstOr(c.goodNames(), "order.placed")+
				"], or total: and an aggregate")
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
	if n := p.Partitions(); n > pattern.MaxPartitions {
		c.Mistake(at, fmt.Sprintf("%s reads %d partitions to answer any question, and one question reads at most %d", name, n,
			pattern.MaxPartitions), "a smaller N in shard:N of the pk that it reads")
		return nil
	}
	sharedSort(p, types, names)
	p.SK.Order(func(field string) string { return c.p.plan.Sorts(types, field) })
	for _, t := range types {
		pk, sk, was := keysIn(t, p.Index)
		for _, tpl := range append([]*keys.Template{pk, sk}, was...) {
			if tpl.UsesHMAC() && len(p.Secret) == 0 {
				p.Lacks = ErrNoSecret
			}
		}
	}
	return p
}

// typesOf finds the event types and their keys in the pattern's index.
func (c *compiler) typesOf(at place, p *pattern.Form, s PatternSpec) ([]*planner.Type, bool) {
	before := len(c.Mistakes)
	known := slices.Sorted(maps.Keys(c.spec.Events))
	if slices.ContainsFunc(s.Read, func(name string) bool { return c.IsBroken(place("events").In(name).In("indexes")) }) {
		return nil, false
	}
	if s.Index != "" && !slices.Contains(c.p.indexes, s.Index) {
		index := s.Index
		for n := 1; !itemform.IsIndex(index) || slices.Contains(c.p.indexes, index); n++ {
			index = fmt.Sprint("GSI", n)
		}
		instead := "indexes: {" + index + `: {pk: "…", sk: "…"}} in the event types that it reads`
		if len(c.p.indexes) > 0 {
			instead = declare.Suggest(s.Index, c.p.indexes) + ", or " + instead
		}
		c.Mistake(at.In("index"), "no event type is in "+s.Index, instead)
		return nil, false
	}
	var types []*planner.Type
	for i, name := range s.Read {
		pos := at.In("read").In(strconv.Itoa(i))
		t, ok := c.p.plan.Types[name]
		switch {
		case c.IsBroken(pos):
		case !ok:
			c.Mistake(pos, "there is no event type "+name, declare.Suggest(name, known))
		case slices.Contains(s.Read[:i], name):
			c.Mistake(pos, name+" is read twice", "it once")
		default:
			pk, sk, _ := keysIn(t, p.Index)
			if s.Index != "" && !slices.ContainsFunc(t.Indexes, func(ix planner.Index) bool { return ix.Name == s.Index }) {
				c.Mistake(pos, fmt.Sprintf("events of %s are not in %s", name, s.Index),
					fmt.Sprintf("only the types that are, or %s: {pk: …, sk: …} in the indexes: of %s", s.Index, name))
			} else if pk == nil || sk == nil {
				return nil, false // the template has a mistake, which was reported
			} else {
				types = append(types, t)
				p.Types = append(p.Types, name)
			}
		}
	}
	slices.Sort(p.Types)
	return types, len(c.Mistakes) == before
}

// keysIn returns the key of t in an index, and what pk was earlier. The table's own key has no
// name.
func keysIn(t *planner.Type, name string) (pk, sk *keys.Template, was []*keys.Template) {
	if name == "" {
		return t.PK, t.SK, nil
	}
	for _, ix := range t.Indexes {
		if ix.Name == name {
			return ix.PK, ix.SK, ix.Was
		}
	}
	return nil, nil, nil
}

// as returns the parameter's name for each variable that has one of its own.
func (c *compiler) as(at place, p *pattern.Form, s PatternSpec, types []*planner.Type) (map[string]string, bool) {
	before := len(c.Mistakes)
	used := map[string]bool{}
	for _, t := range types {
		pk, sk, was := keysIn(t, p.Index)
		for _, tpl := range append([]*keys.Template{pk, sk}, was...) {
			for _, part := range tpl.Parts() {
				if part.IsVariable() {
					used[part.Variable()] = true
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
				c.Mistake(pos.In(strconv.Itoa(i)), p.NotInKey(path), p.KeyFor(path, used))
			case names[path] != "" && names[path] != name:
				c.Mistake(pos.In(strconv.Itoa(i)), fmt.Sprintf("%s has two names, %s and %s", path, names[path], name), "one of the two")
			default:
				names[path] = name
			}
		}
	}
	return names, len(c.Mistakes) == before
}

// samePartition makes the partition keys that the pattern reads. All types must have the same.
func (c *compiler) samePartition(at place, p *pattern.Form, types []*planner.Type, names map[string]string) bool {
	for _, t := range types {
		pk, _, was := keysIn(t, p.Index)
		mine := p.Slots(pk, names)
		switch {
		case len(p.PKs) == 0:
			p.PKs = append(p.PKs, mine)
		case mine.String() != p.PKs[0].String():
			c.differs(at, p, types[0], t, names)
			return false
		}
		for _, old := range was {
			earlier := p.Slots(old, names)
			if slices.ContainsFunc(p.PKs, func(k pattern.Key) bool { return k.String() == earlier.String() }) {
				continue
			}
			for _, sl := range earlier {
				asked := sl.Kind == pattern.SlotValue || sl.Kind == pattern.SlotTime
				same := func(own pattern.Slot) bool { return own.Name == sl.Name && own.Kind == sl.Kind }
				if asked && !slices.ContainsFunc(p.PKs[0], same) {
					c.Mistake(at,
						fmt.Sprintf("%s cannot read what is stored under %s in %s: %s is not in today's pk, so that nobody gives it",
							p.Name, old.Text(), p.Place(), sl.Reads), "an index of its own, under another name")
					return false
				}
			}
			p.PKs = append(p.PKs, earlier)
		}
	}
	return true
}

// differs reports two types with different partition keys. If only names of fields differ, it says
// how to match them.
func (c *compiler) differs(at place, p *pattern.Form, a, b *planner.Type, names map[string]string) {
	pkA, _, _ := keysIn(a, p.Index)
	pkB, _, _ := keysIn(b, p.Index)
	what := fmt.Sprintf("%s and %s have different pk in %s: %s and %s, so no Query reads both", a.Name, b.Name, p.Place(),
		pkA.Canonical(), pkB.Canonical())
	x, y := p.Slots(pkA, names), p.Slots(pkB, names)
	pairs := map[string]bool{}
	var wants []string
	for i := range min(len(x), len(y)) {
		if x[i].Kind == y[i].Kind && x[i].Name != y[i].Name {
			if want := fmt.Sprintf("%s: [%s, %s]", lastName(x[i].Name), x[i].Reads, y[i].Reads); !pairs[want] {
				pairs[want] = true
				wants = append(wants, want)
			}
			y[i].Name = x[i].Name
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

// sharedSort finds what the sort keys of all types begin with.
func sharedSort(p *pattern.Form, types []*planner.Type, names map[string]string) {
	for i, t := range types {
		_, sk, _ := keysIn(t, p.Index)
		mine := p.Slots(sk, names)
		if i == 0 {
			p.SK, p.Whole = mine, true
			continue
		}
		shared := p.SK.Shared(mine)
		p.Whole = p.Whole && shared.String() == mine.String() && shared.String() == p.SK.String()
		p.SK = shared
	}
}

// totalPattern compiles a pattern that reads totals.
func (c *compiler) totalPattern(at place, p *pattern.Form, s PatternSpec) *pattern.Form {
	before := len(c.Mistakes)
	var by []*keys.Template // of what the question gives
	for _, m := range []struct {
		name  string
		given bool
	}{{"index", s.Index != ""}, {"since", !s.Since.IsZero()}} {
		if m.given {
			c.Misnamed(at.In(m.name), m.name+" cannot be used with totals", "the pattern without it")
		}
	}
	f, ok := c.p.plan.FeedOf(s.Total)
	if !ok {
		if _, declared := c.spec.Aggregates[s.Total]; !declared && !c.IsBroken("aggregates") {
			c.Mistake(at.In("total"), "there is no aggregate "+s.Total,
				declare.Suggest(s.Total, slices.Sorted(maps.Keys(c.spec.Aggregates))))
		}
		return nil
	}
	where := "by of " + s.Total
	for i, name := range f.Def.By {
		if p.Top == 0 || slices.Contains(f.Def.Rank.Within, name) {
			p.ByNames, by = append(p.ByNames, name), append(by, f.By[i])
		}
	}
	if p.Top != 0 {
		where = "what the rank of " + s.Total + " is within"
		c.topPattern(at, p, s, f.Def)
	}
	used, names := map[string]bool{}, map[string]string{}
	for _, t := range by {
		for _, part := range t.Parts() {
			if part.IsVariable() {
				used[part.Variable()] = true
			}
		}
		if t.UsesHMAC() && len(p.Secret) == 0 {
			p.Lacks = ErrNoSecret
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.As)) {
		for i, path := range s.As[name] {
			if !used[path] {
				c.Mistake(at.In("as").In(name).In(strconv.Itoa(i)), path+" is not in "+where,
					declare.Suggest(path, slices.Sorted(maps.Keys(used))))
			}
			names[path] = name
		}
	}
	for _, t := range by {
		p.By = append(p.By, p.Slots(t, names))
	}
	if len(c.Mistakes) > before {
		return nil
	}
	return p
}

// topPattern checks a pattern that reads the totals with the greatest values of a list.
func (c *compiler) topPattern(at place, p *pattern.Form, s PatternSpec, def *aggregate.Definition) {
	if p.Top < 0 || p.Top > 1000 {
		c.Mistake(at.In("top"), fmt.Sprintf("top is %d", p.Top), "a whole number from 1 to 1000")
	}
	if def.Rank.Value == "" {
		instead := "the pattern without top"
		i := slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return !v.Op.Textual() })
		if i >= 0 && len(def.By) > 0 && def.Spread == 1 { // what a rank needs
			instead = "rank: {value: " + def.Values[i].Name + "} in " + s.Total + ", or " + instead
		}
		c.Mistake(at.In("top"), s.Total+" declares no rank, so its totals are in no order", instead)
	}
	if len(s.As) > 0 && len(def.Rank.Within) == 0 {
		c.Misnamed(at.In("as"), "as cannot be used with top if the rank is of all totals", "the pattern without it")
	}
	if s.Newest {
		c.Misnamed(at.In("newest"), "newest cannot be used with top", "the pattern without it")
	}
}
