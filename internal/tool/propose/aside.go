package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// few reports whether at most one in twenty of n events are bad. These may be broken. If there are
// more of them, they are probably events of another shape.
func few(bad, n int) bool { return bad > 0 && bad*20 <= n }

// setAside leaves out the events of which fits is false, because what nearly all others have is
// missing or wrong in them. lack says what: "no paid_at that is a time".
func (t *eventType) setAside(lack string, fits func(*sampled) bool) {
	var rest, odd []sampled
	for _, e := range t.events {
		if fits(&e) {
			rest = append(rest, e)
		} else {
			odd = append(odd, e)
		}
	}
	t.events, t.aside = rest, append(t.aside, odd...)
	form := "%s of them, the first in line %d, have %s"
	if len(odd) == 1 {
		form = "%s of them, in line %d, has %s"
	}
	t.lacks = append(t.lacks, fmt.Sprintf(form, thousands(len(odd)), odd[0].line, lack))
}

// asideRemark says which events were set aside. It is empty if there are none.
func (t *eventType) asideRemark() string {
	if len(t.aside) == 0 {
		return ""
	}
	which := "these"
	if len(t.aside) == 1 {
		which = "it"
	}
	return strings.Join(t.lacks, ", and ") + ". Ingot would put " + which + " into quarantine. What follows is about the others."
}

// asideBare sets the events aside that have no envelope, if nearly all others have one. An envelope
// that lacks a member that it needs, such as the id of a CloudEvent, is read as a bare payload.
func (t *eventType) asideBare() {
	bare := 0
	for _, e := range t.events {
		if e.raw {
			bare++
		}
	}
	if few(bare, len(t.events)) {
		t.setAside("no whole envelope", func(e *sampled) bool { return !e.raw })
	}
}

// asideUntimed sets the events aside in which the time is broken, if nearly all others have one in
// the same field.
func (t *eventType) asideUntimed(fields []*field) {
	n := len(t.events)
	var best *field
	for _, f := range fields {
		times := max(f.times, f.seconds, f.millis)
		if few(n-times, n) && (f.times == times || timeScore(f) > 0) && (best == nil || timeScore(f) > timeScore(best)) {
			best = f
		}
	}
	if best == nil {
		return
	}
	times := max(best.times, best.seconds, best.millis)
	t.setAside("no "+best.path+" that is a time", func(e *sampled) bool {
		one := field{values: map[uint64]int{}}
		one.see(at(e, best.path))
		return times == best.times && one.times == 1 || times == best.seconds && one.seconds == 1 || times == best.millis && one.millis == 1
	})
}

// asideUnnamed sets the events aside that lack an identifier that nearly all others have.
func (t *eventType) asideUnnamed(fields []*field) {
	n := len(t.events)
	var best *field
	for _, f := range fields {
		if f.always(n) && idScore(f, t.noun) >= named && len(f.values)*20 >= n*19 {
			return // it tells the events apart well enough
		}
		if few(n-f.present, n) && f.scalar() && f.dates+f.times == 0 && idScore(f, t.noun) >= named && len(f.values)*20 >= f.present*19 &&
			(best == nil || idScore(f, t.noun) > idScore(best, t.noun)) {
			best = f
		}
	}
	if best != nil {
		t.setAside("no "+best.path, func(e *sampled) bool {
			one, value := field{values: map[uint64]int{}}, at(e, best.path)
			one.see(value)
			return one.present == 1 && value.Kind() != event.Object
		})
	}
}

// altered finds an identifier that nearly all events have for themselves. The others have the
// identifier of an earlier event and another payload, but the same time: if the time were another
// one too, they would be events of their own.
func altered(events []sampled, candidates []*field, noun string, when *field) (identity, bool) {
	n := len(events)
	for _, f := range candidates {
		if idScore(f, noun) < named || !few(n-len(f.values), n) {
			continue
		}
		paths := differing(events, f)
		if len(paths) == 0 || when != nil && slices.Contains(paths, topOf(when)) {
			continue
		}
		how := guess
		if n >= enough {
			how = likely
		}
		form := "%s is different in %s of %s. The others have the %s of an earlier event, and differ in %s. Ingot would put them into " +
			"quarantine as a Conflict."
		if n-len(f.values) == 1 {
			form = "%s is different in %s of %s. The other one has the %s of an earlier event, and differs in %s. Ingot would put it " +
				"into quarantine as a Conflict."
		}
		return identity{choice: choice{f.path, how, fmt.Sprintf(form, f.path, thousands(len(f.values)), count(n, "event"), f.path,
			strings.Join(paths, ", "))}, fields: []*field{f}}, true
	}
	return identity{}, false
}
