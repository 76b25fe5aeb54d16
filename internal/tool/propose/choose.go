package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
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

// typeField finds the field that says the type of the bare payloads. ok is false if there is none.
func typeField(events []sampled) (c choice, ok bool) {
	fields := profile(events)
	for _, name := range typeNames {
		for _, f := range fields {
			if strings.Join(f.words(), "_") != name || f.depth > 1 || f.texts != len(events) || len(f.values) > maxTypes || f.times > 0 ||
				!typesAreNames(events, f) {
				continue
			}
			how, why := likely, fmt.Sprintf("every event has it, and it has %s", count(len(f.values), "value"))
			switch {
			case len(events) < 3 || f.unique(len(events)) && len(events) > 1:
				how = guess
			case name == "type" || strings.HasPrefix(name, "event"):
				how = certain
			}
			return choice{text: f.path, how: how, why: why}, true
		}
	}
	return choice{}, false
}

// typesAreNames reports whether every value of f can be the name of an event type.
func typesAreNames(events []sampled, f *field) bool {
	for i := range events {
		text := at(&events[i], f.path).Text()
		if text == "" || len(text) > 100 || strings.ContainsAny(text, "#%") || strings.ContainsFunc(text, func(r rune) bool {
			return r < ' ' || r == 0x7f
		}) {
			return false
		}
	}
	return true
}

func at(s *sampled, path string) event.Node {
	p, err := event.ParsePath(path)
	if err != nil {
		return event.Node{}
	}
	return s.opened.Data.Root().At(p)
}

// identity says how the events of one type are told apart.
type identity struct {
	choice
	fields []*field // what the id is made of; empty: the digest, or the envelope's id
	timed  bool     // whether the time is a part of it
	ignore []string // members that differ between copies of one event
}

// differs says that something is different in all events of a sample. For a sample of one event, it
// says that this shows nothing.
func differs(what string, n int) string {
	if n == 1 {
		return "there is one event only, so nothing shows that " + what + " different in every event"
	}
	return fmt.Sprintf("%s different in all %s", what, count(n, "event"))
}

// chooseID finds what is different in every event. This is a field, a field together with what it
// belongs to, a field together with the time, or else the payload itself. A field is also enough if
// it is different in nearly all events, and the others look altered.
func chooseID(events []sampled, fields []*field, noun string, when *field) identity {
	n := len(events)
	candidates := slices.DeleteFunc(slices.Clone(fields), func(f *field) bool {
		return !f.always(n) || !f.scalar() || f == when || f.isTime(n) || f.dates > 0 || idScore(f, noun) == 0
	})
	slices.SortStableFunc(candidates, func(a, b *field) int { return idScore(b, noun) - idScore(a, noun) })
	for _, f := range candidates {
		if f.unique(n) {
			return identity{choice: choice{f.path, uniqueness(n, idScore(f, noun)), differs(f.path+" is", n)}, fields: []*field{f}}
		}
	}
	if id, ok := resent(events, candidates, noun, when); ok {
		return id
	}
	if id, ok := altered(events, candidates, noun, when); ok {
		return id
	}
	for i, a := range candidates {
		for _, b := range candidates[i+1 : min(len(candidates), i+8)] {
			if pairs(events, a, b) == n {
				return identity{choice: choice{a.path + " and " + b.path, lower(uniqueness(n, min(idScore(a, noun), idScore(b, noun)))),
					fmt.Sprintf("neither is different in every event, but both together are, in all %s", count(n, "event"))},
					fields: []*field{a, b}}
			}
		}
	}
	if when != nil {
		for _, f := range candidates {
			if pairs(events, f, when) == n {
				return identity{choice: choice{f.path, lower(uniqueness(n, idScore(f, noun))),
					differs(f.path+" and the time together are", n)}, fields: []*field{f}, timed: true}
			}
		}
	}
	return identity{choice: choice{how: guess,
		why: "no field tells these events apart, so the payload itself does: two equal payloads are one event" + nearly(candidates, n)}}
}

// nearly names the identifier that tells most of n events apart, if it does so for at least half of
// them. A person may know that the others are the same events.
func nearly(candidates []*field, n int) string {
	best := &field{}
	for _, f := range candidates {
		if len(f.values) > len(best.values) && idScore(f, "") >= named {
			best = f
		}
	}
	if len(best.values)*2 < n {
		return ""
	}
	return fmt.Sprintf(
		". %s nearly does: %s of %s have the %s of an earlier event. If each of these is that event again, changed, write %s as the id",
		best.path, thousands(n-len(best.values)), count(n, "event"), best.path, variable(best))
}

