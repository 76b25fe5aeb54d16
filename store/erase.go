package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Erase does what [Store.Erase] says.
func (s *repairs) Erase(ctx context.Context, key event.Key) (erased bool, err error) {
	return s.EraseWith(ctx, key, nil, false)
}

// EraseWith is [Store.Erase] for a caller that has looked for parts of the event elsewhere. found
// are the stored parts that it has found. all says that no others are stored, because the whole
// table was read. Then their number is not compared with that of the whole.
func (s *repairs) EraseWith(ctx context.Context, key event.Key, found []*event.Item, all bool) (erased bool, err error) {
	e := erasure{repairs: s, key: key, found: found, all: all}
	if err := e.run(ctx); err != nil {
		return false, err
	}
	for _, folder := range e.folders() {
		_, err := s.Payloads.Clear(ctx, s.Env, folder, key)
		if payloads.NoBucket(err) && s.Pipeline.OffloadsOver(folder) == 0 {
			continue // the bucket is configured but does not exist, so nothing was ever put there
		}
		if err != nil {
			return false, fmt.Errorf("erase %s: the key is barred, but its payloads are not all deleted; erase it again: %w", key, err)
		}
	}
	if left := e.mayBeLeft(); len(left) > 0 {
		return false, fmt.Errorf("erase %s: the key is barred. No event was stored there. "+
			"If it has expired, parts of it may still be stored, because these types have a longer retain than their whole: %s. "+
			"Run ingot erase with --scan, which looks for them in the whole table", key, strings.Join(left, ", "))
	}
	return e.erased, nil
}

// PartsToErase returns the stored whole and the parts that [counter.EraseWith] would erase with it,
// claims among them, or the error that it would return before it changes anything. The whole is nil
// if no event with parts is stored under the key.
func (s *repairs) PartsToErase(ctx context.Context, key event.Key, found []*event.Item, all bool) (whole *event.Item,
	parts []*event.Item, err error,
) {
	e := erasure{repairs: s, key: key, found: found, all: all, look: true}
	err = e.run(ctx)
	return e.whole, e.parts, err
}

// release is what the transaction that bars a whole does with one of its claims.
type release struct {
	claim  *event.Item
	digest types.AttributeValue // of the item under its key; nil: that item has none
	stays  bool                 // it belongs to another whole
}

func newRelease(claim *event.Item) release {
	return release{claim: claim, digest: rows.Binary(claim.Digest[:])}
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
	condition, names, values := "#d = :d", map[string]string{"#d": "digest"}, rows.Image{":d": r.digest}
	switch {
	case !r.stays:
		condition = "attribute_not_exists(PK) OR " + condition
		return types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: rows.KeyImage(r.claim.Key),
			ConditionExpression:      &condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
	case r.digest == nil:
		condition, values = "attribute_exists(PK) AND attribute_not_exists(#d)", nil
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: table, Key: rows.KeyImage(r.claim.Key),
		ConditionExpression:      &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values}}
}
