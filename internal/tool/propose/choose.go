package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// certainty says how certain a choice is. It is the first word of the comment next to the choice.
type certainty string

// These are the certainties. None of them is proof: see the package comment.
const (
	certain certainty = "certain" // the sample leaves no other choice
	likely  certainty = "likely"  // the names and a sample of some size agree
	guess   certainty = "guess"   // something had to be written; read it with care
)

// choice is a part of the file, with the reason for it.
type choice struct {
	text string
	how  certainty
	why  string
}

func (c choice) comment() string { return string(c.how) + ": " + c.why }

// enough is how many events make a sample that says something about uniqueness.
const enough = 100

// typeNames are names under which producers write an event's type. The most telling name comes
// first.
var typeNames = []string{"type", "event_type", "event", "event_name", "kind", "action", "name", "topic"}

// maxTypes is how many event types a field may name. A field with more is probably not a type.
const maxTypes = 50

// typeField finds the field that says the type of the events. ok is false if there is none. In an
// envelope, only a field that says two types is one.
func typeField(events []sampled, wrapped bool) (c choice, f *field, ok bool) {
	n, fields := len(events), profile(events)
	slices.SortStableFunc(fields, func(a, b *field) int { return a.depth - b.depth })
	for _, name := range typeNames {
		for _, f := range fields {
			list := f.words()
			if joined := strings.Join(list, "_"); joined != name &&
				(name != "type" && name != "topic" || !strings.HasSuffix(joined, "_"+name)) {
				continue
			}
			if times, _ := f.times(); times > 0 || f.texts != n || len(f.values) > maxTypes || f.depth > 1 && len(f.values)*2 > max(n, 4) ||
				wrapped && len(f.values) == 1 || !typesAreNames(events, f) {
				continue
			}
			how, why := likely, fmt.Sprintf("every event has it, and it has %s", show.Count(len(f.values), "value"))
			switch {
			case n < 3 || f.unique(n) && n > 1:
				how = guess
			case f.depth == 1 && (name == "type" || strings.HasPrefix(name, "event")):
				how = certain
			}
			return choice{text: f.path, how: how, why: why}, f, true
		}
	}
	return choice{}, nil, false
}

// typesAreNames reports whether every value of f can be the name of an event type.
func typesAreNames(events []sampled, f *field) bool {
	for i := range events {
		text := at(&events[i], f).Text()
		if text == "" || len(text) > 100 || strings.ContainsAny(text, "#%") || strings.ContainsFunc(text, func(r rune) bool {
			return r < ' ' || r == 0x7f
		}) {
			return false
		}
	}
	return true
}

func at(s *sampled, f *field) event.Node { return s.opened.Data.Root().At(f.leaf) }

// identity says how the events of one type are told apart.
type identity struct {
	choice
	fields []*field // what the id is made of; empty: the digest, or the envelope's id
	timed  bool     // whether the time is a part of it
	ignore []string // fields that differ between copies of one event
	copies int      // events whose id an earlier one has
	asks   string   // what the sample does not decide; empty: nothing
}

// differs says that something is different in all events of a sample. For a sample of one event, it
// says that this shows nothing.
func differs(what string, n int) string {
	if n == 1 {
		return "there is one event only, so nothing shows that " + what + " different in every event"
	}
	return fmt.Sprintf("%s different in all %s", what, show.Count(n, "event"))
}

