package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/plan/values"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// plainName reports whether a text can be the name of an aggregate, or one of aggregates, by
// members and values. Such names are used without quotes in keys, attribute names and expressions.
func plainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

const plainNameForm = "a lower-case letter, then lower-case letters, digits and _"

// aggregate compiles one aggregate and adds a feed to every event type in its from.
func (c *compiler) aggregate(name string, s AggregateSpec) {
	at := place("aggregates").In(name)
	if !plainName(name) || len(name) > 64 {
		c.Misnamed(at, fmt.Sprintf("%q is not a valid name for an aggregate", name), plainNameForm+", at most 64")
	}
	def := &aggregate.Definition{Name: name, Since: s.Since, Window: s.Window, Retain: s.Retain, Spread: max(1, s.Spread)}
	setCalendar(def)
	c.generation(at, s)
	c.window(at, s)
	if s.Spread < 0 || s.Spread > 1000 {
		c.Mistake(at.In("spread"), fmt.Sprintf("spread is %d", s.Spread), "a whole number from 1 to 1000")
	}
	switch s.OnExpire {
	case "", "keep":
	case "subtract":
		def.OnExpire = aggregate.Subtract
	default:
		can := []string{"keep", "subtract"}
		if c.overLatest(s) {
			can = can[1:]
		}
		c.Mistake(at.In("onExpire"), "unknown onExpire "+s.OnExpire, declare.Suggest(s.OnExpire, can))
		c.Broken[at.In("onExpire")] = true
	}
	by := c.by(at.In("by"), def, s.By)
	feeds := c.from(at.In("from"), def, s, by)
	if len(feeds) == 0 {
		return
	}
	c.rank(at.In("rank"), def, s, feeds)
	c.movedBy(at, def, s)
	def.Text, def.KeyCheck = planner.DefinitionText(def, by, feeds), c.keyCheck(def, by, feeds)
	c.measureDefinition(at, def)
	c.p.definitions = append(c.p.definitions, def)
	for t, f := range feeds {
		c.p.plan.Types[t].Feeds = append(c.p.plan.Types[t].Feeds, *f)
	}
}

// rank compiles the order in which the totals of a window are kept. It needs one item for each
// total, because the index cannot rank a part of a total.
func (c *compiler) rank(at place, def *aggregate.Definition, s AggregateSpec, feeds map[string]*planner.Feed) {
	if s.Rank.Value == "" && s.Rank.Shards == 0 && s.Rank.Within == nil {
		return
	}
	var ranked []string
	for _, v := range def.Values {
		if !v.Op.Textual() {
			ranked = append(ranked, v.Name)
		}
	}
	i := slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return v.Name == s.Rank.Value })
	number := cmp.Or(declare.Suggest(s.Rank.Value, ranked), "the name of a count, sum, min or max")
	switch {
	case s.Rank.Value == "" || i < 0 && c.writes(def.Name, s, s.Rank.Value): // reported as missing, or where it is computed
	case i < 0:
		c.Mistake(at.In("value"), "there is no value "+s.Rank.Value+" in "+def.Name, number)
	case def.Values[i].Op.Textual():
		c.Mistake(at.In("value"), fmt.Sprintf("%s is a %s, and totals are ranked by a number", s.Rank.Value, def.Values[i].Op), number)
	}
	if len(def.By) == 0 {
		c.Mistake(at, "without by there is only one total in each window, so there is nothing to rank",
			`by: {player: "{player_id}"} beside it`)
	}
	if s.Spread > 1 {
		c.Mistake(at, fmt.Sprintf("spread is %d, and totals that are ranked have one item each: the index cannot add up their shares",
			s.Spread), "spread: 1 beside it, or leave rank out")
	}
	if s.Rank.Shards < 0 || s.Rank.Shards > 100 {
		c.Mistake(at.In("shards"), fmt.Sprintf("shards is %d", s.Rank.Shards), "a whole number from 1 to 100")
	}
	def.Rank = aggregate.Rank{Value: s.Rank.Value, Shards: max(1, s.Rank.Shards), Within: c.within(at.In("within"), s)}
	if def.Rank.Within != nil {
		for _, f := range feeds {
			f.Listed = len(lanes.RankPartition(def, lanes.WindowText(lanes.WindowStart(def, time.Unix(0, 0))), def.Rank.Shards-1, nil))
		}
	}
}

