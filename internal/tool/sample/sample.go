package sample

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/frequent"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

const (
	// maxKeys is how many different keys are kept to recognise repetitions. They take about 50
	// bytes each.
	maxKeys = 1 << 20
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
	Each     func(Judged)       // called for every message, in order; may be nil
	// Messages returns the messages of a line, such as those of a batch. nil: a line is one
	// message. An error ends the reading.
	Messages func(line string) ([]envelope.Message, error)
}

// Judged is one line and what would become of it.
type Judged struct {
	Verdict       event.Verdict
	Bytes         int                      // of the line, or of the event of an array
	Message       int                      // of the line, at the first of its events; 0 at the others
	Item          *event.Item              // nil: the line cannot be planned
	Contributions []aggregate.Contribution // of an item that would be written
	// Parts are the items of the line's parts, if it would be stored or is stored already. They
	// have the verdict of the line.
	Parts []Judged
}

// run is the state of one reading.
type run struct {
	*Sampler
	described *pipeline.Description
	personal  show.Personal
	hidden    map[string]bool // the aggregates whose keys are not shown
	report    Report
	verdicts  map[Verdict]*Verdict // by everything except Count, Line and Detail
	stored    map[uint64]stored    // by the hash of the key
	fields    map[string]*fields   // by event type
	keys      map[string]*frequent.Counter
	totals    map[string]*frequent.Counter
	compress  map[string]*Compress // by type
	bytes     int
	events    int // that would be written
	limit     int // the limit of stored
}

// stored is what the run remembers of an item.
type stored struct {
	digest   uint64
	revision *event.Decimal // for mode latest alone
}

var seed = maphash.MakeSeed()

func hashOf(k event.Key) uint64 { return maphash.String(seed, k.PK+"\x00"+k.SK) }

// Read plans every line of r. It returns an error if r cannot be read.
func (s *Sampler) Read(name string, r io.Reader) (*Report, error) {
	return s.read(name, r, maxKeys)
}

func (s *Sampler) read(name string, r io.Reader, limit int) (*Report, error) {
	x := &run{Sampler: s, described: s.Pipeline.Describe(), personal: show.PersonalOf(s.Pipeline), hidden: map[string]bool{},
		report: Report{File: name}, limit: limit, verdicts: map[Verdict]*Verdict{}, stored: map[uint64]stored{},
		fields: map[string]*fields{}, keys: map[string]*frequent.Counter{}, totals: map[string]*frequent.Counter{},
		compress: map[string]*Compress{}}
	for name := range x.described.Spec.Aggregates {
		x.hidden[name] = x.personal.Total(name)
	}
	for line, err := range ndjson.Lines(r) {
		switch {
		case errors.Is(err, ndjson.ErrTooLong):
			x.report.Lines++
			x.refused(line.Number, event.Poisoned(event.Undecodable, err.Error()))
			x.tell(Judged{Verdict: event.Poison, Message: ndjson.MaxLine})
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", name, line.Number, err)
		default:
			if x.report.Lines == 0 {
				x.report.advice = ndjson.Advice(line.Text)
			}
			messages := []envelope.Message{{Body: line.Text}}
			if s.Messages != nil {
				if messages, err = s.Messages(line.Text); err != nil {
					return nil, fmt.Errorf("%s:%d: %w", name, line.Number, err)
				}
			}
			for _, m := range messages {
				x.message(line.Number, m)
			}
		}
	}
	x.finish()
	return &x.report, nil
}

func (x *run) tell(j Judged) {
	if x.Each != nil {
		x.Each(j)
	}
}

// message judges one message, or each event of a message that is an array. Each of them counts as a
// line.
func (x *run) message(line int, message envelope.Message) {
	messages, err := Events(x.Pipeline, message)
	if messages == nil {
		messages = []envelope.Message{message}
	}
	for i, m := range messages {
		x.report.Lines++
		judged := Judged{Verdict: event.Poison}
		if err != nil {
			x.refused(line, err)
		} else {
			judged = x.event(line, m)
		}
		if judged.Bytes = len(m.Body); i == 0 {
			judged.Message = len(message.Body)
		}
		x.tell(judged)
	}
}

// Events returns the events of a message that is an array, each as if it had come alone. It returns
// nil if the message is not an array, or if the file does not say batches.
func Events(p *pipeline.Pipeline, m envelope.Message) ([]envelope.Message, error) {
	if !p.Batches() {
		return nil, nil
	}
	_, elements, err := envelope.OpenArray(m)
	if err != nil {
		return nil, err
	}
	return elements, nil
}

