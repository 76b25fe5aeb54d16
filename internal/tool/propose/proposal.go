package propose

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// Proposal is what a sample suggests for pipeline.yaml.
type Proposal struct {
	sample *Sample
	typ    choice // text is empty if all types are those of envelopes
	kind   *field // the field of that type; nil if it is a constant or text is empty
	inside bool   // in envelopes that all have one type
	types  []*eventType
	again  map[int]bool // lines whose events earlier lines have, or few lines break; known once Check has run
	aside  map[string]int
	// compiled is the proposal, once Check has run.
	compiled *pipeline.Pipeline
}

// eventType is one type of the sample's events.
type eventType struct {
	name     string
	events   []sampled
	noun     string // "order" of order.placed
	verb     string // "placed"; empty for a name of one word
	wrapped  bool   // an envelope says id and time of every event
	id       identity
	at       choice // its text is empty if the envelope says it, or nothing does
	date     *field // looks like a time that Ingot cannot read; nil if there is none
	belongs  *field // what the events belong to, as order.paid belongs to an order
	groups   []*field
	amounts  []*field
	anew     []string // fields that sending sets anew, by their names; no copy in the sample shows it
	varying  []*field // those with two values
	around   string   // a field that is there because the events cannot be told apart without it
	constant int      // how many fields have one value
	when     string   // the field of at; empty if it has none
	onlyTime bool     // no other field is a time
	money    *field   // the currency: a sum over two of them means nothing; nil if there is none
}

// Proposal groups the events by type and chooses what to write for each type. Bare payloads without
// a field that says their type have the type "event". Events inside an object take a
// value of those around them if they cannot be told apart without it.
func (s *Sample) Proposal() *Proposal {
	p := s.proposal("")
	plain, events := s.batches, s.events
	different := map[string]bool{}
	for _, line := range s.lines {
		different[line.text] = true
	}
	for _, f := range s.around() {
		path, _ := event.ParseEvery(f.path) // no error: a profile has it
		s.events = events
		name := s.nameAround(f)
		s.batches = slices.Clone(plain)
		for i, b := range plain {
			above, _ := path.Around()
			if enclosing, _ := b.Each.Around(); above.Contains(enclosing) && !b.Each.IsZero() {
				s.batches[i].With = []envelope.With{{Name: name, Path: path}}
			}
		}
		s.open()
		more := len(s.events) > len(events) // equal events are in objects that differ
		if len(s.events) == 0 || !more && !p.vague() {
			continue
		}
		// A field that has another value in nearly each message may be that of the delivery.
		if shared := len(f.values)*2 <= len(different); shared && (idScore(f, "") >= named || !more) {
			if better := s.proposal(name); !better.vague() {
				return better
			}
		}
		for _, t := range p.types {
			if more && t.id.asks == "" {
				t.id.asks = "equal events are in objects with another " + f.path + ". Ask the producer: are they one event?"
			}
		}
	}
	s.batches, s.events = plain, events
	return p
}

// vague reports whether the events of a type are not told apart by fields.
func (p *Proposal) vague() bool {
	return slices.ContainsFunc(p.types, func(t *eventType) bool { return t.id.asks != "" || len(t.id.fields) == 0 || t.id.timed })
}