// within compiles which totals of a window are one list, in the order of by. The values of by that
// a list leaves open tell its totals apart, so within cannot name all of them.
func (c *compiler) within(at place, s AggregateSpec) (within []string) {
	before, names := len(c.Mistakes), slices.Sorted(maps.Keys(s.By))
	for i, name := range s.Rank.Within {
		switch pos := at.In(strconv.Itoa(i)); {
		case len(names) == 0: // there is no by, which was reported
		case !slices.Contains(names, name):
			c.Mistake(pos, name+" is not in by", declare.Suggest(name, names))
		case slices.Contains(s.Rank.Within[:i], name):
			c.Mistake(pos, name+" is named twice", "it once")
		default:
			within = append(within, name)
		}
	}
	slices.Sort(within)
	if len(within) == len(names) && len(within) > 0 && len(c.Mistakes) == before {
		instead := "rank without within"
		if fewer := within[:len(within)-1]; len(fewer) > 0 {
			instead = "within: [" + strings.Join(fewer, ", ") + "], or " + instead
		}
		c.Mistake(at, "within names all of by, so each total would be alone in its list", instead)
	}
	return within
}

// maxMoved is how many totals one event can move in the transaction that puts its item.
const maxMoved = planner.MaxAtomic - 1

// movedBy compiles what moves the totals, and their bounds.
func (c *compiler) movedBy(at place, def *aggregate.Definition, s AggregateSpec) {
	p := at.In("movedBy")
	switch s.MovedBy {
	case "", "stream":
	case "put":
		def.MovedBy = aggregate.Put
	default:
		c.Mistake(p, "unknown movedBy "+s.MovedBy, declare.Suggest(s.MovedBy, []string{"stream", "put"}))
		return
	}
	if def.MovedBy == aggregate.Put {
		c.canMove(at, def, s)
	}
	c.bounds(at.In("atLeast"), def, s, s.AtLeast, false)
	c.bounds(at.In("atMost"), def, s, s.AtMost, true)
}

// canMove refuses what cannot be moved by the put. Unlike an update from the stream, an update in a
// transaction cannot be corrected, so it may only add. Everything that happens to an item after its
// put is counted by the streams function. A newer revision would be counted there.
func (c *compiler) canMove(at place, def *aggregate.Definition, s AggregateSpec) {
	for _, t := range slices.Sorted(maps.Keys(s.From)) {
		p := at.In("from").In(t)
		for _, v := range def.Values {
			_, supplied := s.From[t].Values[v.Name]
			if supplied && v.Op != aggregate.Count && v.Op != aggregate.Sum {
				c.Mistake(p.In("values").In(v.Name), fmt.Sprintf("%s is a %s, and a total that is movedBy: put has only counts and sums",
					v.Name, v.Op), "count or sum, or movedBy: stream")
			}
		}
		declared, ok := c.p.plan.Types[t]
		if !ok {
			continue
		}
		if declared.Latest {
			c.Misnamed(p, fmt.Sprintf("mode of %s is latest, and a total that is movedBy: put counts only events that never change", t),
				"movedBy: stream, or mode: insert for "+t)
		}
		if declared.Moved++; declared.Moved == maxMoved+1 {
			c.Misnamed(p, fmt.Sprintf("%s feeds more than %d aggregates that are movedBy: put, and a transaction has at most %d items", t,
				maxMoved, planner.MaxAtomic), "movedBy: stream for some of them")
		}
	}
}

// bounds compiles the floors or the ceilings, which are in a member of their own. A bound is a
// condition on one item, so the total must be one item. It holds against events only: an expired
// event would be subtracted without a condition.
func (c *compiler) bounds(at place, def *aggregate.Definition, s AggregateSpec, limits map[string]event.Decimal, ceiling bool) {
	if len(limits) == 0 {
		return
	}
	member, of := declare.NameOf(at), aggregate.Bound{Ceiling: ceiling}
	if def.MovedBy != aggregate.Put {
		c.Misnamed(at, member+" is a condition of the transaction that puts an event, and these totals are moved by the stream",
			"movedBy: put beside it")
	}
	if s.Spread > 1 {
		c.Misnamed(at, fmt.Sprintf("spread is %d, and a %s needs a total that is one item", s.Spread, of),
			"spread: 1 beside it, or leave "+member+" out")
	}
	if def.OnExpire == aggregate.Subtract {
		c.Misnamed(at, "onExpire is subtract, so what expires could bring the total "+of.Beyond(),
			"onExpire: keep beside it, or leave "+member+" out")
	}
	var names []string
	for _, v := range def.Values {
		if v.Op == aggregate.Count || v.Op == aggregate.Sum {
			names = append(names, v.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit, p := limits[name], at.In(name)
		i := slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return v.Name == name })
		switch least, both := s.AtLeast[name]; {
		case i < 0 && c.writes(def.Name, s, name): // reported where it is computed
		case i < 0:
			c.Misnamed(p, "there is no value "+name+" in "+def.Name, cmp.Or(declare.Suggest(name, names), "the name of a count or sum"))
		case !slices.Contains(names, name):
			c.Misnamed(p, fmt.Sprintf("%s is a %s, and a %s is for a sum", name, def.Values[i].Op, of),
				cmp.Or(declare.Suggest(name, names), "the name of a count or sum"))
		case !limit.Summable():
			c.Mistake(p, name+" is beyond 10^18 or has more than 9 decimals, and a sum cannot have such a value",
				"a number such as 0 or -100.5")
		case both && limit.Cmp(least) < 0:
			c.Mistake(p, fmt.Sprintf("%s is at most %s, and its floor is %s", name, limit, least), least.String()+" or more")
		default:
			def.Bounds = append(def.Bounds, aggregate.Bound{Value: i, Ceiling: ceiling, Limit: limit})
		}
	}
}

