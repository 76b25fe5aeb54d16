package sample

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/frequent"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	// maxHot is how many keys each counter of hot keys keeps.
	maxHot = 1000
	// maxTop is how many of them are reported.
	maxTop = 3
	// hashDigits is how many digits of a key's hash replace a hidden key, as in the logs.
	hashDigits = 16
)

// Sampler plans events and reports on them. [Sampler.Read] is its entry point.
type Sampler struct {
	Pipeline *pipeline.Pipeline // required
	Now      time.Time          // the time that decides whether an event is Expired; required
	// Messages returns the messages of a line, such as those of a batch. nil: a line is one
	// message. An error ends the reading.
	Messages func(line string) ([]envelope.Message, error)
	Clock    func() time.Time // tells how long the rehearsal takes; nil: it may take any time
	// Also returns what else reads the payloads of an event type, such as publish.yaml; nil:
	// nothing does.
	Also func(typ string) []event.Read
	// Name and Text are those of the file of the pipeline. They tell the line of a field. Empty: no
	// line is told.
	Name string
	Text []byte
}

// judged is an event that can be planned, and what would become of it.
type judged struct {
	verdict event.Verdict // 0: it is planned, and was not rehearsed
	item    *event.Item
	parts   []*event.Item // if the event would be stored or is stored already
}

// run is the state of one reading.
type run struct {
	*Sampler
	described *pipeline.Description
	personal  show.Personal
	hidden    map[string]bool // the aggregates whose keys are not shown
	report    Report
	verdicts  map[Verdict]*Verdict // by everything except Count, Line and Detail
	fields    map[string]*fields   // by event type
	keys      map[string]*frequent.Counter
	totals    map[string]*frequent.Counter
	lists     map[string]*frequent.Counter // of ranked totals
	compress  map[string]*Compress         // by type
	bytes     int
	events    int                 // that would be written
	rehearsal *rehearse.Rehearsal // nil: it is over
	holders   map[event.Key]int   // the line of what was rehearsed and holds a key
}

// Read plans every line of r, and rehearses the first ones. It returns an error if r cannot be
// read.
func (s *Sampler) Read(name string, r io.Reader) (*Report, error) {
	x := &run{Sampler: s, described: s.Pipeline.Describe(), personal: show.PersonalOf(s.Pipeline), hidden: map[string]bool{},
		report: Report{File: name}, verdicts: map[Verdict]*Verdict{}, fields: map[string]*fields{},
		keys: map[string]*frequent.Counter{}, totals: map[string]*frequent.Counter{}, lists: map[string]*frequent.Counter{},
		compress: map[string]*Compress{}, holders: map[event.Key]int{}}
	for name := range x.described.Spec.Aggregates {
		x.hidden[name] = x.personal.Total(name)
	}
	var err error
	if x.rehearsal, err = rehearse.New(s.Pipeline, s.Now, s.Clock); err != nil {
		return nil, err
	}
	for line, err := range ndjson.Lines(r) {
		if errors.Is(err, ndjson.ErrTooLong) {
			x.report.Lines++
			x.count(Verdict{Verdict: event.Poison.String(), Reason: string(event.Undecodable)}, line.Number, err.Error())
			continue
		}
		if err == nil {
			err = x.line(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line.Number, err)
		}
	}
	x.finish()
	return &x.report, nil
}

// line judges the messages of a line.
func (x *run) line(line ndjson.Line) (err error) {
	if x.report.Lines == 0 {
		x.report.advice = ndjson.Advice(line.Text)
	}
	messages := []envelope.Message{{Body: line.Text}}
	if x.Messages != nil {
		if messages, err = x.Messages(line.Text); err != nil {
			return err
		}
	}
	for _, m := range messages {
		outcomes := []handler.Outcome{{}}
		if x.rehearsal != nil && x.rehearsal.Over() {
			x.rehearsal, x.report.Rehearsed = nil, x.report.Lines
		}
		if x.rehearsal != nil {
			if outcomes, err = x.rehearsal.Put([]envelope.Message{m}); err != nil {
				return err
			}
		}
		x.message(line.Number, m, outcomes[0])
	}
	return nil
}

// message judges one message, or each event of a message that is an array. Each of them counts as a
// line.
func (x *run) message(line int, m envelope.Message, o handler.Outcome) {
	item, planned, err := x.Pipeline.PlanMessage(m)
	messages, outcomes := []envelope.Message{m}, []handler.Outcome{o}
	if planned == nil {
		planned = []event.Planned{{Item: item, Refusal: event.RefusalOf(err)}}
	} else {
		_, messages, _ = x.Pipeline.Open(m) // it was just planned, so there is no error
		outcomes = append(o.Events, make([]handler.Outcome, len(planned)-len(o.Events))...)
	}
	for i := range planned {
		x.event(line, messages[i], planned[i], &outcomes[i])
	}
}

