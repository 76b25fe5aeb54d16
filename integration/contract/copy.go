package contract

import (
	"strings"
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
				return w.putIf("#m = :seen AND attribute_not_exists(#b)", item, names, attrs{":seen": s(seen)})
			}
			mark := func(token string) attrs { return w.item("1", attrs{"i:migrated": s(token)}) }
			w.conditionFailed(over(mark("b"), "a"), nil)
			w.put(with(mark("a"), attrs{"type": s("user"), "list": list(s("x"))}))
			w.conditionFailed(over(mark("b"), "c"), nil)
			held(w, over(mark("b"), "a"))
			w.stored(mark("b"))
			w.conditionFailed(over(mark("c"), "a"), nil)
			w.put(with(mark("b"), attrs{"i:barred": yes(true)}))
			w.conditionFailed(over(mark("c"), "b"), nil)
		},
		"a copy in place of an item without a mark": func(w *table) {
			also := &types.AttributeValueMemberSS{Value: []string{"S1:b", "S1:c"}}
			item := w.item("1", attrs{"i:migrated": s("a"), "i:also": also})
			over := func() error {
				return w.putIf("attribute_exists(PK) AND attribute_not_exists(#m) AND attribute_not_exists(#b)", item, names, nil)
			}
			w.conditionFailed(over(), nil)
			w.put(w.key("1"))
			held(w, over())
			w.stored(item)
			w.conditionFailed(over(), nil)
		},
		"what a write of a copy depends on": func(w *table) {
			also := &types.AttributeValueMemberSS{Value: []string{"S1:b"}}
			want := w.item("1", attrs{"type": s("user"), "digest": b("d"), "at": s("2099"), "epoch": n("0"),
				"expiresAt":  n("4102444800"),
				"i:migrated": s("a"), "i:row": s("S1:a"), "i:also": also})
			w.put(with(want, attrs{"data": s("{}"), "id": s("1")}))
			got, _, err := w.batchGet(types.KeysAndAttributes{Keys: []attrs{w.key("1"), w.key("2")},
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
				return w.putIf("#m = :m", w.item("1", attrs{"i:barred": yes(true)}),
					map[string]string{"#m": "i:migrated"}, attrs{":m": s(seen)})
			}
			w.put(w.item("1", attrs{"i:migrated": s("a"), "type": s("user")}))
			w.conditionFailed(bar("b"), nil)
			held(w, bar("a"))
			w.stored(w.item("1", attrs{"i:barred": yes(true)}))
		},
		"a tombstone is deleted if it is still the one": func(w *table) {
			sweep := func() error {
				_, err := w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.name, Key: w.key("1"),
					ConditionExpression:       aws.String("#m = :seen AND attribute_not_exists(#t) AND attribute_not_exists(#b)"),
					ExpressionAttributeNames:  map[string]string{"#m": "i:migrated", "#t": "type", "#b": "i:barred"},
					ExpressionAttributeValues: attrs{":seen": s("a")}})
				return err
			}
			w.conditionFailed(sweep(), nil)
			for _, other := range []attrs{{"i:migrated": s("b")}, {"i:migrated": s("a"), "type": s("user")},
				{"i:migrated": s("a"), "i:barred": yes(true)}} {
				w.put(w.item("1", other))
				w.conditionFailed(sweep(), nil)
			}
			w.put(w.item("1", attrs{"i:migrated": s("a")}))
			held(w, sweep())
			w.absent(w.key("1"))
		},
		"what a migration notes": func(w *table) {
			k := w.key("-")
			note := func(update, condition string, values attrs) error {
				w.Helper()
				return w.bare(k, update, condition, nil, values)
			}
			begin := func() error {
				return note("SET pass = :next, mapping = :mapping REMOVE comparedAt ADD voided :one", "pass = :last",
					attrs{":next": n("1"), ":last": n("0"), ":mapping": s("m"), ":one": n("1")})
			}
			w.conditionFailed(begin(), nil)
			w.put(with(k, attrs{"pass": n("0"), "filled": n("0")}))
			held(w, begin())
			w.conditionFailed(begin(), nil)
			held(w, note("SET filled = :n", "pass = :n", attrs{":n": n("1")}))
			first := func(stream string) error {
				return note("SET streamArn = :stream, streamAt = :now", "attribute_exists(PK) AND attribute_not_exists(streamArn)",
					attrs{":now": s("2098"), ":stream": s(stream)})
			}
			held(w, first("one"))
			w.conditionFailed(first("two"), nil)
			captured := func(stream, at string) error {
				return note("SET captured = :at", "streamArn = :stream AND (attribute_not_exists(captured) OR captured < :at)",
					attrs{":at": s(at), ":stream": s(stream)})
			}
			held(w, captured("one", "2098"))
			held(w, captured("one", "2099"))
			w.conditionFailed(captured("one", "2098"), nil)
			w.conditionFailed(captured("two", "2100"), nil)
			compared := func(voided string) error {
				return note("SET comparedAt = :at, evidence = :found", "voided = :voided",
					attrs{":at": s("2099"), ":found": s("clean"), ":voided": n(voided)})
			}
			held(w, compared("1"))
			held(w, note("REMOVE comparedAt ADD voided :one", "attribute_exists(PK)", attrs{":one": n("1")}))
			w.conditionFailed(compared("1"), nil)
			held(w, compared("2"))
			w.conditionFailed(note("SET comparedAt = :at, evidence = :found", "attribute_exists(PK) AND attribute_not_exists(voided)",
				attrs{":at": s("2099"), ":found": s("clean")}), nil)
			changed := func(at, before string) error {
				return note("SET changedAt = :at", "attribute_exists(PK) AND (attribute_not_exists(changedAt) OR changedAt < :before)",
					attrs{":at": s(at), ":before": s(before)})
			}
			held(w, changed("2090", "2089"))
			w.conditionFailed(changed("2091", "2090"), nil)
			held(w, changed("2092", "2091"))
			w.stored(with(k, attrs{"pass": n("1"), "filled": n("1"), "mapping": s("m"),
				"captured": s("2099"), "streamArn": s("one"), "streamAt": s("2098"), "comparedAt": s("2099"),
				"evidence": s("clean"), "voided": n("2"), "changedAt": s("2092")}))
			again := func() error {
				return note("SET streamArn = :stream, streamAt = :now REMOVE captured, comparedAt ADD voided :one",
					"attribute_exists(PK) AND streamArn <> :stream", attrs{":now": s("2100"), ":stream": s("two"), ":one": n("1")})
			}
			held(w, again())
			w.conditionFailed(again(), nil)
			if got := w.get(k); got["comparedAt"] != nil || got["captured"] != nil || got["evidence"] == nil {
				w.Error(show(got))
			}
			worked := func(condition string, values attrs) error {
				return note("SET workedAt = :now", "pass = :n AND "+condition, with(values, attrs{":now": s("2100"), ":n": n("1")}))
			}
			held(w, worked("attribute_not_exists(workedAt)", attrs{}))
			w.conditionFailed(worked("attribute_not_exists(workedAt)", attrs{}), nil)
			w.conditionFailed(worked("workedAt = :was", attrs{":was": s("2099")}), nil)
			held(w, worked("workedAt = :was", attrs{":was": s("2100")}))
			lane := w.key("lane")
			done := func(mark string) error {
				return w.bare(lane, "SET done = :done, upTo = :upTo, expiresAt = :expires", "attribute_not_exists(done) OR done < :done",
					nil, attrs{":done": b(mark), ":upTo": s("1"), ":expires": n("9")})
			}
			held(w, done("2"))
			w.conditionFailed(done("1"), nil)
			w.conditionFailed(done("2"), nil)
			held(w, done("3"))
			w.stored(with(lane, attrs{"done": b("3"), "upTo": s("1"), "expiresAt": n("9")}))
		},
		"an event takes the place of a tombstone": func(w *table) {
			put := func() error {
				return w.putIf("attribute_not_exists(PK) OR attribute_exists(#m) AND attribute_not_exists(#t)",
					w.item("1", attrs{"type": s("user")}), map[string]string{"#m": "i:migrated", "#t": "type"}, nil)
			}
			for _, free := range []attrs{nil, {"i:migrated": s("a")}} {
				if free != nil {
					w.put(w.item("1", free))
				}
				held(w, put())
				w.stored(w.item("1", attrs{"type": s("user")}))
				w.conditionFailed(put(), nil)
			}
			for _, other := range []attrs{{"i:migrated": s("a"), "type": s("other")}, {"i:barred": yes(true)}} {
				w.put(w.item("1", other))
				w.conditionFailed(put(), nil)
			}
		},
		"a row follows its event": func(w *table) {
			names := map[string]string{"#k": "PK", "#m": "i:migrated", "#a0": "name", "#a1": "gone"}
			k := w.key("1")
			set := func(update, condition string, values attrs) error {
				return w.bare(k, update, condition, used(names, update+condition), values)
			}
			absent, present := "attribute_not_exists(#k)", "attribute_exists(#k) AND #m = :seen"
			unmarked := "attribute_exists(#k) AND attribute_not_exists(#m)"
			for _, failing := range []string{present, unmarked} {
				values := attrs{":m": s("a")}
				if failing == present {
					values[":seen"] = s("a")
				}
				w.conditionFailed(set("SET #m = :m", failing, values), nil)
			}
			write := "SET #m = :m, #a0 = :a0 REMOVE #a1"
			held(w, set(write, absent, attrs{":m": s("a"), ":a0": s("ann")}))
			w.conditionFailed(set(write, absent, attrs{":m": s("b"), ":a0": s("bob")}), nil)
			w.conditionFailed(set(write, present, attrs{":m": s("b"), ":a0": s("bob"), ":seen": s("b")}), nil)
			held(w, set(write, present, attrs{":m": s("b"), ":a0": s("bob"), ":seen": s("a")}))
			w.put(with(k, attrs{"gone": s("x"), "kept": s("y")}))
			held(w, set(write, unmarked, attrs{":m": s("c"), ":a0": s("cat")}))
			w.stored(with(k, attrs{"i:migrated": s("c"), "name": s("cat"), "kept": s("y")}))
			remove := func(condition string, values attrs) error {
				return w.transact(types.TransactWriteItem{Delete: &types.Delete{TableName: &w.name, Key: k, ConditionExpression: &condition,
					ExpressionAttributeNames: used(names, condition), ExpressionAttributeValues: values}})
			}
			w.cancelled(remove(present, attrs{":seen": s("b")}), "ConditionalCheckFailed")
			w.cancelled(remove(unmarked, nil), "ConditionalCheckFailed")
			held(w, remove(present, attrs{":seen": s("c")}))
			w.absent(k)
			w.put(k)
			held(w, remove(unmarked, nil))
			w.absent(k)
		},
		"types turn with what they feed": func(w *table) {
			names := map[string]string{"#t0": "state:user"}
			states := &types.Update{TableName: &w.name, Key: w.key("-"),
				UpdateExpression: aws.String("SET #t0 = :to, turnedAt = :now, settledAt = :settled"),
				ConditionExpression: aws.String("attribute_exists(PK) AND attribute_not_exists(#t0) AND pass = :pass AND filled = :pass " +
					"AND comparedAt = :compared AND attribute_exists(PK) AND (attribute_not_exists(meets) OR meets = :meets)"),
				ExpressionAttributeNames: names,
				ExpressionAttributeValues: attrs{":to": s("turning"), ":pass": n("2"), ":compared": s("2099"), ":now": s("2100"),
					":settled": s("2098"), ":meets": n("3")}}
			turn := func() error {
				return w.transact(types.TransactWriteItem{Update: states},
					types.TransactWriteItem{Update: &types.Update{TableName: &w.name, Key: w.key("head"),
						ConditionExpression:       aws.String("attribute_exists(PK)"),
						UpdateExpression:          aws.String("ADD #behind :one SET #building = :true REMOVE #open"),
						ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building", "#open": "open"},
						ExpressionAttributeValues: attrs{":one": n("1"), ":true": yes(true)}}})
			}
			control := w.item("-", attrs{"pass": n("2"), "filled": n("1"), "comparedAt": s("2099")})
			w.put(control)
			w.cancelled(turn(), "ConditionalCheckFailed", "ConditionalCheckFailed")
			control["filled"] = n("2")
			control["meets"] = n("4") // capture has met a row since
			w.put(control)
			w.cancelled(turn(), "ConditionalCheckFailed", "ConditionalCheckFailed")
			control["meets"] = n("3")
			w.put(control)
			w.cancelled(turn(), "None", "ConditionalCheckFailed")
			w.stored(control)
			w.put(w.item("head", attrs{"open": b("x")}))
			held(w, turn())
			control = with(control, attrs{"turnedAt": s("2100"), "settledAt": s("2098")})
			w.stored(with(control, attrs{"state:user": s("turning")}))
			w.stored(w.item("head", attrs{"behind": n("1"), "building": yes(true)}))
			w.cancelled(turn(), "ConditionalCheckFailed", "None")
			step := func(update, from string, values attrs) error {
				return w.bare(w.key("-"), update, "attribute_exists(PK) AND #t0 = :from", names,
					with(values, attrs{":from": s(from)}))
			}
			stale := "REMOVE captured, changedAt, streamArn, streamAt, drainingAt, comparedAt ADD voided :one SET #t0 = :to"
			held(w, step(stale, "turning", attrs{":to": s("new"), ":one": n("1")}))
			w.conditionFailed(step(stale, "turning", attrs{":to": s("new"), ":one": n("1")}), nil)
			w.cancelled(turn(), "ConditionalCheckFailed", "None")
			w.put(with(control, attrs{"state:user": s("new")}))
			held(w, w.bare(w.key("-"), "SET #t0 = :to, drainingAt = :now",
				"attribute_exists(PK) AND #t0 = :from AND pass = :pass AND filled = :pass AND comparedAt = :compared", names,
				attrs{":from": s("new"), ":to": s("draining"), ":now": s("2101"), ":pass": n("2"), ":compared": s("2099")}))
			held(w, step("SET #t0 = :to", "draining", attrs{":to": s("returning")}))
			held(w, step("REMOVE #t0, captured, changedAt, streamArn, streamAt, drainingAt, comparedAt ADD voided :one", "returning",
				attrs{":one": n("1")}))
			delete(control, "comparedAt")
			control["voided"] = n("1")
			w.stored(control)
			if err := w.bare(w.key("-"), "SET retiredAt = :at", "attribute_exists(PK)", nil, attrs{":at": s("2100")}); err != nil {
				w.Error(err)
			}
		},
	})
}

// used returns the names that a text uses: others are refused.
func used(names map[string]string, text string) map[string]string {
	list := map[string]string{}
	for short, name := range names {
		if strings.Contains(text, short) {
			list[short] = name
		}
	}
	return list
}
