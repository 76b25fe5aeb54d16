// Package question plans what a question reads: [Plan] says which partitions of a declared pattern
// answer a [Question]. It sends nothing: package query does. The functions do not contain it.
package question

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// MaxParameterValues is the largest number of values that a question gives one parameter.
const MaxParameterValues = 100

// Question is what is asked of a pattern. Values are raw, as the payload has them: the functions of
// the templates are applied to them.
type Question struct {
	// Values are the parameters. A parameter of pk may have several values, and one of sk if the
	// values make the whole key of each item.
	Values map[string][]string
	// From and To are a range: From is in it, To is not. They are times if pk has a time that
	// Values does not give. Otherwise they are values of the first variable of sk that Values does
	// not give.
	From, To string
	// Prefix is the beginning of the first variable of sk that Values does not give.
	Prefix string
	// Newest overrides the order that the pattern declares.
	Newest *bool
	// Now ends a range of periods without To.
	Now time.Time
}

// QueryPlan says which partitions answer a question, and which part of each is read.
type QueryPlan struct {
	Index string
	// Backward reports whether sort keys are read in falling order.
	Backward bool
	// Newest reports whether the newest period is read first.
	Newest bool
	// Periods are read one after another, in this order.
	Periods []Period
	// Question identifies the pattern and the question, without raw values. A page token is bound
	// to it.
	Question string
	// Types are the event types that are read.
	Types []string
	// Keys are those of the items, in the order of the values, if the question has several values
	// that make the whole key of each item. Periods have the same keys.
	Keys []event.Key
}

// Period is a part of a plan whose partitions are read side by side.
type Period struct {
	Start      time.Time // zero if the partition key has no time
	Partitions []Partition
}

// Partition is the part of one partition that is read: sort keys from Low on, and below High.
type Partition struct {
	PK   string
	Low  string // empty: from the first
	High string // empty: to the last
	// Prefix is what all sort keys in the range begin with, if the range is just that.
	Prefix string
	// Complete reports whether Low is a complete sort key, and the only one that is read.
	Complete bool
}

// Size returns how many partitions the plan reads.
func (p *QueryPlan) Size() int {
	n := 0
	for _, period := range p.Periods {
		n += len(period.Partitions)
	}
	return n
}

// Plan computes what is read to answer a question. It is a pure function. The error says what is
// wrong with the question and what to write.
func Plan(p *pattern.Pattern, q Question) (*QueryPlan, error) {
	if p.Form().Total != "" {
		return nil, fmt.Errorf("%s reads totals, which no plan of partitions answers", p.Form().Name)
	}
	a := &asked{Pattern: p, form: p.Form(), q: q}
	if err := a.checkNames(); err != nil {
		return nil, err
	}
	if p.Form().Lacks != nil {
		return nil, p.Form().Lacks
	}
	if err := a.choosePeriods(); err != nil {
		return nil, err
	}
	if err := a.periods(); err != nil {
		return nil, err
	}
	return a.plan()
}

// asked is a question that is being planned.
type asked struct {
	*pattern.Pattern
	form     *pattern.Form
	q        Question
	from, to time.Time   // of periods; zero: no range
	ranged   string      // the variable whose periods the range is over
	starts   []time.Time // the periods' beginnings; one zero time if there are none
	newest   bool
}

// checkNames checks the names of parameters, and how many values they have.
func (a *asked) checkNames() error {
	known := a.Parameters()
	names := make([]string, len(known))
	for i, param := range known {
		names[i] = param.Name
	}
	for _, name := range sortedNames(a.q.Values) {
		i := slices.Index(names, name)
		if i < 0 {
			return a.unknown(name, names)
		}
		switch values := a.q.Values[name]; {
		case len(values) == 0:
			return fmt.Errorf("%s has no value; write %s=VALUE", name, name)
		case slices.Contains(values, ""):
			return fmt.Errorf("%s is empty, and no key has an empty value; write %s=VALUE", name, name)
		case len(values) > MaxParameterValues:
			return fmt.Errorf("%s has %d values, and a question has at most %d of one parameter; ask in several questions", name,
				len(values), MaxParameterValues)
		case known[i].Sort && known[i].Time && !a.fine(name):
			return fmt.Errorf("%s: %s is not a whole time; write %s=%s, or a range from and to", name, values[0], name, declare.ATime)
		case len(values) > 1 && known[i].Sort && !a.whole():
			return fmt.Errorf("%s has %d values, and a parameter of the sort key may have several only if the values make the whole key "+
				"of each item in the table; ask for one at a time", name, len(values))
		}
	}
	return nil
}

