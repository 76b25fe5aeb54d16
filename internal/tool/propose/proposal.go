package propose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// Proposal is what a sample suggests for pipeline.yaml.
type Proposal struct {
	sample *Sample
	typ    choice // of the bare payloads; text is empty if there are none
	types  []*eventType
	again  map[int]bool // lines whose event an earlier line has; known once Check has run
	aside  map[string]int
	// compiled is the proposal, once Check has run.
	compiled *pipeline.Pipeline
}

// eventType is one type of the sample's events.
type eventType struct {
	name    string
	events  []sampled
	aside   []sampled // further events, in which something is broken that nearly all others have
	lacks   []string  // what that is
	noun    string    // "order" of order.placed
	verb    string    // "placed"; empty for a name of one word
	wrapped bool      // an envelope says id and time of every event
	id      identity
	at      choice // its text is empty if the envelope says it, or nothing does
	date    *field // looks like a time that Ingot cannot read; nil if there is none
	belongs *field // what the events belong to, as order.paid belongs to an order
	groups  []*field
	amounts []*field
	quoted  []string // paths of amounts that are text
	anew    []string // members that sending sets anew, by their names; no copy in the sample shows it
	money   *field   // the currency: a sum over two of them means nothing; nil if there is none
}

// Proposal groups the events by type and chooses what to write for each type. constant is the type
// of bare payloads without a field that says it, such as "reading".
func (s *Sample) Proposal(constant string) *Proposal {
	p := &Proposal{sample: s}
	raw := slices.DeleteFunc(slices.Clone(s.events), func(e sampled) bool { return !e.raw })
	if len(raw) > 0 {
		var ok bool
		if p.typ, ok = typeField(raw); ok {
			p.typ.text = "{" + p.typ.text + "}"
		} else {
			p.typ = choice{constant, guess, "no field says what kind of event it is, so all of them are of one type"}
		}
	}
	byName := map[string]*eventType{}
	for _, e := range s.events {
		name := p.typeOf(e)
		t := byName[name]
		if t == nil {
			t = &eventType{name: name}
			byName[name] = t
			p.types = append(p.types, t)
		}
		t.events = append(t.events, e)
	}
	slices.SortFunc(p.types, func(a, b *eventType) int { return strings.Compare(a.name, b.name) })
	bare := false
	for _, t := range p.types {
		t.choose(p.vendor())
		bare = bare || slices.ContainsFunc(t.events, func(e sampled) bool { return e.raw })
	}
	if !bare { // those that there were are set aside, so nothing asks for a field of the type
		p.typ = choice{}
	}
	return p
}

// vendor returns what the names of all types begin with, if it is a domain in reverse, as in
// com.example.order.placed. It says nothing about what an event is of.
func (p *Proposal) vendor() string {
	common := ""
	for i, t := range p.types {
		labels := strings.SplitAfterN(t.name, ".", 3)
		if len(labels) < 3 || !slices.Contains([]string{"com.", "org.", "net.", "io.", "co.", "dev.", "app."}, labels[0]) {
			return ""
		}
		prefix := labels[0] + labels[1]
		if i > 0 && prefix != common {
			return ""
		}
		common = prefix
	}
	return common
}

func (p *Proposal) typeOf(e sampled) string {
	if !e.raw {
		return e.opened.Type
	}
	if path, isField := strings.CutPrefix(p.typ.text, "{"); isField {
		return at(&e, strings.TrimSuffix(path, "}")).Text()
	}
	return p.typ.text
}

func (t *eventType) choose(vendor string) {
	list := words(strings.TrimPrefix(t.name, vendor))
	t.noun = "event"
	if len(list) > 0 {
		t.noun, t.verb = list[0], strings.Join(list[1:], "_")
	}
	timed := true
	t.asideBare()
	t.wrapped = true
	for _, e := range t.events {
		t.wrapped = t.wrapped && !e.raw && e.opened.ID != ""
		timed = timed && !e.raw && !e.opened.At.IsZero()
	}
	fields := profile(t.events)
	var when *field
	if !timed {
		if when, t.at = chooseTime(t.events, fields); when == nil {
			t.asideUntimed(fields)
			fields = profile(t.events)
			when, t.at = chooseTime(t.events, fields)
		}
		t.date = otherTime(fields, len(t.events))
	}
	if !t.wrapped {
		t.asideUnnamed(fields)
		fields = profile(t.events)
		when = sameField(fields, when)
	}
	n := len(t.events)
	if t.id = chooseID(t.events, fields, t.noun, when); len(t.id.fields) == 0 && t.wrapped {
		t.id.why = "no field of the payload tells these events apart, so the id of the envelope does"
	}
	if t.wrapped && t.id.how == guess && (len(t.id.fields) > 1 || t.id.timed) {
		t.id = identity{choice: choice{how: likely,
			why: "no single field of the payload tells these events apart, so the id of the envelope does"}}
	}
	fields = slices.DeleteFunc(fields, func(f *field) bool { return slices.Contains(t.id.ignore, topOf(f)) })
	if len(t.id.fields) > 0 || !t.wrapped {
		t.belongs = owner(fields, t.noun, n, t.id)
	}
	for _, f := range fields {
		if top := topOf(f); f != when && changes(top) && !slices.Contains(t.anew, top) && !slices.Contains(t.id.fields, f) {
			t.anew = append(t.anew, top)
		}
	}
	t.groups, t.amounts = groups(fields, n, t.id, t.belongs), amounts(fields, n)
	t.money, t.quoted = currency(fields, n), quoted(fields, n)
}

