package question

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// sortRange computes which sort keys are read, for one choice of values.
func (a *asked) sortRange(values map[string]string, start time.Time) (Partition, error) {
	stop := a.next()
	if err := a.behind(stop); err != nil {
		return Partition{}, err
	}
	before := ""
	for i := range a.form.SK {
		s := &a.form.SK[i]
		switch {
		case s.Kind == pattern.SlotText:
			before += s.Text
			continue
		case s == stop:
			return a.openRange(before, s)
		}
		text, err := a.value(s, values, start)
		if err != nil {
			return Partition{}, err
		}
		before += text
	}
	if a.q.Prefix != "" || a.ranged == "" && (a.q.From != "" || a.q.To != "") {
		return Partition{},
			fmt.Errorf("the values that are given fix the whole key of %s, so nothing is left for a range or a prefix; leave it out",
				a.form.Name)
	}
	if len(before) > event.MaxSK {
		return Partition{}, fmt.Errorf("the sort key would take %d bytes, and DynamoDB allows %d; give shorter values", len(before),
			event.MaxSK)
	}
	if a.form.Whole {
		return Partition{Low: before, Complete: true}, nil
	}
	return prefixed(before), nil
}

// behind refuses a value for a variable of the sort key if a variable before it has no value. No
// Query could use it.
func (a *asked) behind(stop *pattern.Slot) error {
	if stop == nil {
		return nil
	}
	past := false
	for i := range a.form.SK {
		s := &a.form.SK[i]
		if past && s.Name != stop.Name && len(a.q.Values[s.Name]) > 0 && !slices.ContainsFunc(a.form.PKs[0], func(p pattern.Slot) bool {
			return p.Name == s.Name && p.Kind == s.Kind
		}) {
			return fmt.Errorf("%s stands behind %s in the sort key, and can only be given together with it; write %s=VALUE too", s.Name,
				stop, stop.Name)
		}
		past = past || s == stop
	}
	return nil
}

// openRange computes the sort keys that begin with before, and continue with the range or the
// prefix of s that the question gives.
func (a *asked) openRange(before string, s *pattern.Slot) (Partition, error) {
	whole := prefixed(before)
	overTime := a.ranged != "" && a.sortTime() == s
	ranged := overTime || a.ranged == "" && (a.q.From != "" || a.q.To != "")
	switch {
	case ranged && a.q.Prefix != "":
		return whole, fmt.Errorf("a question has a range or a prefix of %s, not both; leave one of them out", s)
	case a.q.Prefix != "":
		return a.prefix(before, s)
	case !ranged:
		return whole, nil
	}
	low, high, err := a.ends(s, overTime)
	if err != nil {
		return whole, err
	}
	r := Partition{Low: whole.Low, High: whole.High}
	if s.Reversed() {
		if high != "" {
			r.Low = successor(before + high)
		}
		if low != "" {
			r.High = successor(before + low)
		}
	} else {
		if low != "" {
			r.Low = before + low
		}
		if high != "" {
			r.High = before + high
		}
	}
	if len(r.Low) > event.MaxSK || len(r.High) > event.MaxSK {
		return whole, fmt.Errorf("the range of %s is longer than the %d bytes of a sort key; give shorter values", s, event.MaxSK)
	}
	if r.High != "" && r.Low >= r.High {
		return whole, fmt.Errorf("the range of %s is empty: from %q is not before to %q", s, a.q.From, a.q.To)
	}
	return r, nil
}

// ends returns the texts of from and to in the key. Each is empty if the question does not have it.
func (a *asked) ends(s *pattern.Slot, overTime bool) (low, high string, err error) {
	if what := unordered(s); what != "" {
		return "", "", fmt.Errorf("no range of %s can be read: %s; give one value, or put %s into the key", s, what, ordered(s))
	}
	for _, end := range []struct {
		name, raw string
		at        time.Time
		text      *string
	}{{"from", a.q.From, a.from, &low}, {"to", a.q.To, a.to, &high}} {
		switch {
		case s.Kind != pattern.SlotTime:
			if end.raw == "" {
				continue
			}
			if function, why := outOfOrder(s, end.raw); why != "" {
				return "", "", fmt.Errorf("no range of %s can be read, since %s is %s: as text, %s; put {%s | %s} into the key", s, end.name,
					end.raw, why, s.Reads, function)
			}
			*end.text, err = s.Part.Make(end.raw, 0, a.form.Secret)
		case overTime:
			*end.text, err = timeText(s, end.at, a.form.Secret)
		case end.raw == "":
			continue
		default:
			var at time.Time
			if at, err = parseInstant(end.raw); err == nil {
				if !floor(at, s.Unit).Equal(at) {
					return "", "", fmt.Errorf("%s is inside a %s, and the sort key has whole ones; write %s", end.name,
						functionOf(s.Unit).Period.Name, exampleAt(at, s.Unit))
				}
				*end.text, err = timeText(s, at, a.form.Secret)
			}
		}
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", end.name, err)
		}
	}
	return low, high, nil
}

