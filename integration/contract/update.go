package contract

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// update makes an UpdateItem as the store sends it. It returns the item as it is afterwards, or the
// item that was in the way.
func (w *table) update(k attrs, update, condition string, names map[string]string, values attrs) (attrs, error) {
	in := &dynamodb.UpdateItemInput{TableName: &w.name, Key: k, UpdateExpression: &update, ExpressionAttributeNames: names,
		ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: allOld}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	out, err := w.db.UpdateItem(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// count makes the store's write of an aggregate item: values and mark together, if the mark is
// below first.
func (w *table) count(k attrs, amount, first, last string) (attrs, error) {
	return w.update(k, "ADD #n0 :n, #n1 :v0 SET #n2 = :mark", "(attribute_not_exists(#n2) OR #n2 < :first)",
		map[string]string{"#n0": "n", "#n1": "revenue", "#n2": "m:lane-1"},
		attrs{":n": n("1"), ":v0": n(amount), ":first": b(first), ":mark": b(last)})
}

func updates(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"an item that is not there is created": func(w *table) {
			k := w.key("-")
			want := with(k, attrs{"n": n("1"), "revenue": n("0.1"), "m:lane-1": b("\x01\x02")})
			got, err := w.count(k, "0.1", "\x01", "\x01\x02")
			held(w, err)
			w.same("answer", got, want)
			w.stored(want)
		},
		"a mark is compared as unsigned bytes, shorter first": func(w *table) {
			k := w.key("-")
			stored := with(k, attrs{"m:lane-1": b("\x7f\x01")})
			w.put(stored)
			for _, first := range []string{"\x7f\x01", "\x7f", "\x01\xff", "\x7f\x00\xff"} {
				_, err := w.count(k, "1", first, "\xff")
				w.conditionFailed(err, stored)
			}
			w.stored(stored)
			for _, first := range []string{"\x7f\x01\x00", "\x80", "\xff"} {
				w.put(stored)
				if _, err := w.count(k, "1", first, "\xff"); err != nil {
					w.Errorf("first %x: %v", first, err)
				}
			}
		},
		"a note that may only shrink, of a head that is still what it was": func(w *table) {
			k := w.key("-")
			shrink := func(to string) error {
				_, err := w.update(k, "SET #n1 = :r", "#n0 = :u AND (attribute_not_exists(#n1) OR #n1 > :r)",
					map[string]string{"#n0": "unclosed", "#n1": "retain:order"}, attrs{":u": yes(true), ":r": n(to)})
				return err
			}
			w.conditionFailed(shrink("9"), nil)
			w.put(with(k, attrs{"unclosed": yes(true)}))
			held(w, shrink("9"))
			held(w, shrink("5"))
			want := with(k, attrs{"unclosed": yes(true), "retain:order": n("5")})
			w.conditionFailed(shrink("7"), want)
			w.stored(want)
		},
		"names that are noted if none was noted since, and how often": func(w *table) {
			k := w.key("-")
			note := func(names []string, since string) error {
				_, err := w.update(k, "SET met = :met ADD meets :one", "attribute_exists(PK) AND (attribute_not_exists(meets) OR meets = :meets)",
					nil,
					attrs{":met": &types.AttributeValueMemberSS{Value: names}, ":one": n("1"), ":meets": n(since)})
				return err
			}
			w.conditionFailed(note([]string{"a"}, "0"), nil)
			w.put(k)
			held(w, note([]string{"a"}, "0"))
			held(w, note([]string{"a", "b"}, "1"))
			want := with(k, attrs{"met": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "meets": n("2")})
			w.conditionFailed(note([]string{"c"}, "1"), want)
			got, err := w.update(k, "REMOVE met", "attribute_exists(PK) AND (attribute_not_exists(meets) OR meets = :meets)",
				nil, attrs{":meets": n("2")})
			held(w, err)
			w.same("removed", got, with(k, attrs{"meets": n("2")}))
		},
		"sums are exact": func(w *table) {
			k := w.key("-")
			for i, step := range [][2]string{
				{"0.1", "0.1"}, {"0.2", "0.3"},
				{"-0.3", pick(w, h, "sums keep trailing zeros", "0", "0.0")},
				{"9999999999999999999999999999.000000001", "9999999999999999999999999999.000000001"},
				{"0.999999999", pick(w, h, "sums keep trailing zeros", "10000000000000000000000000000",
					"10000000000000000000000000000.000000000")}} {
				got, err := w.update(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n(step[0])})
				held(w, err)
				w.same("step "+string(rune('0'+i)), got, with(k, attrs{"v": n(step[1])}))
			}
		},
		"a sum that no longer fits 38 digits": func(w *table) {
			k := w.key("-")
			stored := with(k, attrs{"v": n("12345678901234567890123456789012345678")})
			w.put(stored)
			_, err := w.update(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n("0.1")})
			refused(w, err, "ValidationException")
			w.stored(stored)
		},
		"a sum with something that is not a number": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"v": s("x")}))
			_, err := w.update(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": n("1")})
			refused(w, err, "ValidationException")
			_, err = w.update(k, "ADD #v :v", "", map[string]string{"#v": "v"}, attrs{":v": s("1")})
			refused(w, err, "ValidationException")
		},
		"a largest that grows": func(w *table) {
			k, names := w.key("-"), map[string]string{"#v": "largest"}
			grow := func(v string) error {
				_, err := w.update(k, "SET #v = :v", "(attribute_not_exists(#v) OR #v < :v)", names, attrs{":v": n(v)})
				return err
			}
			held(w, grow("9"))
			if err := grow("10"); err != nil { // as numbers, not as text
				w.Fatal(err)
			}
			w.conditionFailed(grow("9.5"), with(k, attrs{"largest": n("10")}))
			if _, err := w.update(k, "ADD #n :one", "#v >= :v", map[string]string{"#v": "largest", "#n": "n"},
				attrs{":v": n("9.5"), ":one": n("1")}); err != nil {
				w.Error(err)
			}
			_, err := w.update(k, "ADD #n :one", "#v >= :v", map[string]string{"#v": "largest", "#n": "n"},
				attrs{":v": n("11"), ":one": n("1")})
			w.conditionFailed(err, with(k, attrs{"largest": n("10"), "n": n("1")}))
		},
		"a smallest that shrinks": func(w *table) {
			k, names := w.key("-"), map[string]string{"#v": "smallest"}
			for _, v := range []string{"-9", "-10"} {
				if _, err := w.update(k, "SET #v = :v", "(attribute_not_exists(#v) OR #v > :v)", names, attrs{":v": n(v)}); err != nil {
					w.Fatal(err)
				}
			}
			if _, err := w.update(k, "ADD #n :one", "#v <= :v", map[string]string{"#v": "smallest", "#n": "n"},
				attrs{":v": n("-9.5"), ":one": n("1")}); err != nil {
				w.Error(err)
			}
			w.stored(with(k, attrs{"smallest": n("-10"), "n": n("1")}))
		},
		"a comparison with an attribute that is not there fails": func(w *table) {
			_, err := w.update(w.key("-"), "ADD #n :one", "#v >= :v", map[string]string{"#v": "largest", "#n": "n"},
				attrs{":v": n("1"), ":one": n("1")})
			w.conditionFailed(err, nil)
			w.absent(w.key("-"))
		},
		"marks are pruned if they are still what was seen": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"m:a": b("1"), "m:b": b("2"), "m:c": b("3")}))
			prune := func(seen string) (attrs, error) {
				return w.update(k, "ADD #n0 :n SET #n1 = :mark REMOVE #n2, #n3",
					"(attribute_not_exists(#n1) OR #n1 < :first) AND #n2 = :p0 AND #n3 = :p1",
					map[string]string{"#n0": "n", "#n1": "m:c", "#n2": "m:a", "#n3": "m:b"},
					attrs{":n": n("1"), ":mark": b("9"), ":first": b("8"), ":p0": b("1"), ":p1": b(seen)})
			}
			_, err := prune("1")
			w.conditionFailed(err, with(k, attrs{"m:a": b("1"), "m:b": b("2"), "m:c": b("3")}))
			got, err := prune("2")
			held(w, err)
			w.same("pruned", got, with(k, attrs{"m:c": b("9"), "n": n("1")}))
		},
		"the first flag stands": func(w *table) {
			k := w.key("-")
			for _, reason := range []string{"first", "second"} {
				if _, err := w.update(k, "SET #f = if_not_exists(#f, :f), #e = :e", "", map[string]string{"#f": "flag", "#e": "expiresAt"},
					attrs{":f": s(reason), ":e": n("4102444800")}); err != nil {
					w.Fatal(err)
				}
			}
			w.stored(with(k, attrs{"flag": s("first"), "expiresAt": n("4102444800")}))
		},
		"a head is behind": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"behind": n("0"), "building": yes(false)}))
			in := &dynamodb.UpdateItemInput{TableName: &w.name, Key: k,
				UpdateExpression:          aws.String("ADD #behind :one SET #building = :true"),
				ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building"},
				ExpressionAttributeValues: attrs{":one": n("1"), ":true": yes(true)}}
			out, err := w.db.UpdateItem(ctx, in)
			held(w, err)
			w.same("answer without ReturnValues", out.Attributes, nil)
			w.stored(with(k, attrs{"behind": n("1"), "building": yes(true)}))
			_, err = w.update(k, "SET #building = :false", "#behind = :behind", in.ExpressionAttributeNames,
				attrs{":false": yes(false), ":behind": n("0")})
			w.conditionFailed(err, with(k, attrs{"behind": n("1"), "building": yes(true)}))
		},
		"a pass over a generation": func(w *table) {
			head, names := w.key("head"), map[string]string{"#pass": "pass", "#open": "open"}
			begin := func(condition string, values attrs) error {
				_, err := w.update(head, "SET #pass = :pass, #open = :pass", condition, names, values)
				return err
			}
			const first = "attribute_exists(PK) AND attribute_not_exists(#pass)"
			w.conditionFailed(begin(first, attrs{":pass": n("1")}), nil)
			w.absent(head)
			w.put(with(head, attrs{"behind": n("0"), "building": yes(true)}))
			held(w, begin(first, attrs{":pass": n("1")}))
			begun := with(head, attrs{"behind": n("0"), "building": yes(true), "pass": n("1"), "open": n("1")})
			w.conditionFailed(begin(first, attrs{":pass": n("1")}), begun)
			w.conditionFailed(begin("#pass = :last", attrs{":pass": n("3"), ":last": n("2")}), begun)
			held(w, begin("#pass = :last", attrs{":pass": n("2"), ":last": n("1")}))
			all := map[string]string{"#behind": "behind", "#building": "building", "#open": "open"}
			if _, err := w.update(head, "ADD #behind :one SET #building = :true REMOVE #open", "attribute_exists(PK)", all,
				attrs{":one": n("1"), ":true": yes(true)}); err != nil {
				w.Fatal(err)
			}
			marked := with(head, attrs{"behind": n("1"), "building": yes(true), "pass": n("2")})
			_, err := w.update(head, "SET #building = :false", "#behind = :behind AND attribute_exists(#open)", all,
				attrs{":false": yes(false), ":behind": n("1")})
			w.conditionFailed(err, marked)
			w.stored(marked)

			shard := w.key("shard")
			raise := func(to string) error {
				_, err := w.update(shard, "SET #pass = :pass", "attribute_not_exists(#pass) OR #pass < :pass",
					map[string]string{"#pass": "pass"}, attrs{":pass": n(to)})
				return err
			}
			held(w, raise("9"))
			w.conditionFailed(raise("9"), with(shard, attrs{"pass": n("9")}))
			held(w, raise("10"))
			if _, err := w.update(shard, "SET #marked = :pass", "", map[string]string{"#marked": "marked"},
				attrs{":pass": n("10")}); err != nil {
				w.Error(err)
			}
		},
		"a stamp is raised where there is an item below it": func(w *table) {
			touch := func(sk string) error {
				_, err := w.update(w.key(sk), "SET #e = :now", "attribute_exists(#t) AND (attribute_not_exists(#e) OR #e < :now)",
					map[string]string{"#e": "epoch", "#t": "type"}, attrs{":now": n("2")})
				return err
			}
			w.conditionFailed(touch("absent"), nil)
			w.absent(w.key("absent"))
			w.put(w.item("at", attrs{"type": s("order"), "epoch": n("2")}))
			w.conditionFailed(touch("at"), w.item("at", attrs{"type": s("order"), "epoch": n("2")}))
			w.put(w.item("barred", attrs{"i:barred": yes(true)}))
			w.conditionFailed(touch("barred"), w.item("barred", attrs{"i:barred": yes(true)}))
			for _, item := range []attrs{w.item("below", attrs{"type": s("order"), "epoch": n("1")}),
				w.item("without", attrs{"type": s("order")})} {
				w.put(item)
				if err := touch(item["SK"].(*types.AttributeValueMemberS).Value); err != nil {
					w.Error(err)
				}
				w.stored(with(item, attrs{"epoch": n("2")}))
			}
		},
		"a stamp is raised together with data, if the payload is still the one": func(w *table) {
			touch := func(sum, digest string) error {
				_, err := w.update(w.key("1"), "SET #e = :now, #data = :data",
					"attribute_exists(#t) AND (attribute_not_exists(#e) OR #e < :now) AND #payload = :payload AND #digest = :digest",
					map[string]string{"#e": "epoch", "#t": "type", "#data": "data", "#payload": "i:payload", "#digest": "digest"},
					attrs{":now": n("2"), ":data": s(`{"a":1}`), ":payload": b(sum), ":digest": b(digest)})
				return err
			}
			item := w.item("1", attrs{"type": s("order"), "epoch": n("1"), "i:payload": b("\x02"), "digest": b("\x01"),
				"data": s("{}")})
			w.put(item)
			w.conditionFailed(touch("\x03", "\x01"), item)
			w.conditionFailed(touch("\x02", "\x02"), item)
			if err := touch("\x02", "\x01"); err != nil {
				w.Error(err)
			}
			w.stored(with(item, attrs{"epoch": n("2"), "data": s(`{"a":1}`)}))
		},
		"key attributes and missing tables": func(w *table) {
			_, err := w.update(w.key("-"), "SET #k = :v", "", map[string]string{"#k": "SK"}, attrs{":v": s("x")})
			refused(w, err, "ValidationException")
			gone := w.in(w)
			gone.name = w.name + "-gone"
			_, err = gone.update(w.key("-"), "SET #k = :v", "", map[string]string{"#k": "v"}, attrs{":v": s("x")})
			refused(w, err, "ResourceNotFoundException")
		},
	})
}