// sameField returns the field of the same path in another profile.
func sameField(fields []*field, f *field) *field {
	i := slices.IndexFunc(fields, func(other *field) bool { return f != nil && other.path == f.path })
	if i < 0 {
		return nil
	}
	return fields[i]
}

// variable returns a field as a template's variable. A field that looks personal is hashed, because
// everybody who may list keys can see them.
func variable(f *field) string {
	if f.personal() {
		return "{" + f.path + " | hmac}"
	}
	return "{" + f.path + "}"
}

// ownID returns the template of what the id is made of, without what the event belongs to.
func (t *eventType) ownID() string {
	parts := make([]string, 0, len(t.id.fields)+1)
	for _, f := range t.id.fields {
		parts = append(parts, variable(f))
	}
	switch {
	case len(parts) == 0 && t.wrapped:
		return "{@id}"
	case len(parts) == 0:
		return "{@digest}"
	case t.id.timed:
		parts = append(parts, "{@at | time}")
	}
	return strings.Join(parts, "#")
}

// idText returns the template of the id. It is empty if the envelope has the id.
func (t *eventType) idText() string {
	switch own := t.ownID(); {
	case own == "{@id}":
		return ""
	case t.belongs != nil && len(t.id.fields) > 0:
		return variable(t.belongs) + "#" + own
	default:
		return own
	}
}

// key returns the two templates of the item's key. There is one partition for what the events
// belong to, if that is known, or else one for each event. comment says how certain that is.
func (t *eventType) key() (pk, sk, comment string) {
	noun, verb := keyWord(t.noun), keyWord(t.verb)
	if verb == "" {
		verb = noun
	}
	switch own := t.ownID(); {
	case t.belongs != nil:
		return noun + "#" + variable(t.belongs), verb + "#" + own, choice{how: likely, why: "one Query reads everything of one " +
			t.noun}.comment()
	case t.id.timed:
		f := t.id.fields[0]
		return keyWord(strings.Join(stem(f), "_")) + "#" + variable(f), verb + "#{@at | time}",
			choice{how: likely, why: "one Query reads one " + strings.Join(stem(f), " ") + " in the order of time"}.comment()
	default:
		return noun + "#" + own, verb,
			choice{how: t.id.how, why: "it is made of the id, so each event has a partition of its own"}.comment()
	}
}

// keyWord returns a word as keys begin with it: capital letters, digits and _.
func keyWord(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_':
			return r
		}
		return -1
	}, word)
}

// stem returns the words of a field's name without a last id: device for device_id.
func stem(f *field) []string {
	list := f.words()
	if last := list[len(list)-1]; len(list) > 1 && (last == "id" || last == "uuid") {
		list = list[:len(list)-1]
	}
	return list
}

// Check compiles the proposal and plans every event of the sample with it. It returns how many
// would become Poison, by reason. Events that the proposal sets aside as broken are not among them:
// see [Proposal.Aside]. It also notes which events repeat an earlier one, for [Proposal.Bodies]. If
// a proposal does not compile, that is a mistake in this package.
func (p *Proposal) Check() (planned int, poison map[string]int, err error) {
	file := textfile.File{Name: "pipeline.yaml", Text: p.YAML()}
	compiled, err := file.Load(pipeline.Secret([]byte("only-to-check-the-proposal")))
	if err != nil {
		return 0, nil, fmt.Errorf("the proposal does not compile, which is a mistake of this program:\n%w", err)
	}
	p.compiled = compiled
	poison, p.again, p.aside = map[string]int{}, map[int]bool{}, map[string]int{}
	stored, aside := map[event.Key]bool{}, map[int]bool{}
	for _, t := range p.types {
		for _, e := range t.aside {
			aside[e.line] = true
		}
	}
	for _, e := range p.sample.events {
		item, err := compiled.PlanEvent(e.opened.Event)
		if err != nil {
			var refusal *event.Refusal
			if !errors.As(err, &refusal) {
				return planned, poison, err
			}
			if aside[e.line] {
				p.aside[refusal.Detail]++
			} else {
				poison[refusal.Detail]++
			}
			continue
		}
		planned++
		if stored[item.Key] {
			p.again[e.line] = true
		}
		stored[item.Key] = true
	}
	return planned, poison, nil
}