// outOfOrder says why a range of a bare slot is not one of its values, and which function puts them
// in order. Both are empty if nothing shows that.
func outOfOrder(s *pattern.Slot, end string) (function, why string) {
	function, never := Sorter(end)
	switch {
	case !Bare(s):
	case s.Sorts != "" && !Pads(s.Sorts):
		return s.Sorts, "times of different offsets or precisions are not in order"
	case s.Sorts != "" || Pads(function):
		return padsNumbers, "100 comes before 60"
	case never:
		return function, "such times are not in order"
	}
	return "", ""
}

// Pads reports whether it is a function for numbers that [Sorter] names, and not one for times.
func Pads(call string) bool {
	name, _, _ := strings.Cut(call, ":")
	return keys.Func{Name: name}.Function().Pads
}

// unordered says why the keys are not in the order of the slot's values. It is empty if they are.
func unordered(s *pattern.Slot) string {
	if s.Kind == pattern.SlotShard || s.Kind == pattern.SlotTypes {
		return "its keys are in no useful order"
	}
	padded := false
	for _, f := range s.Part.Funcs[s.From:] {
		if !f.Function().Ordered {
			return f.Name + " does not keep the order of values"
		}
		padded = padded || f.Function().Pads
	}
	if functionOf(s.Unit).Number && !padded {
		return "numbers of different lengths are not in order as text"
	}
	return ""
}

// ordered shows the slot's variable with functions that keep its order.
func ordered(s *pattern.Slot) string {
	switch {
	case functionOf(s.Unit).Number:
		width := "13"
		if functionOf(s.Unit).Period.Length == time.Nanosecond {
			width = "19"
		}
		return "{" + s.Reads + " | " + s.Unit + " | pad:" + width + "}"
	case s.Kind == pattern.SlotShard:
		return "{" + s.Reads + "}"
	case quoted(s):
		return "{" + s.Reads + " | pad:12}"
	}
	return "{" + s.Reads + "} or {" + s.Reads + " | pad:12}"
}

// prefix computes the sort keys that continue with the question's prefix.
func (a *asked) prefix(before string, s *pattern.Slot) (Partition, error) {
	for _, f := range s.Part.Funcs {
		if !f.Function().Prefixes {
			return Partition{},
				fmt.Errorf("no prefix of %s can be read: after %s, values with the same beginning do not stand together; give one "+
					"value or a range", s, f.Name)
		}
	}
	if s.Kind == pattern.SlotShard || s.Kind == pattern.SlotTypes {
		return Partition{}, fmt.Errorf("no prefix of %s can be read; leave it out", s)
	}
	text := a.q.Prefix
	if s.Kind == pattern.SlotValue {
		var err error
		if text, err = s.Part.Make(text, 0, a.form.Secret); err != nil {
			return Partition{}, fmt.Errorf("prefix: %w", err)
		}
	}
	if len(before+text) > event.MaxSK {
		return Partition{}, fmt.Errorf("the prefix is longer than the %d bytes of a sort key; give a shorter one", event.MaxSK)
	}
	return prefixed(before + text), nil
}

// prefixed returns the range of all sort keys that begin with text.
func prefixed(text string) Partition {
	return Partition{Low: text, High: successor(text), Prefix: text}
}

// successor returns the least text that comes after all texts that begin with prefix. It is empty
// if there is none. DynamoDB orders text by its UTF-8 bytes, as Go does.
func successor(prefix string) string {
	for len(prefix) > 0 {
		r, width := utf8.DecodeLastRuneInString(prefix)
		before := prefix[:len(prefix)-width]
		switch {
		case r == utf8.MaxRune:
			prefix = before
			continue
		case r == 0xd7ff: // the surrogates come next, and are not text
			return before + "\ue000"
		}
		return before + string(r+1)
	}
	return ""
}
