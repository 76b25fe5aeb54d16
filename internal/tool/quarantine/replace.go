package quarantine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// Deleter is what replacing needs of DynamoDB.
type Deleter interface {
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Events is the events table, for letters that replace what is stored.
type Events struct {
	Client   Deleter
	Table    string
	Examiner Examiner
}

// A Refused error says why a stored event is not replaced. Nothing was changed.
type Refused struct {
	why    string
	reason event.Reason
	detail string // of the refusal that the message would get; it may quote the event
	Look   bool   // a person has to look at both first
}

func (r *Refused) Error() string {
	return r.Text(func(_ event.Reason, detail string) string { return detail })
}

// Text returns the text of the error, with the detail of a refusal as shown returns it.
func (r *Refused) Text(shown func(reason event.Reason, detail string) string) string {
	if r.detail == "" {
		return r.why
	}
	return r.why + ": " + shown(r.reason, r.detail)
}

func refused(format string, args ...any) *Refused { return &Refused{why: fmt.Sprintf(format, args...)} }

// notStored refuses a replacement for a message that would get this verdict.
func notStored(verdict event.Verdict, reason event.Reason, detail string) *Refused {
	r := refused("it would be %s (%s) and not be stored, so nothing is deleted for it", verdict, reason)
	r.reason, r.detail = reason, detail
	return r
}

// Replace makes room for a letter that is right, and then sends it: it deletes the stored event of
// the same key, on condition that it still is the one that a person was shown (Letter.Seen). For an
// array, it does so for each event that is sent, but only if it may do so for all of them.
//
// For the stream, the deletion is a removal by a person, so every total loses what the event had
// added. Then the letter is stored as a new event, and totals gain what it adds. In between,
// readers find nothing. If somebody sends the old event again at that moment, it is stored again,
// and the letter comes back to quarantine as a Conflict. Nothing is lost in any case: the event is
// saved in the letter's file before it is deleted.
//
// Replace refuses to delete an event that expires within ten minutes, because the stream might take
// the removal for an expiry. It also refuses if the key is barred, if the stored item is not
// Ingot's, or if the letter would not be stored afterwards. It refuses to replace an event that has
// parts, is one, or has another type, because it deletes one item alone.
func (w *Work) Replace(ctx context.Context, l *Letter) error {
	switch {
	case !l.Open():
		return ErrDone
	case l.OfStream():
		return ErrOfStream
	case l.Resent != nil:
		return w.Resend(ctx, l)
	}
	today, err := w.Events.Examiner.Examine(ctx, l)
	if err != nil {
		return err
	}
	events := today.All()
	var away []int // the events in whose place another one is stored
	for i := range events {
		if err := w.countParts(ctx, events[i].Stored); err != nil {
			return err
		}
		inTheWay, err := w.inTheWay(l, &events[i], i)
		switch {
		case err != nil && today.Events != nil:
			err.why = fmt.Sprintf("event %s of the message: %s", events[i].Place, err.why)
			return err
		case err != nil:
			return err
		case inTheWay:
			away = append(away, i)
		}
	}
	if err := w.refusedByTotals(ctx, events, away); err != nil {
		return err
	}
	for _, i := range away {
		if err := w.remove(ctx, l, i, events[i].Stored); err != nil {
			return err
		}
	}
	if len(away) > 0 {
		if err := w.counted(ctx, l); err != nil {
			return err
		}
	}
	return w.Resend(ctx, l)
}

// mostLooks is how often, a second apart, counted looks whether a removal is counted.
const mostLooks = 30

// counted waits until no total refuses the message any more. The stream takes a moment to take the
// removed events out of the totals, and what they have taken is missing there until then.
func (w *Work) counted(ctx context.Context, l *Letter) error {
	for range mostLooks {
		today, err := w.Events.Examiner.Examine(ctx, l)
		if err != nil || today.Verdict != event.Rejected {
			return err
		}
		if err := w.Env.Real().Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("the stored event is deleted, and kept in %s; the totals do not show that yet, and would refuse the message: run "+
		"the same command again in a minute", w.Dir.File(l.ID))
}

// inTheWay reports whether a stored event must be deleted for event i of those that are sent. If it
// must but may not, the refusal says why.
func (w *Work) inTheWay(l *Letter, today *Today, i int) (bool, *Refused) {
	now := w.Env.Real().Now()
	seen := ""
	if i < len(l.Seen) {
		seen = l.Seen[i]
	}
	switch stored := today.Stored; {
	case today.Reason == event.DigestDiffers && stored != nil && w.Events.Examiner.Pipeline.IsPart(stored.Type):
		return false, refused("a part of another event is stored under the key, of type %q, and a part is not replaced without its whole. "+
			"If the message is right, give it another id (ingot quarantine edit --overwrite), and send it again without --replace. "+
			"If the other event is wrong, erase that whole event (ingot erase), not the part", stored.Type)
	case today.Reason == event.DigestDiffers && stored != nil && w.bound(today.Item, stored) != "":
		return false, refused("%s. If the message is right, erase the stored event (ingot erase), which bars its key for ever; "+
			"give the message another id (ingot quarantine edit --overwrite), and send it again without --replace",
			w.bound(today.Item, stored))
	case today.Reason == event.Barred:
		return false, refused("its event was erased, and the key is barred: the message would not be stored")
	case today.Verdict.Written() || today.Verdict == event.Duplicate:
		return false, nil
	case today.Verdict == event.Stale:
		return false, refused("a newer revision is stored: the message would not replace it")
	case today.Reason != event.DigestDiffers || stored == nil:
		return false, notStored(today.Verdict, today.Reason, today.Detail)
	case tables.TooLate(today.Item, now):
		return false, refused("it expires within ten minutes or has expired, and would not be stored")
	case tables.TooLate(stored, now): // the stream takes any removal of an expired event for its expiry
		return false, refused("the stored event expires within ten minutes or has expired: totals might keep what it added")
	case seen == "":
		return false, &Refused{why: "the stored event was not shown yet: look at both with ingot quarantine show first", Look: true}
	case seen != stored.Digest.String():
		return false, &Refused{why: "another event is stored than the one that was shown: look at both again", Look: true}
	}
	return true, nil
}

// countParts counts the parts of a stored event that does not say how many it has. It was stored
// before its parts were declared, and ingot rebuild parts may have put them.
func (w *Work) countParts(ctx context.Context, stored *event.Item) error {
	x := w.Events.Examiner
	if stored == nil || stored.Parts != nil || !x.Pipeline.HasParts(stored.Type) {
		return nil
	}
	_, parts, err := repair.Of(x.Store).PartsToErase(ctx, stored.Key, nil, false)
	stored.Parts = &event.Parts{Count: len(parts)}
	return err
}

// bound says why a stored event, which is not a part, cannot be replaced by itself. The text is
// empty if it can be.
func (w *Work) bound(item, stored *event.Item) string {
	states := w.Events.Examiner.Pipeline.HasStates(stored.Type)
	has := func(i *event.Item) bool { return states || i.Parts != nil && i.Parts.Count > 0 }
	switch {
	case stored.Type != item.Type:
		return fmt.Sprintf("the stored event has another type, %q", stored.Type)
	case has(stored):
		return "the stored event has parts, which would stay, be counted, and hold what they claim"
	case has(item):
		return "its event has parts, and another event may hold the key of one of them"
	}
	return ""
}

// refusedByTotals refuses a replacement after which a total would refuse the message, because the
// stored events would be deleted for nothing. What they add is not counted, as it will be gone.
func (w *Work) refusedByTotals(ctx context.Context, events []Today, away []int) error {
	if len(away) == 0 {
		return nil
	}
	var gone, items []*event.Item
	for i, one := range events {
		switch {
		case slices.Contains(away, i):
			gone, items = append(gone, one.Stored), append(items, one.Item)
		case one.Verdict == event.Inserted:
			items = append(items, one.Item)
		}
	}
	r, err := repair.Of(w.Events.Examiner.Store).JudgeInPlaceOf(ctx, gone, items)
	if err == nil && r.Refusal != nil {
		return notStored(r.Verdict, r.Refusal.Reason, r.Refusal.Detail)
	}
	return err
}

// remove deletes the stored event that is in the way of event i of those that are sent.
func (w *Work) remove(ctx context.Context, l *Letter, i int, stored *event.Item) error {
	payload, err := w.Events.Examiner.Store.Payload(ctx, stored)
	if errors.Is(err, tables.ErrPayloadLost) { // only the part that the item keeps is left
		payload, err = stored.Data, nil
	}
	if err != nil {
		return err
	}
	saved := Replaced{At: w.Env.Real().Now().UTC(), PK: stored.Key.PK, SK: stored.Key.SK, Type: stored.Type, ID: stored.ID,
		Time: keys.FormatTime(stored.At), Digest: stored.Digest.String(), Data: payload}
	// A call that was killed may have saved it already.
	l.Replaced = append(slices.DeleteFunc(l.Replaced, func(r Replaced) bool {
		return r.PK == saved.PK && r.SK == saved.SK && r.Digest == saved.Digest
	}), saved)
	if err := w.Dir.Save(l); err != nil {
		return err
	}
	_, err = w.Events.Client.DeleteItem(ctx, w.deletion(stored), rows.InTime(stored))
	var other *types.ConditionalCheckFailedException
	if errors.As(err, &other) {
		// If an answer was lost, the SDK has sent the request again, and the second one found
		// nothing. Or another process was faster. The stored item shows which.
		today, lookErr := w.Events.Examiner.Examine(ctx, l)
		if lookErr != nil {
			return lookErr
		}
		if i < len(today.Events) {
			today = &today.Events[i]
		}
		if today.Verdict != event.Inserted && (today.Verdict != event.Duplicate || today.Reason == event.Barred) {
			l.Replaced = l.Replaced[:len(l.Replaced)-1]
			_ = w.Dir.Save(l) // without it the file says that an event was replaced, which is harmless
			return &Refused{why: "somebody has changed what is stored in the meantime: look at both again", Look: true}
		}
		err = nil
	}
	if err != nil {
		return fmt.Errorf("deleting %s from table %s: %w", stored.Key, w.Events.Table, awserr.Quiet(err))
	}
	return nil
}

// deletion deletes exactly the event that was seen.
func (w *Work) deletion(stored *event.Item) *dynamodb.DeleteItemInput {
	in := &dynamodb.DeleteItemInput{TableName: &w.Events.Table,
		Key:                       rows.KeyImage(stored.Key),
		ConditionExpression:       aws.String("#t = :t AND digest = :d AND #e = :e"),
		ExpressionAttributeNames:  map[string]string{"#t": "type", "#e": "expiresAt"},
		ExpressionAttributeValues: rows.Image{":t": rows.Text(stored.Type), ":d": rows.Binary(stored.Digest[:])}}
	if stored.ExpiresAt == 0 {
		in.ConditionExpression = aws.String("#t = :t AND digest = :d AND attribute_not_exists(#e)")
	} else {
		in.ExpressionAttributeValues[":e"] = rows.Integer(stored.ExpiresAt)
	}
	return in
}

// Flagged lists the aggregates whose totals are flagged when this event is deleted, because a value
// such as the largest cannot be taken back.
func Flagged(x Examiner, item *event.Item) (names []string) {
	for _, c := range x.Pipeline.Contributions(item).List {
		for i, amount := range c.Values {
			if amount.Set && !c.Def.Values[i].Op.Additive() {
				names = append(names, c.Def.Name)
				break
			}
		}
	}
	return names
}
