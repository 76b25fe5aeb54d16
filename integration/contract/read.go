package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// judging is the request with which the store judges a redelivery. It reads everything except the
// payload.
func judging(keys ...attrs) types.KeysAndAttributes {
	return types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(true),
		ProjectionExpression: aws.String("PK, SK, #t, #d, #r, #e, #s, #i, #b, #m"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt", "#s": "epoch",
			"#i": "i:revision", "#b": "i:barred", "#m": "i:migrated"}}
}

// comparing is judging with the payload. The payload tells a conflict from a copy in another
// spelling.
func comparing(keys ...attrs) types.KeysAndAttributes {
	request := judging(keys...)
	*request.ProjectionExpression += ", #p, #o"
	request.ExpressionAttributeNames["#p"], request.ExpressionAttributeNames["#o"] = "data", "i:payload"
	return request
}

// batchGet reads items and returns them by sort key.
func (w *table) batchGet(request types.KeysAndAttributes) (map[string]attrs, *dynamodb.BatchGetItemOutput, error) {
	out, err := w.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{w.name: request}})
	if err != nil {
		return nil, nil, err
	}
	bySK := map[string]attrs{}
	for _, item := range out.Responses[w.name] {
		bySK[item["SK"].(*types.AttributeValueMemberS).Value] = item
	}
	if len(bySK) != len(out.Responses[w.name]) {
		w.Errorf("%d items under %d keys", len(out.Responses[w.name]), len(bySK))
	}
	return bySK, out, nil
}