func (c *compiler) generation(at place, s AggregateSpec) {
	switch p := at.In("since"); {
	case s.Since < 1:
		c.Mistake(p, fmt.Sprintf("since is %d", s.Since), "the epoch that introduced this definition, at least 1")
	case s.Since > c.spec.Epoch && !c.IsBroken("epoch"):
		c.Mistake(p, fmt.Sprintf("since: %d is above the file's epoch %d", s.Since, c.spec.Epoch),
			fmt.Sprintf("epoch: %d at the top", s.Since))
	}
}

// setCalendar turns a window of the calendar into the form that definitions have.
func setCalendar(def *aggregate.Definition) {
	switch def.Window {
	case Month:
		def.Months, def.Window = 1, 31*lifetime.Day
	case Year:
		def.Months, def.Window = 12, 366*lifetime.Day
	}
}

func (c *compiler) window(at place, s AggregateSpec) {
	calendar := s.Window == Month || s.Window == Year
	if !calendar && (s.Window < 0 || s.Window%time.Second != 0) {
		c.Mistake(at.In("window"), "window is "+s.Window.String(), "whole seconds")
	}
	if s.Retain < 0 || s.Retain%time.Second != 0 {
		c.Mistake(at.In("retain"), "retain is "+s.Retain.String(), "whole seconds")
	}
	c.bounded(at.In("window"), s.Window)
	c.bounded(at.In("retain"), s.Retain)
	if s.Retain > 0 && s.Window == 0 && !c.IsBroken(at.In("window")) {
		c.Mistake(at.In("retain"), "retain needs window: a total without a window has no end to count from",
			"window: 1d beside it, or leave retain out")
	}
}

// overLatest reports whether an event type that feeds an aggregate has mode latest.
func (c *compiler) overLatest(s AggregateSpec) bool {
	for name := range s.From {
		if t, ok := c.p.plan.Types[name]; ok && t.Latest {
			return true
		}
	}
	return false
}

// keyCheck returns a value that tells one secret of hmac from another. It does not reveal the
// secret.
func (c *compiler) keyCheck(def *aggregate.Definition, by []*keys.Template, feeds map[string]*planner.Feed) string {
	hashed := false
	for name := range feeds {
		hashed = hashed || slices.ContainsFunc(by, c.p.plan.Types[name].Hashes)
	}
	if len(c.p.plan.Secret) == 0 || !hashed {
		return ""
	}
	return keys.SecretCheck(c.p.plan.Secret, lanes.HeadKey(def).PK)
}

func (c *compiler) memberName(p place, name string) {
	switch {
	case isReservedValue(name):
		c.Misnamed(p, "the name "+name+" is reserved for Ingot", "another name")
	case !plainName(name):
		c.Misnamed(p, fmt.Sprintf("%q is not a valid name", name), plainNameForm)
	case len(name) > maxMemberName:
		c.Misnamed(p, fmt.Sprintf("the name has %d bytes", len(name)), fmt.Sprintf("at most %d", maxMemberName))
	}
}

