package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// cancellations checks transactions that are not done, and the reasons for that.
func cancellations(t *testing.T, h *Harness) {
	const never = "ValidationError"
	newTable(t, h).each(t, map[string]func(*table){
		"every reason stands at its item": func(w *table) {
			w.put(w.key("r1"))
			w.put(w.key("r3"))
			reasons := w.cancelled(w.transact(w.receipt("r1"), w.receipt("r2"), w.receipt("r3"), w.add("a", "1", ""),
				w.add("b", "1", "#n1 >= :v")),
				"ConditionalCheckFailed", "None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed")
			for i, r := range reasons {
				if said := aws.ToString(r.Message) != ""; said != (aws.ToString(r.Code) != "None") {
					w.Errorf("reason %d: %s with the message %q", i, aws.ToString(r.Code), aws.ToString(r.Message))
				}
			}
			for _, sk := range []string{"r2", "a", "b"} {
				w.absent(w.key(sk))
			}
		},
		"a sum that no longer fits": func(w *table) {
			w.put(w.item("total", attrs{"revenue": n("12345678901234567890123456789012345678")}))
			w.unfit(w.transact(w.receipt("r1"), w.add("total", "0.1", "")), "None", never)
			w.absent(w.key("r1"))
		},
		"an item that takes no more": func(w *table) {
			rest := maxItem - len("PK") - len(w.pk()) - len("SK") - len("total") - len("data")
			w.put(w.item("total", attrs{"data": s(strings.Repeat("x", rest))}))
			w.cancelled(w.transact(w.receipt("r1"), w.add("total", "1", ""), w.add("other", "1", "")), "None", never, "None")
			w.absent(w.key("r1"))
			w.absent(w.key("other"))
		},
		"one item twice, and another between": func(w *table) {
			err := w.transact(w.receipt("r1"), w.receipt("r2"), w.add("total", "1", ""), w.receipt("r1"))
			if pick(w, h, "one item twice in a transaction", false, true) {
				w.cancelled(err, "None", "None", "None", "ConditionalCheckFailed")
			} else {
				refused(w, err, "ValidationException")
			}
			w.absent(w.key("r2"))
		},
		"no items": func(w *table) {
			_, err := w.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
			refused(w, err, "ValidationException")
		},
		"an invalid expression": func(w *table) {
			for _, condition := range []string{"#n9 >= :v", "#n1 >= "} {
				err := w.transact(w.receipt("r1"), w.add("a", "1", condition))
				if pick(w, h, "an invalid expression in a transaction", false, true) {
					w.cancelled(err, "None", never)
				} else {
					refused(w, err, "ValidationException")
				}
			}
			w.absent(w.key("r1"))
		},
		"invalid keys": func(w *table) {
			// An empty key is refused before the transaction begins.
			refused(w, w.transact(w.receipt("r1"), w.add("", "1", "")), "ValidationException")
			refused(w, w.transact(w.receipt("r1"), w.receipt("")), "ValidationException")
			long := strings.Repeat("s", 1025)
			w.cancelled(w.transact(w.receipt("r1"), w.add(long, "1", "")), "None", never)
			w.cancelled(w.transact(w.receipt("r1"), w.receipt(long)), "None", never)
			put, update := w.receipt("r2"), w.add("total", "1", "")
			put.Put.Item["SK"], update.Update.Key["SK"] = n("1"), n("2")
			w.cancelled(w.transact(put, w.receipt("r1"), update), never, "None", never)
			w.absent(w.key("r1"))
		},
		"invalid index keys": func(w *table) {
			put := w.receipt("r2")
			put.Put.Item["GSI1PK"], put.Put.Item["GSI1SK"] = n("1"), s("1")
			w.cancelled(w.transact(w.receipt("r1"), put), "None", never)
			put.Put.Item["GSI1PK"] = s("")
			refused(w, w.transact(w.receipt("r1"), put), "ValidationException")
			update := w.add("total", "1", "")
			update.Update.ExpressionAttributeNames["#n1"], update.Update.UpdateExpression = "GSI1PK", aws.String("ADD #n0 :n SET #n1 = :v")
			update.Update.ExpressionAttributeValues[":v"] = s("")
			refused(w, w.transact(w.receipt("r1"), update), "ValidationException")
			w.absent(w.key("r1"))
		},
		"an invalid number, and an item that is too large": func(w *table) {
			for _, v := range []types.AttributeValue{n("123456789012345678901234567890123456789"), n("x"),
				s(strings.Repeat("x", maxItem))} {
				put := w.receipt("r2")
				put.Put.Item["v"] = v
				refused(w, w.transact(w.receipt("r1"), put), "ValidationException")
			}
			refused(w, w.transact(w.receipt("r1"), w.add("total", "1e126", "")), "ValidationException")
			w.absent(w.key("r1"))
		},
		"over 4 MB": func(w *table) {
			var all []types.TransactWriteItem
			for i := range 11 {
				item := w.receipt(fmt.Sprint("r", i))
				item.Put.Item["data"] = s(strings.Repeat("x", 390*1024))
				all = append(all, item)
			}
			refused(w, w.transact(all...), "ValidationException")
			w.absent(w.key("r0"))
		},
		"over 4 MB with what updates change, which does not count": func(w *table) {
			var all []types.TransactWriteItem
			for i := range 11 {
				sk := fmt.Sprint("large", i)
				w.put(w.item(sk, attrs{"data": s(strings.Repeat("x", 390*1024))}))
				all = append(all, w.add(sk, "1", ""))
			}
			held(w, w.transact(append(all, w.receipt("r1"))...))
			w.stored(w.item("r1", attrs{"expiresAt": n("4102444800")}))
		},
		"a fingerprint, a flag and nothing else": func(w *table) {
			u := w.updating(w.key("total"), "SET #n0 = if_not_exists(#n0, :flag)", "",
				map[string]string{"#n0": "flag"}, attrs{":flag": s("why")})
			for i := range 2 {
				held(w, w.transact(w.receipt(fmt.Sprint("r", i)), u))
			}
			w.stored(w.item("total", attrs{"flag": s("why")}))
		},
		"a floor that holds, and one that does not": func(w *table) {
			take := func(sk, condition, need string) types.TransactWriteItem {
				return w.updating(w.key(sk), "ADD #n0 :v", condition,
					map[string]string{"#n0": "available"}, attrs{":v": n("-3"), ":f": n(need)})
			}
			const there, orNot = "#n0 >= :f", "(attribute_not_exists(#n0) OR #n0 >= :f)"
			held(w, w.transact(w.receipt("r1"), take("new", orNot, "-7")))
			w.stored(w.item("new", attrs{"available": n("-3")}))
			text, few := w.item("text", attrs{"available": s("9")}), w.item("few", attrs{"available": n("2.5")})
			w.put(text)
			w.put(few)
			w.put(w.item("enough", attrs{"available": n("10")})) // a number, and not a text
			reasons := w.cancelled(w.transact(w.receipt("r2"), take("enough", there, "3"), take("few", there, "3"),
				take("none", there, "3"), take("text", there, "3"), take("new", orNot, "-2")),
				"None", "None", "ConditionalCheckFailed", "ConditionalCheckFailed", "ConditionalCheckFailed", "ConditionalCheckFailed")
			w.same("image of a total with too little", reasons[2].Item, few)
			w.same("image of a total that is not there", reasons[3].Item, nil)
			w.same("image of a total that is not a number", reasons[4].Item, text)
			w.absent(w.key("r2"))
			held(w, w.transact(w.receipt("r2"), take("enough", there, "10")))
			w.stored(w.item("enough", attrs{"available": n("7")}))
		},
		"a smallest that shrinks": func(w *table) {
			shrink := func(receipt, least string) error {
				return w.transact(w.receipt(receipt),
					w.updating(w.key("total"), "SET #n0 = :v", "(attribute_not_exists(#n0) OR #n0 > :v)",
						map[string]string{"#n0": "least"}, attrs{":v": n(least)}))
			}
			for _, least := range []string{"-9", "-10"} { // as numbers, not as text
				held(w, shrink("r"+least, least))
			}
			reasons := w.cancelled(shrink("r", "-9.5"), "None", "ConditionalCheckFailed")
			w.same("image", reasons[1].Item, w.item("total", attrs{"least": n("-10")}))
		},
		"a smallest and a largest that stay": func(w *table) {
			stay := func(largest, least string) types.TransactWriteItem {
				return w.updating(w.key("total"), "ADD #n0 :n, #n1 :fp, #n2 :fpx", "#n3 >= :v1 AND #n4 <= :v2",
					map[string]string{"#n0": "n", "#n1": "fp", "#n2": "fpx", "#n3": "largest", "#n4": "least"},
					attrs{":n": n("1"), ":fp": n("-5"), ":fpx": n("5"), ":v1": n(largest), ":v2": n(least)})
			}
			w.put(w.item("total", attrs{"largest": n("10"), "least": n("-10")}))
			held(w, w.transact(w.receipt("r1"), stay("9.5", "-9.5")))
			stored := w.item("total", attrs{"largest": n("10"), "least": n("-10"), "n": n("1"), "fp": n("-5"), "fpx": n("5")})
			w.stored(stored)
			for _, c := range [][2]string{{"10.5", "0"}, {"0", "-10.5"}} {
				reasons := w.cancelled(w.transact(w.receipt("r2"), stay(c[0], c[1])), "None", "ConditionalCheckFailed")
				w.same("image", reasons[1].Item, stored)
			}
		},
	})
}

// unfit asserts that a transaction is cancelled because of an item that can never be written.
func (w *table) unfit(err error, codes ...string) {
	w.Helper()
	if code := pick(w, w.h, "an impossible update in a transaction", "", "ValidationException"); code != "" {
		refused(w, err, code)
		return
	}
	w.cancelled(err, codes...)
}
