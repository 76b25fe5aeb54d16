package question

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// Top computes which list a pattern with top reads: the values of by that the rank is within, and
// an instant in the window, which is from, or now if there is no from.
func Top(p *pattern.Pattern, q Question, now time.Time) (within map[string]string, at time.Time, err error) {
	name := p.Form().Name
	switch {
	case len(p.Form().By) == 0 && len(q.Values) > 0:
		return nil, at, fmt.Errorf("%s reads the top of all totals, and no parameter chooses among them; leave %s out", name,
			sortedNames(q.Values)[0])
	case q.To != "":
		return nil, at, fmt.Errorf("%s reads one window: give from, any time in it, and leave to out", name)
	case q.From == "":
		at = now
	default:
		if at, err = parseInstant(q.From); err != nil {
			return nil, at, fmt.Errorf("from: %w", err)
		}
	}
	groups, _, _, err := Groups(p, Question{Values: q.Values})
	if err == nil && len(groups) > 1 {
		err = fmt.Errorf("%s reads the top of one list, and these values choose %d; ask for one at a time", name, len(groups))
	}
	if err != nil {
		return nil, at, err
	}
	return groups[0], at, nil
}

// Groups computes what a pattern over totals reads: the values of by that
// [github.com/ingot-events/ingot/store/query.Reader.Total] takes, for
// each combination of the question's values, and the range of windows. A zero time means no bound.
func Groups(p *pattern.Pattern, q Question) (groups []map[string]string, from, to time.Time, err error) {
	p = withOwnNames(p, q.Values)
	a := &asked{Pattern: p, form: p.Form(), q: q}
	if err := a.checkNames(); err != nil {
		return nil, from, to, err
	}
	if p.Form().Lacks != nil {
		return nil, from, to, p.Form().Lacks
	}
	if from, to, err = a.bounds(); err != nil {
		return nil, from, to, err
	}
	choices, err := a.combinations()
	if err != nil {
		return nil, from, to, err
	}
	for _, values := range choices {
		by, err := a.group(values)
		if err != nil {
			return nil, from, to, err
		}
		// Two values may be the same in the key, as M-1 and m-1 are for {merchant | lower}.
		if !slices.ContainsFunc(groups, func(other map[string]string) bool { return maps.Equal(other, by) }) {
			groups = append(groups, by)
		}
	}
	return groups, from, to, nil
}

// withOwnNames returns the pattern for a question that gives values of by under their own names, as
// an answer shows them, in place of the fields that they are made of.
func withOwnNames(p *pattern.Pattern, values map[string][]string) *pattern.Pattern {
	form := *p.Form()
	form.By = slices.Clone(form.By)
	for i, name := range form.ByNames {
		field := slices.ContainsFunc(p.Parameters(), func(one pattern.Parameter) bool { return one.Name == name })
		if _, given := values[name]; !given || field {
			continue
		}
		t, err := keys.ParseTemplate("{" + name + "}")
		if err == nil {
			form.By[i] = pattern.Key{{Kind: pattern.SlotValue, Name: name, Reads: name, Part: &t.Parts()[0]}}
		}
	}
	return pattern.New(&form)
}

// bounds returns the range of windows that is asked for.
func (a *asked) bounds() (from, to time.Time, err error) {
	for _, end := range []struct {
		name, raw string
		at        *time.Time
	}{{"from", a.q.From, &from}, {"to", a.q.To, &to}} {
		if end.raw == "" {
			continue
		}
		if *end.at, err = parseInstant(end.raw); err != nil {
			return from, to, fmt.Errorf("%s: %w", end.name, err)
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, fmt.Errorf("the range is empty: from %s is not before to %s", a.q.From, a.q.To)
	}
	return from, to, nil
}

// combinations returns each combination of the question's values, with one value for each
// parameter.
func (a *asked) combinations() ([]map[string]string, error) {
	choices := []map[string]string{{}}
	var missing []string
	for _, param := range a.Parameters() {
		values := a.q.Values[param.Name]
		if len(values) == 0 {
			missing = append(missing, param.Name)
			continue
		}
		var longer []map[string]string
		for _, choice := range choices {
			for _, v := range values {
				next := maps.Clone(choice)
				next[param.Name] = v
				longer = append(longer, next)
			}
		}
		if choices = longer; len(choices) > pattern.MaxPartitions {
			return nil, a.tooMany(len(choices))
		}
	}
	if len(missing) > 0 {
		return nil, a.needs(missing)
	}
	return choices, nil
}

// group computes the values of by from one combination of values.
func (a *asked) group(values map[string]string) (map[string]string, error) {
	by := map[string]string{}
	for i, t := range a.form.By {
		texts, err := a.texts(t, values, time.Time{})
		if err != nil {
			return nil, err
		}
		if len(texts) != 1 {
			return nil, fmt.Errorf("%s groups by a shard, which no question gives", a.form.Total)
		}
		// keys.Escape writes percent-encoding, and this reverses it.
		if by[a.form.ByNames[i]], err = url.PathUnescape(texts[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", a.form.ByNames[i], err)
		}
	}
	return by, nil
}
