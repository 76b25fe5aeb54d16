package contract

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// copies checks what a migration asks for: writes of copies, of tombstones, and of the control
// item.
func copies(t *testing.T, h *Harness) {
	names := map[string]string{"#m": "i:migrated", "#b": "i:barred"}
	newTable(t, h).each(t, map[string]func(*table){
		"a copy in place of what was read": func(w *table) {
			over := func(item attrs, seen string) error {
				_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item,
					ConditionExpression:      aws.String("#m = :seen AND attribute_not_exists(#b)"),
					ExpressionAttributeNames: names, ExpressionAttributeValues: attrs{":seen": s(seen)}})
				return err
			}
			mark := func(token string) attrs { return with(key(w.pk(), "1"), attrs{"i:migrated": s(token)}) }
			w.conditionFailed(over(mark("b"), "a"), nil)
			w.put(with(mark("a"), attrs{"type": s("user"), "list": list(s("x"))}))
			w.conditionFailed(over(mark("b"), "c"), nil)
			if err := over(mark("b"), "a"); err != nil {
				w.Fatal(err)
			}
			w.stored(mark("b"))
			w.conditionFailed(over(mark("c"), "a"), nil)
			w.put(with(mark("b"), attrs{"i:barred": yes(true)}))
			w.conditionFailed(over(mark("c"), "b"), nil)
		},
		"a copy in place of an item without a mark": func(w *table) {
			also := &types.AttributeValueMemberSS{Value: []string{"S1:b", "S1:c"}}
			item := with(key(w.pk(), "1"), attrs{"i:migrated": s("a"), "i:also": also})
			over := func() error {
				_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item, ExpressionAttributeNames: names,
					ConditionExpression: aws.String("attribute_exists(PK) AND attribute_not_exists(#m) AND attribute_not_exists(#b)")})
				return err
			}
			w.conditionFailed(over(), nil)
			w.put(key(w.pk(), "1"))
			if err := over(); err != nil {
				w.Fatal(err)
			}
			w.stored(item)
			w.conditionFailed(over(), nil)
		},
		"what a write of a copy depends on": func(w *table) {
			also := &types.AttributeValueMemberSS{Value: []string{"S1:b"}}
			want := with(key(w.pk(), "1"), attrs{"type": s("user"), "digest": b("d"), "at": s("2099"), "epoch": n("0"),
				"expiresAt":  n("4102444800"),
				"i:migrated": s("a"), "i:row": s("S1:a"), "i:also": also})
			w.put(with(want, attrs{"data": s("{}"), "id": s("1")}))
			got, _, err := w.batchGet(types.KeysAndAttributes{Keys: []attrs{key(w.pk(), "1"), key(w.pk(), "2")},
				ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("#0, #1, #2, #3, #4, #5, #6, #7, #8, #9, #10, #11"),
				ExpressionAttributeNames: map[string]string{"#0": "PK", "#1": "SK", "#2": "type", "#3": "digest", "#4": "at", "#5": "epoch",
					"#6": "expiresAt", "#7": "i:migrated", "#8": "i:row", "#9": "i:also", "#10": "i:barred", "#11": "put"}})
			if err != nil || len(got) != 1 {
				w.Fatal(got, err)
			}
			w.same("projected", got["1"], want)
		},
		"a bar in place of a copy": func(w *table) {
			bar := func(seen string) error {
				_, err := w.db.PutItem(ctx,
					&dynamodb.PutItemInput{TableName: &w.name, Item: with(key(w.pk(), "1"), attrs{"i:barred": yes(true)}),
						ConditionExpression: aws.String("#m = :m"), ExpressionAttributeNames: map[string]string{"#m": "i:migrated"},
						ExpressionAttributeValues: attrs{":m": s(seen)}})
				return err
			}
			w.put(with(key(w.pk(), "1"), attrs{"i:migrated": s("a"), "type": s("user")}))
			w.conditionFailed(bar("b"), nil)
			if err := bar("a"); err != nil {
				w.Fatal(err)
			}
			w.stored(with(key(w.pk(), "1"), attrs{"i:barred": yes(true)}))
		},
		"a tombstone is deleted if it is still the one": func(w *table) {
			sweep := func() error {
				_, err := w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.name, Key: key(w.pk(), "1"),
					ConditionExpression:       aws.String("#m = :seen AND attribute_not_exists(#t) AND attribute_not_exists(#b)"),
					ExpressionAttributeNames:  map[string]string{"#m": "i:migrated", "#t": "type", "#b": "i:barred"},
					ExpressionAttributeValues: attrs{":seen": s("a")}})
				return err
			}
			w.conditionFailed(sweep(), nil)
			for _, other := range []attrs{{"i:migrated": s("b")}, {"i:migrated": s("a"), "type": s("user")},
				{"i:migrated": s("a"), "i:barred": yes(true)}} {
				w.put(with(key(w.pk(), "1"), other))
				w.conditionFailed(sweep(), nil)
			}
			w.put(with(key(w.pk(), "1"), attrs{"i:migrated": s("a")}))
			if err := sweep(); err != nil {
				w.Fatal(err)
			}
			w.absent(key(w.pk(), "1"))
		},
		"what a migration notes": func(w *table) {
			k := key(w.pk(), "-")
			note := func(update, condition string, values attrs) error {
				w.Helper()
				return w.bare(k, update, condition, nil, values)
			}
			held := func(err error) {
				w.Helper()
				if err != nil {
					w.Fatal(err)
				}
			}
			begin := func() error {
				return note("SET pass = :next REMOVE comparedAt", "pass = :last", attrs{":next": n("1"), ":last": n("0")})
			}
			w.conditionFailed(begin(), nil)
			w.put(with(k, attrs{"pass": n("0"), "filled": n("0")}))
			held(begin())
			w.conditionFailed(begin(), nil)
			held(note("SET filled = :n", "pass = :n", attrs{":n": n("1")}))
			captured := func(stream, at string) error {
				return note("SET captured = :at, streamArn = :stream",
					"attribute_exists(PK) AND (attribute_not_exists(streamArn) OR streamArn = :stream AND captured < :at)",
					attrs{":at": s(at), ":stream": s(stream)})
			}
			held(captured("one", "2098"))
			held(captured("one", "2099"))
			w.conditionFailed(captured("one", "2098"), nil)
			w.conditionFailed(captured("two", "2100"), nil)
			compared := func(stream string) error {
				return note("SET comparedAt = :at, evidence = :found", "attribute_exists(PK) AND streamArn = :stream",
					attrs{":at": s("2099"), ":found": s("clean"), ":stream": s(stream)})
			}
			w.conditionFailed(compared("two"), nil)
			held(compared("one"))
			w.stored(with(k, attrs{"pass": n("1"), "filled": n("1"), "captured": s("2099"), "streamArn": s("one"), "comparedAt": s("2099"),
				"evidence": s("clean")}))
			again := func() error {
				return note("SET captured = :at, streamArn = :stream REMOVE comparedAt", "streamArn <> :stream",
					attrs{":at": s("2100"), ":stream": s("two")})
			}
			held(again())
			w.conditionFailed(again(), nil)
			if got := w.get(k); got["comparedAt"] != nil || got["evidence"] == nil {
				w.Error(show(got))
			}
		},
		"types turn with what they feed": func(w *table) {
			names := map[string]string{"#t0": "state:user"}
			states := &types.Update{TableName: &w.name, Key: key(w.pk(), "-"), UpdateExpression: aws.String("SET #t0 = :to"),
				ConditionExpression: aws.String("attribute_exists(PK) AND attribute_not_exists(#t0) AND pass = :pass AND filled = :pass " +
					"AND comparedAt = :compared"),
				ExpressionAttributeNames:  names,
				ExpressionAttributeValues: attrs{":to": s("turning"), ":pass": n("2"), ":compared": s("2099")}}
			turn := func() error {
				return w.transact(types.TransactWriteItem{Update: states},
					types.TransactWriteItem{Update: &types.Update{TableName: &w.name, Key: key(w.pk(), "head"),
						ConditionExpression:       aws.String("attribute_exists(PK)"),
						UpdateExpression:          aws.String("ADD #behind :one SET #building = :true REMOVE #open"),
						ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building", "#open": "open"},
						ExpressionAttributeValues: attrs{":one": n("1"), ":true": yes(true)}}})
			}
			control := with(key(w.pk(), "-"), attrs{"pass": n("2"), "filled": n("1"), "comparedAt": s("2099")})
			w.put(control)
			w.cancelled(turn(), "ConditionalCheckFailed", "ConditionalCheckFailed")
			control["filled"] = n("2")
			w.put(control)
			w.cancelled(turn(), "None", "ConditionalCheckFailed")
			w.stored(control)
			w.put(with(key(w.pk(), "head"), attrs{"open": b("x")}))
			if err := turn(); err != nil {
				w.Fatal(err)
			}
			w.stored(with(control, attrs{"state:user": s("turning")}))
			w.stored(with(key(w.pk(), "head"), attrs{"behind": n("1"), "building": yes(true)}))
			w.cancelled(turn(), "ConditionalCheckFailed", "None")
			turned := func() error {
				return w.bare(key(w.pk(), "-"), "SET #t0 = :to, turnedAt = :now", "attribute_exists(PK) AND #t0 = :turning", names,
					attrs{":to": s("new"), ":turning": s("turning"), ":now": s("2099")})
			}
			if err := turned(); err != nil {
				w.Fatal(err)
			}
			w.conditionFailed(turned(), nil)
			w.cancelled(turn(), "ConditionalCheckFailed", "None")
			if err := w.bare(key(w.pk(), "-"), "SET retiredAt = :at", "attribute_exists(PK)", nil, attrs{":at": s("2100")}); err != nil {
				w.Error(err)
			}
		},
	})
}