// chooseID finds what tells the events apart: a field, two fields, a field together with the time,
// or else the envelope's id or the payload itself. The events that have it in common must look like
// copies of one event.
func (t *eventType) chooseID(fields []*field, when *field) identity {
	n := len(t.events)
	candidates := slices.DeleteFunc(slices.Clone(fields), func(f *field) bool {
		return !f.always(n) || !f.scalar() || f == when || f.isTime(n) || f.dates > 0 || idScore(f, t.noun) == 0
	})
	slices.SortStableFunc(candidates, func(a, b *field) int { return idScore(b, t.noun) - idScore(a, t.noun) })
	for _, f := range candidates {
		if score := idScore(f, t.noun); len(f.values)*2 >= n && (!t.wrapped || score >= named) {
			id := identity{choice: choice{f.path, uniqueness(n, score, f), differs(f.path+" is", n)}, fields: []*field{f}}
			if t.tells(&id, when) {
				if score < named && f.mails == 0 && id.copies == 0 { // it may be new with each sending
					id.asks = fmt.Sprintf("only %s tells these events apart, and nothing in the sample shows that it is an id. Ask the "+
						"producer: is it the same whenever an event is sent again?", f.path)
				}
				return id
			}
		}
	}
	candidates = candidates[:min(len(candidates), 12)]
	for i, a := range candidates {
		for _, b := range candidates[i+1:] {
			score := min(idScore(a, t.noun), idScore(b, t.noun))
			id := identity{choice: choice{a.path + " and " + b.path, lower(uniqueness(n, score, a)),
				fmt.Sprintf("neither is different in every event, but both together are, in all %s", show.Count(n, "event"))},
				fields: []*field{a, b}}
			if (score >= named || b.path == t.around) && t.tells(&id, when) {
				return id
			}
		}
	}
	// A field of one value, such as the type, tells nothing apart.
	slices.SortStableFunc(candidates, func(a, b *field) int { return min(len(b.values), 2) - min(len(a.values), 2) })
	for _, f := range candidates {
		id := identity{choice: choice{f.path, lower(uniqueness(n, idScore(f, t.noun), f)), differs(f.path+" and the time together are", n)},
			fields: []*field{f}, timed: true}
		if when != nil && !t.wrapped && (t.sure(when) || idScore(f, t.noun) >= named && len(f.values)*2 < n) && t.tells(&id, when) {
			return id
		}
	}
	if t.wrapped {
		id := identity{choice: choice{text: "envelope's id", how: guess,
			why: "no field of the payload tells these events apart, so the id of the envelope does"}}
		t.tells(&id, when)
		return id
	}
	return identity{choice: choice{how: guess,
		why: "no field tells these events apart, so the payload itself does: two equal payloads are one event"}}
}

// uniqueness returns how certain it is that a field is an identifier, if it is different in each of
// n events. The id of something inside an event may be that of what the event is about.
func uniqueness(n, score int, f *field) certainty {
	switch {
	case n >= enough && score >= named && f.depth == 1:
		return certain
	case n >= 5 && score >= named || n >= enough:
		return likely
	}
	return guess
}

// lower returns the certainty of a choice that has one more condition.
func lower(c certainty) certainty {
	if c == certain {
		return likely
	}
	return guess
}

// named is the least score of a field whose name says that it is an identifier.
const named = 40

// idScore says how much a field's name looks like an identifier of a noun. 0 means not at all.
func idScore(f *field, noun string) int {
	list := f.words()
	last := list[len(list)-1]
	score := 0
	switch joined := strings.Join(list, "_"); {
	case changes(f.last()):
		return 0 // it has another value each time that the event is sent, so one event would become two
	case slices.Contains([]string{"id", "event_id", "uuid", "guid", "uid"}, joined):
		score = 100
	case (last == "id" || last == "uuid" || last == "key") && len(list) > 1 && list[0] == noun:
		score = 95
	case last == "id" || last == "uuid" || last == "guid" || last == "arn":
		score = 80
	case slices.Contains([]string{"number", "no", "key", "code", "ref", "reference", "seq", "sequence", "name", "serial", "sku", "sensor",
		"device"}, last):
		score = 60
	case f.texts == f.present && f.mails == 0:
		score = 10
	case f.mails > 0:
		score = 5
	}
	if score > 0 && f.depth > 1 {
		score -= f.depth
	}
	return score
}

// changing are words in the names of fields that a producer sets again each time it sends an event.
var changing = []string{"sent", "trace", "span", "request", "attempt", "attempts", "retry", "retries", "received", "published", "delivered",
	"delivery", "correlation", "ingested", "signature", "nonce"}

// changes reports whether a name says that sending sets the field anew.
func changes(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool { return slices.Contains(changing, word) })
}

// isTime reports whether all values are times.
func (f *field) isTime(n int) bool {
	times, _ := f.times()
	return f.always(n) && (times == n || few(n-times, n))
}

// timeScores say how much a word in a field's name suggests that the field is the time of the
// event.
var timeScores = map[string]int{
	"occurred": 60, "happened": 60, "event": 30, "timestamp": 50, "time": 45, "ts": 45, "at": 20, "when": 45, "date": 30, "datetime": 45,
	"created": 30, "placed": 40, "observed": 50, "measured": 50, "recorded": 35, "start": 10, "started": 20,
	"updated": -20, "modified": -20, "sent": -40, "received": -40, "processed": -40, "ingested": -40, "published": -30,
	"expires": -80, "expiry": -80, "expire": -80, "due": -60, "until": -60, "valid": -30, "deleted": -30, "birth": -90, "born": -90,
	"next": -60,
}

