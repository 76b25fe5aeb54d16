package console

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/explain"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// These are the states of a step.
const (
	stateDone    = "done"
	stateNone    = "none"
	stateRefused = "refused"
	stateUnknown = "unknown"
)

// partitions is the number of partitions that the estimates of a total's cost assume. ingot explain
// and the demo assume the same.
const partitions = 4

// journey tells the story of one event. find returns what the feed knows of an event, or nil.
func (t *Resources) journey(ctx context.Context, q Question, find func(event.Key) *trace) (*Journey, error) {
	p := t.Pipeline()
	m, err := t.meant(p, q, find)
	if err != nil {
		return nil, err
	}
	message, given, planned, past := m.message, m.given, m.planned, m.past
	j := &Journey{Steps: []Step{}}
	stored, err := t.readStored(ctx, m.key)
	if err != nil {
		return nil, err
	}
	x := t.explain(p, message, given)
	j.Steps = append(j.Steps, t.messageStep(message, given, past))
	if x != nil {
		j.Steps = append(j.Steps, eventStep(x))
	}
	if x == nil || x.Key != nil {
		j.Steps = append(j.Steps, t.itemStep(stored))
	}
	if past != nil {
		j.Steps = append(j.Steps, changeStep(past))
	}
	counted := planned
	if stored != nil && stored.item != nil {
		counted = stored.item
	}
	if counted != nil {
		step, err := t.totalsStep(ctx, p, counted, x)
		if err != nil {
			return nil, err
		}
		j.Steps = append(j.Steps, step)
		for _, beside := range []func(context.Context, *pipeline.Pipeline, *event.Item) (*Step, error){t.wholeStep, t.partsStep} {
			step, err := beside(ctx, p, counted)
			if err != nil {
				return nil, err
			}
			if step != nil {
				j.Steps = append(j.Steps, *step)
			}
		}
	}
	again, err := t.again(ctx, planned, x, stored)
	if err != nil {
		return nil, err
	}
	j.Steps = append(j.Steps, again)
	return j, nil
}

// meant holds the event that a question means.
type meant struct {
	key     event.Key
	message envelope.Message
	given   bool        // there is a message: the question's own, or that of past
	planned *event.Item // the item of the message; nil if there is no message or it is refused
	past    *trace      // what the feed knows of it, or nil
}

// meant finds the event that a question means. The question has its message, its key, or its type
// with the fields of its key.
func (t *Resources) meant(p *pipeline.Pipeline, q Question, find func(event.Key) *trace) (m meant, err error) {
	m = meant{key: event.Key{PK: q.PK, SK: q.SK}, message: envelope.Message{Body: q.Message, Attributes: q.attributes},
		given: strings.TrimSpace(q.Message) != ""}
	if !m.given {
		if q.Type != "" {
			if m.key, err = keyOf(p, q); err != nil {
				return m, &mistake{"this does not name an event: " + t.personal().Detail("", err.Error())}
			}
		}
		if m.key.PK == "" || m.key.SK == "" {
			return m, &mistake{"write a message, a type with the fields of its key, or both parts of a key"}
		}
		if m.past = find(m.key); m.past != nil && m.past.whole && m.past.body != "" {
			m.message, m.given = envelope.Message{Body: m.past.body, Attributes: m.past.attributes}, true
		}
	}
	if !m.given {
		return m, nil
	}
	if _, list, _ := p.PlanMessage(m.message); list != nil {
		return m, &mistake{"this is an array of events; write one of them, without the brackets of the array"}
	}
	if planned, err := p.Plan(m.message); err == nil {
		m.planned, m.key = planned, planned.Key
	}
	if m.past == nil && m.planned != nil {
		m.past = find(m.key)
	}
	return m, nil
}

func (t *Resources) explain(p *pipeline.Pipeline, m envelope.Message, given bool) *explain.Explanation {
	if !given {
		return nil
	}
	e := &explain.Explainer{Pipeline: p, Counting: t.Counting, Partitions: partitions, Now: t.now(), Personal: t.personal()}
	return &e.Explain([]explain.Message{{Message: m}}).Messages[0]
}

