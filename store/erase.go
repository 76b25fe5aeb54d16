package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/keys"
)

// barredAttribute marks the key of an event that was erased. An item with this attribute is no
// longer an event. It has no type, so nothing counts, touches or archives it.
const barredAttribute = itemform.Barred

func barred(img image) bool {
	b, _ := img[barredAttribute].(*types.AttributeValueMemberBOOL)
	return b != nil && b.Value
}

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
// A claim of the event is not barred but removed, in the same transaction that bars the whole. From
// then on, another event can claim the value. The value must not be free any earlier: if the call
// stopped in between, or if the event's own message were delivered again, two wholes could have the
// same value. A claim can only be erased together with its whole.
//
// After the key is barred, the payloads of the key are deleted from the payload bucket: under every
// event type that has offload, under the event's own type if it once had offload, and under every
// type if the key was barred before. From then on, a message that puts such a payload also deletes
// it.
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
func (s *Store) Erase(ctx context.Context, key event.Key) (erased bool, err error) {
	if s.events == "" {
		return false, errors.New("erase: Config.Events names no table: set it to the events table")
	}
	if err := s.sameSecret(ctx); err != nil {
		return false, fmt.Errorf("erase %s: %w", key, err)
	}
	folders := s.pipeline.OffloadTypes()
	err = s.retry(ctx, func() (answer, next) {
		known, a := s.lookUp(ctx, key)
		switch {
		case a.outcome != done:
			return a, later
		case barred(known):
			if s.payloads != nil { // nobody knows the event's type any more, and that type may have lost its offload
				folders = slices.Sorted(maps.Keys(s.pipeline.Describe().Spec.Events))
			}
			return a, ended
		case len(known) > 0 && textOf(known["type"]) == "":
			return answer{outcome: invalid, err: errors.New("the key holds an item that is not Ingot's; nothing was changed")}, later
		}
		if known[itemform.Payload] != nil && !slices.Contains(folders, textOf(known["type"])) { // it had offload
			folders = append(folders, textOf(known["type"]))
		}
		if len(folders) > 0 && s.payloads == nil { // before anything is changed
			return answer{outcome: invalid, err: fmt.Errorf("payloads of its key may be in the payload bucket: %w", errNoBucket)}, later
		}
		if owner, claim := s.pipeline.ClaimOf(textOf(known["type"])); claim {
			return answer{outcome: invalid, err: fmt.Errorf("the key holds a claim, which is erased with its whole alone: erase the %s that holds it", owner)}, later
		}
		whole, claims, a := s.eraseParts(ctx, key, textOf(known["type"]))
		if a.outcome != done {
			return a, later
		}
		erased = erased || len(known) > 0
		switch a := s.bar(ctx, s.barring(key, known), whole, releases(claims)); a.outcome {
		case done:
			return a, ended
		case failed: // the item has changed since it was read
			return answer{outcome: contended, err: a.err}, later
		default:
			return a, later
		}
	})
	if err != nil {
		return false, fmt.Errorf("erase %s: %w", key, err)
	}
	for _, folder := range folders {
		_, err := s.payloads.Clear(ctx, s.env, folder, key)
		if payloads.NoBucket(err) && s.pipeline.OffloadsOver(folder) == 0 {
			continue // the bucket is configured but does not exist, so nothing was ever put there
		}
		if err != nil {
			return false, fmt.Errorf("erase %s: the key is barred, but its payloads are not all deleted; erase it again: %w", key, err)
		}
	}
	return erased, nil
}

// eraseParts erases the parts of the event that is stored under key, if its type has parts. It
// returns the event and those of its parts that are claims, which are removed when the whole is
// barred.
func (s *Store) eraseParts(ctx context.Context, key event.Key, eventType string) (whole *event.Item, claims []*event.Item, a answer) {
	if !s.pipeline.HasParts(eventType) {
		return nil, nil, answer{}
	}
	whole, err := s.Item(ctx, key)
	if err != nil {
		return nil, nil, answer{outcome: unknown, err: err}
	}
	if whole == nil || whole.Type != eventType {
		return nil, nil, answer{outcome: contended, err: errors.New("the item has changed since it was read")}
	}
	if again, err := s.withPayload(ctx, whole); err == nil { // the item may lack what its parts need today
		whole = again
	} else if !errors.Is(err, ErrPayloadLost) {
		return nil, nil, answer{outcome: unknown, err: err}
	}
	parts, err := s.pipeline.Parts(whole)
	switch {
	case err != nil && whole.Parts != nil:
		return nil, nil, answer{outcome: invalid, err: fmt.Errorf("its parts cannot be found, because pipeline.yaml has changed since it was stored; erase each of them by its own key, and take %s out of the types that are a whole: %w", eventType, err)}
	case err != nil:
		return whole, nil, answer{} // it was stored before these parts were declared, and has none
	}
	for _, part := range parts {
		if _, claim := s.pipeline.ClaimOf(part.Type); claim {
			claims = append(claims, part)
			continue
		}
		if _, err := s.Erase(ctx, part.Key); err != nil {
			return nil, nil, answer{outcome: unknown, err: err}
		}
	}
	if len(claims) >= maxTransaction {
		return nil, nil, answer{outcome: invalid, err: fmt.Errorf("it has %d claims, and a transaction releases at most %d; remove the others by hand first", len(claims), maxTransaction-1)}
	}
	return whole, claims, answer{}
}