// event judges one event by what the planner says of it, and by its outcome if it was rehearsed.
func (x *run) event(line int, m envelope.Message, planned event.Planned, o *handler.Outcome) {
	x.report.Lines++
	if o.Verdict == 0 && planned.Refusal != nil {
		o.Verdict, o.Refusal = planned.Refusal.Verdict, planned.Refusal
	}
	v := Verdict{Verdict: o.Verdict.String()}
	if o.Refusal != nil {
		v.Reason, v.Type = string(o.Refusal.Reason), typeOf(o.Refusal)
	}
	if planned.Item != nil {
		v.Type = planned.Item.Type
	}
	if opened, err := envelope.Open(m); err == nil && v.Type != "" {
		x.fieldsOf(v.Type).see(opened.Data.Root())
	}
	if o.Verdict == event.Poison || o.Verdict == event.Dropped {
		x.count(v, line, o.Refusal.Detail)
		return
	}
	if o.Verdict != 0 {
		x.count(v, line, "")
	}
	j := &judged{verdict: o.Verdict, item: planned.Item}
	x.timed(j.item)
	if j.item.Parts != nil {
		x.parts(j)
	}
	x.holds(line, j, o.Refusal)
	if o.Verdict == 0 || o.Verdict.Written() {
		x.written(line, j)
	}
}

// parts looks at what the parts of an item have at the paths that their types read. They are put if
// the item is stored.
func (x *run) parts(j *judged) {
	for _, part := range j.item.Parts.Items {
		if doc, err := event.ParseDocument(part.Data); err == nil {
			x.fieldsOf(part.Type).see(doc.Root())
		}
		if !part.At.Equal(j.item.At) {
			x.timed(part)
		}
		if j.verdict == 0 || j.verdict.Stored() {
			j.parts = append(j.parts, part)
		}
	}
}

// holds notes which line holds the keys of an event, and the first one that meets another payload
// there.
func (x *run) holds(line int, j *judged, refusal *event.Refusal) {
	switch {
	case j.verdict.Written():
		x.holders[j.item.Key] = line
		for _, part := range j.parts {
			x.holders[part.Key] = line
		}
	case j.verdict == event.Conflict:
		if x.report.RivalType == "" {
			x.report.Rivals, x.report.RivalType = [2]int{x.holders[refusal.Key], line}, j.item.Type
		}
	}
}

// typeOf returns the type of an event that is refused. Types that are not declared are left out:
// there may be as many as there are events.
func typeOf(refusal *event.Refusal) string {
	if refusal.Reason == event.UnknownType || refusal.Reason == event.UnwantedType {
		return ""
	}
	return refusal.Type
}

// count counts a line that has a verdict. detail is that of Poison.
func (x *run) count(v Verdict, line int, detail string) {
	known := x.verdicts[v]
	if known == nil {
		known = &Verdict{Verdict: v.Verdict, Reason: v.Reason, Type: v.Type, Line: line, Detail: detail}
		known.Detail = x.personal.Detail(event.Reason(v.Reason), detail)
		x.verdicts[v] = known
	}
	if known.Count++; known.Count == 2 && detail != "" {
		known.Next, known.NextDetail = line, x.personal.Detail(event.Reason(v.Reason), detail)
	}
}

// nearsABound reports whether one of these contributions may break a floor or a ceiling.
func nearsABound(list []aggregate.Contribution) bool {
	return slices.ContainsFunc(list, func(c aggregate.Contribution) bool {
		return slices.ContainsFunc(c.Def.Bounds, func(b aggregate.Bound) bool { return b.Nears(c.Values[b.Value]) })
	})
}

// written counts what an event and its parts cost and change.
func (x *run) written(line int, j *judged) {
	x.events++
	x.report.Items.Parts += len(j.parts)
	atomic := j.item.Parts != nil && j.item.Parts.Atomic
	moved, takes := 0, false
	for _, item := range append([]*event.Item{j.item}, j.parts...) {
		list := x.put(line, item, atomic)
		moved, takes = moved+len(list), takes || nearsABound(list)
	}
	x.report.Updates.Count += moved
	x.report.Updates.Most = max(x.report.Updates.Most, moved)
	if takes {
		x.report.Taking++
	}
}