// Aside returns how many events the proposal leaves to quarantine, by what is broken in them. Call
// [Proposal.Check] first.
func (p *Proposal) Aside() map[string]int { return p.aside }

// YAML returns the proposal as a pipeline.yaml with comments.
func (p *Proposal) YAML() []byte {
	w := &writer{}
	w.head(p)
	for _, t := range p.types {
		w.eventType(t)
	}
	w.patterns(p)
	w.aggregates(p)
	return w.Bytes()
}

// writer writes the file, one line at a time.
type writer struct{ bytes.Buffer }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat(" ", indent))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// remark writes a comment, on as many lines as it needs.
func (w *writer) remark(indent int, text string) {
	const width = 98
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && indent+2+len(line)+1+len(word) > width {
			w.line(indent, "# %s", line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	w.line(indent, "# %s", line)
}

func (w *writer) head(p *Proposal) {
	s := p.sample
	w.remark(0,
		fmt.Sprintf(
			"Proposed from a sample of %s. Each choice says how certain it is: certain (the sample leaves no other), likely, or a guess. "+
				"Read every one: a sample can show that a choice is wrong, never that it is right.", count(len(s.events), "event")))
	if s.repeated > 0 {
		w.remark(0, fmt.Sprintf("%s in the sample repeated an earlier one word for word. Ingot stores such an event once.",
			count(s.repeated, "line")))
	}
	if s.cut {
		w.remark(0, "Only the beginning of the sample was read; the file is longer.")
	}
	w.line(0, "ingot: 1   # version of this file's format")
	w.line(0, "epoch: 1   # raise by one whenever an aggregate is added or changed; never lower it")
	w.line(0, "")
	if p.typ.text != "" {
		w.remark(0, p.typ.comment())
		w.line(0, "type: %s", quote(p.typ.text))
		w.line(0, "")
	}
	w.line(0, "events:")
}

func (w *writer) eventType(t *eventType) {
	begins := w.Len()
	w.line(2, "%s:   # %s", yamlName(t.name), count(len(t.events)+len(t.aside), "event"))
	if text := t.asideRemark(); text != "" {
		w.remark(4, text)
	}
	w.remark(4, t.id.comment())
	if text := t.idText(); text != "" {
		w.line(4, "id: %s", quote(text))
	} else {
		w.remark(4, "The id is the envelope's. A producer that sends an event again must give it the same one.")
	}
	switch {
	case t.at.text != "":
		w.remark(4, t.at.comment())
		w.line(4, "at: %s", quote(t.at.text))
	case t.wrapped:
		w.remark(4, "The time is the envelope's.")
	case t.date != nil:
		w.remark(4, "MISSING: "+t.date.path+" looks like a time, but Ingot reads only RFC 3339 (2026-03-01T09:00:00Z, with T and Z or an "+
			"offset) and seconds or milliseconds since 1970. "+
			`An event needs a time: let the producer write one, and name it here, as in at: "{placed_at}".`)
	default:
		w.remark(4, `MISSING: no field is a time in every event, and an event needs one. Name it here, as in at: "{placed_at}".`)
	}
	pk, sk, comment := t.key()
	w.remark(4, comment)
	w.line(4, "key: {pk: %s, sk: %s}", quote(pk), quote(sk))
	if len(t.id.ignore) > 0 {
		w.remark(4, string(likely)+": it changes whenever the producer sends an event again")
		w.line(4, "ignore: [%s]", strings.Join(t.id.ignore, ", "))
	}
	if len(t.anew) > 0 {
		w.line(4, "# ignore: [%s]   # take out the # if these change when an event is sent again", strings.Join(t.anew, ", "))
	}
	w.indexes(t)
	if len(t.quoted) > 0 {
		w.remark(4, "Numbers in quotes cannot be summed: "+strings.Join(t.quoted, ", ")+". Let the producer write them without quotes.")
	}
	if bytes.Contains(w.Bytes()[begins:], []byte("| hmac}")) {
		w.remark(4,
			"hmac: keys show a hash in place of a value that looks personal. The payload still has the value, and is stored in clear.")
	}
	w.line(4, "# retain: 400d   # keep an event for so long after its own time; without it, for ever")
	w.line(0, "")
}

// indexes proposes other ways to find the events. They are comments, because each of them costs
// money.
func (w *writer) indexes(t *eventType) {
	if len(t.groups) == 0 {
		return
	}
	w.remark(4, string(guess)+": you will find them by something else too. If so, take out the # below. Each index costs one more write "+
		"unit for each started KB of an event.")
	w.line(4, "# indexes:")
	for i, f := range t.groups[:min(2, len(t.groups))] {
		w.line(4, "#   GSI%d: {pk: %s, sk: %s}", i+1, quote(keyWord(strings.Join(stem(f), "_"))+"#"+variable(f)),
			quote("{@at | time}#{@id}"))
	}
}

// patterns proposes the questions that the keys and totals answer.
func (w *writer) patterns(p *Proposal) {
	w.line(0, "# Questions that you will ask, by name. ingot query NAME says which values it needs.")
	w.line(0, "patterns:")
	var order []string
	reads := map[string][]string{} // types by the partition key that they share
	names := map[string]string{}
	for _, t := range p.types {
		pk, _, _ := t.key()
		if !strings.Contains(pk, "{") || strings.Contains(pk, "{@") {
			continue // nobody knows such a value without the event
		}
		if len(reads[pk]) == 0 {
			order, names[pk] = append(order, pk), plain(t.noun)
		}
		reads[pk] = append(reads[pk], yamlName(t.name))
	}
	taken := map[string]bool{"days": true}
	for _, pk := range order {
		if name := names[pk]; !taken[name] {
			taken[name] = true
			w.line(2, "%s: {read: [%s]}", name, strings.Join(reads[pk], ", "))
		}
	}
	w.line(2, "days: {total: events_daily}")
	w.line(0, "")
}

// aggregates proposes totals: how many events of each type there are on a day, and sums of fields
// that look like amounts.
func (w *writer) aggregates(p *Proposal) {
	w.line(0, "# Totals follow the events within seconds, and count each of them exactly once.")
	w.line(0, "aggregates:")
	w.remark(2, string(certain)+": it fits any events; how many of each type each day has, in UTC")
	w.line(2, "events_daily:")
	w.line(4, "since: 1")
	w.line(4, `by: {type: "{@type}"}`)
	w.line(4, "window: 1d")
	w.line(4, "from:")
	for _, t := range p.types {
		w.line(6, "%s: {values: {events: count}}", yamlName(t.name))
	}
	taken := map[string]bool{"events_daily": true}
	for _, t := range p.types {
		name := plain(t.name) + "_daily"
		if len(t.amounts) == 0 || taken[name] || len(taken) > maxSums {
			continue
		}
		taken[name] = true
		w.sums(t, name)
	}
}

// maxSums is how many types get an aggregate of sums. That is enough to show how it is done.
const maxSums = 3

func (w *writer) sums(t *eventType, name string) {
	w.line(0, "")
	w.remark(2, string(guess)+": these fields look like amounts")
	w.line(2, "%s:", name)
	w.line(4, "since: 1")
	if t.money != nil {
		w.line(4, `by: {currency: "{%s}"}   # sums of two currencies mean nothing`, t.money.path)
	}
	w.line(4, "window: 1d")
	values, named := []string{"events: count"}, map[string]bool{"events": true, "n": true, "fp": true, "fpx": true, "flag": true}
	for _, f := range t.amounts {
		if value := plain(f.last()); !named[value] && len(values) < 4 {
			named[value] = true
			values = append(values, value+": sum "+f.path)
		}
	}
	w.line(4, "from:")
	w.line(6, "%s: {values: {%s}}", yamlName(t.name), strings.Join(values, ", "))
}

// plain turns text into the name of an aggregate or a value: small letters, digits and _, beginning
// with a letter.
func plain(text string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return -1
	}, strings.Join(words(text), "_"))
	if name = strings.TrimLeft(name, "0123456789_"); name == "" {
		return "events"
	}
	return name[:min(len(name), 40)]
}

// quote writes text in double quotes, in a way that YAML and JSON both read.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("propose: quote: " + err.Error()) // cannot happen: every string has a JSON text
	}
	return strings.TrimSpace(b.String())
}

// yamlName writes the name of a member. It quotes the name if YAML would read it as something else.
func yamlName(name string) string {
	bare := name != "" && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z')
	for i := range len(name) {
		c := name[i]
		bare = bare && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	switch strings.ToLower(name) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		bare = false
	}
	if bare {
		return name
	}
	return quote(name)
}

// Bodies returns at most n of the sample's events, none of which repeats another one. The types
// take turns, so each has about as many as it can. Call [Proposal.Check] first.
func (p *Proposal) Bodies(n int) []string {
	var rounds [][]string
	for _, t := range p.types {
		i := 0
		for _, e := range t.events {
			if p.again[e.line] {
				continue
			}
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], e.body)
			i++
		}
	}
	list := slices.Concat(rounds...)
	return list[:min(len(list), n)]
}
