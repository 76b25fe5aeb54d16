package send

import (
	"context"
	"maps"
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

// Waiting says what to wait for: the digest that each key will have. A later revision under the key
// counts as stored too.
type Waiting map[event.Key]event.Digest

// Waited says what became of the events.
type Waited struct {
	Stored int // keys whose item is there with this digest
	Other  int // keys that hold another payload
	Left   int // keys that nothing was stored under when the time was over
}

// maxGet is how many keys one BatchGetItem takes.
const maxGet = 100

// Wait asks until there is an item under each key, or until limit has passed. sleep waits between
// two rounds.
func Wait(ctx context.Context, client Table, table string, keys Waiting, limit time.Duration, sleep func(context.Context, time.Duration) error, told func(Waited)) (Waited, error) {
	w := Waited{Left: len(keys)}
	left := slices.SortedFunc(maps.Keys(keys), event.Key.Compare)
	pause := 100 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		var again []event.Key
		for chunk := range slices.Chunk(left, maxGet) {
			found, err := read(ctx, client, table, chunk)
			if err != nil {
				return w, err
			}
			for _, key := range chunk {
				switch digest, there := found[key]; {
				case !there:
					again = append(again, key)
				case digest == keys[key]:
					w.Stored++
				default:
					w.Other++
				}
			}
		}
		left = again
		w.Left = len(left)
		told(w)
		if w.Left == 0 || waited >= limit {
			return w, nil
		}
		if err := sleep(ctx, pause); err != nil {
			return w, err
		}
		pause = min(2*pause, 2*time.Second)
	}
}

// Sleep waits, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

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