// uniqueness returns how certain it is that a field is an identifier, if it is different in each of
// n events.
func uniqueness(n, score int) certainty {
	switch {
	case n >= enough && score >= named:
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

// named is the score of a field whose name says that it is an identifier.
const named = 60

// idScore says how much a field's name looks like an identifier of a noun. 0 means not at all.
func idScore(f *field, noun string) int {
	list := f.words()
	last := list[len(list)-1]
	score := 0
	switch joined := strings.Join(list, "_"); {
	case changes(f.last()):
		return 0 // it has another value each time that the event is sent, so one event would become two
	case slices.Contains([]string{"id", "event_id", "uuid", "guid", "uid", "message_id", "transaction_id"}, joined):
		score = 100
	case (last == "id" || last == "uuid" || last == "key") && len(list) > 1 && list[0] == noun:
		score = 95
	case last == "id" || last == "uuid" || last == "guid" || last == "arn":
		score = 80
	case slices.Contains([]string{"number", "no", "key", "code", "ref", "reference", "seq", "sequence", "name", "serial", "sku", "sensor",
		"device"}, last):
		score = named
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

// pairs counts the different pairs of values.
func pairs(events []sampled, a, b *field) int {
	seen := make(map[[2]uint64]bool, len(events))
	for i := range events {
		seen[[2]uint64{hashOf(at(&events[i], a.path)), hashOf(at(&events[i], b.path))}] = true
	}
	return len(seen)
}

// changing are words in the names of fields that a producer sets again each time it sends an event.
var changing = []string{"sent", "trace", "span", "request", "attempt", "attempts", "retry", "retries", "received", "published", "delivered",
	"delivery", "correlation", "ingested"}

// resent finds an identifier that some events share, if those events differ only in fields that are
// set anew each time the event is sent. Then they are one event that was sent several times.
func resent(events []sampled, candidates []*field, noun string, when *field) (identity, bool) {
	for _, f := range candidates {
		if idScore(f, noun) < named || len(f.values)*2 < len(events) {
			continue
		}
		paths := differing(events, f)
		if len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool {
			return !changes(path) || !plainPath.MatchString(path) || when != nil && topOf(when) == path
		}) {
			continue
		}
		list := strings.Join(paths, ", ")
		return identity{
			choice: choice{f.path, likely, fmt.Sprintf("of events with the same %s there are %s more, which differ in %s alone", f.path,
				thousands(len(events)-len(f.values)), list)},
			fields: []*field{f},
			ignore: paths,
		}, true
	}
	return identity{}, false
}

func changes(path string) bool {
	return slices.ContainsFunc(words(path), func(word string) bool { return slices.Contains(changing, word) })
}

// differing lists the top-level members in which events with the same value of f differ.
func differing(events []sampled, f *field) []string {
	first := map[uint64]int{}
	found := map[string]bool{}
	for i := range events {
		key := hashOf(at(&events[i], f.path))
		j, seen := first[key]
		if !seen {
			first[key] = i
			continue
		}
		a, b := events[j].opened.Data.Root(), events[i].opened.Data.Root()
		for name, value := range a.Members() {
			if b.Member(name).Raw() != value.Raw() {
				found[name] = true
			}
		}
		for name := range b.Members() {
			if !a.Member(name).Exists() {
				found[name] = true
			}
		}
	}
	var list []string
	for name := range found {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// isTime reports whether all values are times.
func (f *field) isTime(n int) bool {
	return f.always(n) && (f.times == n || f.seconds == n || f.millis == n)
}

// otherTime returns a field that every event has and that is a date in a form that is not RFC 3339
// in some of them. It returns nil if there is none.
func otherTime(fields []*field, n int) *field {
	var best *field
	for _, f := range fields {
		if f.dates > 0 && f.dates+f.times == n && (best == nil || timeScore(f) > timeScore(best)) {
			best = f
		}
	}
	return best
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
func chooseTime(events []sampled, fields []*field) (*field, choice) {
	n := len(events)
	var best *field
	var most, count int
	for _, f := range fields {
		numeric := f.times < n
		if !f.isTime(n) || numeric && timeScore(f) <= 0 {
			continue // a number of the right size is a time only if the field's name says so
		}
		if count++; best == nil || timeScore(f) > most {
			best, most = f, timeScore(f)
		}
	}
	if best == nil {
		return nil, choice{}
	}
	c := choice{text: "{" + best.path + "}", how: guess, why: fmt.Sprintf("the first of %d fields that are a time in every event", count)}
	switch {
	case best.times == n:
	case best.seconds == n:
		c.text = "{" + best.path + " | unix}"
	default:
		c.text = "{" + best.path + " | unixms}"
	}
	switch {
	case count == 1 && best.times < n:
		c.how, c.why = likely, "a number of the size that a time has, with the name of one; no other field is a time in every event"
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

// topOf returns the member of the payload that holds the field.
func topOf(f *field) string {
	top, _, _ := strings.Cut(f.path, ".")
	return top
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
	return slices.DeleteFunc(slices.Clone(fields), func(f *field) bool { return f.sums != n || f.isTime(n) || !f.amount() })
}

// amount reports whether the field's name says that it is an amount.
func (f *field) amount() bool {
	return slices.ContainsFunc(f.words(), func(word string) bool {
		return slices.Contains([]string{"amount", "total", "cents", "price", "cost", "fare", "quantity", "qty", "units", "bytes",
			"duration", "value", "fee", "tax"}, word)
	})
}

// quoted finds fields that look like amounts and are numbers in quotes, which cannot be summed.
func quoted(fields []*field, n int) (paths []string) {
	for _, f := range fields {
		if f.quoted == n && f.amount() {
			paths = append(paths, f.path)
		}
	}
	return paths
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

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%s %ss", thousands(n), what)
}

// thousands writes n with a comma before every three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
