package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Explainer explains messages. All fields are required except StandInKey, Personal and Schemas.
type Explainer struct {
	Pipeline   *pipeline.Pipeline
	Counting   aggregate.Counting
	Partitions int           // of the events table, for the estimates; at least 1
	Now        time.Time     // the time that decides whether an event is Expired
	StandInKey bool          // whether the pipeline's secret is [show.StandIn]
	Personal   show.Personal // what is masked; zero: nothing
	// Schemas are the files of schemas by event type, as [pipeline.SchemaFiles] returns them. A
	// schema that is not in it stands in the file itself.
	Schemas map[string]string

	description *pipeline.Description // made when it is first needed
}

func (e *Explainer) described() *pipeline.Description {
	if e.description == nil {
		e.description = e.Pipeline.Describe()
	}
	return e.description
}

// Explain explains the messages of one file as if they arrived in one batch and the tables were
// empty. The verdicts are those of the ingest function.
func (e *Explainer) Explain(list []Message) *Report {
	r := &Report{Counting: e.Counting.String(), Partitions: e.Partitions, Messages: make([]Explanation, len(list))}
	messages := make([]envelope.Message, len(list))
	for i, m := range list {
		x := &r.Messages[i]
		x.MessageID = m.ID
		if messages[i], x.Quarantined = withoutNote(m.Message); x.Quarantined.OfStream() {
			messages[i] = envelope.Message{} // it is not an event
		}
		if x.Trace = quarantine.TraceOf(messages[i], m.header); x.Quarantined != nil {
			x.Trace = x.Quarantined.Trace
		}
	}
	outcomes := e.outcomes(messages)
	owners := ownersOf(outcomes)
	for i := range list {
		x := &r.Messages[i]
		e.message(x, messages[i], &outcomes[i], owners)
		if x.Events == nil {
			x.place(&list[i])
		}
		e.mask(x)
	}
	r.StandInKey = e.StandInKey && slices.ContainsFunc(r.Messages, e.showsHash)
	return r
}

// showsHash reports whether the explanation of a message or of its parts contains a keyed hash.
func (e *Explainer) showsHash(x Explanation) bool {
	return x.shows(e.described().Hashed[x.Type]) || slices.ContainsFunc(x.Parts, e.showsHash) || slices.ContainsFunc(x.Events, e.showsHash)
}

// message explains one message, or each of its events if it is an array.
func (e *Explainer) message(x *Explanation, m envelope.Message, o *handler.Outcome, owners map[event.Key]string) {
	if n := x.Quarantined; n.OfStream() {
		x.Verdict, x.Reason, x.Detail = n.Verdict, n.Reason, ofStreamDetail
		return
	}
	x.judged(o, owners)
	if x.Reason == string(event.PayloadElsewhere) {
		x.Detail += "; save the object in a file and explain that file"
	}
	if o.Events == nil {
		e.event(x, m)
		return
	}
	_, elements, _ := e.Pipeline.Open(m)
	x.Events = make([]Explanation, len(o.Events))
	for i := range o.Events {
		one := &x.Events[i]
		one.Place = o.Events[i].Place.String()
		if one.judged(&o.Events[i], owners); one.Reason != "" {
			x.Detail = strings.Replace(x.Detail, o.Events[i].Refusal.Detail, one.Detail, 1)
		}
		e.event(one, elements[i])
	}
}

// event explains one event, whose verdict is known.
func (e *Explainer) event(x *Explanation, m envelope.Message) {
	opened, err := envelope.Open(m)
	if err != nil {
		return
	}
	x.Envelope, x.Type, x.ID = opened.Kind.String(), cmp.Or(x.Type, opened.Type), opened.ID
	if !opened.At.IsZero() && opened.At.Year() >= 1970 && opened.At.Year() <= 9999 {
		x.At = keys.FormatTime(opened.At)
	}
	item, err := e.Pipeline.PlanEvent(opened.Event)
	if err != nil {
		x.Schema = e.schema(x.Type)
		return
	}
	if opened.Type != "" && item.Type != opened.Type && x.Detail == "" {
		x.Detail = fmt.Sprintf("its type is that of the payload, because type names it first; the envelope's %s is %s",
			map[bool]string{true: "detail-type", false: "type"}[opened.Kind.Form == envelope.EventBridge], opened.Type)
	}
	e.item(x, item, item.Parts != nil && item.Parts.Atomic || item.Put != 0)
	e.aggregates(x, item)
	e.parts(x, item)
	expired := event.Expired.String()
	if x.Verdict == expired {
		x.Detail = fmt.Sprintf("it expires at %s, and an event is stored only until ten minutes before it expires: "+
			"stored later, it could be counted twice", x.ExpiresAt)
	}
	if x.Verdict == expired || x.Quarantined != nil && x.Quarantined.Verdict == expired {
		e.archived(x, item)
	}
	if v, _ := event.ParseVerdict(x.Verdict); !v.Written() {
		x.Item, x.Aggregates, x.Parts, x.Atomic = nil, nil, nil, false
	}
}