// chooseTime finds the field that says when the event happened. It returns nil if no field is a
// time in every event.
func (t *eventType) chooseTime(fields []*field) (*field, choice) {
	n := len(t.events)
	var best *field
	var most, count int
	for _, f := range fields {
		if !f.isTime(n) {
			if f.dates > 0 && f.always(n) {
				t.date = f
			}
			continue
		}
		score := timeScore(f)
		if f.numeric() && score <= 0 {
			score -= 1000 // a number of the right size is hardly a time if the field's name does not say so
		}
		if count++; best == nil || score > most {
			best, most = f, score
		}
	}
	if best == nil {
		return nil, choice{}
	}
	t.onlyTime = count == 1
	_, with := best.times()
	c := choice{text: "{" + best.path + with.way + "}", how: guess,
		why: fmt.Sprintf("the first of %d fields that may be a time in every event", count)}
	switch {
	case most < -500:
		c.how, c.why = guess, "a number of the size that a time has; no other field is a time in every event"
	case count == 1 && best.numeric():
		c.how, c.why = likely, "a number of the size that a time has, with the name of one; no other field is a time in every event"
	case with.AssumesUTC():
		c.how, c.why = likely, "it does not say its offset from UTC, and is read as UTC"
	case count == 1 && n >= 3:
		c.how, c.why = certain, "the only field that is a time in every event"
	case count == 1:
		c.how, c.why = likely, "the only field that is a time in every event"
	case most > 0:
		c.how, c.why = likely, fmt.Sprintf("%d fields are a time in every event; this name says most clearly that it is when it happened",
			count)
	}
	if changes(best.path) {
		c.how, c.why = guess, "no better field is a time in every event; if it changes when an event is sent again, name another"
	}
	return best, c
}

// numeric reports whether the times of the field are numbers, with or without quotes.
func (f *field) numeric() bool {
	_, with := f.times()
	return with.Number
}

func timeScore(f *field) int {
	score := -f.depth
	for _, word := range f.words() {
		score += timeScores[word]
	}
	return score
}

// owner finds the field of what the events belong to, such as order_id of order.paid. Its name
// begins with the type's noun, every event has it, and it does not tell the events apart.
func owner(fields []*field, noun string, n int, id identity) *field {
	for _, f := range fields {
		list := f.words()
		if len(list) == 2 && list[0] == noun && list[1] == "id" && f.always(n) && f.scalar() && !slices.Contains(id.fields, f) {
			return f
		}
	}
	return nil
}

// groups lists other fields by which the events could be found: identifiers that several events
// share.
func groups(fields []*field, n int, id identity, belongs *field) []*field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *field) bool {
		list := f.words()
		last := list[len(list)-1]
		return f == belongs || slices.Contains(id.fields, f) || !f.scalar() || last != "id" && last != "uuid" || len(list) < 2 ||
			changes(f.path) ||
			len(f.values) < 2 || len(f.values) >= f.present || f.present*2 < n
	})
}

// amounts lists the numbers that could be summed.
func amounts(fields []*field, n int) []*field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *field) bool { return f.sums+f.quoted != n || f.isTime(n) || !f.amount() })
}

// amount reports whether the field's name says that it is an amount.
func (f *field) amount() bool {
	return slices.ContainsFunc(f.words(), func(word string) bool {
		return slices.Contains([]string{"amount", "total", "cents", "price", "cost", "fare", "quantity", "qty", "units", "bytes",
			"duration", "value", "fee", "tax"}, word)
	})
}

// currency finds the field that has the currency of every event. Of several, it is the one that is
// least deep.
func currency(fields []*field, n int) (best *field) {
	for _, f := range fields {
		list := f.words()
		if code := strings.Join(list, "_"); !strings.HasSuffix(code, "currency") && !strings.HasSuffix(code, "currency_code") {
			continue
		}
		if f.texts == n && len(f.values) <= 200 && (best == nil || f.depth < best.depth) {
			best = f
		}
	}
	return best
}
