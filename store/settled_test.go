package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/table/tables"
	"github.com/ingot-events/ingot/store"
)

// What Settled says of the first items is what putting them one after another would say, and the
// put of the item at which it stops would write something or be refused.
func TestSettledAgainstPuts(t *testing.T) {
	for _, seed := range replay.Seeds(t, 1, 300) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, carts)
		var list []*event.Item
		for range 1 + r.IntN(12) {
			switch id := fmt.Sprint(r.IntN(8)); r.IntN(3) {
			case 0:
				list = append(list, w.order(id, 1+r.IntN(8)/7))
			case 1:
				list = append(list, w.cart(id, []int{1, 2, 3}[:r.IntN(4)]...))
			default:
				list = append(list, w.parcel(id, 1+r.IntN(2)))
			}
		}
		ctx := deadline(t)
		for i, item := range list {
			if i < r.IntN(len(list)+1) || r.IntN(3) == 0 {
				w.store.Put(ctx, []*event.Item{item})
			}
		}
		for _, item := range list {
			switch {
			case r.IntN(12) == 0:
				if _, err := tables.Of(w.store).EraseWith(ctx, item.Key, nil, true); err != nil { // a part may have been removed by hand
					t.Fatal(err)
				}
			case item.Parts != nil && len(item.Parts.Items) > 0 && r.IntN(6) == 0:
				key := item.Parts.Items[r.IntN(len(item.Parts.Items))].Key
				_, err := w.Engine.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("events"), Key: map[string]types.AttributeValue{
					"PK": &types.AttributeValueMemberS{Value: key.PK}, "SK": &types.AttributeValueMemberS{Value: key.SK}}})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		got, cost := tables.Of(w.store).Settled(context.Background(), list)
		if cost.Requests != 1 || cost.WriteUnits != 0 {
			t.Errorf("it took %d requests and %v write units", cost.Requests, cost.WriteUnits)
		}
		for i, item := range list {
			results, cost := w.store.Put(ctx, []*event.Item{item})
			put := results[0]
			switch settled := put.Verdict == event.Duplicate || put.Verdict == event.Stale; {
			case i < len(got) && (got[i].Verdict != put.Verdict || len(got[i].Parts) != len(put.Parts) || cost.Objects > 0):
				t.Fatalf("%s\nitem %d is said to be %v, and its put says %v", replay.Command(t, seed), i, got[i].Verdict, put.Verdict)
			case i == len(got) && settled && !inserted(put):
				t.Fatalf("%s\nit stops at item %d, whose put says %v", replay.Command(t, seed), i, put.Verdict)
			case i < len(got) && inserted(put):
				t.Fatalf("%s\nitem %d is said to be %v, and its put writes a part", replay.Command(t, seed), i, got[i].Verdict)
			}
			if i == len(got) {
				break
			}
		}
	}
}

// inserted reports whether a put wrote a part.
func inserted(r store.Result) bool {
	for _, p := range r.Parts {
		if p.Verdict == event.Inserted {
			return true
		}
	}
	return false
}
