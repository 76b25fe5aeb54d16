package pipeline

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// Plan turns a message into the item to store. It is a pure function of the message and the
// pipeline. The error is always an [*event.Refusal], with verdict Poison. Under [CheckOnly], hmac
// without a secret is Retry.
func (p *Pipeline) Plan(m envelope.Message) (*event.Item, error) {
	return p.plan.Plan(m)
}

// Open takes the events out of a message as the file's batches says: see [envelope.OpenAll].
func (p *Pipeline) Open(m envelope.Message) (envelope.Opened, []envelope.Message, error) {
	return envelope.OpenAll(m, p.plan.Batches)
}

// PlanMessage is [Pipeline.Plan] for a message that may hold several events, if the file says
// batches. It then plans each event as if it came alone, and returns the results in order. The
// message itself then has no item. An error is about the message as a whole: nothing of it can be
// stored.
func (p *Pipeline) PlanMessage(m envelope.Message) (*event.Item, []event.Planned, error) {
	return p.plan.PlanMessage(m)
}

// PlanEach is [Pipeline.PlanMessage] with a list in any case: of a message that is one event, or
// that is refused as a whole, it has that one result.
func (p *Pipeline) PlanEach(m envelope.Message) []event.Planned {
	item, list, err := p.PlanMessage(m)
	if list == nil {
		return []event.Planned{{Item: item, Refusal: event.RefusalOf(err)}}
	}
	return list
}

// PlanEvent turns an event into the item to store: its type, time, digest, id, keys and expiry. It
// also computes what the item will contribute, so that the streams function never meets an item
// that it cannot count. The errors are those of [Pipeline.Plan].
func (p *Pipeline) PlanEvent(e event.Event) (*event.Item, error) {
	return p.plan.PlanEvent(e)
}

// Contributions computes what item adds, with the same code that [Pipeline.Plan] uses. It is a pure
// function of the item's key, type, id, at, digest, meta, data and epoch, and of the secret. An
// item of a type that the pipeline does not declare contributes nothing.
func (p *Pipeline) Contributions(item *event.Item) aggregate.Contributions {
	return p.plan.Contributions(item)
}

// Parts makes the parts of a stored whole, as they were planned with it. They depend only on the
// whole's payload, id and time, except that their epoch is that of p. It returns nothing for a type
// without parts. The error is an [*event.Refusal]: the whole was stored before these parts were
// declared, and does not hold what they need.
func (p *Pipeline) Parts(whole *event.Item) ([]*event.Item, error) {
	return p.plan.Parts(whole)
}

// WholeOf returns the type, key and expiry of the event that a stored part belongs to. It returns
// nil if the part does not hold all fields of that event's key.
func (p *Pipeline) WholeOf(part *event.Item) *event.Item {
	return p.plan.WholeOf(part)
}

// Key computes the key of an event's item. A JSON object that holds only the fields of the key is
// enough, and those of the id or the time if the key uses them. If the message has an envelope, the
// envelope's id and time are used, as in [Pipeline.Plan]. The error is an [*event.Refusal] that
// names the missing or wrong field, or an unknown type.
func (p *Pipeline) Key(eventType string, m envelope.Message) (event.Key, error) {
	return p.plan.Key(eventType, m)
}

// By computes the values of an aggregate's by from an event. A JSON object that holds only the
// fields of by is enough. The values have the form that
// [github.com/ingot-events/ingot/store/query.Reader.Total] takes: after the functions
// (lower, hmac and so on), and not escaped.
//
//	by, err := p.By("customer_recent", envelope.Message{Body: `{"customer_id": "c1", "currency": "EUR"}`})
//	totals, err := st.Total(ctx, "customer_recent", by, from, to)
//
// If the by uses a derived value (@type, @at, @id and so on), the message must be a whole event, as
// [Pipeline.Plan] takes it. By does not check whether the aggregate counts the event: it ignores
// the event's type and where. If there is no such aggregate, the error says so. Otherwise it is an
// [*event.Refusal] that names the missing or wrong field.
//
// With names, By computes only these values of by, such as those that a rank is within.
func (p *Pipeline) By(aggregate string, m envelope.Message, names ...string) (map[string]string, error) {
	return p.plan.By(aggregate, m, names)
}

// CheckBy returns an error if the aggregate's templates can never make one of these values of by. A
// read with such a value would find nothing. The values have the form that [Pipeline.By] computes.
// The error names the value.
func (p *Pipeline) CheckBy(aggregate string, by map[string]string) error {
	return p.plan.CheckBy(aggregate, by)
}

// Redigest computes the digest of a stored payload under today's ignore. With it, the store can
// judge whether a different digest under the same key means a different payload. It returns an
// error for a part: nothing of a part is ignored, and its digest covers its whole too.
func (p *Pipeline) Redigest(typ, data string) (event.Digest, error) {
	return p.plan.Redigest(typ, data)
}

// DigestText returns the text that the digest of a stored payload hashes, under today's ignore. For
// a part it leaves out the type and id of the whole, which are not in the payload.
func (p *Pipeline) DigestText(typ, data string) (string, error) {
	return p.plan.DigestText(typ, data)
}

// Folds returns what the digest of an event type takes as its id shows it. See [keys.Fold].
func (p *Pipeline) Folds(typ string) []keys.Fold { return p.plan.Types[typ].Folds }

// Ties returns the values of a stored payload that decide between equal revisions, as this pipeline
// declares them. It is empty if the type's revision is not a list. See [event.Item].
func (p *Pipeline) Ties(typ, data string) (string, error) {
	return p.plan.Ties(typ, data)
}

// Ended reports whether an item of mode latest has ended at a time in unix seconds, as the expires
// of its type reads in its payload. It is hidden from then on, and a newer revision may bring it
// back.
func (p *Pipeline) Ended(item *event.Item, now int64) bool { return p.plan.Ended(item, now) }

// Kept returns what the item of an event keeps of a payload that is in the payload bucket, under
// this pipeline: a JSON object for its data. Keys, attributes, parts and contributions are the same
// whether they are computed from it or from the payload. The error is an [*event.Refusal].
func (p *Pipeline) Kept(eventType, payload string) (string, error) {
	return p.plan.Kept(eventType, payload)
}
