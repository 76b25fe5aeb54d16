package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// insert returns one of the store's statements, with one parameter for each attribute.
func (w *table) insert(item attrs) types.BatchStatementRequest {
	var parameters []types.AttributeValue
	names := slices.Sorted(maps.Keys(item))
	for _, name := range names {
		parameters = append(parameters, item[name])
	}
	return types.BatchStatementRequest{Parameters: parameters, ReturnValuesOnConditionCheckFailure: allOld,
		Statement: aws.String(`INSERT INTO "` + w.name + `" VALUE {'` + strings.Join(names, "': ?, '") + `': ?}`)}
}

func (w *table) execute(all ...types.BatchStatementRequest) ([]types.BatchStatementResponse, error) {
	out, err := w.db.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: all})
	if err != nil {
		return nil, err
	}
	if len(out.Responses) != len(all) {
		w.Fatalf("%d responses to %d statements", len(out.Responses), len(all))
	}
	return out.Responses, nil
}

// outcomes asserts the error code of each statement. An empty code means that the statement was
// done.
func (w *table) outcomes(got []types.BatchStatementResponse, err error, want ...types.BatchStatementErrorCodeEnum) {
	w.Helper()
	held(w, err)
	for i, r := range got {
		var is types.BatchStatementErrorCodeEnum
		if r.Error != nil {
			is = r.Error.Code
		}
		if is != want[i] {
			w.Errorf("statement %d: %q, want %q", i, is, want[i])
		}
	}
}

const (
	done      types.BatchStatementErrorCodeEnum = ""
	duplicate                                   = types.BatchStatementErrorCodeEnumDuplicateItem
	bad                                         = types.BatchStatementErrorCodeEnumValidationError
	noTable                                     = types.BatchStatementErrorCodeEnumResourceNotFound
)

func statements(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"twenty-five new items": func(w *table) {
			var all []types.BatchStatementRequest
			var items []attrs
			for i := range 25 {
				item := with(w.key(fmt.Sprint(i)),
					attrs{"type": s("order"), "digest": b(fmt.Sprint("\xff", i)), "epoch": n("1"), "live": yes(true),
						"meta": m(attrs{"source": s("it's")}), "data": s(fmt.Sprintf(`{"order":%d,"text":"\"?' %s"}`, i, "ü"))})
				items, all = append(items, item), append(all, w.insert(item))
			}
			got, err := w.execute(all...)
			w.outcomes(got, err, make([]types.BatchStatementErrorCodeEnum, 25)...)
			for i, item := range items {
				w.stored(item)
				if got := aws.ToString(got[i].TableName); got != w.name {
					w.Errorf("response %d names table %q", i, got)
				}
			}
		},
		"some are taken": func(w *table) {
			first := w.item("1", attrs{"v": n("1")})
			w.put(first)
			got, err := w.execute(w.insert(w.key("0")), w.insert(w.item("1", attrs{"v": n("2")})),
				w.insert(w.key("2")))
			w.outcomes(got, err, done, duplicate, done)
			w.stored(first)
			w.stored(w.key("2"))
			if image := got[1].Error.Item; len(image) > 0 { // an image is not promised; if there is one, it is the stored item
				w.same("image of the duplicate", image, first)
			}
		},
		"all are taken": func(w *table) {
			w.put(w.key("1"))
			got, err := w.execute(w.insert(w.key("1")))
			w.outcomes(got, err, duplicate)
		},
		"one item twice in a request": func(w *table) {
			_, err := w.execute(w.insert(w.key("1")), w.insert(w.key("2")),
				w.insert(w.item("1", attrs{"v": n("1")})))
			refused(w, err, "ValidationException")
			written := pick(w, h, "one item twice in a batch of statements", false, true)
			if got := w.get(w.key("2")); (len(got) > 0) != written {
				w.Errorf("the other statement's item: %s", show(got))
			}
		},
		"an impossible statement fails alone": func(w *table) {
			gone := w.in(w)
			gone.name = w.name + "-gone"
			broken := w.insert(w.key("broken"))
			broken.Statement = aws.String("INSERT INTO")
			got, err := w.execute(
				w.insert(w.key("first")),
				w.insert(w.item("large", attrs{"data": s(strings.Repeat("x", maxItem))})),
				w.insert(w.key(strings.Repeat("s", 1025))),
				w.insert(w.key("")),
				w.insert(w.item("index", attrs{"GSI1PK": n("1"), "GSI1SK": s("1")})),
				w.insert(attrs{"PK": s(w.pk())}),
				w.insert(w.key("last")))
			w.outcomes(got, err, done, bad, bad, bad, bad, bad, done)
			w.stored(w.key("first"))
			w.stored(w.key("last"))
			w.absent(w.key("large"))
		},
		"a statement that is not PartiQL fails alone": func(w *table) {
			broken := w.insert(w.key("broken"))
			broken.Statement = aws.String(`INSERT INTO "` + w.name + `" VALUE {'PK'`)
			got, err := w.execute(w.insert(w.key("first")), broken)
			w.outcomes(got, err, done, bad)
			w.stored(w.key("first"))
		},
		"a table that is not there fails alone": func(w *table) {
			gone := w.in(w)
			gone.name = w.name + "-gone"
			got, err := w.execute(w.insert(w.key("1")), gone.insert(w.key("1")))
			w.outcomes(got, err, done, noTable)
			w.stored(w.key("1"))
		},
		"the largest item, and one item of each type": func(w *table) {
			rest := maxItem - len("PK") - len(w.pk()) - len("SK") - len("1") - len("data")
			types := w.item("2", attrs{"revision": n("-12345678901234567890123456789012345678"), "digest": b("\x00"),
				"live": yes(false), "empty": s(""), "meta": m(attrs{"a": m(attrs{"b": n("1.50")})})})
			got, err := w.execute(w.insert(w.item("1", attrs{"data": s(strings.Repeat("x", rest))})), w.insert(types))
			w.outcomes(got, err, done, done)
			types["meta"] = m(attrs{"a": m(attrs{"b": n(pick(w, h, "numbers inside a map of a statement", "1.5", "1.50"))})})
			w.stored(types)
		},
		"an invalid number": func(w *table) {
			// The number is read with the request.
			for _, v := range []types.AttributeValue{n("123456789012345678901234567890123456789"), n("x"), n("1e126"),
				m(attrs{"a": n("x")})} {
				_, err := w.execute(w.insert(w.key("first")), w.insert(w.item("number", attrs{"v": v})))
				refused(w, err, "ValidationException")
			}
			w.absent(w.key("first"))
		},
		"a statement of over 8,192 characters": func(w *table) {
			item := w.key("1")
			for i := range 9 {
				item[strings.Repeat("x", 1000)+fmt.Sprint(i)] = n("1")
			}
			_, err := w.execute(w.insert(w.key("first")), w.insert(item))
			refused(w, err, pick(w, h, "a statement that is too long", "ValidationException", ""))
			if got, written := w.get(w.key("first")), err == nil; (len(got) > 0) != written {
				w.Errorf("the other statement's item: %s", show(got))
			}
		},
		"too many and none": func(w *table) {
			var all []types.BatchStatementRequest
			for i := range 26 {
				all = append(all, w.insert(w.key(fmt.Sprint(i))))
			}
			_, err := w.execute(all...)
			refused(w, err, "ValidationException")
			w.absent(w.key("0"))
			_, err = w.db.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{}})
			refused(w, err, "ValidationException")
		},
	})
}
