package contract

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// receipt returns the store's put of a receipt.
func (w *table) receipt(sk string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &w.name, Item: w.item(sk, attrs{"expiresAt": n("4102444800")}),
		ConditionExpression: aws.String("attribute_not_exists(PK)")}}
}

// add returns the store's update of an aggregate item inside a transaction.
func (w *table) add(sk, amount, condition string) types.TransactWriteItem {
	return w.updating(w.key(sk), "ADD #n0 :n, #n1 :v", condition,
		map[string]string{"#n0": "n", "#n1": "revenue"}, attrs{":n": n("1"), ":v": n(amount)})
}

// updating returns an update in a transaction, which asks for the item if its condition fails.
func (w *table) updating(k attrs, update, condition string, names map[string]string, values attrs) types.TransactWriteItem {
	u := &types.Update{TableName: &w.name, Key: k, UpdateExpression: &update, ExpressionAttributeNames: names,
		ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: allOld}
	if condition != "" {
		u.ConditionExpression = &condition
	}
	return types.TransactWriteItem{Update: u}
}

func (w *table) transact(items ...types.TransactWriteItem) error {
	_, err := w.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}

// cancelled asserts the reasons, in the order of the items, and returns them.
func (w *table) cancelled(err error, codes ...string) []types.CancellationReason {
	w.Helper()
	var cancel *types.TransactionCanceledException
	if !errors.As(err, &cancel) {
		w.Fatalf("error = %v, want a TransactionCanceledException", err)
	}
	var got []string
	for _, r := range cancel.CancellationReasons {
		got = append(got, aws.ToString(r.Code))
	}
	if strings.Join(got, " ") != strings.Join(codes, " ") {
		w.Fatalf("reasons %v, want %v", got, codes)
	}
	return cancel.CancellationReasons
}