func (s *Sample) proposal(around string) *Proposal {
	p := &Proposal{sample: s}
	events := s.events
	raw := slices.DeleteFunc(slices.Clone(events), func(e sampled) bool { return !e.raw })
	if few(len(raw), len(events)) { // their envelopes are broken
		events, raw = slices.DeleteFunc(slices.Clone(events), func(e sampled) bool { return e.raw }), nil
	}
	p.inside = len(raw) == 0 && !slices.ContainsFunc(events, func(e sampled) bool { return e.opened.Type != events[0].opened.Type })
	if p.inside {
		raw = events
	}
	var ok bool
	if p.typ, p.kind, ok = typeField(raw, p.inside); ok {
		p.typ.text = "{" + p.typ.text + "}"
	} else if len(raw) > 0 && !p.inside {
		p.typ = choice{"event", guess, "no field says what kind of event it is, so all of them are of one type"}
	}
	byName := map[string]*eventType{}
	for _, e := range events {
		name := p.typeOf(e)
		t := byName[name]
		if t == nil {
			t = &eventType{name: name, around: around}
			byName[name] = t
			p.types = append(p.types, t)
		}
		t.events = append(t.events, e)
	}
	slices.SortFunc(p.types, func(a, b *eventType) int { return strings.Compare(a.name, b.name) })
	taken := map[string]bool{}
	for _, t := range p.types {
		t.choose(p.vendor())
		for word, n := t.word(), 2; taken[keyWord(t.noun)+"#"+t.word()]; n++ {
			t.verb = fmt.Sprint(word, "_", n)
		}
		taken[keyWord(t.noun)+"#"+t.word()] = true
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
	switch {
	case p.kind != nil && (e.raw || p.inside):
		return at(&e, p.kind).Text()
	case e.raw:
		return p.typ.text
	}
	return e.opened.Type
}

func (t *eventType) choose(vendor string) {
	list := words(strings.TrimPrefix(t.name, vendor))
	t.noun = "event"
	if len(list) > 0 {
		t.noun, t.verb = list[0], strings.Join(list[1:], "_")
	}
	timed := true
	t.wrapped = true
	for _, e := range t.events {
		t.wrapped = t.wrapped && !e.raw && e.opened.ID != ""
		timed = timed && !e.raw && !e.opened.At.IsZero()
	}
	fields := profile(t.events)
	when, at := t.chooseTime(fields)
	if !timed {
		t.at = at
	}
	n := len(t.events)
	t.varying = slices.DeleteFunc(slices.Clone(fields), func(f *field) bool { return len(f.values) == 1 && f.values[f.in[0]] == n })
	if t.constant = len(fields) - len(t.varying); when != nil {
		t.when = when.path
	}
	if timed {
		when = nil // the envelope's counts
	}
	t.id = t.chooseID(fields, when)
	if t.id.asks == "" && len(t.id.fields) > 0 {
		t.spelled()
	}
	if t.id.asks == "" {
		t.doubt(when)
	}
	fields = slices.DeleteFunc(fields, func(f *field) bool { return t.id.asks == "" && slices.Contains(t.id.ignore, f.path) })
	if len(t.id.fields) > 0 || !t.wrapped {
		t.belongs = owner(fields, t.noun, n, t.id)
	}
	for _, f := range fields {
		if f != when && f != t.belongs && t.noisy(f) && !slices.Contains(t.id.fields, f) {
			t.anew = append(t.anew, f.path)
		}
	}
	t.groups, t.amounts, t.money = groups(fields, n, t.id, t.belongs), amounts(fields, n), currency(fields, n)
}

// variable returns a field as a template's variable. A field that looks personal is hashed, because
// everybody who may list keys can see them.
func variable(f *field) string {
	if f.personal() {
		return "{" + f.path + f.fold + " | hmac}"
	}
	return "{" + f.path + f.fold + "}"
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

// word returns what the sort keys of the type begin with.
func (t *eventType) word() string {
	if t.verb == "" {
		return keyWord(t.noun)
	}
	return keyWord(t.verb)
}

// key returns the two templates of the item's key. There is one partition for what the events
// belong to, if that is known, or else one for each event. comment says how certain that is.
func (t *eventType) key() (pk, sk, comment string) {
	noun := keyWord(t.noun)
	switch own := t.ownID(); {
	case t.id.asks != "":
		return noun + "#{@id}", t.word(), choice{how: guess, why: "it follows from the id"}.comment()
	case t.belongs != nil:
		return noun + "#" + variable(t.belongs), t.word() + "#" + own, choice{how: likely, why: "one Query reads everything of one " +
			t.noun}.comment()
	case t.id.timed: // types of other nouns may have the same owner and time
		f, word := t.id.fields[0], noun
		if t.verb != "" {
			word += "_" + t.word()
		}
		return keyWord(strings.Join(stem(f), "_")) + "#" + variable(f), word + "#{@at | time}",
			choice{how: likely, why: "one Query reads one " + strings.Join(stem(f), " ") + " in the order of time"}.comment()
	default:
		return noun + "#" + own, t.word(),
			choice{how: t.id.how, why: "it is made of the id, so each event has a partition of its own"}.comment()
	}
}

// keyWord returns a word as keys begin with it: capital letters, digits and _.
func keyWord(word string) string {
	key := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_':
			return r
		}
		return -1
	}, word)
	return cmp.Or(key, "EVENT")
}

// stem returns the words of a field's name without a last id: device for device_id.
func stem(f *field) []string {
	list := f.words()
	if last := list[len(list)-1]; len(list) > 1 && (last == "id" || last == "uuid") {
		list = list[:len(list)-1]
	}
	return list
}