// event judges one event of a line.
func (x *run) event(line int, m envelope.Message) (judged Judged) {
	judged.Verdict = event.Poison
	opened, err := envelope.Open(m)
	if err != nil {
		x.refused(line, err)
		return judged
	}
	item, err := x.Pipeline.PlanEvent(opened.Event)
	var refusal *event.Refusal
	if err == nil && payloads.IsAhead(item, x.Now) {
		err = payloads.TooFarAhead(item)
	}
	switch {
	case err == nil:
		x.fieldsOf(item.Type).see(opened.Data.Root())
		x.fieldsOfParts(item)
		judged.Item = item
		var adds [][]aggregate.Contribution
		judged.Verdict, adds = x.item(line, item)
		if len(adds) > 0 {
			judged.Contributions = adds[0]
		}
		judged.Parts = x.parts(item, judged.Verdict, adds)
	case errors.As(err, &refusal) && typeOf(refusal) != "":
		x.fieldsOf(typeOf(refusal)).see(opened.Data.Root())
		fallthrough
	default:
		x.refused(line, err)
	}
	return judged
}

// fieldsOfParts looks at what the parts of an item have at the paths that their types read.
func (x *run) fieldsOfParts(item *event.Item) {
	if item.Parts == nil {
		return
	}
	for _, part := range item.Parts.Items {
		if doc, err := event.ParseDocument(part.Data); err == nil {
			x.fieldsOf(part.Type).see(doc.Root())
		}
	}
}

// parts judges the parts of an item. adds is what the item and its parts add to totals, if they are
// written.
func (x *run) parts(item *event.Item, verdict event.Verdict, adds [][]aggregate.Contribution) (list []Judged) {
	if x.Each == nil || item.Parts == nil || verdict != event.Inserted && verdict != event.Duplicate {
		return nil
	}
	for i, part := range item.Parts.Items {
		j := Judged{Verdict: verdict, Item: part}
		if len(adds) > 0 {
			j.Contributions = adds[1+i]
		}
		list = append(list, j)
	}
	return list
}

// refused counts a line that would not be stored.
func (x *run) refused(line int, err error) {
	refusal := event.RefusalOf(err)
	x.count(Verdict{Verdict: refusal.Verdict.String(), Reason: string(refusal.Reason), Type: typeOf(refusal)}, line,
		x.personal.Detail(refusal.Reason, refusal.Detail))
}

// typeOf returns the type of an event that is refused. Unknown types are left out: there may be as
// many as there are events.
func typeOf(refusal *event.Refusal) string {
	if refusal.Reason == event.UnknownType {
		return ""
	}
	return refusal.Type
}

func (x *run) count(v Verdict, line int, detail string) {
	known := x.verdicts[v]
	if known == nil {
		known = &Verdict{v.Verdict, v.Reason, v.Type, 0, line, x.personal.Detail(event.Reason(v.Reason), detail)}
		x.verdicts[v] = known
	}
	known.Count++
}

// item judges an item by what the lines before it stored. If the item is written, item returns what
// it adds to totals, and after that what each of its parts adds.
func (x *run) item(line int, item *event.Item) (event.Verdict, [][]aggregate.Contribution) {
	if item.ExpiresAt != 0 && !x.Now.Before(time.Unix(item.ExpiresAt, 0).Add(-store.ExpiryMargin)) {
		x.count(Verdict{Verdict: event.Expired.String(), Reason: string(event.PastExpiry), Type: item.Type}, line, "")
		return event.Expired, nil
	}
	verdict, reason := event.Inserted, ""
	key := hashOf(item.Key)
	now := storedOf(item)
	before, taken := x.stored[key]
	switch {
	case !taken && x.claimed(item):
		verdict, reason = event.Conflict, string(event.Claimed)
	case !taken:
	case now.newer(before):
		verdict = event.Updated
	case before.newer(now):
		verdict = event.Stale
	case before.digest == now.digest:
		verdict = event.Duplicate
	default:
		verdict, reason = event.Conflict, string(event.DigestDiffers)
	}
	x.count(Verdict{Verdict: verdict.String(), Reason: reason, Type: item.Type}, line, "")
	if verdict != event.Inserted && verdict != event.Updated {
		return verdict, nil
	}
	x.remember(key, now)
	for _, part := range x.claims(item) {
		x.remember(hashOf(part.Key), storedOf(part))
	}
	adds := x.written(line, item)
	if slices.ContainsFunc(adds, takesFromAFloor) {
		x.report.Taking++
	}
	return verdict, adds
}