// put counts what one item costs, and returns what it adds to totals. atomic means that one
// transaction puts it together with the other items of its event.
func (x *run) put(line int, item *event.Item, atomic bool) []aggregate.Contribution {
	size := item.Size()
	i := &x.report.Items
	if i.Count++; i.Count == 1 || size < i.Least {
		i.Least = size
	}
	if size > i.Most {
		i.Most, i.Largest = size, line
	}
	x.bytes += size
	units := itemform.WriteUnits(size)
	if atomic || item.Put != 0 {
		units *= itemform.InTransaction
	}
	i.Bare += units
	i.Units += units * (1 + len(item.Indexes))
	x.compressed(item)
	spec := x.described.Spec.Events[item.Type]
	add(x.keys, "table", event.Key{PK: item.Key.PK}, x.personal.Key(item.Type, spec.Key.PK))
	for _, index := range item.Indexes {
		add(x.keys, index.Name, event.Key{PK: index.Key.PK}, x.personal.Key(item.Type, spec.Indexes[index.Name].PK))
	}
	list := x.Pipeline.Contributions(item).List
	for _, c := range list {
		add(x.totals, c.Def.Name, lanes.Key(c.Def, 0, c.By, c.Window), x.hidden[c.Def.Name])
		if c.Def.Rank.Value != "" {
			list := strings.Join(append([]string{c.Def.Name}, lanes.Within(c.Def, c.By)...), "#")
			add(x.lists, c.Def.Name, event.Key{PK: list, SK: lanes.WindowText(c.Window)}, x.hidden[c.Def.Name])
		}
	}
	return list
}

// compressed counts an item of a type with compress.
func (x *run) compressed(item *event.Item) {
	if !x.described.Spec.Events[item.Type].Compress {
		return
	}
	c := x.compress[item.Type]
	if c == nil {
		c = &Compress{Type: item.Type}
		x.compress[item.Type] = c
	}
	if c.Of++; item.Packed != nil {
		c.Saves++
	}
}

// hiddenMark begins the word for a key that is counted by its hash.
const hiddenMark = "\x00"

func add(counters map[string]*frequent.Counter, name string, key event.Key, hidden bool) {
	c := counters[name]
	if c == nil {
		c = frequent.New(maxHot)
		counters[name] = c
	}
	if hidden {
		c.Add(hiddenMark + key.Hash()[:hashDigits])
		return
	}
	c.Add(key.PK + "\x1f" + key.SK)
}

// finish writes the counts into the report.
func (x *run) finish() {
	r := &x.report
	if x.rehearsal != nil {
		r.Rehearsed = r.Lines
	}
	for _, v := range x.verdicts {
		r.Verdicts = append(r.Verdicts, *v)
	}
	slices.SortFunc(r.Verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(rank(a.Verdict), rank(b.Verdict)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Reason, b.Reason))
	})
	for _, typ := range slices.Sorted(maps.Keys(x.fields)) {
		f := x.fields[typ]
		r.Paths, r.Fine = append(r.Paths, f.faulty(typ, x.place)...), r.Fine+f.fine()
		r.Quoted = append(r.Quoted, f.quoted(typ)...)
		r.Times = append(r.Times, f.times)
		for _, first := range f.firsts {
			if first.Type = typ; first.More > 0 {
				r.Firsts = append(r.Firsts, first)
			}
		}
		for _, p := range f.paths {
			p.sorts.Type, p.sorts.Path = typ, p.report.Path
			r.Sorts = append(r.Sorts, p.sorts)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(x.compress)) {
		r.Compress = append(r.Compress, *x.compress[typ])
	}
	order := append([]string{"table"}, x.Pipeline.Indexes()...)
	r.Keys = hot(x.keys, order)
	names := slices.Sorted(maps.Keys(x.described.Spec.Aggregates))
	r.Totals, r.Lists = hot(x.totals, names), hot(x.lists, names)
	if n := r.Items.Count; n > 0 {
		r.Items.Mean, r.Items.Each = rounded(x.bytes, n), rounded(r.Items.Units, n)
		r.Updates.Each = rounded(r.Updates.Count, x.events)
	}
}

// rounded returns a mean with two decimals.
func rounded(sum, n int) float64 { return float64((sum*100+n/2)/n) / 100 }

// rank returns the place of a verdict in the report.
func rank(verdict string) event.Verdict {
	v, _ := event.ParseVerdict(verdict)
	return v
}

func hot(counters map[string]*frequent.Counter, order []string) []Hot {
	list := []Hot{}
	for _, name := range order {
		c := counters[name]
		if c == nil {
			continue
		}
		h := Hot{Of: name, Count: c.Total()}
		h.Distinct, h.Exact = c.Distinct()
		for _, w := range c.Top(maxTop) {
			key := Key{AtLeast: w.AtLeast, AtMost: w.AtMost}
			if hash, hidden := strings.CutPrefix(w.Word, hiddenMark); hidden {
				key.KeyHash = hash
			} else {
				key.PK, key.SK, _ = strings.Cut(w.Word, "\x1f")
			}
			h.Top = append(h.Top, key)
		}
		list = append(list, h)
	}
	return list
}
