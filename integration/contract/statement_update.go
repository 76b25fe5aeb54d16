package contract

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// change returns an UPDATE of the item under a key. text is the part between the table's name and
// WHERE. condition is the part after the key. The parameters of text come before those of the key,
// and the parameters of condition after them.
func (w *table) change(k attrs, text string, sets []types.AttributeValue, condition string,
	ifs ...types.AttributeValue) types.BatchStatementRequest {
	if condition != "" {
		condition = " AND " + condition
	}
	parameters := append(append(append([]types.AttributeValue{}, sets...), k["PK"], k["SK"]), ifs...)
	return types.BatchStatementRequest{Parameters: parameters, ReturnValuesOnConditionCheckFailure: allOld,
		Statement: aws.String(`UPDATE "` + w.name + `" ` + text + ` WHERE PK = ? AND SK = ?` + condition)}
}

func some(values ...types.AttributeValue) []types.AttributeValue { return values }

const (
	conditionFailed = types.BatchStatementErrorCodeEnumConditionalCheckFailed
	below           = `("m:lane" IS MISSING OR "m:lane" < ?)`
)

// image asserts the item that came with a refused statement, if there was one. An item is not
// promised.
func (w *table) image(e *types.BatchStatementError, want attrs) {
	w.Helper()
	if e == nil || len(e.Item) == 0 {
		return
	}
	w.same("image of the refused statement", e.Item, want)
}