func (t *Resources) messageStep(m envelope.Message, given bool, past *trace) Step {
	s := Step{Name: "message", Title: "Message", State: stateUnknown}
	if given {
		s.State, s.Code = stateDone, t.personal().Data(m.Body)
		s.add("size", show.Comma(len(m.Body))+" bytes")
		s.Cost = "at most " + show.Count(2*chunks(len(m.Body))+1, "SQS request") +
			" to send, receive and delete it; ten messages can share one"
		if chunks(len(m.Body)) > 1 {
			s.Cost = show.Count(2*chunks(len(m.Body))+1, "SQS request") + " to send, receive and delete it: one for each started 64 KB"
		}
		for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
			s.add("attribute "+name, t.personal().Attribute(name, m.Attributes[name]))
		}
	} else {
		s.add("", "A table does not keep the message, only the payload. Paste the message to see how it is read.")
	}
	if past == nil {
		return s
	}
	s.Table = &FactTable{Head: []string{"delivered", "verdict", "reason", "message id"}}
	for _, d := range past.deliveries {
		verdict := d.verdict
		if d.returned {
			verdict += ", returned"
		}
		s.Table.Rows = append(s.Table.Rows, []string{clock(d.at), verdict, d.reason, d.message})
	}
	return s
}

func (s *Step) add(name, text string) {
	if text != "" {
		s.Facts = append(s.Facts, Fact{name, text})
	}
}

// instant returns a stored time without trailing zeros. The stored form always has nine decimals.
func instant(text string) string {
	if at, err := keys.ParseTime(text); err == nil {
		return at.Format(time.RFC3339Nano)
	}
	return text
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

// eventStep says how the message was read: envelope, type, id, time, key, digest.
func eventStep(x *explain.Explanation) Step {
	s := Step{Name: "event", Title: "Event and key", State: stateDone}
	if x.Verdict == event.Poison.String() {
		s.State = stateRefused
		s.add("verdict", x.Verdict+" ("+x.Reason+")")
		s.add("because", x.Detail)
		s.add("advice", x.Advice)
	}
	s.add("envelope", x.Envelope)
	s.add("type", x.Type)
	s.add("id", x.ID)
	s.add("time", instant(x.At))
	s.add("revision", x.Revision)
	if x.Key != nil {
		s.add("partition key", x.Key.PK)
		s.add("sort key", x.Key.SK)
	}
	for _, i := range x.Indexes {
		if i.Missing != "" {
			s.add(i.Name, "not in it: "+i.Missing)
		} else {
			s.add(i.Name, i.PK+" / "+i.SK)
		}
	}
	s.add("digest", x.Digest)
	s.Code = x.DigestText
	return s
}

// storedItem is the item that the table holds under a key. item is nil if Ingot did not store it as
// an event.
type storedItem struct {
	item   *event.Item
	barred bool
}

func (t *Resources) readStored(ctx context.Context, key event.Key) (*storedItem, error) {
	if key.PK == "" {
		return nil, nil
	}
	st, _, err := t.store()
	if err != nil {
		return nil, err
	}
	item, there, barred, err := query.Of(st).Find(ctx, key)
	if err != nil || !there {
		return nil, err
	}
	return &storedItem{item: item, barred: barred}, nil
}

func (t *Resources) itemStep(stored *storedItem) Step {
	s := Step{Name: "item", Title: "Item", State: stateDone}
	switch {
	case stored == nil:
		s.State = stateNone
		s.add("", "Nothing is stored under this key.")
		return s
	case stored.barred:
		s.State = stateRefused
		s.add("", "The event was erased, and its key is barred.")
		return s
	case stored.item == nil:
		s.State = stateRefused
		s.add("", "The item under this key is not an event of Ingot's.")
		return s
	}
	item := t.personal().Item(*stored.item)
	s.Code = item.Data
	s.add("partition key", item.Key.PK)
	s.add("sort key", item.Key.SK)
	s.add("type", item.Type)
	s.add("id", item.ID)
	s.add("time", item.At.Format(time.RFC3339Nano))
	if item.Payload != nil {
		s.add("payload", "in the payload bucket; the item keeps what is shown here")
		if t.PayloadBucket != "" {
			s.add("object", "s3://"+t.PayloadBucket+"/"+payloads.Name(item.Type, stored.item.Key, item.Payload.Sum))
		}
	}
	s.add("digest", item.Digest.String())
	s.add("epoch", strconv.FormatInt(item.Epoch, 10))
	if item.Revision != nil {
		s.add("revision", item.Revision.String())
	}
	if item.ExpiresAt != 0 {
		s.add("expires", time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339))
	}
	for _, i := range item.Indexes {
		s.add(i.Name, i.Key.PK+" / "+i.Key.SK)
	}
	for _, a := range item.Attributes {
		s.add("attribute "+a.Name, a.Text)
	}
	each, indexes := itemform.WriteUnits(stored.item.Size()), len(item.Indexes)
	s.Cost = fmt.Sprintf("%s bytes; %s", show.Comma(stored.item.Size()), show.Count(each*(1+indexes), "write unit"))
	if indexes > 0 {
		s.Cost += fmt.Sprintf(": %d for the table, and %[1]d for each index that it is in", each)
	}
	return s
}

