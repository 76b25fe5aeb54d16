package contract

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// fresh returns the store's put of an item of an atomic message.
func (w *table) fresh(sk string, more attrs) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &w.name, Item: w.item(sk, more),
		ConditionExpression: aws.String("attribute_not_exists(PK)"), ReturnValuesOnConditionCheckFailure: allOld}}
}

// still returns the store's condition that an item is there as it was met.
func (w *table) still(sk, digest string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &w.name, Key: w.key(sk),
		ConditionExpression:      aws.String("#d = :d"),
		ExpressionAttributeNames: map[string]string{"#d": "digest"}, ExpressionAttributeValues: attrs{":d": b(digest)},
		ReturnValuesOnConditionCheckFailure: allOld}}
}

// released returns the store's removal of a claim.
func (w *table) released(sk, digest string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: &w.name, Key: w.key(sk),
		ConditionExpression:      aws.String("attribute_not_exists(PK) OR #d = :d"),
		ExpressionAttributeNames: map[string]string{"#d": "digest"}, ExpressionAttributeValues: attrs{":d": b(digest)}}}
}

// togethers checks what atomic messages ask for.
func togethers(t *testing.T, h *Harness) {
	digest := func(d string) attrs {
		return attrs{"digest": b(d), "type": s("t"), "epoch": n("1"), "expiresAt": n("4102444800")}
	}
	newTable(t, h).each(t, map[string]func(*table){
		"all items or none": func(w *table) {
			whole := with(digest("w"), attrs{"GSI1PK": s(w.pk()), "GSI1SK": s("w"), "i:parts": n("1")})
			held(w, w.transact(w.fresh("whole", whole), w.fresh("claim", digest("c"))))
			w.stored(w.item("whole", whole))
			reasons := w.cancelled(w.transact(w.fresh("other", digest("o")), w.fresh("claim", digest("d"))), "None",
				"ConditionalCheckFailed")
			w.same("image", reasons[1].Item, w.item("claim", digest("c")))
			w.same("image of an item that is not in the way", reasons[0].Item, nil)
			w.absent(w.key("other"))
			reasons = w.cancelled(w.transact(w.fresh("whole", whole), w.fresh("claim", digest("c"))), "ConditionalCheckFailed",
				"ConditionalCheckFailed")
			w.same("image of the whole", reasons[0].Item, w.item("whole", whole))
		},
		"the rest beside what is there": func(w *table) {
			w.put(w.item("whole", digest("w")))
			held(w, w.transact(w.still("whole", "w"), w.fresh("claim", digest("c"))))
			w.stored(w.item("whole", digest("w")))
			w.stored(w.item("claim", digest("c")))
			reasons := w.cancelled(w.transact(w.still("whole", "v"), w.fresh("claim", digest("c")), w.fresh("line", digest("l")),
				w.still("gone", "g")),
				"ConditionalCheckFailed", "ConditionalCheckFailed", "None", "ConditionalCheckFailed")
			w.same("image of what has changed", reasons[0].Item, w.item("whole", digest("w")))
			w.same("image of what is gone", reasons[3].Item, nil)
			w.absent(w.key("line"))
		},
		"conditions alone": func(w *table) {
			w.put(w.item("whole", digest("w")))
			held(w, w.transact(w.still("whole", "w")))
			w.cancelled(w.transact(w.still("whole", "v")), "ConditionalCheckFailed")
		},
		"a barred key": func(w *table) {
			check := w.still("part", "")
			check.ConditionCheck.ConditionExpression, check.ConditionCheck.ExpressionAttributeValues = aws.String("attribute_exists(#b)"),
				nil
			check.ConditionCheck.ExpressionAttributeNames = map[string]string{"#b": "i:barred"}
			w.cancelled(w.transact(check, w.fresh("line", digest("l"))), "ConditionalCheckFailed", "None")
			w.put(w.item("part", attrs{"i:barred": yes(true)}))
			held(w, w.transact(check, w.fresh("line", digest("l"))))
			w.stored(w.item("line", digest("l")))
		},
		"a state beside its event": func(w *table) {
			state := func(revision, ties, digest string) attrs {
				return attrs{"type": s("t"), "revision": n(revision), "i:revision": s(ties), "digest": b(digest), "data": s("{}")}
			}
			in := w.still("state", "").ConditionCheck
			newer := func(revision, ties, digest string) types.TransactWriteItem {
				check := *in
				check.ConditionExpression = aws.String("#r > :r OR #r = :r AND (#i > :i OR #i = :i AND #d >= :d)")
				check.ExpressionAttributeNames = map[string]string{"#r": "revision", "#i": "i:revision", "#d": "digest"}
				check.ExpressionAttributeValues = attrs{":r": n(revision), ":i": s(ties), ":d": b(digest)}
				return types.TransactWriteItem{ConditionCheck: &check}
			}
			instead := func(of, by attrs) types.TransactWriteItem {
				put := w.fresh("state", by)
				put.Put.ConditionExpression = aws.String("#r = :seen AND #d = :digest AND #i = :ties AND #p >= :text")
				put.Put.ExpressionAttributeNames = map[string]string{"#r": "revision", "#d": "digest", "#i": "i:revision", "#p": "data"}
				put.Put.ExpressionAttributeValues = attrs{":seen": of["revision"], ":digest": of["digest"], ":ties": of["i:revision"],
					":text": s("\t")}
				return put
			}
			first, second := state("9", "a", "x"), state("10", "a", "y")
			w.put(w.item("whole", digest("w")))
			w.cancelled(w.transact(w.still("whole", "w"), instead(first, second)), "None", "ConditionalCheckFailed")
			w.put(w.item("state", first))
			w.cancelled(w.transact(w.still("whole", "v"), instead(first, second)), "ConditionalCheckFailed", "None")
			held(w, w.transact(w.still("whole", "w"), instead(first, second)))
			w.stored(w.item("state", second))
			w.cancelled(w.transact(w.still("whole", "w"), instead(first, second)), "None", "ConditionalCheckFailed")
			for _, older := range []types.TransactWriteItem{newer("9", "z", "z"), newer("10", "", "z"), newer("10", "a", "y")} {
				held(w, w.transact(w.still("whole", "w"), older))
			}
			for _, later := range []types.TransactWriteItem{newer("10.5", "", ""), newer("10", "b", ""), newer("10", "a", "z")} {
				w.cancelled(w.transact(w.still("whole", "w"), later), "None", "ConditionalCheckFailed")
			}
		},
		"states are removed with their event": func(w *table) {
			names, ties := map[string]string{"#i": "i:revision"}, attrs{":i": s("mine")}
			remove := types.TransactWriteItem{Delete: &types.Delete{TableName: &w.name, Key: w.key("state"),
				ConditionExpression:      aws.String("attribute_not_exists(PK) OR #i = :i"),
				ExpressionAttributeNames: names, ExpressionAttributeValues: ties}}
			others := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &w.name, Key: w.key("state"),
				ConditionExpression:      aws.String("attribute_not_exists(#i) OR #i <> :i"),
				ExpressionAttributeNames: names, ExpressionAttributeValues: ties}}
			held(w, w.transact(remove))
			held(w, w.transact(others))
			w.put(w.item("state", attrs{"i:revision": s("other")}))
			w.cancelled(w.transact(remove), "ConditionalCheckFailed")
			held(w, w.transact(others))
			w.put(w.item("state", attrs{"i:revision": s("mine")}))
			w.cancelled(w.transact(others), "ConditionalCheckFailed")
			held(w, w.transact(remove))
			w.absent(w.key("state"))
		},
		"an owner is barred and its claims released": func(w *table) {
			bar := func() error {
				return w.transact(
					types.TransactWriteItem{Put: &types.Put{TableName: &w.name,
						Item:                w.item("whole", attrs{"i:barred": yes(true), "expiresAt": n("4102444800")}),
						ConditionExpression: aws.String("#t = :t AND #e = :e"), ExpressionAttributeNames: map[string]string{"#t": "type",
							"#e": "expiresAt"},
						ExpressionAttributeValues: attrs{":t": s("t"), ":e": n("4102444800")}}}, w.released("claim", "c"),
					w.released("never", "n"))
			}
			w.cancelled(bar(), "ConditionalCheckFailed", "None", "None")
			w.put(w.item("whole", digest("w")))
			w.put(w.item("claim", digest("other")))
			w.cancelled(bar(), "None", "ConditionalCheckFailed", "None")
			w.stored(w.item("whole", digest("w")))
			w.put(w.item("claim", digest("c")))
			held(w, bar())
			w.stored(w.item("whole", attrs{"i:barred": yes(true), "expiresAt": n("4102444800")}))
			w.absent(w.key("claim"))
		},
		"an owner without a time is barred": func(w *table) {
			w.put(w.item("whole", attrs{"type": s("t"), "digest": b("w")}))
			err := w.transact(
				types.TransactWriteItem{Put: &types.Put{TableName: &w.name, Item: w.item("whole", attrs{"i:barred": yes(true)}),
					ConditionExpression:       aws.String("#t = :t AND attribute_not_exists(#e)"),
					ExpressionAttributeNames:  map[string]string{"#t": "type", "#e": "expiresAt"},
					ExpressionAttributeValues: attrs{":t": s("t")}}}, w.released("claim", "c"))
			held(w, err)
		},
		"the claims of a barred key are released": func(w *table) {
			barred := w.item("whole", attrs{"i:barred": yes(true)})
			bar := func() error {
				return w.transact(
					types.TransactWriteItem{Put: &types.Put{TableName: &w.name, Item: barred, ConditionExpression: aws.String("#b = :b"),
						ExpressionAttributeNames: map[string]string{"#b": "i:barred"}, ExpressionAttributeValues: attrs{":b": yes(true)}}},
					w.released("claim", "c"))
			}
			w.put(w.item("claim", digest("c")))
			w.cancelled(bar(), "ConditionalCheckFailed", "None")
			w.put(barred)
			held(w, bar())
			w.stored(barred)
			w.absent(w.key("claim"))
		},
		"a put and a condition take two units each": func(w *table) {
			w.put(w.item("whole", digest("w")))
			out, err := w.db.TransactWriteItems(ctx,
				&dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
					TransactItems: []types.TransactWriteItem{w.still("whole", "w"), w.fresh("claim", digest("c"))}})
			if err != nil || len(out.ConsumedCapacity) != 1 {
				w.Fatalf("%+v, %v", out, err)
			}
			if got := aws.ToFloat64(out.ConsumedCapacity[0].CapacityUnits); got != 4 {
				w.Errorf("%v units, want 4", got)
			}
		},
		"a hundred items that are all there": func(w *table) {
			var all []types.TransactWriteItem
			for i := range 100 {
				all = append(all, w.fresh(fmt.Sprint("i", i), digest(fmt.Sprint(i))))
			}
			held(w, w.transact(all...))
			codes := make([]string, 100)
			for i := range codes {
				codes[i] = "ConditionalCheckFailed"
			}
			for i, r := range w.cancelled(w.transact(all...), codes...) {
				w.same("image", r.Item, all[i].Put.Item)
			}
		},
	})
}
