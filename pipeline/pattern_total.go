package pipeline

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Window returns an instant in the window that a pattern with top reads: from, or now if there is
// no from.
func (p *Pattern) Window(q Question, now time.Time) (time.Time, error) {
	switch {
	case len(q.Values) > 0:
		return time.Time{}, fmt.Errorf("%s reads the top of all totals, and no parameter chooses among them; leave %s out", p.name, sortedNames(q.Values)[0])
	case q.To != "":
		return time.Time{}, fmt.Errorf("%s reads one window: give from, any time in it, and leave to out", p.name)
	case q.From == "":
		return now, nil
	}
	at, err := parseInstant(q.From)
	if err != nil {
		return at, fmt.Errorf("from: %w", err)
	}
	return at, nil
}

// Groups computes what a pattern over totals reads: the values of by that
// [github.com/ingot-events/ingot/store.Store.Total] takes, for
// each combination of the question's values, and the range of windows. A zero time means no bound.
func (p *Pattern) Groups(q Question) (groups []map[string]string, from, to time.Time, err error) {
	a := &asked{Pattern: p, q: q}
	if err := a.checkNames(); err != nil {
		return nil, from, to, err
	}
	if p.lacks {
		return nil, from, to, ErrNoSecret
	}
	for _, end := range []struct {
		name, raw string
		at        *time.Time
	}{{"from", q.From, &from}, {"to", q.To, &to}} {
		if end.raw == "" {
			continue
		}
		if *end.at, err = parseInstant(end.raw); err != nil {
			return nil, from, to, fmt.Errorf("%s: %w", end.name, err)
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return nil, from, to, fmt.Errorf("the range is empty: from %s is not before to %s", q.From, q.To)
	}
	choices := []map[string]string{{}}
	var missing []string
	for _, param := range p.Parameters() {
		values := q.Values[param.Name]
		if len(values) == 0 {
			missing = append(missing, param.Name)
			continue
		}
		var longer []map[string]string
		for _, choice := range choices {
			for _, v := range values {
				next := map[string]string{param.Name: v}
				for k, old := range choice {
					next[k] = old
				}
				longer = append(longer, next)
			}
		}
		if choices = longer; len(choices) > MaxPartitions {
			return nil, from, to, a.tooMany(len(choices))
		}
	}
	if len(missing) > 0 {
		return nil, from, to, fmt.Errorf("%s needs %s; write %s=VALUE", p.name, strings.Join(missing, " and "), strings.Join(missing, "=VALUE "))
	}
	for _, values := range choices {
		by := map[string]string{}
		for i, t := range p.by {
			texts, err := a.texts(t, values, time.Time{})
			if err != nil {
				return nil, from, to, err
			}
			if len(texts) != 1 {
				return nil, from, to, fmt.Errorf("%s groups by a shard, which no question gives", p.total)
			}
			// keys.Escape writes percent-encoding, and this reverses it.
			if by[p.byNames[i]], err = url.PathUnescape(texts[0]); err != nil {
				return nil, from, to, fmt.Errorf("%s: %w", p.byNames[i], err)
			}
		}
		// Two values may be the same in the key, as M-1 and m-1 are for {merchant | lower}.
		if !slices.ContainsFunc(groups, func(other map[string]string) bool { return maps.Equal(other, by) }) {
			groups = append(groups, by)
		}
	}
	return groups, from, to, nil
}