// Check compiles the proposal and runs the sample through the ingest function in memory, twice. If
// two events then have one key, or one event has two, the proposal asks what the sample does not
// decide, and leaves the id open. Check returns how many events are stored, and how many are not,
// by reason. If few events of a type are refused, these are not among them: see
// [Proposal.Aside]. It also notes which lines repeat earlier ones, for [Proposal.Bodies]. If a
// proposal does not compile, that is a mistake in this package.
func (p *Proposal) Check() (taken int, unfit map[string]int, err error) {
	for range 2 {
		file := textfile.File{Name: "pipeline.yaml", Text: p.YAML()}
		if p.compiled, err = file.Load(pipeline.Secret([]byte("only-to-check-the-proposal"))); err != nil {
			return 0, nil, fmt.Errorf("the proposal does not compile, which is a mistake of this program:\n%w", err)
		}
		var clash bool
		if taken, unfit, clash, err = p.run(); err != nil || !clash {
			break
		}
	}
	return taken, unfit, err
}

// undecided is a field that no event has. An id that names it leaves the file incomplete.
const undecided = "UNDECIDED"

// events returns the outcomes of the events of a message.
func events(o handler.Outcome) []handler.Outcome {
	if o.Events != nil {
		return o.Events
	}
	return []handler.Outcome{o}
}

// refusal is what is wrong with an event.
type refusal struct {
	line   int
	detail string
}

// few reports whether at most one in twenty of n events are bad. These may be broken. If there are
// more of them, they are probably events of another shape.
func few(bad, n int) bool { return bad > 0 && bad*20 <= n }

// needs returns how many fields an event of the type must have. Few events may lack each.
func (t *eventType) needs() int {
	n := 1 + len(t.id.fields)
	if t.belongs != nil {
		n++
	}
	return n
}

// run puts every line twice. clash says that the id of a type was left open for what came of that.
func (p *Proposal) run() (taken int, unfit map[string]int, clash bool, err error) {
	unfit, p.again, p.aside = map[string]int{}, map[int]bool{}, map[string]int{}
	types, of, refused := map[string]*eventType{}, map[int]*eventType{}, map[*eventType][]refusal{}
	for _, t := range p.types {
		types[t.name] = t
		for _, e := range t.events {
			of[e.line] = t
		}
	}
	for _, e := range p.sample.events {
		p.again[e.line] = false
	}
	r, err := rehearse.New(p.compiled, year2100, nil)
	if err != nil {
		return 0, nil, false, err
	}
	for _, line := range p.sample.lines {
		if _, usable := p.again[line.line]; !usable {
			continue
		}
		m := envelope.Message{Body: line.text}
		outcomes, err := r.Put([]envelope.Message{m, m})
		if err != nil {
			return 0, nil, false, err
		}
		first, second := events(outcomes[0]), events(outcomes[1])
		p.again[line.line] = !slices.ContainsFunc(first, func(o handler.Outcome) bool { return o.Verdict != event.Duplicate })
		for i, o := range first {
			switch t := of[line.line]; {
			case o.Refusal != nil && o.Verdict != event.Conflict:
				if !strings.Contains(o.Refusal.Detail, undecided) {
					refused[t] = append(refused[t], refusal{line.line, o.Refusal.Detail})
				}
			case o.Verdict == event.Conflict || second[i].Verdict != event.Duplicate:
				if t := types[o.Item.Type]; t.id.asks == "" {
					t.id.asks, clash = fmt.Sprintf("line %d has the key of an event that differs. Ask the producer: are they one "+
						"event?", line.line), true
				}
			default:
				taken++
			}
		}
	}
	for t, list := range refused {
		for _, r := range list {
			if t == nil || few(len(list), t.needs()*len(t.events)) {
				p.aside[r.detail]++
				p.again[r.line] = true
			} else {
				unfit[r.detail]++
			}
		}
	}
	for _, t := range p.types {
		if t.id.asks != "" {
			unfit[t.name+": "+t.id.asks] = len(t.events)
		}
	}
	return taken, unfit, clash, nil
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
				"Read every one: a sample can show that a choice is wrong, never that it is right.", show.Count(len(s.events), "event")))
	if s.repeated > 0 {
		w.remark(0, fmt.Sprintf("%s in the sample repeated an earlier one word for word. Ingot stores such an event once.",
			show.Count(s.repeated, "line")))
	}
	if s.cut {
		w.remark(0, "Only the beginning of the sample was read; the file is longer.")
	}
	w.line(0, "ingot: 1   # version of this file's format")
	w.line(0, "epoch: 1   # raise by one whenever an aggregate is added or changed; never lower it")
	w.line(0, "")
	w.batches(s.batches)
	if p.typ.text != "" {
		w.remark(0, p.typ.comment())
		text := event.Quote(p.typ.text)
		if p.inside {
			text = "[" + text + `, "{@type}"]`
		}
		w.line(0, "type: %s", text)
		w.line(0, "")
	}
	w.line(0, "events:")
}