// whole reports whether the values make the whole key of each item in the table. Keys with a time,
// shards or types in the partition key are read by periods and partitions.
func (a *asked) whole() bool {
	isTime := func(s pattern.Slot) bool { return s.Kind == pattern.SlotTime }
	return a.form.Lacks == nil && a.form.Whole && a.form.Index == "" && a.form.Partitions() == 1 && a.next() == nil &&
		!slices.ContainsFunc(a.form.PKs[0], isTime)
}

// fine reports whether the value of a time in the sort key is fine enough for it.
func (a *asked) fine(name string) bool {
	return !slices.ContainsFunc(a.form.SK, func(s pattern.Slot) bool {
		return s.Name == name && s.Kind == pattern.SlotTime && !a.given(&s)
	})
}

func sortedNames(values map[string][]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unknown says what to do about a parameter that the pattern does not have.
func (a *asked) unknown(name string, names []string) error {
	if best := nearest.Name(name, names); best != "" {
		return fmt.Errorf("%s has no parameter %s; write %s", a.form.Name, name, best)
	}
	has := "it has no parameters"
	if len(names) > 0 {
		has = "its parameters are " + strings.Join(names, ", ")
	}
	if a.form.Total != "" {
		field := func(by string) bool { return slices.Contains(names, by) }
		if own := slices.DeleteFunc(slices.Clone(a.form.ByNames), field); len(own) > 0 {
			has += ", and the values of by under their own names, " + strings.Join(own, ", ")
		}
		if a.form.Top > 0 {
			return fmt.Errorf("the rank of %s is not within %s; %s", a.form.Total, name, has)
		}
		return fmt.Errorf("totals of %s are not by %s; %s", a.form.Total, name, has)
	}
	return fmt.Errorf("%s; %s. To ask for %s, put it into a key: {%s} for one value, or {%s | pad:12} in a sort key for a range of numbers",
		a.form.NotInKey(name), has, name, name, name)
}

// given reports whether the question gives a value for the slot that is fine enough for it.
func (a *asked) given(s *pattern.Slot) bool {
	values := a.q.Values[s.Name]
	if len(values) == 0 {
		return false
	}
	if s.Kind == pattern.SlotTime {
		for _, v := range values {
			if _, unit, err := parsePeriod(v); err == nil && length(unit) > length(s.Unit) {
				return false
			}
		}
	}
	return true
}

// choosePeriods decides whether the range of the question is over periods of pk, and checks it.
func (a *asked) choosePeriods() error {
	for _, s := range a.form.PKs[0] {
		if s.Kind == pattern.SlotTime && len(a.q.Values[s.Name]) == 0 {
			if a.ranged != "" && a.ranged != s.Reads {
				return fmt.Errorf("%s: give %s, since a range is over %s", a.form.Name, s.Name, a.ranged)
			}
			if length(s.Unit) < time.Minute {
				return fmt.Errorf("%s needs %s: its partitions are single instants, so a range over them cannot be read; write %s=%s",
					a.form.Name, s.Name, s.Name, declare.ATime)
			}
			a.ranged = s.Reads
		}
	}
	if a.ranged == "" {
		return nil
	}
	unit, name := a.unit(a.ranged)
	var err error
	switch {
	case a.q.From != "":
		if a.from, err = parseInstant(a.q.From); err != nil {
			return fmt.Errorf("from: %w", err)
		}
	case !a.form.Since.IsZero():
		a.from = a.form.Since
	default:
		return fmt.Errorf("%s needs %s, or a range that begins with from; write %s=%s, or a since: in the pattern", a.form.Name, name, name,
			exampleOf(unit))
	}
	if a.q.To != "" {
		if a.to, err = parseInstant(a.q.To); err != nil {
			return fmt.Errorf("to: %w", err)
		}
	} else if a.to = a.q.Now.UTC(); a.sortTime() == nil {
		if a.to = floor(a.to, unit); a.to.Before(a.q.Now) {
			a.to = following(a.to, unit)
		}
	}
	if !a.from.Before(a.to) {
		return fmt.Errorf("the range is empty: from %s is not before to %s", keys.FormatTime(a.from), keys.FormatTime(a.to))
	}
	if a.sortTime() == nil {
		for _, t := range []struct {
			name string
			at   time.Time
		}{{"from", a.from}, {"to", a.to}} {
			if t.name == "from" && a.q.From == "" {
				a.from = floor(a.from, unit) // since
				continue
			}
			if !floor(t.at, unit).Equal(t.at) {
				return fmt.Errorf(
					"%s is inside a %s, and %s can only be read by whole ones, because its sort key does not go on with the time; write %s",
					t.name, unit, a.form.Name, exampleAt(t.at, unit))
			}
		}
	}
	return nil
}

// unit returns the finest function of time that pk applies to a variable, and its parameter.
func (a *asked) unit(reads string) (unit, name string) {
	for _, t := range a.form.PKs {
		for _, s := range t {
			if s.Kind == pattern.SlotTime && s.Reads == reads && (unit == "" || length(s.Unit) < length(unit)) {
				unit, name = s.Unit, s.Name
			}
		}
	}
	return unit, name
}

// next returns the first slot of the sort key that the question gives no value for.
func (a *asked) next() *pattern.Slot {
	for i := range a.form.SK {
		if s := &a.form.SK[i]; s.Kind != pattern.SlotText && !((s.Kind == pattern.SlotValue || s.Kind == pattern.SlotTime) && a.given(s)) {
			return s
		}
	}
	return nil
}

// sortTime returns the next slot of the sort key, if it holds the time that pk has periods of.
func (a *asked) sortTime() *pattern.Slot {
	if s := a.next(); s != nil && s.Kind == pattern.SlotTime && s.Reads == a.ranged {
		return s
	}
	return nil
}

// periods computes when the periods begin.
func (a *asked) periods() error {
	a.newest = a.form.Newest
	if a.q.Newest != nil {
		a.newest = *a.q.Newest
	}
	name := ""
	if a.ranged != "" {
		unit, _ := a.unit(a.ranged)
		n := countPeriods(a.from, a.to, unit)
		if n > pattern.MaxPartitions {
			return a.tooMany(n)
		}
		for at := floor(a.from, unit); at.Before(a.to); at = following(at, unit) {
			a.starts = append(a.starts, at)
		}
	} else {
		for _, s := range a.form.PKs[0] {
			if s.Kind == pattern.SlotTime && name == "" {
				name = s.Name
			}
		}
		for _, v := range a.q.Values[name] {
			at, unit, err := parsePeriod(v)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, t := range a.form.PKs {
				for _, s := range t {
					if s.Name == name && s.Kind == pattern.SlotTime && length(unit) > length(s.Unit) {
						return fmt.Errorf("%s: %s is not a whole %s; write a %s such as %s", name, v, s.Unit, s.Unit, exampleOf(s.Unit))
					}
				}
			}
			a.starts = append(a.starts, at)
		}
		if len(a.starts) == 0 {
			a.starts = []time.Time{{}}
		}
	}
	slices.SortFunc(a.starts, func(x, y time.Time) int { return x.Compare(y) })
	a.starts = slices.CompactFunc(a.starts, time.Time.Equal)
	if a.newest {
		slices.Reverse(a.starts)
	}
	return nil
}

func (a *asked) tooMany(n int) error {
	return fmt.Errorf("the question covers %d partitions, and one question reads at most %d; ask for a shorter range or for fewer values",
		n, pattern.MaxPartitions)
}

// plan makes the partitions of all periods.
func (a *asked) plan() (*QueryPlan, error) {
	order := false
	if s := a.next(); s != nil {
		order = s.Reversed()
	}
	plan := &QueryPlan{Index: a.form.Index, Newest: a.newest, Backward: a.newest != order, Types: a.Types()}
	choices, err := a.choices()
	if err != nil {
		return nil, err
	}
	if n := a.count(len(choices)); n > pattern.MaxPartitions {
		return nil, a.tooMany(n)
	}
	for _, start := range a.starts {
		period := Period{Start: start}
		for _, values := range choices {
			r, err := a.sortRange(values, start)
			if err != nil {
				return nil, err
			}
			for _, t := range a.form.PKs {
				pks, err := a.texts(t, values, start)
				if err != nil {
					return nil, err
				}
				for _, pk := range pks {
					if key := (event.Key{PK: pk, SK: r.Low}); a.whole() && !slices.Contains(plan.Keys, key) {
						plan.Keys = append(plan.Keys, key)
					}
					if len(pk) > event.MaxPK {
						return nil, fmt.Errorf("the partition key would take %d bytes, and DynamoDB allows %d; give shorter values",
							len(pk), event.MaxPK)
					}
					r.PK = pk
					period.Partitions = append(period.Partitions, r)
				}
			}
		}
		slices.SortFunc(period.Partitions, func(x, y Partition) int {
			return cmp.Or(strings.Compare(x.PK, y.PK), strings.Compare(x.Low, y.Low))
		})
		period.Partitions = slices.Compact(period.Partitions)
		// Functions after the period, such as first:7, may give two periods the same partitions.
		if n := len(plan.Periods); n > 0 && slices.Equal(plan.Periods[n-1].Partitions, period.Partitions) {
			continue
		}
		plan.Periods = append(plan.Periods, period)
	}
	if len(plan.Keys) == 1 {
		plan.Keys = nil // a GetItem
	}
	plan.Question = a.digestText(choices)
	return plan, nil
}

// count returns how many partitions there are at most.
func (a *asked) count(choices int) int {
	n := a.form.Partitions()
	if n > 1<<30 { // far too many, and the product might overflow
		return n
	}
	return n * choices * len(a.starts)
}

// digestText says what a page token of the question is bound to. Its values have the form that they
// have in keys: a value that is hashed in a key is hashed here too.
func (a *asked) digestText(choices []map[string]string) string {
	var b strings.Builder
	b.WriteString(a.Def)
	fmt.Fprintf(&b, "\nnewest %v prefix %q", a.newest, a.q.Prefix)
	if s := a.next(); s == nil || !s.Hashed() {
		fmt.Fprintf(&b, " from %q to %q", a.q.From, a.q.To)
	}
	for _, values := range choices {
		start := time.Time{}
		if a.ranged == "" {
			start = a.starts[0]
		}
		pks, err := a.texts(a.form.PKs[0], values, start)
		r, _ := a.sortRange(values, start)
		if a.ranged != "" || a.q.From != "" || a.q.To != "" {
			r.Low = "" // this is the range, which may end now; it was written above
		}
		if err != nil {
			continue // the periods of a range were written above
		}
		fmt.Fprintf(&b, "\n%q %q %v", pks, r.Low, r.Complete)
	}
	if a.ranged == "" {
		for _, start := range a.starts {
			b.WriteString("\n" + start.String())
		}
	}
	return b.String()
}

// needs says which parameters have no value.
func (a *asked) needs(missing []string) error {
	return fmt.Errorf("%s needs %s; write %s=VALUE", a.form.Name, strings.Join(missing, " and "), strings.Join(missing, "=VALUE "))
}

// choices lists every combination of the values of pk's parameters, and of those of sk that have
// several.
func (a *asked) choices() ([]map[string]string, error) {
	list := []map[string]string{{}}
	slots := slices.Clone(a.form.PKs[0])
	for _, s := range a.form.SK {
		if len(a.q.Values[s.Name]) > 1 {
			slots = append(slots, s)
		}
	}
	var missing []string
	seen := map[string]bool{}
	for _, s := range slots {
		if s.Kind != pattern.SlotValue && s.Kind != pattern.SlotTime || seen[s.Name] {
			continue
		}
		seen[s.Name] = true
		values := a.q.Values[s.Name]
		if s.Kind == pattern.SlotTime && !a.whole() {
			if len(values) > 0 && a.firstTime() != s.Name && len(values) > 1 {
				return nil, fmt.Errorf("%s has several values, and only %s may; ask for one at a time", s.Name, a.firstTime())
			}
			if len(values) == 0 || a.firstTime() == s.Name {
				continue // its periods are read in turn
			}
		}
		if len(values) == 0 {
			missing = append(missing, s.Name)
			continue
		}
		var longer []map[string]string
		for _, choice := range list {
			for _, v := range values {
				next := map[string]string{s.Name: v}
				for k, old := range choice {
					next[k] = old
				}
				longer = append(longer, next)
			}
			if len(longer) > pattern.MaxPartitions {
				break
			}
		}
		list = longer
	}
	if len(missing) > 0 {
		return nil, a.needs(missing)
	}
	return list, nil
}

// firstTime returns the parameter whose values are the periods.
func (a *asked) firstTime() string {
	for _, s := range a.form.PKs[0] {
		if s.Kind == pattern.SlotTime && (a.ranged == "" || s.Reads == a.ranged) {
			return s.Name
		}
	}
	return ""
}

// value returns the text of a parameter in a key.
func (a *asked) value(s *pattern.Slot, values map[string]string, start time.Time) (string, error) {
	raw := values[s.Name]
	if raw == "" && len(a.q.Values[s.Name]) > 0 {
		raw = a.q.Values[s.Name][0]
	}
	if s.Kind == pattern.SlotTime {
		at := start
		if !(s.Name == a.firstTime() && !start.IsZero()) {
			var err error
			if at, _, err = parsePeriod(raw); err != nil {
				return "", fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		return timeText(s, at, a.form.Secret)
	}
	text, err := s.Part.Make(raw, 0, a.form.Secret)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	return text, nil
}

// timeText returns what the slot makes of a time.
func timeText(s *pattern.Slot, at time.Time, secret []byte) (string, error) {
	return s.Part.Make(keys.FormatTime(at), s.From, secret)
}

// shards returns the text of each shard.
func shards(s *pattern.Slot, secret []byte) (texts []string, err error) {
	texts = make([]string, s.Shards)
	for n := range texts {
		if texts[n], err = s.Part.Make(fmt.Sprint(n), s.From, secret); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// texts returns the partition keys that a template makes in one period: one for each shard and
// type.
func (a *asked) texts(t pattern.Key, values map[string]string, start time.Time) ([]string, error) {
	list := []string{""}
	for i := range t {
		s := &t[i]
		var pieces []string
		switch s.Kind {
		case pattern.SlotText:
			pieces = []string{s.Text}
		case pattern.SlotShard:
			var err error
			if pieces, err = shards(s, a.form.Secret); err != nil {
				return nil, err
			}
		case pattern.SlotTypes:
			for _, name := range a.form.Types {
				text, err := s.Part.Make(name, 0, a.form.Secret)
				if err != nil {
					return nil, err
				}
				pieces = append(pieces, text)
			}
		default:
			text, err := a.value(s, values, start)
			if err != nil {
				return nil, err
			}
			pieces = []string{text}
		}
		list = continued(list, pieces)
	}
	return list, nil
}

// continued returns each text followed by each piece.
func continued(texts, pieces []string) []string {
	longer := make([]string, 0, len(texts)*len(pieces))
	for _, before := range texts {
		for _, piece := range pieces {
			longer = append(longer, before+piece)
		}
	}
	return longer
}
