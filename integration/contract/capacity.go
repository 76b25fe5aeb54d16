package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// capacities checks the units that answers report. The store counts units by the published rules,
// and this shows whether it may.
func capacities(t *testing.T, h *Harness) {
	const total = types.ReturnConsumedCapacityTotal
	kilobytes := func(n int) types.AttributeValue { return s(strings.Repeat("x", n*1024)) }
	units := func(w *table, what string, c *types.ConsumedCapacity, want float64) {
		w.Helper()
		if c == nil {
			w.Errorf("%s: no capacity reported", what)
		} else if got := aws.ToFloat64(c.CapacityUnits); got != want {
			w.Errorf("%s: %v units, want %v", what, got, want)
		}
	}
	newTable(t, h).each(t, map[string]func(*table){
		"a put": func(w *table) {
			for _, c := range []struct {
				sk   string
				more attrs
				want float64
			}{{"small", nil, 1}, {"over 1 KB", attrs{"data": kilobytes(1)}, 2}, {"indexed", attrs{"GSI1PK": s("g"), "GSI1SK": s("1")}, 2},
				{"indexed, over 1 KB", attrs{"data": kilobytes(1), "GSI1PK": s("g"), "GSI1SK": s("2")}, 4}} {
				out, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: w.item(c.sk, c.more),
					ReturnConsumedCapacity: total})
				held(w, err)
				units(w, c.sk, out.ConsumedCapacity, c.want)
			}
		},
		"a number takes a byte for two digits on each side of its point": func(w *table) {
			const kilobyte = 1024
			for number, size := range map[string]int{"15": 2, "1.5": 3, "3.14159": 5, "123456": 4, "100.5": 4, "100": 2, "-42": 3,
				"0.0000001": 2, "1e125": 2, "0": 1} {
				for more, want := range map[int]float64{0: 1, 1: 2} {
					item := w.item(number, attrs{"n": n(number)})
					rest := kilobyte + more - size - len("PK") - len(w.pk()) - len("SK") - len(number) - len("n") - len("data")
					item["data"] = s(strings.Repeat("x", rest))
					out, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item, ReturnConsumedCapacity: total})
					held(w, err)
					units(w, number, out.ConsumedCapacity, want)
					if _, err := w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.name, Key: w.key(number)}); err != nil {
						w.Fatal(err)
					}
				}
			}
		},
		"an update costs the larger of both images": func(w *table) {
			w.put(w.item("-", attrs{"data": kilobytes(2)}))
			out, err := w.db.UpdateItem(ctx,
				&dynamodb.UpdateItemInput{TableName: &w.name, Key: w.key("-"), UpdateExpression: aws.String("ADD #n :n"),
					ExpressionAttributeNames: map[string]string{"#n": "n"}, ExpressionAttributeValues: attrs{":n": n("1")},
					ReturnConsumedCapacity: total})
			held(w, err)
			units(w, "update", out.ConsumedCapacity, 3)
		},
		"reads": func(w *table) {
			w.put(w.item("1", attrs{"data": kilobytes(5)}))
			for consistent, want := range map[bool]float64{true: 2, false: 1} {
				out, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: w.key("1"), ConsistentRead: &consistent,
					ReturnConsumedCapacity: total})
				held(w, err)
				units(w, fmt.Sprint("consistent ", consistent), out.ConsumedCapacity, want)
			}
			out, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: w.key("absent"),
				ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: total})
			held(w, err)
			units(w, "absent", out.ConsumedCapacity, 1)
			batch, err := w.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{ReturnConsumedCapacity: total,
				RequestItems: map[string]types.KeysAndAttributes{w.name: judging(w.key("1"), w.key("absent"))}})
			if err != nil || len(batch.ConsumedCapacity) != 1 {
				w.Fatalf("%d entries of capacity, %v", len(batch.ConsumedCapacity), err)
			}
			// The item counts as it is stored, not as it is projected.
			units(w, "batch", &batch.ConsumedCapacity[0], pick(w, h, "capacity of reading what is not there", 3.0, 2.0))
		},
		"a query adds up what it read": func(w *table) {
			for i := range 3 {
				w.put(w.item(fmt.Sprint(i), attrs{"data": kilobytes(3)}))
			}
			out, err := w.db.Query(ctx,
				&dynamodb.QueryInput{TableName: &w.name, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
					ExpressionAttributeValues: attrs{":pk": s(w.pk())}, ReturnConsumedCapacity: total})
			held(w, err)
			units(w, "query", out.ConsumedCapacity, 3)
		},
		"reads that may be stale cost half, on an index too": func(w *table) {
			const nothing = "capacity of a query that finds nothing"
			for i := range 3 {
				sk := fmt.Sprint(i)
				w.put(w.item(sk, attrs{"data": kilobytes(3), "GSI1PK": s(w.pk()), "GSI1SK": s(sk)}))
			}
			ask := func(index, pk string, consistent bool, want float64) {
				w.Helper()
				in := w.asking(parts[0], index, false, 10)
				if consistent {
					in.ConsistentRead = &consistent
				}
				in.ExpressionAttributeValues[":pk"] = s(pk)
				var out *dynamodb.QueryOutput
				w.h.Until(w, "all items are seen", func() bool {
					var err error
					if out, err = w.db.Query(ctx, in); err != nil {
						w.Fatal(err)
					}
					return pk != w.pk() || len(out.Items) == 3
				})
				units(w, fmt.Sprintf("index %q, %d items", index, len(out.Items)), out.ConsumedCapacity, want)
			}
			for _, index := range []string{"", "GSI1"} {
				ask(index, w.pk(), false, 1.5)
				ask(index, w.pk()+"absent", false, pick(w, h, nothing, 0.5, 0))
			}
			ask("", w.pk()+"absent", true, pick(w, h, nothing, 1.0, 0))
		},
		"statements": func(w *table) {
			out, err := w.db.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{ReturnConsumedCapacity: total,
				Statements: []types.BatchStatementRequest{w.insert(w.key("1")),
					w.insert(w.item("2", attrs{"data": kilobytes(1)}))}})
			want := pick(w, h, "capacity of statements", 1, 0)
			if err != nil || len(out.ConsumedCapacity) != want {
				w.Fatalf("%d entries of capacity, want %d; %v", len(out.ConsumedCapacity), want, err)
			}
			if want > 0 {
				units(w, "two inserts", &out.ConsumedCapacity[0], 3)
			}
		},
		"a transaction costs twice": func(w *table) {
			out, err := w.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: total,
				TransactItems: []types.TransactWriteItem{w.receipt("r1"), w.receipt("r2"), w.add("total", "1", "")}})
			if err != nil || len(out.ConsumedCapacity) != 1 {
				w.Fatalf("%d entries of capacity, %v", len(out.ConsumedCapacity), err)
			}
			units(w, "three writes", &out.ConsumedCapacity[0], pick(w, h, "capacity of a transaction", 6.0, 4.0))
		},
	})
	h.run(t, "a scan adds up what it read", func(t *testing.T) {
		w := newTable(t, h)
		for i := range 3 {
			w.put(with(key("p", fmt.Sprint(i)), attrs{"data": kilobytes(3)}))
		}
		out, err := w.db.Scan(ctx, &dynamodb.ScanInput{TableName: &w.name, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: total})
		held(t, err)
		units(w, "scan", out.ConsumedCapacity, 3)
	})
}