// archived records how to look for the item in the archive, if it was stored and has expired. It
// leaves that out if the key contains a hash made with the stand-in key, because that is not the
// item's real key.
func (e *Explainer) archived(x *Explanation, item *event.Item) {
	if !e.StandInKey || !slices.Contains(e.described().Hashed[item.Type], "key") {
		x.Archive = "ingot archive find " + show.Quoted(x.Key.PK) + " " + show.Quoted(x.Key.SK)
	}
}

// schema names the schema that the payloads of a type are checked against: its file, or the
// pipeline itself. It is empty if there is none.
func (e *Explainer) schema(typ string) string {
	if e.described().Spec.Events[typ].Schema == "" {
		return ""
	}
	return cmp.Or(e.Schemas[typ], schemaInPlace)
}

// schemaInPlace is the name of a schema that is not in a file of its own.
const schemaInPlace = "the one in the pipeline"

// item explains an item, which is put in a transaction or alone.
func (e *Explainer) item(x *Explanation, item *event.Item, transaction bool) {
	shown := e.Personal.Item(*item)
	x.Type, x.ID, x.At, x.Digest = item.Type, shown.ID, keys.FormatTime(item.At), item.Digest.String()
	x.Key = &Key{shown.Key.PK, shown.Key.SK}
	for _, r := range item.Requires {
		key := e.Personal.KeyOf(r.Type, r.Key)
		x.Requires = append(x.Requires, Required{r.Type, Key{key.PK, key.SK}})
	}
	x.DigestText, _ = e.Pipeline.DigestText(item.Type, item.Text()) // the item was just planned, so there is no error
	x.Revision = e.described().Revision(item)
	for _, a := range shown.Attributes {
		if x.Attributes == nil {
			x.Attributes = map[string]string{}
		}
		x.Attributes[a.Name] = a.Text
	}
	for _, i := range shown.Indexes {
		x.Indexes = append(x.Indexes, Index{Name: i.Name, PK: i.Key.PK, SK: i.Key.SK})
	}
	for _, absent := range e.described().Absences(item) {
		x.Indexes = append(x.Indexes, Index{Name: absent.Index, Missing: absent.Missing})
	}
	order := e.Pipeline.Indexes() // GSI1 first, GSI10 after GSI9
	slices.SortFunc(x.Indexes, func(a, b Index) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	if item.ExpiresAt != 0 {
		x.ExpiresAt = instant(time.Unix(item.ExpiresAt, 0))
		retain := e.described().Spec.Events[item.Type].RetainAt(item.At)
		if longest := item.At.Add(retain); retain != 0 && !time.Unix(item.ExpiresAt, 0).Before(longest) {
			x.Retain = lifetime.Format(retain)
		}
	}
	x.Schema = e.schema(item.Type)
	each := itemform.WriteUnits(item.Size())
	if transaction {
		each *= estimate.InTransaction
	}
	x.Item = &Cost{Bytes: item.Size(), WriteUnits: each * (1 + len(item.Indexes)), EachUnits: each, Transaction: transaction}
	switch {
	case item.Payload != nil:
		x.Item.PayloadBytes, x.Item.Kept = len(item.Text()), shown.Data
	case e.described().Spec.Events[item.Type].Compress:
		x.Item.PayloadBytes, x.Item.CompressedBytes = len(item.Data), len(item.Packed)
	}
}

// parts explains the items that the message yields beside the item of its whole.
func (e *Explainer) parts(x *Explanation, whole *event.Item) {
	if whole.Parts == nil {
		return
	}
	x.Atomic = whole.Parts.Atomic
	for _, part := range whole.Parts.Items {
		p := Explanation{Verdict: event.Inserted.String()}
		e.item(&p, part, x.Atomic || part.Put != 0 || part.Whole != nil)
		if p.state = part.Whole != nil; p.state && !x.Atomic { // its transaction checks the whole, too
			p.Item.WriteUnits += estimate.InTransaction * itemform.WriteUnits(whole.Size())
		}
		if doc, err := event.ParseDocument(part.Text()); err == nil { // it was just planned, so there is no error
			p.DigestText = string(keys.PartDigestText(nil, part.Type, doc.Root(), whole.Type, e.Personal.Item(*whole).ID,
				e.Pipeline.Folds(part.Type)...))
		}
		e.aggregates(&p, part)
		x.Parts = append(x.Parts, p)
	}
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// aggregates says what the item adds to each aggregate that its type feeds.
func (e *Explainer) aggregates(x *Explanation, item *event.Item) {
	added := map[string]*aggregate.Contribution{}
	contributions := e.Pipeline.Contributions(item).List
	for i := range contributions {
		added[contributions[i].Def.Name] = &contributions[i]
	}
	for _, def := range e.Pipeline.Definitions() {
		from, fed := e.described().Spec.Aggregates[def.Name].From[item.Type]
		if !fed {
			continue
		}
		a := Aggregate{Name: def.Name, Since: def.Since}
		if c := added[def.Name]; c != nil {
			e.contribution(&a, item, c)
		} else if from.Where != "" {
			a.NotCounted = "where " + from.Where + " does not hold"
		} else {
			a.NotCounted = fmt.Sprintf("it counts since epoch %d, and the file is of epoch %d", def.Since, item.Epoch)
		}
		x.Aggregates = append(x.Aggregates, a)
	}
}

// amountText returns an amount for people.
func amountText(o aggregate.Op, a aggregate.Amount) string {
	if o == aggregate.Histogram {
		return "in bucket " + strings.TrimSuffix(a.Text, ":1")
	}
	if o == aggregate.Distinct {
		return fmt.Sprintf("register %d rank %d", int(a.Text[1])<<8|int(a.Text[2]), a.Text[3])
	}
	if o.Textual() {
		if d, err := aggregate.ParseDated(a.Text); err == nil {
			return d.JSON
		}
	}
	return a.Number.String()
}

func (e *Explainer) contribution(a *Aggregate, item *event.Item, c *aggregate.Contribution) {
	key, byPut := lanes.ItemKey(item.Key, c), c.Def.MovedBy == aggregate.Put
	if c.Def.Spread > 1 && e.Counting == aggregate.Marks && !byPut { // the shard of the change decides
		key, a.Buckets = lanes.Key(c.Def, 0, c.By, c.Window), c.Def.Spread
	}
	if a.PK, a.SK = key.PK, key.SK; len(c.Def.Rank.Within) > 0 {
		a.List = lanes.RankOf(c.Def, key)
	}
	if e.hides(a.Name) {
		a.PK, a.SK = show.Mask, show.Mask
		if a.List != "" {
			a.List = show.Mask
		}
	}
	if at := lanes.Expiry(c.Def, c.Window); at != 0 {
		a.ExpiresAt = instant(time.Unix(at, 0))
	}
	for i, amount := range c.Values {
		if !amount.Set {
			continue
		}
		add := Add{Value: c.Def.Values[i].Name, Op: c.Def.Values[i].Op.String(), Amount: amountText(c.Def.Values[i].Op, amount)}
		for _, b := range c.Def.Bounds {
			switch {
			case b.Value != i || !b.Nears(amount):
			case b.Ceiling:
				add.AtMost = b.Limit.String()
			default:
				add.AtLeast = b.Limit.String()
			}
		}
		if e.Personal.Value(a.Name, add.Value) {
			add.Amount = show.Mask
		}
		a.Adds = append(a.Adds, add)
	}
	if byPut {
		a.MovedBy = c.Def.MovedBy.String()
	}
	bare := estimate.Bytes(c.Def, c.By)
	if !byPut || item.ExpiresAt != 0 { // only the stream leaves marks, and only if it counts something
		a.Marks = estimate.Marks(c.Def, e.Counting, e.Partitions)
	}
	a.FreshUnits = estimate.Units(c.Def, bare+min(1, a.Marks)*estimate.MarkBytes, e.Counting)
	a.FullUnits = estimate.Units(c.Def, bare+a.Marks*estimate.MarkBytes, e.Counting)
}
