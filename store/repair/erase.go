package repair

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Erase replaces the event stored under key by an item that only bars the key. The attributes of
// this item are PK, SK, i:barred and, under mode insert, the event's expiresAt. Erase reports
// whether an event was there. If none is stored, the key is barred in advance.
//
// While the key is barred, everything that is delivered under it is a [event.Duplicate] with the
// reason [event.Barred]. No redelivery brings the event back. The stream treats the replacement as
// a removal by a person: every total loses what the event had added. The bar goes when the event
// would have expired. In two cases it stays for ever: under mode latest, because later revisions
// may expire after the one that was erased, and if nothing was stored to say when it expires.
//
// The parts of an event are erased before it, in the same way. They are a function of the stored
// whole, so a call that stops in between can be repeated. Once the whole is barred, a message that
// is delivered again puts no parts.
//
// The item of a whole says how many parts were stored with it. If the pipeline has changed since,
// it may not make all of them, or make them under other keys. If fewer are found than were stored,
// Erase changes nothing and returns an error that says so: once the whole is gone, nothing would
// lead to the others. It also returns an error if no event is stored under the key, and parts of
// an expired one may be: those of a type that has a longer retain than its whole. In that case the
// key is barred. In both cases, ingot erase --scan finds the parts.
//
// A claim of the event is not barred but removed, in the same transaction that bars the whole. From
// then on, another event can claim the value. The value must not be free any earlier: if the call
// stopped in between, or if the event's own message were delivered again, two wholes could have the
// same value. A claim can only be erased together with its whole.
//
// After the key is barred, the payloads of the key are deleted from the payload bucket, if there is
// one: under every event type that has offload and under the event's own type, or under every type
// if no event is stored. From then on, a message that puts such a payload also deletes it.
//
// Erase returns nil only if the key is proven barred and its payloads are proven deleted. You may
// repeat it to finish an interrupted call. If the key is barred already, it only deletes the
// payloads that are left. It refuses an item that is not Ingot's.
//
// If a key of an event uses hmac, and Config.Aggregates is set, Erase first reads there whether the
// pipeline's secret is the one that the tables were filled with. Otherwise it returns
// [ErrOtherSecret], because it would not find the parts of the event.
//
// Everything else that holds the event stays: archive objects, older versions of objects, backups,
// queues and logs. The page docs/erasing.md says what to do about them.
func (s *Repairer) Erase(ctx context.Context, key event.Key) (erased bool, err error) {
	return s.EraseWith(ctx, key, nil, false)
}

// EraseWith is [Repairer.Erase] for a caller that has looked for parts of the event elsewhere.
// found are the stored parts that it has found. all says that no others are stored, because the
// whole table was read. Then their number is not compared with that of the whole.
func (s *Repairer) EraseWith(ctx context.Context, key event.Key, found []*event.Item, all bool) (erased bool, err error) {
	e := erasure{Repairer: s, key: key, found: found, all: all}
	if err := e.run(ctx); err != nil {
		return false, err
	}
	for _, folder := range e.folders() {
		_, err := s.stages.Payloads.Clear(ctx, s.stages.Env, folder, key)
		if payloads.NoBucket(err) && s.stages.Pipeline.OffloadsOver(folder) == 0 {
			continue // the bucket is configured but does not exist, so nothing was ever put there
		}
		if err != nil {
			return false, fmt.Errorf("erase %s: the key is barred, but its payloads are not all deleted; erase it again: %w", key, err)
		}
	}
	if left := e.mayBeLeft(); len(left) > 0 {
		return false, fmt.Errorf("erase %s: the key is barred. No event was stored there. "+
			"If it has expired, parts of it may still be stored, because these types have a longer retain than their whole: %s. "+
			"Run ingot erase with --scan, which looks for them in the whole table, or with --archive, if the event is in a file of the "+
			"archive", key, strings.Join(left, ", "))
	}
	return e.erased, nil
}

// PartsToErase returns the stored whole and the parts that [counter.EraseWith] would erase with it,
// claims among them, or the error that it would return before it changes anything. The whole is nil
// if no event with parts is stored under the key.
func (s *Repairer) PartsToErase(ctx context.Context, key event.Key, found []*event.Item, all bool) (whole *event.Item,
	parts []*event.Item, err error,
) {
	e := erasure{Repairer: s, key: key, found: found, all: all, look: true}
	err = e.run(ctx)
	return e.whole, e.parts, err
}

// release is what the transaction that bars a whole does with one of its claims or states.
type release struct {
	part   *event.Item
	digest types.AttributeValue // of a claim: that of the item under its key; nil: that item has none
	stays  bool                 // it belongs to another whole
}

func newRelease(part *event.Item) release {
	return release{part: part, digest: rows.Binary(part.Digest[:])}
}

func releases(parts []*event.Item) (list []release) {
	for _, part := range parts {
		list = append(list, newRelease(part))
	}
	return list
}

// write returns the operation. Its condition is that the key still holds what was read there. A
// claim of this whole may also be missing.
func (r *release) write(table *string) types.TransactWriteItem {
	condition, names, values := "#d = :d", map[string]string{"#d": "digest"}, rows.Image{":d": r.digest}
	switch {
	case isState(r.part):
		condition, names, values = r.ofState()
	case !r.stays:
		condition = "attribute_not_exists(PK) OR " + condition
	case r.digest == nil:
		condition, values = "attribute_exists(PK) AND attribute_not_exists(#d)", nil
	}
	if r.stays {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: table, Key: rows.KeyImage(r.part.Key),
			ConditionExpression:      &condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
	}
	return types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: rows.KeyImage(r.part.Key),
		ConditionExpression:      &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
}

// ofState returns the condition of a state. Its ties, the time and the id of its whole, say whose
// it is. What a state of another event looks like does not matter, because it changes all the time.
func (r *release) ofState() (condition string, names map[string]string, values rows.Image) {
	condition = "attribute_not_exists(PK) OR #i = :i"
	if r.stays {
		condition = "attribute_not_exists(#i) OR #i <> :i"
	}
	return condition, map[string]string{"#i": "i:revision"}, rows.Image{":i": rows.Text(r.part.Ties)}
}