func transactions(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"receipts and totals together": func(w *table) {
			w.put(w.item("old", attrs{"n": n("4"), "revenue": n("2.5")}))
			held(w, w.transact(w.receipt("r1"), w.receipt("r2"), w.add("new", "0.1", ""), w.add("old", "-2", "#n1 >= :v")))
			w.stored(w.item("r2", attrs{"expiresAt": n("4102444800")}))
			w.stored(w.item("new", attrs{"n": n("1"), "revenue": n("0.1")}))
			w.stored(w.item("old", attrs{"n": n("5"), "revenue": n("0.5")}))
		},
		"a receipt that is there cancels all": func(w *table) {
			w.put(w.key("r2"))
			reasons := w.cancelled(w.transact(w.receipt("r1"), w.receipt("r2"), w.add("total", "1", "")), "None", "ConditionalCheckFailed",
				"None")
			w.same("image that was not asked for", reasons[1].Item, nil)
			w.absent(w.key("r1"))
			w.absent(w.key("total"))
		},
		"a failed condition brings the item": func(w *table) {
			stored := w.item("total", attrs{"n": n("1"), "revenue": n("5")})
			w.put(stored)
			reasons := w.cancelled(w.transact(w.receipt("r1"), w.add("total", "4", "#n1 < :v"), w.add("absent", "4", "#n1 < :v")), "None",
				"ConditionalCheckFailed", "ConditionalCheckFailed")
			w.same("image", reasons[1].Item, stored)
			w.same("image of an item that is not there", reasons[2].Item, nil)
			w.stored(stored)
		},
		"a largest, a flag and an expiry": func(w *table) {
			grow := func(sk, largest string) types.TransactWriteItem {
				return w.updating(w.key(sk), "ADD #n0 :n SET #n1 = :v, #n2 = if_not_exists(#n2, :flag), #n3 = :expiresAt",
					"(attribute_not_exists(#n1) OR #n1 < :v)",
					map[string]string{"#n0": "n", "#n1": "largest", "#n2": "flag", "#n3": "expiresAt"},
					attrs{":n": n("1"), ":v": n(largest), ":flag": s("at " + largest), ":expiresAt": n("4102444800")})
			}
			for _, largest := range []string{"9", "10"} { // as numbers, not as text
				held(w, w.transact(grow("a", largest), grow("b", largest)))
			}
			stored := w.item("b", attrs{"n": n("2"), "largest": n("10"), "flag": s("at 9"), "expiresAt": n("4102444800")})
			w.stored(stored)
			reasons := w.cancelled(w.transact(grow("a", "11"), grow("b", "10")), "None", "ConditionalCheckFailed")
			w.same("image", reasons[1].Item, stored)
		},
		"a sketch is replaced as it was seen": func(w *table) {
			change := func(sk, update, condition string, values attrs) types.TransactWriteItem {
				return w.updating(w.key(sk), update, condition,
					map[string]string{"#n0": "n", "#n1": "buyers"}, with(attrs{":n": n("1")}, values))
			}
			first := func(sk, sketch string) types.TransactWriteItem {
				return change(sk, "ADD #n0 :n SET #n1 = :v0", "attribute_not_exists(#n1)", attrs{":v0": b(sketch)})
			}
			replace := func(sk, seen, sketch string) types.TransactWriteItem {
				return change(sk, "ADD #n0 :n SET #n1 = :v0", "#n1 = :s0", attrs{":v0": b(sketch), ":s0": b(seen)})
			}
			held(w, w.transact(first("a", "\x00\x01"), first("b", "\xff")))
			held(w, w.transact(replace("a", "\x00\x01", "\x00\x02"),
				change("b", "ADD #n0 :n", "#n1 = :s0", attrs{":s0": b("\xff")})))
			a, other := w.item("a", attrs{"n": n("2"), "buyers": b("\x00\x02")}),
				w.item("b", attrs{"n": n("2"), "buyers": b("\xff")})
			w.stored(a)
			w.stored(other)
			reasons := w.cancelled(w.transact(replace("a", "\x00\x01", "\x00\x03"), first("b", "\x01"), first("c", "\x01")),
				"ConditionalCheckFailed", "ConditionalCheckFailed", "None")
			w.same("image of the one that has moved", reasons[0].Item, a)
			w.same("image of the one that is there", reasons[1].Item, other)
			w.stored(a)
			w.absent(w.key("c"))
		},
		"an impossible update": func(w *table) {
			w.put(w.item("total", attrs{"revenue": s("not a number")}))
			err := w.transact(w.receipt("r1"), w.add("total", "1", ""))
			w.unfit(err, "None", "ValidationError")
			w.absent(w.key("r1"))
		},
		"one item twice": func(w *table) {
			refused(w, w.transact(w.receipt("r1"), w.add("r1", "1", "")), "ValidationException")
			w.absent(w.key("r1"))
		},
		"a hundred items and one more": func(w *table) {
			var all []types.TransactWriteItem
			for i := range 101 {
				all = append(all, w.receipt(fmt.Sprint("r", i)))
			}
			refused(w, w.transact(all...), "ValidationException")
			w.absent(w.key("r0"))
			held(w, w.transact(all[:100]...))
			w.stored(w.item("r99", attrs{"expiresAt": n("4102444800")}))
		},
		"an epoch is raised with its heads": func(w *table) {
			raise := func(from, to, head string) error {
				put := &types.Put{TableName: &w.name, Item: w.item("E#", attrs{"epoch": n(to), "generations": list(s(head))}),
					ConditionExpression: aws.String("attribute_not_exists(PK)")}
				items := []types.TransactWriteItem{{Put: put}, {Put: &types.Put{TableName: &w.name,
					Item:                w.item(head, attrs{"building": yes(true)}),
					ConditionExpression: aws.String("attribute_not_exists(PK)")}}}
				if from != "" {
					put.ConditionExpression, put.ExpressionAttributeNames = aws.String("#e = :from"), map[string]string{"#e": "epoch"}
					put.ExpressionAttributeValues = attrs{":from": n(from)}
					items = append(items, types.TransactWriteItem{Update: &types.Update{TableName: &w.name, Key: w.key("G#" + from),
						UpdateExpression:          aws.String("SET #retired = :epoch"),
						ExpressionAttributeNames:  map[string]string{"#retired": "retired"},
						ExpressionAttributeValues: attrs{":epoch": n(to)}}})
				}
				return w.transact(items...)
			}
			held(w, raise("", "1", "G#1"))
			w.cancelled(raise("", "1", "G#1"), "ConditionalCheckFailed", "ConditionalCheckFailed")
			held(w, raise("1", "2", "G#2"))
			w.cancelled(raise("1", "3", "G#3"), "ConditionalCheckFailed", "None", "None")
			w.stored(w.item("E#", attrs{"epoch": n("2"), "generations": list(s("G#2"))}))
			w.stored(w.item("G#1", attrs{"building": yes(true), "retired": n("2")}))
			w.absent(w.key("G#3"))
		},
		"a total is mended as it was read": func(w *table) {
			a := w.item("a", attrs{"n": n("2"), "revenue": n("5"), "flag": s("damaged")})
			other := w.item("b", attrs{"n": n("1"), "flag": s("damaged")})
			w.put(a)
			w.put(other)
			change := func(sk, update, read string, names map[string]string, values attrs) types.TransactWriteItem {
				return types.TransactWriteItem{Update: &types.Update{TableName: &w.name, Key: w.key(sk),
					UpdateExpression: &update, ConditionExpression: aws.String("#n = :n AND #f = :f"), ExpressionAttributeNames: names,
					ExpressionAttributeValues: with(attrs{":n": n(read), ":f": s("damaged")}, values)}}
			}
			mend := func(read, revenue string) error {
				absent := &types.ConditionCheck{TableName: &w.name, Key: w.key("c"),
					ConditionExpression: aws.String("attribute_not_exists(#k)"), ExpressionAttributeNames: map[string]string{"#k": "PK"}}
				return w.transact(
					change("a", "SET #r = :r REMOVE #f", read, map[string]string{"#n": "n", "#f": "flag", "#r": "revenue"},
						attrs{":r": n(revenue)}),
					change("b", "REMOVE #f", "1", map[string]string{"#n": "n", "#f": "flag"}, nil),
					types.TransactWriteItem{ConditionCheck: absent})
			}
			w.cancelled(mend("3", "7"), "ConditionalCheckFailed", "None", "None")
			w.stored(a)
			w.stored(other)
			held(w, mend("2", "7"))
			w.stored(w.item("a", attrs{"n": n("2"), "revenue": n("7")}))
			w.stored(w.item("b", attrs{"n": n("1")}))
			w.put(w.key("c"))
			w.cancelled(mend("2", "8"), "ConditionalCheckFailed", "ConditionalCheckFailed", "ConditionalCheckFailed")
		},
		"a file is kept with a note of its digest": func(w *table) {
			keep := func(kept, digest string) error {
				note := &types.Update{TableName: &w.name, Key: w.key("E#"), UpdateExpression: aws.String("SET #file = :digest"),
					ConditionExpression:       aws.String("#epoch = :epoch AND #file = :kept"),
					ExpressionAttributeNames:  map[string]string{"#file": "file", "#epoch": "epoch"},
					ExpressionAttributeValues: attrs{":digest": s(digest), ":epoch": n("1"), ":kept": s(kept)}}
				if kept == "" {
					note.ConditionExpression = aws.String("#epoch = :epoch AND attribute_not_exists(#file)")
					delete(note.ExpressionAttributeValues, ":kept")
				}
				return w.transact(types.TransactWriteItem{Update: note},
					types.TransactWriteItem{Put: &types.Put{TableName: &w.name, Item: w.item("F#", attrs{"file": b(digest)})}})
			}
			w.put(w.item("E#", attrs{"epoch": n("1")}))
			for _, step := range [][2]string{{"", "one"}, {"one", "two"}} {
				held(w, keep(step[0], step[1]))
				w.cancelled(keep(step[0], "other"), "ConditionalCheckFailed", "None")
				w.stored(w.item("E#", attrs{"epoch": n("1"), "file": s(step[1])}))
				w.stored(w.item("F#", attrs{"file": b(step[1])}))
			}
		},
		"a token makes it once": func(w *table) {
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.add("total", "1", "")},
				ClientRequestToken: aws.String(w.h.Name(w)[:20])}
			for range 2 {
				if _, err := w.db.TransactWriteItems(ctx, in); err != nil {
					w.Fatal(err)
				}
			}
			w.stored(w.item("total", attrs{"n": n("1"), "revenue": n("1")}))
			in.TransactItems = []types.TransactWriteItem{w.add("total", "2", "")}
			_, err := w.db.TransactWriteItems(ctx, in)
			refused(w, err, "IdempotentParameterMismatchException")
		},
		"a table that is not there": func(w *table) {
			gone := w.in(w)
			gone.name = w.name + "-gone"
			refused(w, w.transact(w.receipt("r1"), gone.receipt("r1")), "ResourceNotFoundException")
			w.absent(w.key("r1"))
		},
	})
}
