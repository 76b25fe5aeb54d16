package quarantine

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
	"github.com/ingot-events/ingot/keys"
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
	why  string
	Look bool // somebody has to look at both first
}

func (r *Refused) Error() string { return r.why }

func refused(format string, args ...any) error { return &Refused{why: fmt.Sprintf(format, args...)} }

// Replace makes room for a letter that is right, and then sends it: it deletes the stored event of
// the same key, on condition that it still is the one that a person was shown (Letter.Seen).
//
// The stream takes the deletion for a removal by a person, so every total loses what the event had
// added. Then the letter is stored as a new event and adds its own. In between, readers find
// nothing, and somebody may send the old event again: then that event is stored once more, and the
// letter comes back to quarantine as a Conflict. Nothing is lost in any case: the deleted event is
// in the letter's file before it is deleted.
//
// Replace does nothing to an event that expires within an hour, because the stream might take its
// removal for its expiry. Nor to a key that is barred, or that holds what is not Ingot's, and
// nothing for a letter that would not be stored afterwards.
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
	now := w.Env.Real().Now()
	switch stored := today.Stored; {
	case today.Item != nil && today.Item.Parts != nil && today.Item.Parts.Count > 0 && today.Verdict == event.Conflict:
		return refused("its event has parts, and those of the stored event would stay and differ from its own: erase the stored event first, or send a correction under another id")
	case today.Reason == event.Barred:
		return refused("its event was erased, and the key is barred: the message would not be stored")
	case today.Verdict == event.Inserted || today.Verdict == event.Updated || today.Verdict == event.Duplicate:
		return w.Resend(ctx, l) // nothing stands in its way
	case today.Verdict == event.Stale:
		return refused("a newer revision is stored: the message would not replace it")
	case today.Reason != event.DigestDiffers || stored == nil:
		return refused("it would be %s (%s) and not be stored, so nothing is deleted for it: %s", today.Verdict, today.Reason, today.Detail)
	case expiring(today.Item, now):
		return refused("it expires within the hour or has expired, and would not be stored")
	case expiring(stored, now):
		return refused("the stored event expires within the hour or has expired: totals might keep what it added")
	case l.Seen == "":
		return &Refused{"nobody was shown what is stored: look at both first", true}
	case l.Seen != stored.Digest.String():
		return &Refused{"another event is stored than the one that was shown: look at both again", true}
	}
	return w.replace(ctx, l, today.Stored)
}

func (w *Work) replace(ctx context.Context, l *Letter, stored *event.Item) error {
	l.Replaced = &Replaced{At: w.Env.Real().Now().UTC(), PK: stored.Key.PK, SK: stored.Key.SK, Type: stored.Type, ID: stored.ID,
		Time: keys.FormatTime(stored.At), Digest: stored.Digest.String(), Data: stored.Data}
	if err := w.Dir.Save(l); err != nil {
		return err
	}
	_, err := w.Events.Client.DeleteItem(ctx, w.deletion(stored))
	var other *types.ConditionalCheckFailedException
	if errors.As(err, &other) {
		// The SDK sends a request again whose answer is lost, and the second one finds nothing. Or
		// somebody else was faster. What is stored now tells.
		today, lookErr := w.Events.Examiner.Examine(ctx, l)
		switch {
		case lookErr != nil:
			return lookErr
		case today.Verdict != event.Inserted && (today.Verdict != event.Duplicate || today.Reason == event.Barred):
			if l.Replaced = nil; w.Dir.Save(l) != nil {
				l.Replaced = nil // the file then says that an event was replaced, which is harmless
			}
			return &Refused{"somebody has changed what is stored in the meantime: look at both again", true}
		}
		err = nil
	}
	if err != nil {
		return fmt.Errorf("deleting %s from table %s: %w", stored.Key, w.Events.Table, awserr.Quiet(err))
	}
	return w.Resend(ctx, l)
}

// deletion deletes exactly the event that was seen.
func (w *Work) deletion(stored *event.Item) *dynamodb.DeleteItemInput {
	in := &dynamodb.DeleteItemInput{TableName: &w.Events.Table,
		Key:                       map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: stored.Key.PK}, "SK": &types.AttributeValueMemberS{Value: stored.Key.SK}},
		ConditionExpression:       aws.String("#t = :t AND digest = :d AND #e = :e"),
		ExpressionAttributeNames:  map[string]string{"#t": "type", "#e": "expiresAt"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":t": &types.AttributeValueMemberS{Value: stored.Type}, ":d": &types.AttributeValueMemberB{Value: stored.Digest[:]}}}
	if stored.ExpiresAt == 0 {
		in.ConditionExpression = aws.String("#t = :t AND digest = :d AND attribute_not_exists(#e)")
	} else {
		in.ExpressionAttributeValues[":e"] = &types.AttributeValueMemberN{Value: fmt.Sprint(stored.ExpiresAt)}
	}
	return in
}

// Flagged lists the aggregates whose totals are flagged when an event of this type is deleted,
// because a smallest or largest value cannot be taken back.
func Flagged(x Examiner, item *event.Item) (names []string) {
	for _, c := range x.Pipeline.Contributions(item).List {
		for i, amount := range c.Values {
			if op := c.Def.Values[i].Op; amount.Set && (op == aggregate.Min || op == aggregate.Max) {
				names = append(names, c.Def.Name)
				break
			}
		}
	}
	return names
}