func reads(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"an item that is not there": func(w *table) {
			out, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: w.key("1"), ConsistentRead: aws.Bool(true)})
			if err != nil || len(out.Item) != 0 {
				w.Errorf("got %s, %v", show(out.Item), err)
			}
		},
		"many items, perhaps not the newest": func(w *table) {
			request := types.KeysAndAttributes{ConsistentRead: aws.Bool(false)}
			for _, sk := range []string{"1", "2", "3"} {
				request.Keys = append(request.Keys, w.key(sk))
			}
			first, third := w.item("1", attrs{"n": n("1"), "m:lane": b("1")}), w.key("3")
			w.put(first)
			w.put(third)
			var got map[string]attrs
			w.h.Until(w, "both are seen", func() bool {
				var err error
				if got, _, err = w.batchGet(request); err != nil {
					w.Fatal(err)
				}
				return len(got) == 2
			})
			w.same("first", got["1"], first)
			w.same("third", got["3"], third)
		},
		"invalid keys": func(w *table) {
			for _, k := range []attrs{{"PK": s(w.pk())}, w.key(""), w.item("1", attrs{"x": s("1")}),
				{"PK": s(w.pk()), "SK": n("1")}} {
				_, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: k})
				refused(w, err, "ValidationException")
			}
			_, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(w.name + "-gone"), Key: key("a", "1")})
			refused(w, err, "ResourceNotFoundException")
		},
		"what judging needs, and nothing else": func(w *table) {
			want := w.item("1", attrs{"type": s("order"), "digest": b("\x01"), "expiresAt": n("4102444800"), "epoch": n("2"),
				"i:revision": s("1!"), "i:barred": yes(true), "i:migrated": s("x-y")})
			w.put(with(want, attrs{"id": s("1"), "GSI1PK": s("g"), "GSI1SK": s("1"), "status": s("paid"), "data": s("{}")}))
			w.put(w.key("2"))
			whole, _, err := w.batchGet(comparing(w.key("1")))
			held(w, err)
			w.same("with the payload", whole["1"], with(want, attrs{"data": s("{}")}))
			got, out, err := w.batchGet(judging(w.key("1"), w.key("2"), w.key("absent")))
			held(w, err)
			w.same("projected", got["1"], want)
			w.same("without the attributes", got["2"], w.key("2"))
			if len(got) != 2 || len(out.UnprocessedKeys) != 0 {
				w.Errorf("%d items, unprocessed %v", len(got), out.UnprocessedKeys)
			}
		},
		"what barring a key needs": func(w *table) {
			want := attrs{"PK": s(w.pk()), "type": s("order"), "expiresAt": n("4102444800"), "i:payload": b("\x02"), "i:parts": n("3"),
				"i:migrated": s("x-y")}
			w.put(with(want, attrs{"SK": s("1"), "digest": b("\x01"), "data": s("{}")}))
			out, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: w.key("1"), ConsistentRead: aws.Bool(true),
				ProjectionExpression: aws.String("PK, #t, #r, #e, #b, #p, #n, #m"),
				ExpressionAttributeNames: map[string]string{"#t": "type", "#r": "revision", "#e": "expiresAt", "#b": "i:barred",
					"#p": "i:payload", "#n": "i:parts", "#m": "i:migrated"}})
			held(w, err)
			w.same("projected", out.Item, want)
		},
		"what keeping a file reads": func(w *table) {
			in := &dynamodb.GetItemInput{TableName: &w.name, Key: w.key("-"), ProjectionExpression: aws.String("PK, #digest, #epoch"),
				ExpressionAttributeNames: map[string]string{"#digest": "digest", "#epoch": "epoch"}}
			if out, err := w.db.GetItem(ctx, in); err != nil || len(out.Item) != 0 {
				w.Errorf("got %s, %v", show(out.Item), err)
			}
			w.put(w.item("-", attrs{"file": b(strings.Repeat("x", 300*1024)), "digest": s("d"), "epoch": n("2")}))
			var got attrs
			w.h.Until(w, "the item is seen", func() bool { // the read may be stale
				out, err := w.db.GetItem(ctx, in)
				held(w, err)
				got = out.Item
				return len(got) > 0
			})
			w.same("projected", got, attrs{"PK": s(w.pk()), "digest": s("d"), "epoch": n("2")})
		},
		"a hundred keys and one more": func(w *table) {
			var keys []attrs
			for i := range 101 {
				keys = append(keys, w.key(fmt.Sprint(i)))
			}
			w.put(keys[99])
			got, _, err := w.batchGet(types.KeysAndAttributes{Keys: keys[:100], ConsistentRead: aws.Bool(true)})
			if err != nil || len(got) != 1 {
				w.Errorf("%d items, %v", len(got), err)
			}
			_, _, err = w.batchGet(judging(keys...))
			refused(w, err, "ValidationException")
		},
		"epoch and heads": func(w *table) { // whole items, some of which do not exist
			w.put(w.item("E#", attrs{"epoch": n("3")}))
			w.put(w.item("G#1", attrs{"building": yes(true), "behind": n("0")}))
			got, out, err := w.batchGet(types.KeysAndAttributes{Keys: []attrs{w.key("E#"), w.key("G#1"), w.key("G#2")},
				ConsistentRead: aws.Bool(true)})
			if err != nil || len(got) != 2 || len(out.UnprocessedKeys) != 0 {
				w.Fatalf("%d items, %v", len(got), err)
			}
			w.same("epoch", got["E#"], w.item("E#", attrs{"epoch": n("3")}))
			w.same("head", got["G#1"], w.item("G#1", attrs{"building": yes(true), "behind": n("0")}))
		},
		"no keys, and invalid keys": func(w *table) {
			for _, keys := range [][]attrs{{}, {key("", "1")}, {w.key("")}, {{"PK": s(w.pk())}}, {{"PK": s(w.pk()), "SK": n("1")}},
				{w.item("1", attrs{"x": s("1")})}} {
				_, _, err := w.batchGet(types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(true)})
				refused(w, err, "ValidationException")
			}
		},
		"one key twice": func(w *table) {
			_, _, err := w.batchGet(judging(w.key("1"), w.key("1")))
			refused(w, err, "ValidationException")
		},
		"a table that is not there": func(w *table) {
			gone := w.in(w)
			gone.name = w.name + "-gone"
			_, _, err := gone.batchGet(judging(w.key("1")))
			refused(w, err, "ResourceNotFoundException")
		},
		"more than 16 MB come in part": func(w *table) {
			var keys []attrs
			body := strings.Repeat("x", 390*1024)
			for i := range 46 {
				keys = append(keys, key(fmt.Sprint(w.pk(), i), fmt.Sprint(i))) // one partition may return fewer
				w.put(with(keys[i], attrs{"data": s(body)}))
			}
			got, out, err := w.batchGet(judging(keys...))
			held(w, err)
			rest := out.UnprocessedKeys[w.name]
			if len(rest.Keys) == 0 || len(got)+len(rest.Keys) != len(keys) {
				w.Fatalf("%d items and %d unprocessed of %d", len(got), len(rest.Keys), len(keys))
			}
			if size := len(got) * len(body); size > 16<<20 {
				w.Errorf("one answer holds %d bytes", size)
			}
			more, _, err := w.batchGet(rest) // the unprocessed keys of an answer are a request themselves
			if err != nil || len(more) != len(rest.Keys) {
				w.Errorf("%d of %d unprocessed keys read, %v", len(more), len(rest.Keys), err)
			}
		},
	})
}