// from compiles what each event type adds. Event types that do not exist are not in the result.
func (c *compiler) from(at place, def *aggregate.Definition, s AggregateSpec, by []*keys.Template) map[string]*planner.Feed {
	if len(s.From) == 0 {
		c.Mistake(at, "from has no event type", "from: {"+firstOr(c.goodNames(), "TYPE")+": {values: {n_events: count}}}")
		return nil
	}
	def.Values = c.values(at, s.From)
	c.countValues(at, def.Values)
	feeds, latest := map[string]*planner.Feed{}, c.overLatest(s)
	for _, name := range slices.Sorted(maps.Keys(s.From)) {
		t, ok := c.p.plan.Types[name]
		if !ok {
			c.noType(at.In(name), name)
			continue
		}
		feeds[name] = c.feed(at.In(name), def, t, s.From[name], by, latest)
		c.lifetimes(def, t)
		for i, template := range by {
			p := place("aggregates").In(def.Name).In("by").In(def.By[i])
			c.usesIgnored(p, s.By[def.By[i]], t, template.Paths())
		}
	}
	return feeds
}

// noType reports the name of an event type that is not declared. If a declared type has nearly this
// name, and its name is invalid, it must be renamed anyway. That was reported with the type, so
// nothing is reported here.
func (c *compiler) noType(p place, name string) {
	if c.IsBroken("events") {
		return
	}
	if meant := nearest.Name(name, c.p.plan.Names); meant != "" && badTypeName(meant) != "" && badTypeName(name) == "" {
		return
	}
	if strings.Contains(name, "*") {
		c.Misnamed(p, fmt.Sprintf("there is no event type %s, and * is not a wildcard", name),
			"each event type by its whole name, such as "+firstOr(c.goodNames(), "TYPE"))
		return
	}
	c.Misnamed(p, "there is no event type "+name, cmp.Or(declare.Suggest(name, c.goodNames()), "the name of an event type"))
}

func firstOr(names []string, otherwise string) string {
	if len(names) > 0 {
		return names[0]
	}
	return otherwise
}

// values returns the union of value names over all event types, in byte order. Each name has one
// operation.
func (c *compiler) values(at place, from map[string]FromSpec) []aggregate.Value {
	known := map[string]aggregate.Op{}
	for _, t := range slices.Sorted(maps.Keys(from)) {
		p := at.In(t).In("values")
		if len(from[t].Values) == 0 {
			c.Mistake(p, "values is empty", "values: {n_events: count}")
		}
		for _, name := range slices.Sorted(maps.Keys(from[t].Values)) {
			c.memberName(p.In(name), name)
			v, bad := values.Parse(from[t].Values[name])
			if bad != nil {
				c.badValue(p.In(name), from[t].Values[name], bad)
				continue
			}
			if op, ok := known[name]; ok && op != v.Op {
				c.Mistake(p.In(name), fmt.Sprintf("%s is a %s for another event type and a %s here: a value is computed in one way", name,
					op, v.Op), "another name")
				continue
			}
			known[name] = v.Op
		}
	}
	var list []aggregate.Value
	for _, name := range slices.Sorted(maps.Keys(known)) {
		list = append(list, aggregate.Value{Name: name, Op: known[name]})
	}
	return list
}

// feed compiles what one event type adds.
func (c *compiler) feed(at place, def *aggregate.Definition, t *planner.Type, s FromSpec, by []*keys.Template, latest bool) *planner.Feed {
	f := &planner.Feed{Def: def, By: by, Values: make([]values.Value, len(def.Values))}
	f.Fixed = len(lanes.Key(def, def.Spread-1, nil, aggregate.NoWindow).PK)
	if s.Where != "" {
		condition, bad := where.Parse(s.Where)
		if bad != nil {
			c.MistakeAt(at.In("where"), s.Where, bad.Offset, bad.What, bad.Instead)
		} else {
			f.Where = condition
			c.filledIn(at.In("where"), s.Where, condition)
			c.usesIgnored(at.In("where"), s.Where, t, condition.Paths())
		}
	}
	for i, v := range def.Values {
		text, ok := s.Values[v.Name]
		if !ok {
			continue
		}
		p := at.In("values").In(v.Name)
		compiled, bad := values.Parse(text)
		if bad != nil || compiled.Op != v.Op {
			continue // it was reported with the names
		}
		f.Values[i] = compiled
		if compiled.Reads() {
			c.usesIgnored(p, text, t, []event.Path{compiled.Path})
		}
		c.comparedAsText(at.In("where"), s.Where, f.Where, compiled)
		c.ownWhere(p, text, t, compiled)
		c.extreme(p, def, t, compiled, latest)
	}
	return f
}

