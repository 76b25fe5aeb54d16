package contract

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxItem is the largest item in bytes, attribute names included (developer guide, "Constraints").
const maxItem = 400 * 1024

// putNew makes the store's conditional put of one event.
func (w *table) putNew(item attrs) error {
	_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(PK)"), ReturnValuesOnConditionCheckFailure: allOld})
	return err
}

// putSeen makes the store's replacement of exactly the revision that it has read.
func (w *table) putSeen(item attrs, revision, digest types.AttributeValue) error {
	_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item,
		ConditionExpression:                 aws.String("#r = :seen AND #d = :digest AND #p >= :text"),
		ExpressionAttributeNames:            map[string]string{"#r": "revision", "#d": "digest", "#p": "data"},
		ExpressionAttributeValues:           attrs{":seen": revision, ":digest": digest, ":text": s("\t")},
		ReturnValuesOnConditionCheckFailure: allOld})
	return err
}

func puts(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"a new item with every type": func(w *table) {
			item := w.item("1", attrs{"type": s("order"), "digest": b("\x00\xff"), "total": n("12.5"), "paid": yes(true),
				"meta": m(attrs{"source": s("web")}), "GSI1PK": s("g"), "GSI1SK": s("1"), "empty": s("")})
			held(w, w.putNew(item))
			w.stored(item)
		},
		"values and names that no item can have": func(w *table) {
			nested := func(depth int) types.AttributeValue {
				v := s("x")
				for range depth {
					v = m(attrs{"a": v})
				}
				return v
			}
			for name, more := range map[string]attrs{
				"NULL that is false": {"v": &types.AttributeValueMemberNULL{}}, "32 maps": {"v": nested(32)},
				"an empty set":       {"v": &types.AttributeValueMemberSS{}},
				"one number twice":   {"v": &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}},
				"too large a number": {"v": n("1e126")}, "too small a number": {"v": n("1e-131")},
			} {
				_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: w.item(name, more)})
				if code(err) != "ValidationException" {
					w.Errorf("%s: %v", name, err)
				}
				w.absent(w.key(name))
			}
			deepest := w.item("31 maps", attrs{"v": nested(31)})
			w.put(deepest)
			w.stored(deepest)
		},
		"a form that no request has": func(w *table) {
			for name, in := range map[string]dynamodb.PutItemInput{
				"no such table":  {TableName: aws.String("no such table!")},
				"a long name":    {TableName: aws.String(strings.Repeat("a", 256))},
				"an empty name":  {TableName: aws.String("")},
				"a wrong answer": {TableName: &w.name, ReturnValues: "SOME"},
				"wrong capacity": {TableName: &w.name, ReturnConsumedCapacity: "SOME"},
			} {
				in.Item = w.key(name)
				_, err := w.db.PutItem(ctx, &in)
				if code(err) != "ValidationException" {
					w.Errorf("%s: %v", name, err)
				}
				w.absent(in.Item)
			}
		},
		"a key that is taken": func(w *table) {
			first := w.item("1", attrs{"digest": b("a"), "data": s("{}")})
			w.put(first)
			w.conditionFailed(w.putNew(w.item("1", attrs{"digest": b("b")})), first)
			w.stored(first)
		},
		"a key that is taken, without asking for the item": func(w *table) {
			w.put(w.key("1"))
			w.conditionFailed(w.putIf("attribute_not_exists(PK)", w.key("1"), nil, nil), nil)
		},
		"the file that was seen": func(w *table) {
			keep := func(digest, epoch string) error {
				return w.putIf("#digest = :digest AND #epoch = :epoch",
					w.item("-", attrs{"file": b("new"), "digest": s("new"), "epoch": n("3")}),
					map[string]string{"#digest": "digest", "#epoch": "epoch"}, attrs{":digest": s(digest), ":epoch": n(epoch)})
			}
			w.conditionFailed(keep("old", "2"), nil) // nothing is there
			first := w.item("-", attrs{"file": b("old"), "digest": s("old"), "epoch": n("2")})
			w.put(first)
			w.conditionFailed(keep("old", "1"), nil)
			w.conditionFailed(keep("other", "2"), nil)
			w.stored(first)
			held(w, keep("old", "2.0"))
			w.stored(w.item("-", attrs{"file": b("new"), "digest": s("new"), "epoch": n("3")}))
		},
		"the revision that was seen": func(w *table) {
			w.put(w.item("1", attrs{"revision": n("1"), "digest": b("a"), "data": s("{}"), "old": s("gone")}))
			second := w.item("1", attrs{"revision": n("2"), "digest": b("b"), "data": s("{}")})
			held(w, w.putSeen(second, n("1.0"), b("a")))
			w.stored(second)
			third := w.item("1", attrs{"revision": n("3"), "digest": b("c")})
			w.conditionFailed(w.putSeen(third, n("1"), b("a")), second)
			w.conditionFailed(w.putSeen(third, n("2"), b("a")), second)
			w.stored(second)
		},
		"a revision of an item that is not there": func(w *table) {
			w.conditionFailed(w.putSeen(w.key("1"), n("1"), b("a")), nil)
			w.absent(w.key("1"))
		},
		"an invalid revision or digest": func(w *table) {
			for sk, stored := range map[string]attrs{"text": {"revision": s("1"), "digest": b("a"), "data": s("{}")},
				"no digest":                      {"revision": n("1"), "data": s("{}")},
				"a digest of text":               {"revision": n("1"), "digest": s("a"), "data": s("{}")},
				"no payload":                     {"revision": n("1"), "digest": b("a")},
				"a payload of bytes":             {"revision": n("1"), "digest": b("a"), "data": b("{}")},
				"a payload that no JSON text is": {"revision": n("1"), "digest": b("a"), "data": s("\b")}} {
				stored = w.item(sk, stored)
				w.put(stored)
				w.conditionFailed(w.putSeen(w.key(sk), n("1"), b("a")), stored)
				w.stored(stored)
			}
		},
		"the ties beside a revision": func(w *table) {
			tied := func(item attrs, ties types.AttributeValue) error {
				in := &dynamodb.PutItemInput{TableName: &w.name, Item: item,
					ConditionExpression: aws.String(
						"#r = :seen AND #d = :digest AND #p >= :text AND attribute_not_exists(#i)"),
					ExpressionAttributeNames: map[string]string{"#r": "revision", "#d": "digest", "#p": "data",
						"#i": "i:revision"},
					ExpressionAttributeValues:           attrs{":seen": n("1"), ":digest": b("a"), ":text": s("\t")},
					ReturnValuesOnConditionCheckFailure: allOld, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
				if ties != nil {
					in.ConditionExpression = aws.String("#r = :seen AND #d = :digest AND #p >= :text AND #i = :ties")
					in.ExpressionAttributeValues[":ties"] = ties
				}
				_, err := w.db.PutItem(ctx, in)
				return err
			}
			item := w.item("1", attrs{"revision": n("1"), "digest": b("a"), "data": s("{}")})
			w.put(item)
			w.conditionFailed(tied(item, s("b")), item)
			second := with(item, attrs{"i:revision": s("b")})
			held(w, tied(second, nil))
			w.conditionFailed(tied(item, nil), second)
			w.conditionFailed(tied(item, s("a")), second)
			if err := tied(with(item, attrs{"i:revision": s("c")}), s("b")); err != nil {
				w.Error(err)
			}
		},
		"a bar in place of an event": func(w *table) {
			bar := func(condition string, names map[string]string, values attrs) error {
				return w.putIf(condition, w.item("1", attrs{"i:barred": yes(true)}), names, values)
			}
			names := map[string]string{"#t": "type", "#e": "expiresAt"}
			sameExpiry := func(at string) error {
				return bar("#t = :t AND #e = :e", names, attrs{":t": s("order"), ":e": n(at)})
			}
			w.conditionFailed(sameExpiry("4102444800"), nil)
			w.absent(w.key("1"))
			w.put(w.item("1", attrs{"type": s("order"), "expiresAt": n("4102444800")}))
			w.conditionFailed(bar("attribute_not_exists(PK)", nil, nil), nil)
			w.conditionFailed(sameExpiry("4102444801"), nil)
			w.conditionFailed(bar("#t = :t AND attribute_not_exists(#e)", names, attrs{":t": s("order")}), nil)
			w.conditionFailed(bar("#t = :t AND attribute_exists(#r)", map[string]string{"#t": "type", "#r": "revision"},
				attrs{":t": s("order")}), nil)
			held(w, sameExpiry("4102444800"))
			w.stored(w.item("1", attrs{"i:barred": yes(true)}))
		},
		"the largest and the smallest numbers": func(w *table) {
			nines := strings.Repeat("9", 38)
			for i, in := range []string{"-" + nines, "0." + nines, "-" + nines[:20] + "." + nines[20:], nines + "e88", "1e-130"} {
				item := w.item(fmt.Sprint(i), attrs{"v": n(in)})
				if err := w.putNew(item); err != nil {
					w.Errorf("%s: %v", in, err)
					continue
				}
				stored := w.get(w.key(fmt.Sprint(i)))["v"].(*types.AttributeValueMemberN).Value
				if !sameNumber(stored, in) { // it is not documented how the ends of the range are written
					w.Errorf("%s is stored as %s", in, stored)
				}
			}
			for _, in := range []string{"-1" + nines, nines + ".1", nines + "e89", "-1e126", "1e-131", "0x10", "1_000", "NaN", "Infinity",
				" 1", "1,5"} {
				refused(w, w.putNew(w.item("bad", attrs{"v": n(in)})), "ValidationException")
			}
			w.absent(w.key("bad"))
		},
		"numbers": func(w *table) {
			for in, out := range map[string]string{"1.50": "1.5", "1e2": "100", "-0": "0", "007": "7",
				"9007199254740993":                       "9007199254740993",
				"12345678901234567890123456789012345678": "12345678901234567890123456789012345678", "0.001": "0.001"} {
				w.put(w.item(in, attrs{"v": n(in)}))
				w.stored(w.item(in, attrs{"v": n(out)}))
			}
			for _, in := range []string{"123456789012345678901234567890123456789", "1e126", "x", ""} {
				refused(w, w.putNew(w.item("bad", attrs{"v": n(in)})), "ValidationException")
			}
			w.absent(w.key("bad"))
		},
		"the largest item": func(w *table) {
			k := w.key("1")
			rest := maxItem - len("PK") - len(w.pk()) - len("SK") - len("1") - len("data")
			refused(w, w.putNew(with(k, attrs{"data": s(strings.Repeat("x", rest+1))})), "ValidationException")
			w.absent(k)
			if err := w.putNew(with(k, attrs{"data": s(strings.Repeat("x", rest))})); err != nil {
				w.Error(err)
			}
		},
		"the longest keys": func(w *table) {
			pk := w.pk() + strings.Repeat("p", 2048-len(w.pk()))
			if err := w.putNew(key(pk, strings.Repeat("s", 1024))); err != nil {
				w.Error(err)
			}
			refused(w, w.putNew(key(pk+"p", "1")), "ValidationException")
			refused(w, w.putNew(key(pk, strings.Repeat("s", 1025))), "ValidationException")
		},
		"invalid keys": func(w *table) {
			for _, bad := range []attrs{key("", "1"), w.key(""), {"PK": s(w.pk())}, {"PK": n("1"), "SK": s("1")},
				w.item("1", attrs{"GSI1PK": n("1"), "GSI1SK": s("1")}),
				w.item("1", attrs{"GSI1PK": s(""), "GSI1SK": s("1")})} {
				refused(w, w.putNew(bad), "ValidationException")
			}
			w.absent(w.key("1"))
		},
		"a batch of puts and deletions": func(w *table) {
			write := func(list ...types.WriteRequest) error {
				out, err := w.db.BatchWriteItem(ctx,
					&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.name: list}})
				if err == nil && len(out.UnprocessedItems) > 0 {
					w.Errorf("unprocessed: %v", out.UnprocessedItems)
				}
				return err
			}
			put := func(item attrs) types.WriteRequest {
				return types.WriteRequest{PutRequest: &types.PutRequest{Item: item}}
			}
			remove := func(k attrs) types.WriteRequest {
				return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}}
			}
			first, second := w.item("1", attrs{"n": n("1")}), w.item("2", attrs{"n": n("2")})
			w.put(w.key("3"))
			w.put(w.key("1"))
			held(w, write(put(first), put(second), remove(w.key("3")), remove(w.key("4"))))
			w.stored(first)
			w.stored(second)
			w.absent(w.key("3"))
			many := make([]types.WriteRequest, 26)
			for i := range many {
				many[i] = put(w.key(fmt.Sprint("many", i)))
			}
			third := put(w.key("5")) // it is not written by a request that is refused
			for _, list := range [][]types.WriteRequest{{}, many, {third, put(first), remove(w.key("1"))}, {third, put(key("", "1"))},
				{third, {}}} {
				refused(w, write(list...), "ValidationException")
			}
			w.absent(w.key("5"))
		},
		"a table that is not there": func(w *table) {
			gone := w.in(w)
			gone.name = w.name + "-gone"
			refused(w, gone.putNew(w.key("1")), "ResourceNotFoundException")
		},
	})
}

// sameNumber reports whether two numbers are exactly equal, in the forms in which the service
// writes them.
func sameNumber(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}
