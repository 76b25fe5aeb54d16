package send

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// Table is the client that reads the events table.
type Table interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Waiting says what to wait for, by the key of each event's item. A later revision under the key counts
// as stored too.
type Waiting map[event.Key]Due

// Due is what will be stored of one event: the digest under its key, and the digests under those of its
// parts.
type Due struct {
	Digest event.Digest
	Parts  map[event.Key]event.Digest
	// Moves is the item if its put, or that of a part, moves totals: these may refuse it. Otherwise it is nil.
	Moves *event.Item
}

// DueOf returns what will be stored of an item and its parts.
func DueOf(item *event.Item) Due {
	d := Due{Digest: item.Digest}
	if item.Parts != nil && len(item.Parts.Items) > 0 {
		d.Parts = make(map[event.Key]event.Digest, len(item.Parts.Items))
		for _, part := range item.Parts.Items {
			d.Parts[part.Key] = part.Digest
			if part.Put != 0 {
				d.Moves = item
			}
		}
	}
	if item.Put != 0 {
		d.Moves = item
	}
	return d
}

// Waited says what became of the events.
type Waited struct {
	Stored int // events whose items are all there with these digests
	Other  int // events of which an item's key holds another payload
	// Rejected counts events that were not stored after some time, and that a total would refuse as it is.
	Rejected int
	Left     int // events that were not stored, or not with all their parts, when the time was over
}

// Refuses reports whether a total would refuse an event as it is now.
type Refuses func(ctx context.Context, item *event.Item) (bool, error)

// patience is how long Wait waits for an event before it asks whether a total refuses it. The function
// may not have had it yet, and what comes before it may raise the total.
const patience = 5 * time.Second

// maxGet is how many keys one BatchGetItem takes.
const maxGet = 100

// Wait asks until all items of each event are there, or until limit has passed. sleep waits between
// two rounds. refuses says of an event that moves totals whether it is in vain to wait for it.
func Wait(ctx context.Context, client Table, table string, keys Waiting, refuses Refuses, limit time.Duration, sleep func(context.Context, time.Duration) error, told func(Waited)) (Waited, error) {
	w := Waited{Left: len(keys)}
	wholes := map[event.Key]event.Key{} // of parts
	unproven := make(map[event.Key]int, len(keys))
	var left []event.Key
	for key, due := range keys {
		left, unproven[key] = append(left, key), 1+len(due.Parts)
		for part := range due.Parts {
			left, wholes[part] = append(left, part), key
		}
	}
	slices.SortFunc(left, event.Key.Compare)
	left = slices.Compact(left) // no request may name a key twice
	pause := 100 * time.Millisecond
	for waited := time.Duration(0); ; {
		var again []event.Key
		for chunk := range slices.Chunk(left, maxGet) {
			found, err := read(ctx, client, table, chunk)
			if err != nil {
				return w, err
			}
			for _, key := range chunk {
				of, want := key, keys[key].Digest
				if whole, part := wholes[key]; part {
					of, want = whole, keys[whole].Parts[key]
				}
				switch digest, there := found[key]; {
				case unproven[of] == 0: // another item of the event was not its own
				case !there:
					again = append(again, key)
				case digest != want:
					unproven[of], w.Other, w.Left = 0, w.Other+1, w.Left-1
				default:
					if unproven[of]--; unproven[of] == 0 {
						w.Stored, w.Left = w.Stored+1, w.Left-1
					}
				}
			}
		}
		left = slices.DeleteFunc(again, func(key event.Key) bool {
			whole, part := wholes[key]
			return part && unproven[whole] == 0 || !part && unproven[key] == 0
		})
		if waited >= min(patience, limit) {
			var err error
			if left, err = rejected(ctx, keys, left, refuses, unproven, &w); err != nil {
				return w, err
			}
		}
		told(w)
		if w.Left == 0 || waited >= limit {
			return w, nil
		}
		if err := sleep(ctx, pause); err != nil {
			return w, err
		}
		waited, pause = waited+pause, min(2*pause, 2*time.Second)
	}
}

// rejected asks whether totals refuse the events whose own keys are left, and returns the keys that are
// left then.
func rejected(ctx context.Context, keys Waiting, left []event.Key, refuses Refuses, unproven map[event.Key]int, w *Waited) ([]event.Key, error) {
	gone := map[event.Key]bool{}
	for whole, n := range unproven {
		due := keys[whole]
		if n == 0 || due.Moves == nil {
			continue
		}
		is, err := refuses(ctx, due.Moves)
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		unproven[whole], w.Rejected, w.Left = 0, w.Rejected+1, w.Left-1
		gone[whole] = true
		for part := range due.Parts {
			gone[part] = true
		}
	}
	return slices.DeleteFunc(left, func(key event.Key) bool { return gone[key] }), nil
}

// read returns the digests of the items that are there.
func read(ctx context.Context, client Table, table string, keys []event.Key) (map[event.Key]event.Digest, error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("PK, SK, #digest"),
		ExpressionAttributeNames: map[string]string{"#digest": "digest"}}
	for _, key := range keys {
		request.Keys = append(request.Keys, map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key.PK}, "SK": &types.AttributeValueMemberS{Value: key.SK}})
	}
	found := map[event.Key]event.Digest{}
	out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: request}})
	if err != nil {
		return nil, err
	}
	for _, item := range out.Responses[table] { // keys that the service left unread come again with the next round
		pk, _ := item["PK"].(*types.AttributeValueMemberS)
		sk, _ := item["SK"].(*types.AttributeValueMemberS)
		digest, _ := item["digest"].(*types.AttributeValueMemberB)
		if pk != nil && sk != nil && digest != nil && len(digest.Value) == len(event.Digest{}) {
			found[event.Key{PK: pk.Value, SK: sk.Value}] = event.Digest(digest.Value)
		}
	}
	return found, nil
}