func updatingStatements(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"a total in full": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"n": n("1"), "fp": n("-7"), "revenue": n("1.75"), "count": n("4"), "largest": n("9"), "least": n("2"),
				"m:old": b("1")}))
			got, err := w.execute(
				w.change(k,
					`SET "n" = n + ?, "fp" = fp + ?, "revenue" = revenue + ?, "fpx" = ?, "largest" = ?, "flag" = ?, "expiresAt" = ?, "m:lane" = ? REMOVE "m:old"`,
					some(n("2"), n("8"), n("-2.5"), n("-3"), n("10"), s("why"), n("4102444800"), b("6")),
					`"n" IS NOT MISSING AND "fpx" IS MISSING AND ("largest" IS MISSING OR "largest" < ?) AND "least" <= ? AND "flag" IS MISSING AND `+below+` AND "m:old" = ?`,
					n("10"), n("2"), b("5"), b("1")))
			w.outcomes(got, err, done)
			w.stored(with(k, attrs{"n": n("3"), "fp": n("1"), "fpx": n("-3"), "revenue": n("-0.75"), "count": n("4"), "largest": n("10"),
				"least": n("2"), "flag": s("why"), "expiresAt": n("4102444800"), "m:lane": b("6")}))
		},
		"several marks are pruned": func(w *table) {
			k := w.key("-")
			stored := with(k, attrs{"n": n("1"), "m:a": b("1"), "m:b": b("2"), "m:c": b("3")})
			w.put(stored)
			got, err := w.execute(w.change(k, `SET "n" = n + ? REMOVE "m:a" REMOVE "m:c"`, some(n("1")), `"m:a" = ? AND "m:c" = ?`,
				b("1"), b("3")))
			code := pick(w, h, "several attributes to remove", done, bad)
			w.outcomes(got, err, code)
			if code == done {
				stored = with(k, attrs{"n": n("2"), "m:b": b("2")})
			}
			w.stored(stored)
		},
		"each form of condition, held and not": func(w *table) {
			for i, c := range []struct {
				condition string
				with      []types.AttributeValue
				holds     bool
			}{
				{`"m:lane" < ?`, some(b("6")), true}, {`"m:lane" < ?`, some(b("5")), false}, {`"m:lane" < ?`, some(n("9")), false},
				{`"none" < ?`, some(b("6")), false},
				{`"v" > ?`, some(n("1")), true}, {`"v" > ?`, some(n("2")), false}, {`"v" >= ?`, some(n("2")), true},
				{`"v" >= ?`, some(n("2.5")), false},
				{`"v" <= ?`, some(n("2")), true}, {`"v" <= ?`, some(n("1.5")), false}, {`"m:lane" = ?`, some(b("5")), true},
				{`"m:lane" = ?`, some(b("51")), false},
				{`"none" = ?`, some(b("5")), false}, {`"none" IS MISSING`, nil, true}, {`"v" IS MISSING`, nil, false},
				{`"v" IS NOT MISSING`, nil, true}, {`"none" IS NOT MISSING`, nil, false},
				{below, some(b("6")), true}, {below, some(b("5")), false}, {`("none" IS MISSING OR "none" < ?)`, some(b("5")), true},
				{`("v" IS MISSING OR "v" > ?)`, some(n("1")), true}, {`("text" IS MISSING OR "text" < ?)`, some(n("1")), false},
			} {
				k := w.key(strings.Repeat("x", i+1))
				stored := with(k, attrs{"v": n("2"), "m:lane": b("5"), "text": s("1")})
				w.put(stored)
				got, err := w.execute(w.change(k, `SET "v" = v + ?`, some(n("1")), c.condition, c.with...))
				want := conditionFailed
				if c.holds {
					want, stored["v"] = done, n("3")
				}
				w.outcomes(got, err, want)
				w.image(got[0].Error, stored)
				w.stored(stored)
			}
		},
		"each statement stands alone": func(w *table) {
			counted := w.item("counted", attrs{"n": n("1"), "m:lane": b("7")})
			w.put(counted)
			for _, sk := range []string{"first", "last", "taken"} {
				w.put(w.item(sk, attrs{"n": n("1")}))
			}
			step := func(sk string) types.BatchStatementRequest {
				return w.change(w.key(sk), `SET "n" = n + ?, "m:lane" = ?`, some(n("1"), b("6")), below, b("5"))
			}
			got, err := w.execute(step("first"), w.insert(w.item("new", attrs{"n": n("1")})), step("counted"), step("absent"),
				w.insert(w.key("taken")), step("last"))
			w.outcomes(got, err, done, done, conditionFailed, conditionFailed, duplicate, done)
			w.image(got[2].Error, counted)
			if item := got[3].Error.Item; len(item) > 0 {
				w.Errorf("an image of what is not there: %s", show(item))
			}
			w.stored(w.item("first", attrs{"n": n("2"), "m:lane": b("6")}))
			w.stored(w.item("last", attrs{"n": n("2"), "m:lane": b("6")}))
			w.stored(w.item("new", attrs{"n": n("1")}))
			w.stored(counted)
			w.absent(w.key("absent"))
		},
		"an item that is not there": func(w *table) {
			k := w.key("-")
			for _, condition := range []string{"", `"v" IS MISSING`, below} {
				var ifs []types.AttributeValue
				if condition == below {
					ifs = some(b("1"))
				}
				got, err := w.execute(w.change(k, `SET "v" = ?`, some(n("1")), condition, ifs...))
				w.outcomes(got, err, conditionFailed)
			}
			w.absent(k)
		},
		"a sum with a missing attribute": func(w *table) {
			k := w.key("-")
			w.put(k)
			got, err := w.execute(w.change(k, `SET "v" = v + ?`, some(n("1")), ""), w.insert(w.key("beside")))
			code := pick(w, h, "a sum with a missing attribute", bad, done)
			w.outcomes(got, err, code, done)
			if code == done {
				k["v"] = n("1")
			}
			w.stored(k)
			w.stored(w.key("beside"))
		},
		"an impossible statement fails alone": func(w *table) {
			mistyped, full := w.item("mistyped", attrs{"v": s("x")}), w.key("full")
			w.put(mistyped)
			w.put(with(full, attrs{"data": s(strings.Repeat("x", maxItem-len("PKSKdatafull")-len(w.pk())))}))
			many := w.item("many", attrs{"v": n("99999999999999999999999999999999999999")})
			w.put(many)
			w.put(w.key("first"))
			gone := w.in(w)
			gone.name = w.name + "-gone"
			broken := w.change(w.key("first"), `SET "v" = `, nil, "")
			got, err := w.execute(
				w.change(w.key("first"), `SET "v" = ?`, some(n("1")), ""),
				w.change(w.key("mistyped"), `SET "v" = v + ?`, some(n("1")), ""),
				w.change(full, `SET "v" = ?`, some(n("1")), ""),
				w.change(w.key("many"), `SET "v" = v + ?`, some(n("1.5")), ""),
				broken,
				gone.change(w.key("first"), `SET "v" = ?`, some(n("1")), ""),
				w.change(w.key("index"), `SET "count" = count + ?`, some(n("1")), ""))
			w.outcomes(got, err, done, bad, bad, bad, bad, noTable, pick(w, h, "a reserved word without quotes", bad, conditionFailed))
			w.stored(w.item("first", attrs{"v": n("1")}))
			w.stored(mistyped)
			w.stored(many)
		},
		"values in the text, and a name that only expressions reserve": func(w *table) {
			stored := w.item("-", attrs{"n": n("5")})
			w.put(stored)
			where := ` WHERE PK = '` + w.pk() + `' AND SK = '-'`
			got, err := w.execute(
				types.BatchStatementRequest{Statement: aws.String(`UPDATE "` + w.name + `" SET data = 'it''s', yes = TRUE, n = n + 1` +
					where + ` AND n = 5`)},
				types.BatchStatementRequest{Statement: aws.String(`INSERT INTO "` + w.name + `" VALUE {'PK': '` + w.pk() +
					`', 'SK': 'new', 'n': 1.5, 'data': '', 'no': false}`)})
			w.outcomes(got, err, done, done)
			w.stored(with(stored, attrs{"n": n("6"), "data": s("it's"), "yes": yes(true)}))
			w.stored(w.item("new", attrs{"n": n("1.5"), "data": s(""), "no": yes(false)}))
			got, err = w.execute(types.BatchStatementRequest{Statement: aws.String(`UPDATE "` + w.name + `" SET data = 'x'` + where +
				` AND n <> 6`)})
			w.outcomes(got, err, conditionFailed)
		},
		"a reserved word in quotes": func(w *table) {
			stored := w.item("-", attrs{"count": n("1")})
			w.put(stored)
			got, err := w.execute(w.change(w.key("-"), `SET "count" = "count" + ?`, some(n("1")), `"count" >= ?`, n("1")))
			code := pick(w, h, "a quoted name in a sum", done, bad)
			w.outcomes(got, err, code)
			if code == done {
				stored["count"] = n("2")
			}
			w.stored(stored)
		},
		"a key that is not named whole": func(w *table) {
			stored := w.item("-", attrs{"v": n("1")})
			w.put(stored)
			for _, where := range []string{"PK = ?", "PK = ? AND SK = ? OR v = ?"} {
				got, err := w.execute(types.BatchStatementRequest{Statement: aws.String(`UPDATE "` + w.name + `" SET v = ? WHERE ` + where),
					Parameters: some(n("2"), s(w.pk()), s("-"), n("1"))[:1+strings.Count(where, "?")]})
				w.outcomes(got, err, bad)
			}
			w.stored(stored)
		},
		"one item twice in a request": func(w *table) {
			w.put(w.key("1"))
			_, err := w.execute(w.change(w.key("1"), `SET "v" = ?`, some(n("1")), ""),
				w.change(w.key("1"), `SET "w" = ?`, some(n("1")), ""))
			refused(w, err, "ValidationException")
			_, err = w.execute(w.insert(w.key("2")), w.change(w.key("2"), `SET "w" = ?`, some(n("1")), ""))
			refused(w, err, "ValidationException")
		},
		"an invalid number": func(w *table) {
			w.put(w.item("1", attrs{"v": n("1")}))
			// The number is read with the request.
			for _, v := range []string{"123456789012345678901234567890123456789", "x", "1e126"} {
				_, err := w.execute(w.insert(w.key("first")), w.change(w.key("1"), `SET "v" = v + ?`, some(n(v)), ""))
				refused(w, err, "ValidationException")
			}
			w.stored(w.item("1", attrs{"v": n("1")}))
			w.absent(w.key("first"))
		},
		"names with all kinds of characters": func(w *table) {
			k := w.key("-")
			w.put(with(k, attrs{"m:AbC-_9": b("1"), "m:old": b("1")}))
			got, err := w.execute(w.change(k, `SET "m:AbC-_9" = ? REMOVE "m:old"`, some(b("3")),
				`("m:AbC-_9" IS MISSING OR "m:AbC-_9" < ?) AND "m:old" = ?`, b("2"), b("1")))
			w.outcomes(got, err, done)
			w.stored(with(k, attrs{"m:AbC-_9": b("3")}))
		},
	})
}