func changeStep(past *trace) Step {
	s := Step{Name: "change", Title: "Change", State: stateDone}
	if len(past.changes) == 0 {
		s.State = stateNone
		s.add("", "The stream has not delivered a change of this item since ingot dev started.")
		return s
	}
	s.Table = &FactTable{Head: []string{"delivered", "kind", "shard", "sequence number"}}
	for _, c := range past.changes {
		s.Table.Rows = append(s.Table.Rows, []string{clock(c.at), c.kind, c.lane, c.sequence})
	}
	return s
}

// totalsStep says which totals the item counts in, what it adds, and what they are now.
func (t *Resources) totalsStep(ctx context.Context, p *pipeline.Pipeline, item *event.Item, x *explain.Explanation) (Step, error) {
	s := Step{Name: "totals", Title: "Totals", State: stateDone}
	st, _, err := t.store()
	if err != nil {
		return s, err
	}
	s.Table = &FactTable{Head: []string{"aggregate", "group", "window", "adds", "now"}}
	contributions := p.Contributions(item)
	for _, c := range contributions.List {
		s.Table.Rows = append(s.Table.Rows, t.totalRow(ctx, st, &c))
		for _, b := range c.Def.Bounds {
			s.add(c.Def.Name, fmt.Sprintf("No event can bring %s %s of %s: an event that would is Rejected.", c.Def.Values[b.Value].Name,
				b.Beyond(), b.Limit))
		}
	}
	for _, d := range contributions.Behind {
		s.add(d.Name, fmt.Sprintf("does not count it: it counts since epoch %d, and the item is of epoch %d", d.Since, item.Epoch))
	}
	for _, f := range contributions.Failed {
		s.add(f.Def.Name, "cannot be computed from it: "+t.personal().Quoted(f.Err.Error()))
	}
	if len(s.Table.Rows) == 0 {
		s.State, s.Table = stateNone, nil
		s.add("", "No aggregate counts this event.")
	}
	s.Cost = totalsCost(x)
	return s, nil
}