// takesFromAFloor reports whether one of these contributions takes from a value that has a floor.
func takesFromAFloor(list []aggregate.Contribution) bool {
	return slices.ContainsFunc(list, func(c aggregate.Contribution) bool {
		for i, floor := range c.Def.AtLeast {
			if floor.Set && c.Values[i].Set && c.Values[i].Number.Sign() < 0 {
				return true
			}
		}
		return false
	})
}

func storedOf(item *event.Item) stored {
	return stored{maphash.String(seed, item.Type+"\x00"+string(item.Digest[:])), item.Revision}
}

func (x *run) remember(key uint64, now stored) {
	if _, known := x.stored[key]; known || len(x.stored) < x.limit {
		x.stored[key] = now
		return
	}
	x.report.Bounded = true
}

// claims returns the parts of an item that claim a unique value.
func (x *run) claims(item *event.Item) (list []*event.Item) {
	if item.Parts == nil {
		return nil
	}
	for _, part := range item.Parts.Items {
		if _, is := x.Pipeline.ClaimOf(part.Type); is {
			list = append(list, part)
		}
	}
	return list
}

// claimed reports whether another event has a value that the item claims.
func (x *run) claimed(item *event.Item) bool {
	return slices.ContainsFunc(x.claims(item), func(part *event.Item) bool {
		before, taken := x.stored[hashOf(part.Key)]
		return taken && before.digest != storedOf(part).digest
	})
}

// newer reports whether a replaces b under mode latest.
func (a stored) newer(b stored) bool {
	return a.revision != nil && b.revision != nil && a.revision.Cmp(*b.revision) > 0
}

// written counts what an event costs and changes. It returns what its item adds to totals, and
// after that what each of its parts adds.
func (x *run) written(line int, item *event.Item) [][]aggregate.Contribution {
	items, atomic := []*event.Item{item}, false
	if item.Parts != nil {
		items, atomic = append(items, item.Parts.Items...), item.Parts.Atomic
	}
	x.report.Items.Parts += len(items) - 1
	x.events++
	var adds [][]aggregate.Contribution
	moved := 0
	for _, one := range items {
		list := x.put(line, one, atomic)
		adds, moved = append(adds, list), moved+len(list)
	}
	x.report.Updates.Count += moved
	x.report.Updates.Most = max(x.report.Updates.Most, moved)
	return adds
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
	units := itemform.WriteUnits(size) * (1 + len(item.Indexes))
	if atomic || item.Put != 0 {
		units *= itemform.InTransaction
	}
	i.Units += units
	x.compressed(item)
	spec := x.described.Spec.Events[item.Type]
	add(x.keys, "table", event.Key{PK: item.Key.PK}, x.personal.Key(item.Type, spec.Key.PK))
	for _, index := range item.Indexes {
		add(x.keys, index.Name, event.Key{PK: index.Key.PK}, x.personal.Key(item.Type, spec.Indexes[index.Name].PK))
	}
	list := x.Pipeline.Contributions(item).List
	for _, c := range list {
		add(x.totals, c.Def.Name, lanes.Key(c.Def, 0, c.By, c.Window), x.hidden[c.Def.Name])
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
	r.Judged = len(x.stored)
	for _, v := range x.verdicts {
		r.Verdicts = append(r.Verdicts, *v)
	}
	slices.SortFunc(r.Verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(rank(a.Verdict), rank(b.Verdict)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Reason, b.Reason))
	})
	for _, typ := range slices.Sorted(maps.Keys(x.fields)) {
		f := x.fields[typ]
		r.Paths, r.Fine = append(r.Paths, f.faulty(typ)...), r.Fine+f.fine()
	}
	for _, typ := range slices.Sorted(maps.Keys(x.compress)) {
		r.Compress = append(r.Compress, *x.compress[typ])
	}
	order := append([]string{"table"}, x.Pipeline.Indexes()...)
	r.Keys = hot(x.keys, order)
	var names []string
	for _, def := range x.Pipeline.Definitions() {
		names = append(names, def.Name)
	}
	r.Totals = hot(x.totals, names)
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
