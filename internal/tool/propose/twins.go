package propose

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// maxNoise is in how many fields, besides those whose names say so, copies of one event may differ.
const maxNoise = 4

// noisy reports whether the name of a field says that sending sets it anew.
func (t *eventType) noisy(f *field) bool {
	return f.path != t.when && changes(f.path) && !slices.ContainsFunc(words(f.path), func(word string) bool {
		return slices.Contains(changing, word) && slices.Contains(words(t.name), word)
	})
}

// sure reports whether a field is the time of the event beyond doubt: its name says so, or there is
// no other time.
func (t *eventType) sure(when *field) bool {
	return !changes(when.path) && (timeScore(when) > 0 || t.onlyTime)
}

// twins reports whether two events may be one that was sent twice, and in which fields they differ.
// They agree in more than chance explains, or in something that is different in most events. They
// do not differ in the time, or in what is called an id. Fields that are left out do not count.
func (t *eventType) twins(i, j int, without ...*field) (differ []*field, are bool) {
	n := len(t.events)
	bits, agree, unnamed := 0.0, 0, 0
	id, telling, sameID := false, false, false
	if n < 5 && t.when != "" { // what is the same in all of so few events tells as much
		agree, telling = t.constant, true
	}
	for _, f := range t.varying {
		x, y := f.in[i], f.in[j]
		if slices.Contains(without, f) {
			continue
		}
		if x == y && f.values[x] > 0 {
			agree++
			bits += math.Log2(float64(n) / float64(f.values[x]))
			near := len(f.values)*2 >= n && f.scalar() && !f.isTime(n)
			telling, sameID = telling || near, sameID || near && idScore(f, t.noun) >= named
		}
		if x == y {
			continue
		}
		differ = append(differ, f)
		if t.noisy(f) {
			continue
		}
		unnamed++
		id = id || idScore(f, t.noun) >= named
		if f.path == t.when && t.sure(f) || unnamed > maxNoise {
			return differ, false
		}
	}
	if e := &t.events[i].opened; t.wrapped && e.ID == t.events[j].opened.ID {
		return differ, true // an envelope's id promises that
	}
	return differ, !(id && (unnamed > 1 || !sameID)) && agree >= unnamed && (telling || bits >= math.Log2(float64(n))*3/4)
}

// identityOf returns a hash of what an identity makes of an event.
func (t *eventType) identityOf(id *identity, when *field, i int) (key uint64) {
	add := func(hash uint64) { key = (key ^ hash) * 0x9e3779b97f4a7c15 }
	for _, f := range id.fields {
		add(f.in[i])
	}
	switch {
	case id.timed:
		add(when.in[i])
	case len(id.fields) > 0:
	case t.wrapped:
		key = maphash.String(hashSeed, t.events[i].opened.ID)
	default:
		key = uint64(i)
	}
	return key
}

// tells reports whether events that have an identity in common may be copies of one event. It adds
// to the identity what differs in these.
func (t *eventType) tells(id *identity, when *field) bool {
	first, differing := map[uint64]int{}, map[string]bool{}
	for i := range t.events {
		if slices.ContainsFunc(id.fields, func(f *field) bool { return f.values[f.in[i]] == 0 }) {
			continue // it is broken
		}
		key := t.identityOf(id, when, i)
		j, seen := first[key]
		if !seen {
			first[key] = i
			continue
		}
		differ, are := t.twins(j, i)
		if !are {
			return false
		}
		id.copies++
		known := len(id.fields) == 0 && t.wrapped || len(id.fields) > 0 && idScore(id.fields[0], t.noun) >= named
		unsure := false
		for _, f := range differ {
			if !differing[f.path] {
				differing[f.path], id.ignore = true, append(id.ignore, f.path)
			}
			unsure = unsure || !known || !t.noisy(f)
		}
		if unsure && id.asks == "" {
			id.asks = t.ask(j, i, differ)
		}
	}
	if id.copies > 0 {
		slices.Sort(id.ignore)
		id.how, id.why = likely, fmt.Sprintf("of events with the same %s there are %s more, which differ in %s alone", id.text,
			show.Comma(id.copies), strings.Join(id.ignore, ", "))
	}
	return true
}

// ask says what only the producer knows of two events.
func (t *eventType) ask(i, j int, differ []*field) string {
	what := "the envelope"
	if len(differ) > 0 {
		var paths []string
		for _, f := range differ {
			paths = append(paths, f.path)
		}
		what = strings.Join(paths, ", ")
	}
	return fmt.Sprintf("lines %d and %d differ in %s alone. Ask the producer: are they one event?", t.events[i].line,
		t.events[j].line, what)
}

// spelled looks for two events that agree in more than chance explains, and of which the ids differ
// in their spelling alone. The variables of the id then fold it, and the producer is asked.
func (t *eventType) spelled() {
	first := map[string]int{}
	for i := range t.events {
		key := ""
		for _, f := range t.id.fields {
			key += unspelled(at(&t.events[i], f)) + "\x00"
		}
		j, seen := first[key]
		if !seen {
			first[key] = i
			continue
		}
		if _, are := t.twins(j, i, t.id.fields...); !are {
			continue
		}
		for _, f := range t.id.fields {
			n := at(&t.events[i], f)
			if n.Raw() == at(&t.events[j], f).Raw() {
				continue
			}
			f.fold = " | strip | lower"
			if _, is := where.Number(n); is {
				f.fold = " | number"
			}
			t.id.asks = fmt.Sprintf("lines %d and %d differ in the spelling of %s. Ask the producer: are they one event?",
				t.events[j].line, t.events[i].line, f.path)
		}
		return
	}
}

// unspelled returns the text of a value without what functions of folding take away.
func unspelled(n event.Node) string {
	if d, is := where.Number(n); is {
		return d.String()
	}
	return strings.ToLower(strings.TrimSpace(n.Text()))
}

// doubt looks for twins that the identity takes for two events.
func (t *eventType) doubt(when *field) {
	t.pairs(func(i, j int) bool {
		differ, are := t.twins(i, j)
		if are && t.identityOf(&t.id, when, i) != t.identityOf(&t.id, when, j) {
			t.id.asks = t.ask(i, j, differ)
		}
		return t.id.asks == ""
	})
}

// The pairs of so many events are all looked at. Of more events, it is those with a value in common
// that is rare.
const (
	allPairs = 600
	rare     = 16
)

// pairs calls see for the pairs of events that may be twins, until it returns false.
func (t *eventType) pairs(see func(i, j int) bool) {
	if n := len(t.events); n <= allPairs {
		for i := range n {
			for j := range i {
				if !see(j, i) {
					return
				}
			}
		}
		return
	}
	for _, f := range t.varying {
		having := map[uint64][]int{}
		for i, value := range f.in {
			if value == 0 || f.values[value] > rare {
				continue
			}
			for _, j := range having[value] {
				if !see(j, i) {
					return
				}
			}
			having[value] = append(having[value], i)
		}
	}
}