// ownWhere checks the condition of one value in the way that the event type's condition is checked.
func (c *compiler) ownWhere(p place, text string, t *planner.Type, v values.Value) {
	if v.Where == nil {
		return
	}
	at, condition := c.placeOfWhere(p, text)
	c.filledIn(at, condition, v.Where)
	c.usesIgnored(at, condition, t, v.Where.Paths())
	c.comparedAsText(at, condition, v.Where, v)
}

// placeOfWhere returns where a value's own condition stands, and its text. The condition is a
// member of its own, or the end of the value's text.
func (c *compiler) placeOfWhere(p place, text string) (place, string) {
	_, condition, _ := values.CutWhere(text)
	own := p.In("where")
	if _, member := c.report.Values[own]; !member {
		pos := c.Position(p)
		pos.Inset += utf8.RuneCountInString(text) - utf8.RuneCountInString(condition)
		c.report.Values[own] = pos
	}
	return own, condition
}

// writes reports whether the file has a value of this name in an aggregate, correct or not.
func (c *compiler) writes(total string, s AggregateSpec, value string) bool {
	from := place("aggregates").In(total).In("from")
	for name, of := range s.From {
		if _, there := of.Values[value]; there || c.IsBroken(from.In(name).In("values")) {
			return true
		}
	}
	return c.IsBroken(from)
}

// badValue reports what is wrong with a value. If the mistake is in its condition, and the
// condition is a member of its own, badValue reports it there.
func (c *compiler) badValue(p place, text string, bad *where.Mistake) {
	own := p.In("where")
	if _, condition, has := values.CutWhere(text); has && bad.Offset >= len(text)-len(condition) {
		if _, member := c.report.Values[own]; member {
			c.MistakeAt(own, condition, bad.Offset-(len(text)-len(condition)), bad.What, bad.Instead)
			return
		}
	}
	c.MistakeAt(p, text, bad.Offset, bad.What, bad.Instead)
}

// extreme refuses min and max if values are taken out again regularly. Once the largest value is
// gone, the total cannot tell what the second largest was. latest says that an event type of the
// aggregate has mode latest, which needs onExpire: subtract.
func (c *compiler) extreme(p place, def *aggregate.Definition, t *planner.Type, v values.Value, latest bool) {
	if v.Op.Additive() {
		return
	}
	instead := def.Name + " without " + declare.NameOf(p)
	if v.Op == aggregate.Min || v.Op == aggregate.Max { // its quantiles 0 and 1 are nearly those
		near := v
		near.Op = aggregate.Histogram
		instead = near.String() + ", or " + instead
	}
	switch {
	case t.Latest:
		c.Mistake(p, fmt.Sprintf("%s cannot be subtracted, and a newer revision of %s takes the older one out", v.Op, t.Name), instead)
	case def.OnExpire == aggregate.Subtract && latest:
		c.Mistake(p, fmt.Sprintf("%s cannot be subtracted, and onExpire is subtract", v.Op), instead)
	case def.OnExpire == aggregate.Subtract:
		c.Mistake(p, fmt.Sprintf("%s cannot be subtracted, and onExpire is subtract", v.Op), "onExpire: keep, or "+instead)
	}
}

// lifetimes checks the aggregate against the lifetime of the items of one event type.
func (c *compiler) lifetimes(def *aggregate.Definition, t *planner.Type) {
	if t.Latest && def.OnExpire == aggregate.Keep && def.MovedBy != aggregate.Put { // canMove refuses that
		p := place("aggregates").In(def.Name).In("onExpire")
		c.Mistake(p,
			fmt.Sprintf("onExpire is keep over %s, whose mode is latest: what was kept of an expired revision could be counted again",
				t.Name), "onExpire: subtract")
	}
	if def.Retain == 0 || c.IsBroken(place("events").In(t.Name).In("retain")) {
		return
	}
	p := place("aggregates").In(def.Name).In("retain")
	switch least := lifetime.Outliving(t.Retain); {
	case t.Retain == 0:
		c.Mistake(p,
			fmt.Sprintf(
				"the totals expire and events of %s never do: a late change would start a total again from zero after it has expired",
				t.Name), "a retain for "+t.Name+" too, or leave retain out")
	case def.Retain < least:
		c.Mistake(p, fmt.Sprintf("retain is %s and events of %s live for %s: a total must outlive them by 7d", lifetime.Format(def.Retain),
			t.Name, lifetime.Format(t.Retain)), "at least "+lifetime.Format(least))
	}
}

// reservedValues are names of the total's own attributes.
var reservedValues = []string{"n", "fp", "fpx", "flag"}

func isReservedValue(name string) bool { return slices.Contains(reservedValues, name) }