// totalRow says which total a contribution moves, what it adds, and what the total is now.
func (t *Resources) totalRow(ctx context.Context, st *store.Store, c *aggregate.Contribution) []string {
	masked := t.personal().By(c.Def.Name, lanes.Group(c.Def, c.By))
	var labels []string
	for _, name := range c.Def.By {
		labels = append(labels, name+"="+masked[name])
	}
	added := map[string]aggregate.Amount{}
	for i, a := range c.Values {
		added[c.Def.Values[i].Name] = a
	}
	adding, is := t.shown(c.Def, func(name string) aggregate.Amount { return added[name] }), map[string]Amount{}
	found, err := totals.CountedIn(ctx, st, c)
	if err == nil && !found.Missing {
		is = t.amounts(c.Def, found.Values, found.Texts)
	}
	var adds, now []string
	for _, v := range c.Def.Values {
		add, there := adding[v.Name]
		if !there {
			continue
		}
		text := add.Text
		switch v.Op { // one event has neither quantiles nor an estimate
		case aggregate.Histogram:
			text = "about " + show.Grouped(add.Number)
		case aggregate.Distinct:
			text = "one value"
		}
		adds = append(adds, fmt.Sprintf("%s %s %s", v.Op, v.Name, text))
		if sum, counted := is[v.Name]; counted {
			now = append(now, v.Name+" "+sum.Text)
		}
	}
	switch {
	case err != nil:
		now = []string{"cannot be read: " + err.Error()}
	case len(now) == 0:
		now = []string{"not counted yet"}
	}
	return []string{c.Def.Name, strings.Join(labels, ", "), show.Window(c.Def, found.Window), strings.Join(adds, ", "),
		strings.Join(now, ", ")}
}

// totalsCost adds up the costs of one update of each total. This is the most that counting the
// event can cost, because the events of a batch share updates.
func totalsCost(x *explain.Explanation) string {
	if x == nil {
		return ""
	}
	fresh, updates, byPut := 0, 0, 0
	for _, a := range x.Aggregates {
		switch {
		case a.NotCounted != "":
		case a.MovedBy != "":
			byPut += a.FreshUnits
		default:
			fresh, updates = fresh+a.FreshUnits, updates+1
		}
	}
	var list []string
	if byPut > 0 {
		list = append(list, show.Count(byPut, "write unit")+" in the transaction that puts the item")
	}
	if updates > 0 {
		list = append(list, fmt.Sprintf("at most %d requests and %s; changes that arrive together share them", updates,
			show.Count(fresh, "write unit")))
	}
	return strings.Join(list, "; ")
}

// again returns the step that says what would happen if the message came once more.
func (t *Resources) again(ctx context.Context, planned *event.Item, x *explain.Explanation, stored *storedItem) (Step, error) {
	s := Step{Name: "again", Title: "If it came again", State: stateDone}
	switch {
	case planned != nil:
		r, err := t.judge(ctx, planned)
		if err != nil {
			return s, err
		}
		s.add("verdict", r.Verdict.String())
		if r.Refusal != nil {
			s.add("reason", string(r.Refusal.Reason))
			s.add("because", t.personal().Detail(r.Refusal.Reason, r.Refusal.Detail))
		}
		s.add("", consequence(r.Verdict))
	case x != nil:
		s.State = stateRefused
		s.add("verdict", x.Verdict+" ("+x.Reason+")")
		s.add("", consequence(event.Poison))
	case stored != nil && stored.barred:
		s.add("verdict", event.Duplicate.String())
		s.add("", "The key is barred: every event with this key is dropped.")
	case stored != nil && stored.item != nil && tables.TooLate(stored.item, t.now()):
		s.add("verdict", event.Expired.String())
		s.add("", consequence(event.Expired))
	case stored != nil && stored.item != nil:
		s.add("verdict", event.Duplicate.String())
		s.add("", "The same message would find its own item stored. "+consequence(event.Duplicate))
	default:
		s.State = stateUnknown
		s.add("", "Nothing is known under this key. Paste the message to see what it would become.")
	}
	return s, nil
}

func consequence(v event.Verdict) string {
	switch {
	case v == event.Inserted:
		return "It would be stored and counted."
	case v == event.Updated:
		return "It would replace the stored revision, and the totals would follow."
	case v == event.Dropped:
		return "Nobody wants it: it would be done with, and nothing stored."
	case v.Stored():
		return "Nothing would change, and nothing would be counted twice."
	case v.Quarantined():
		return "It would go to quarantine, and nothing would be counted."
	}
	return "No outcome is proven; it would be delivered again."
}