// batches writes where a message holds several events.
func (w *writer) batches(list []envelope.Batch) {
	if len(list) == 0 {
		return
	}
	w.remark(0, string(likely)+": each element has a time, so each is an event")
	if len(list) == 1 && list[0].Each.IsZero() {
		w.line(0, "batches: true")
	} else {
		w.line(0, "batches:")
	}
	for _, b := range list {
		with := ""
		for _, from := range b.With {
			with = fmt.Sprintf(", with: {%s: %s}", yamlName(from.Name), event.Quote(from.Path.String()))
		}
		switch {
		case len(list) > 1 && b.Each.IsZero():
			w.line(2, `- {each: "."}`)
		case !b.Each.IsZero():
			w.line(2, "- {each: %s%s}", event.Quote(b.Each.String()), with)
		}
	}
	w.line(0, "")
}

func (w *writer) eventType(t *eventType) {
	begins := w.Len()
	w.line(2, "%s:   # %s", yamlName(t.name), show.Count(len(t.events), "event"))
	text := cmp.Or(t.idText(), "{@id}")
	switch {
	case t.id.asks != "":
		w.remark(4, "UNDECIDED: "+t.id.asks+" If yes, write what stands behind the #, and ignore what differs. If no, the id needs what "+
			"tells events apart.")
		w.line(4, `id: "{%s}"   # %s`, undecided, event.Quote(text))
	case text != "{@id}":
		w.remark(4, t.id.comment())
		w.line(4, "id: %s", event.Quote(text))
	default:
		w.remark(4, t.id.comment())
		w.remark(4, "The id is the envelope's. A producer that sends an event again must give it the same one.")
	}
	switch {
	case t.at.text != "":
		w.remark(4, t.at.comment())
		w.line(4, "at: %s", event.Quote(t.at.text))
	case t.wrapped:
		w.remark(4, "The time is the envelope's.")
	case t.date != nil:
		w.remark(4, "MISSING: "+t.date.path+" looks like a time, but Ingot does not read its form. "+
			`An event needs a time: let the producer write one, and name it here, as in at: "{placed_at}".`)
	default:
		w.remark(4, `MISSING: no field is a time in every event, and an event needs one. Name it here, as in at: "{placed_at}".`)
	}
	pk, sk, comment := t.key()
	w.remark(4, comment)
	w.line(4, "key: {pk: %s, sk: %s}", event.Quote(pk), event.Quote(sk))
	if len(t.id.ignore) > 0 && t.id.asks == "" {
		w.remark(4, string(likely)+": it changes whenever the producer sends an event again")
		w.line(4, "ignore: [%s]", listed(t.id.ignore))
	}
	if len(t.anew) > 0 {
		w.line(4, "# ignore: [%s]   # take out the # if these change when an event is sent again", listed(t.anew))
	}
	w.indexes(t)
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
		w.line(4, "#   GSI%d: {pk: %s, sk: %s}", i+1, event.Quote(keyWord(strings.Join(stem(f), "_"))+"#"+variable(f)),
			event.Quote("{@at | time}#{@id}"))
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
		w.line(4, `by: {currency: %s}   # sums of two currencies mean nothing`, event.Quote("{"+t.money.path+"}"))
	}
	w.line(4, "window: 1d")
	values, named := []string{"events: count"}, map[string]bool{"events": true, "n": true, "fp": true, "fpx": true, "flag": true}
	for _, f := range t.amounts {
		if value := plain(f.last()); !named[value] && len(values) < 4 {
			named[value] = true
			sum := "sum " + f.path
			if f.quoted > 0 {
				sum = "sum number(" + f.path + ")"
			}
			if strings.ContainsAny(sum, `["`) {
				sum = event.Quote(sum)
			}
			values = append(values, value+": "+sum)
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

// listed writes paths as the elements of a list.
func listed(paths []string) string {
	var list []string
	for _, path := range paths {
		list = append(list, yamlName(path))
	}
	return strings.Join(list, ", ")
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
	return event.Quote(name)
}

// Bodies returns at most n of the sample's events, none of which repeats another one. The types
// take turns, so each has about as many as it can. Call [Proposal.Check] first.
func (p *Proposal) Bodies(n int) []string {
	var rounds [][]string
	took := map[int]bool{}
	for _, t := range p.types {
		i := 0
		for _, e := range t.events {
			if p.again[e.line] || took[e.line] {
				continue
			}
			took[e.line] = true
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], e.text)
			i++
		}
	}
	list := slices.Concat(rounds...)
	return list[:min(len(list), n)]
}
