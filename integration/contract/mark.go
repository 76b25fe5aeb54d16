package contract

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// bare makes an update that asks for no values in return, like the store's updates of heads and
// stamps.
func (w *table) bare(k attrs, update, condition string, names map[string]string, values attrs) error {
	in := &dynamodb.UpdateItemInput{TableName: &w.name, Key: k, UpdateExpression: &update, ExpressionAttributeNames: names,
		ExpressionAttributeValues: values}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	out, err := w.db.UpdateItem(ctx, in)
	if err == nil {
		w.same("answer that was not asked for", out.Attributes, nil)
	}
	return err
}

// marks checks complete updates of aggregate items, and what may prevent them.
func marks(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"values, fingerprint, extremes, flag, expiry, mark and pruning in one": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"n": n("1"), "fp": n("-7"), "fpx": n("3"), "revenue": n("1.75"), "largest": n("9"), "least": n("2"),
				"m:old": b("1")}))
			got, err := w.update(k, "ADD #n0 :n, #n1 :fp, #n2 :fpx, #n3 :v0 SET #n4 = :v1, #n6 = if_not_exists(#n6, :flag), #n7 = "+
				":expiresAt, #n8 = :mark REMOVE #n9",
				"(attribute_not_exists(#n4) OR #n4 < :v1) AND #n5 <= :v2 AND (attribute_not_exists(#n8) OR #n8 < :first) AND #n9 = :p0",
				map[string]string{"#n0": "n", "#n1": "fp", "#n2": "fpx", "#n3": "revenue", "#n4": "largest", "#n5": "least", "#n6": "flag",
					"#n7": "expiresAt", "#n8": "m:lane", "#n9": "m:old"},
				attrs{":n": n("2"), ":fp": n("8"), ":fpx": n("-3"), ":v0": n("-2.5"), ":v1": n("10"), ":v2": n("2"), ":flag": s("why"),
					":expiresAt": n("4102444800"), ":first": b("5"), ":mark": b("6"), ":p0": b("1")})
			held(w, err)
			want := with(k, attrs{"n": n("3"), "fp": n("1"), "fpx": n("0"), "revenue": n("-0.75"), "largest": n("10"), "least": n("2"),
				"flag": s("why"), "expiresAt": n("4102444800"), "m:lane": b("6")})
			w.same("answer", got, want)
			w.stored(want)
		},
		"an answer that is not asked for, and an image that is": func(w *table) {
			k := w.key("-")
			in := &dynamodb.UpdateItemInput{TableName: &w.name, Key: k, UpdateExpression: aws.String("ADD #n0 :n SET #n1 = :mark"),
				ConditionExpression:       aws.String("(attribute_not_exists(#n1) OR #n1 < :first)"),
				ExpressionAttributeNames:  map[string]string{"#n0": "n", "#n1": "m:lane"},
				ExpressionAttributeValues: attrs{":n": n("1"), ":mark": b("2"), ":first": b("1")},
				ReturnValues:              types.ReturnValueNone, ReturnValuesOnConditionCheckFailure: allOld}
			out, err := w.db.UpdateItem(ctx, in)
			held(w, err)
			w.same("answer", out.Attributes, nil)
			_, err = w.db.UpdateItem(ctx, in)
			w.conditionFailed(err, with(k, attrs{"n": n("1"), "m:lane": b("2")}))
		},
		"a zero is added": func(w *table) {
			k := w.key("-")
			got, err := w.update(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n("0")})
			held(w, err)
			w.same("answer", got, with(k, attrs{"v": n("0")}))
		},
		"a comparison with another type fails": func(w *table) {
			stored := w.item("-", attrs{"m:lane-1": s("a"), "largest": s("9"), "least": b("9")})
			w.put(stored)
			_, err := w.count(w.key("-"), "1", "\xff", "\xff")
			w.conditionFailed(err, stored)
			for _, condition := range []string{"(attribute_not_exists(#v) OR #v < :v)", "(attribute_not_exists(#v) OR #v > :v)", "#v <= :v",
				"#v >= :v", "#v = :v"} {
				for _, name := range []string{"largest", "least"} {
					_, err := w.update(w.key("-"), "SET #v = :v", condition, map[string]string{"#v": name}, attrs{":v": n("1")})
					w.conditionFailed(err, stored)
				}
			}
			w.stored(stored)
		},
		"an item that takes no more": func(w *table) {
			k := w.key("-")
			rest := maxItem - len("PK") - len(w.pk()) - len("SK") - len("-") - len("data")
			stored := with(k, attrs{"data": s(strings.Repeat("x", rest))})
			w.put(stored)
			refused(w, w.bare(k, "SET #f = if_not_exists(#f, :f)", "", map[string]string{"#f": "flag"}, attrs{":f": s("x")}),
				"ValidationException")
			_, err := w.count(k, "1", "\x01", "\x02")
			refused(w, err, "ValidationException")
			w.stored(stored)
		},
		"an item that takes just this": func(w *table) {
			// No other case has this key. The longer a key, the less Dynoxide differs.
			k := key("k", "k")
			rest := maxItem - len("PKk") - len("SKk") - len("data") - len("n") - 2 // 2 for the number 1
			w.put(with(k, attrs{"data": s(strings.Repeat("x", rest))}))
			err := w.bare(k, "ADD #n :n", "", map[string]string{"#n": "n"}, attrs{":n": n("1")})
			refused(w, err, pick(w, h, "an item that is almost full", "", "ValidationException"))
		},
		"a sum beyond all numbers": func(w *table) {
			for sk, c := range map[string][2]string{"above": {"9e125", "9e125"}, "below": {"-9e125", "-9e125"},
				"digits": {"-99999999999999999999999999999999999999", "-1.5"}} {
				w.put(w.item(sk, attrs{"v": n(c[0])}))
				_, err := w.update(w.key(sk), "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n(c[1])})
				refused(w, err, "ValidationException")
			}
			w.put(w.item("full", attrs{"v": n("-99999999999999999999999999999999999998")}))
			got, err := w.update(w.key("full"), "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n("-1")})
			held(w, err)
			w.same("38 digits", got, w.item("full", attrs{"v": n("-99999999999999999999999999999999999999")}))
		},
		"an invalid number": func(w *table) {
			for _, v := range []string{"123456789012345678901234567890123456789", "x", "1e126", ""} {
				_, err := w.update(w.key("-"), "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n(v)})
				refused(w, err, "ValidationException")
			}
			w.absent(w.key("-"))
		},
		"a flag on a head that is not there": func(w *table) {
			k := w.key("G#1")
			for _, reason := range []string{"first", "second"} {
				held(w, w.bare(k, "SET #flag = if_not_exists(#flag, :flag)", "", map[string]string{"#flag": "flag"},
					attrs{":flag": s(reason)}))
			}
			w.stored(with(k, attrs{"flag": s("first")}))
		},
		"a flag is accepted once": func(w *table) {
			k := w.key("-")
			accept := func(flag string) error {
				names, values := map[string]string{"#f": "flag", "#a": "i:accepted"}, attrs{":f": s(flag), ":a": s("by somebody")}
				return w.bare(k, "SET #a = :a REMOVE #f", "#f = :f", names, values)
			}
			w.conditionFailed(accept("damaged"), nil)
			w.absent(k)
			w.put(with(k, attrs{"flag": s("damaged"), "n": n("1")}))
			w.conditionFailed(accept("another"), nil)
			held(w, accept("damaged"))
			w.conditionFailed(accept("damaged"), nil)
			w.stored(with(k, attrs{"i:accepted": s("by somebody"), "n": n("1")}))
		},
		"a generation is complete, unless it is behind": func(w *table) {
			stored := w.item("G#1", attrs{"behind": n("2"), "building": yes(true)})
			w.put(stored)
			clear := func(sk, behind string) error {
				return w.bare(w.key(sk), "SET #building = :false", "#behind = :behind",
					map[string]string{"#building": "building", "#behind": "behind"}, attrs{":false": yes(false), ":behind": n(behind)})
			}
			w.conditionFailed(clear("G#1", "1"), nil)
			w.conditionFailed(clear("G#2", "0"), nil)
			w.stored(stored)
			w.absent(w.key("G#2"))
			held(w, clear("G#1", "2"))
			w.stored(with(stored, attrs{"building": yes(false)}))
		},
		"a stamp is raised, or a condition fails without an image": func(w *table) {
			k := w.key("1")
			touch := func(to string) error {
				return w.bare(k, "SET #e = :now", "attribute_exists(PK) AND (attribute_not_exists(#e) OR #e < :now)",
					map[string]string{"#e": "epoch"}, attrs{":now": n(to)})
			}
			w.conditionFailed(touch("2"), nil)
			w.absent(k)
			w.put(with(k, attrs{"epoch": n("1"), "GSI1PK": s("g"), "GSI1SK": s("1")}))
			held(w, touch("2"))
			w.conditionFailed(touch("2"), nil)
			w.stored(with(k, attrs{"epoch": n("2"), "GSI1PK": s("g"), "GSI1SK": s("1")}))
		},
		"invalid keys": func(w *table) {
			for _, k := range []attrs{{"PK": s(w.pk())}, w.key(""), key("", "1"), w.item("1", attrs{"x": s("1")}),
				{"PK": s(w.pk()), "SK": n("1")}, w.key(strings.Repeat("s", 1025))} {
				refused(w, w.bare(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n("1")}), "ValidationException")
			}
		},
		"an invalid index key": func(w *table) {
			set := func(v types.AttributeValue) error {
				return w.bare(w.key("1"), "SET #v = :v", "", map[string]string{"#v": "GSI1PK"}, attrs{":v": v})
			}
			refused(w, set(s("")), "ValidationException")
			w.absent(w.key("1"))
			refused(w, set(n("1")), pick(w, h, "an index key of another type", "ValidationException", ""))
		},
	})
}