// release is what the transaction that bars a whole does with one of its claims.
type release struct {
	claim  *event.Item
	digest types.AttributeValue // of the item under its key; nil: that item has none
	stays  bool                 // it belongs to another whole
}

func newRelease(claim *event.Item) release {
	return release{claim: claim, digest: binary(claim.Digest[:])}
}

func releases(claims []*event.Item) (list []release) {
	for _, claim := range claims {
		list = append(list, newRelease(claim))
	}
	return list
}

// write returns the operation. Its condition is that the key still holds what was read there. A
// claim of this whole may also be missing.
func (r *release) write(table *string) types.TransactWriteItem {
	condition, names, values := "#d = :d", map[string]string{"#d": "digest"}, image{":d": r.digest}
	switch {
	case !r.stays:
		condition = "attribute_not_exists(PK) OR " + condition
		return types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: keyImage(r.claim.Key), ConditionExpression: &condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
	case r.digest == nil:
		condition, values = "attribute_exists(PK) AND attribute_not_exists(#d)", nil
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: table, Key: keyImage(r.claim.Key), ConditionExpression: &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
}

// bar bars the key of an event, and removes its claims in the same transaction. A claim that
// another event holds stays. That can happen if both events were stored before claims were
// declared. The transaction checks that the other event still holds it. Otherwise this event might
// have claimed the value in the meantime, and nothing would ever release it.
func (s *Store) bar(ctx context.Context, bar *dynamodb.PutItemInput, whole *event.Item, claims []release) answer {
	if len(claims) == 0 {
		_, err := s.client.PutItem(ctx, bar)
		return classify(err)
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: bar.TableName, Item: bar.Item,
		ConditionExpression: bar.ConditionExpression, ExpressionAttributeNames: bar.ExpressionAttributeNames, ExpressionAttributeValues: bar.ExpressionAttributeValues}}}}
	for i := range claims {
		in.TransactItems = append(in.TransactItems, claims[i].write(&s.events))
	}
	sent := s.transact(ctx, in)
	if sent.outcome != cancelled || len(sent.reasons) != len(in.TransactItems) {
		return sent.answer
	}
	for i, reason := range sent.reasons[1:] {
		if classifyReason(reason).outcome != failed {
			continue
		}
		img, err := s.image(ctx, claims[i].claim.Key)
		if err != nil {
			return answer{outcome: unknown, err: err}
		}
		again := slices.Clone(claims)
		if again[i] = newRelease(claims[i].claim); len(img) > 0 { // otherwise another event held it, and it is gone
			again[i].digest, again[i].stays = img["digest"], !readPart(img, true).isPartOf(whole) // its own may be made of other members than today
		}
		return s.bar(ctx, bar, whole, again)
	}
	for _, reason := range sent.reasons {
		if a := classifyReason(reason); a.outcome != done {
			return a
		}
	}
	return sent.answer
}

// isPartOf reports whether the stored item is a part of this whole. It looks only at the digest, so
// it does not matter which members the part was made of. The payload must have been read and must
// be in the item. The payload of a claim always is.
func (s *stored) isPartOf(whole *event.Item) bool {
	doc, err := event.ParseDocument(s.data)
	return err == nil && !s.foreign && s.digest == sha256.Sum256(keys.PartDigestText(nil, s.typ, doc.Root(), whole.Type, whole.ID))
}

// lookUp reads the attributes that decide how a key is barred. It reads consistently, because the
// bar takes its expiry from the stored item.
func (s *Store) lookUp(ctx context.Context, key event.Key) (image, answer) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.events, Key: keyImage(key), ConsistentRead: aws.Bool(true),
		ProjectionExpression:     aws.String("PK, #t, #r, #e, #b, #p"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#r": "revision", "#e": "expiresAt", "#b": barredAttribute, "#p": itemform.Payload}})
	if err != nil {
		return nil, classify(err)
	}
	return out.Item, answer{}
}

// barring returns the request that bars the key. Its condition is that the key still holds what was
// read, as far as the bar depends on it: nothing, an event with a revision, or an event with this
// expiry. Between the read and the put, somebody may have removed that item, and a message may have
// stored another event that expires later. Without the condition, the bar would expire before that
// event.
func (s *Store) barring(key event.Key, known image) *dynamodb.PutItemInput {
	in := &dynamodb.PutItemInput{TableName: &s.events, Item: keyImage(key)}
	in.Item[barredAttribute] = &types.AttributeValueMemberBOOL{Value: true}
	switch {
	case len(known) == 0:
		in.ConditionExpression = aws.String("attribute_not_exists(PK)")
		return in
	case known["revision"] != nil:
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#t = :t AND attribute_exists(#r)"), map[string]string{"#t": "type", "#r": "revision"}
	case known["expiresAt"] != nil:
		in.Item["expiresAt"] = known["expiresAt"]
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#t = :t AND #e = :e"), map[string]string{"#t": "type", "#e": "expiresAt"}
		in.ExpressionAttributeValues = image{":e": known["expiresAt"]}
	default:
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#t = :t AND attribute_not_exists(#e)"), map[string]string{"#t": "type", "#e": "expiresAt"}
	}
	if in.ExpressionAttributeValues == nil {
		in.ExpressionAttributeValues = image{}
	}
	in.ExpressionAttributeValues[":t"] = known["type"]
	return in
}
