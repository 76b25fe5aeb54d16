package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Own accounts are held to what the engine meters.
func TestCostsOfAggregates(t *testing.T) {
	type want struct {
		requests map[string]int64
		writes   float64
	}
	for _, c := range bothWays {
		w := newWorld(t, counting(c))
		var items []*event.Item
		for i := range 30 {
			items = append(items, w.order(fmt.Sprint(i), i))
		}
		steps := map[aggregate.Counting][]want{
			aggregate.Marks: {
				{map[string]int64{"UpdateItem": 3}, 3}, // three aggregates, one write unit each, however many changes
				{map[string]int64{"UpdateItem": 3}, 3}, // redelivered: a failed condition each
			},
			aggregate.Receipts: {
				{map[string]int64{"TransactWriteItems": 1}, 2 * (30 + 1 + 1 + 4)}, // the spread aggregate is four items
				{map[string]int64{"TransactWriteItems": 1}, 2 * (30 + 1 + 1 + 4)},
			},
		}[c]
		for n, want := range steps {
			before := w.engine.Usage()
			a := w.apply(w.batch(c, 1, items...))
			used := w.engine.Usage().Sub(before)
			if fmt.Sprint(used.Requests) != fmt.Sprint(want.requests) || used.WriteUnits() != want.writes {
				t.Errorf("%s, time %d: %v, %v write units, want %v, %v", c, n+1, used.Requests, used.WriteUnits(), want.requests, want.writes)
			}
			if a.Cost.WriteUnits != used.WriteUnits() {
				t.Errorf("%s, time %d: own accounts say %v write units, the engine %v", c, n+1, a.Cost.WriteUnits, used.WriteUnits())
			}
		}
	}
}

// An aggregate item is paid for by the started kilobyte, and its by values are in its key: 1,500 bytes of them make
// it two, whether it is new, there already, or what stands in the way of a batch that is delivered again.
func TestCostsOfLargeAggregates(t *testing.T) {
	for _, c := range bothWays {
		w := newWorld(t, counting(c))
		item := func(id string, cents int) *event.Item {
			return w.item(`"type":"order"`, fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"merchant":%q`, strings.Repeat("m", 1500)), fmt.Sprintf(`"cents":%d`, cents), `"at":"2099-03-01T10:00:00Z"`)
		}
		batches := []*aggregate.Batch{w.batch(c, 1, item("1", 5)), w.batch(c, 1, item("1", 5)), w.batch(c, 2, item("2", 4), item("3", 6))}
		for n, want := range map[aggregate.Counting][]float64{
			aggregate.Marks:    {2 + 2 + 1, 2 + 2 + 1, 2 + 2 + 1},
			aggregate.Receipts: {2 * (1 + 2 + 2 + 1), 2 * (1 + 2 + 2 + 1), 2 * (2 + 2 + 2 + 1)},
		}[c] {
			before := w.engine.Usage()
			a := w.apply(batches[n])
			if used := w.engine.Usage().Sub(before).WriteUnits(); used != want || a.Cost.WriteUnits != used {
				t.Errorf("%s, batch %d: %v write units, and own accounts say %v; want %v", c, n+1, used, a.Cost.WriteUnits, want)
			}
		}
	}
}

// What a transaction is known to cost includes the flag that was seen on an item which the update does not write.
func TestCostOfFlaggedAggregate(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	w.apply(w.batch(aggregate.Receipts, 1, w.order("1", 5)))
	_, err := w.engine.DynamoDB().UpdateItem(context.Background(), &dynamodb.UpdateItemInput{TableName: aws.String("totals"),
		Key:              map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "A#by_merchant#1#0#m"}, "SK": &types.AttributeValueMemberS{Value: "-"}},
		UpdateExpression: aws.String("SET flag = :f, largest = :n"), ExpressionAttributeValues: map[string]types.AttributeValue{
			":f": &types.AttributeValueMemberS{Value: strings.Repeat("f", 1024)}, ":n": &types.AttributeValueMemberN{Value: "9"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(w.batch(aggregate.Receipts, 2, w.order("2", 7))) // its guess of the maximum is wrong: the answer brings the item
	before := w.engine.Usage()
	a := w.apply(w.batch(aggregate.Receipts, 3, w.order("3", 8)))
	if used := w.engine.Usage().Sub(before).WriteUnits(); used != 2*(1+2+1+1) || a.Cost.WriteUnits != used {
		t.Errorf("%v write units, and own accounts say %v", used, a.Cost.WriteUnits)
	}
}
