package embedded_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const insertText = `INSERT INTO "events" VALUE {'PK': ?, 'SK': ?, 'v': ?}`

func insert(pk, sk, v string) types.BatchStatementRequest {
	return types.BatchStatementRequest{Statement: aws.String(insertText), Parameters: []types.AttributeValue{s(pk), s(sk), s(v)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
}

func (w *world) batch(statements ...types.BatchStatementRequest) (*dynamodb.BatchExecuteStatementOutput, error) {
	return w.db.BatchExecuteStatement(background, &dynamodb.BatchExecuteStatementInput{Statements: statements,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes})
}

func updating(pk, text string, parameters ...types.AttributeValue) types.BatchStatementRequest {
	return types.BatchStatementRequest{Statement: aws.String(text), Parameters: parameters,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
}

// TestStatementRefusals has what the contract leaves out.
func TestStatementRefusals(t *testing.T) {
	w := newWorld(t)
	for pk := range 20 {
		w.put(item(fmt.Sprint(pk), "-", attrs{"a": n("1")}))
	}
	for i, tt := range []struct {
		text       string // the text around WHERE PK = ? AND SK = ?
		parameters []types.AttributeValue
		want       string
	}{
		{`INSRT INTO x`, nil, "Statement wasn't well formed, can't be processed: Expected an INSERT or UPDATE statement"},
		{insertText, []types.AttributeValue{s("a")}, "Number of parameters in request and statement don't match."},
		{`UPDATE events SET SK = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{s("x"), s("2"), s("-")},
			"One or more parameter values were invalid: Cannot update attribute SK. This attribute is part of the key"},
		{`UPDATE events SET a = ?, a = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), n("1"), s("3"), s("-")},
			"Invalid UpdateExpression: Two document paths overlap"},
		{`UPDATE events SET a = ? REMOVE a WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), s("4"), s("-")},
			"Invalid UpdateExpression: Two document paths overlap"},
		{`UPDATE events SET a = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), s("5")},
			"Number of parameters in request and statement don't match."},
		{`UPDATE events SET a = ?`, []types.AttributeValue{n("1")}, "Statement wasn't well formed, can't be processed: Expected WHERE"},
		{`UPDATE events SET count = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), s("7"), s("-")},
			"Statement wasn't well formed, can't be processed: Expected the name of an attribute"},
		{`UPDATE events REMOVE a, b WHERE PK = ? AND SK = ?`, []types.AttributeValue{s("8"), s("-")},
			"Statement wasn't well formed, can't be processed: Expected WHERE"},
		{`UPDATE events SET a = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), s("11"), n("1")},
			"The provided key element does not match the schema"},
		{`UPDATE events SET a = a + ? WHERE PK = ? AND SK = ? AND a < ?`,
			[]types.AttributeValue{n("1"), s("12"), s("-"), &types.AttributeValueMemberBOOL{}},
			"Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{`UPDATE events SET a = a + ? WHERE PK = ? AND SK = ? AND (b = ? OR a = a)`,
			[]types.AttributeValue{n("1"), s("14"), s("-"), n("1")}, "The first operand must be distinct from the remaining operands"},
		{`UPDATE events SET GSI1PK = ? WHERE PK = ? AND SK = ?`, []types.AttributeValue{n("1"), s("13"), s("-")},
			"One or more parameter values were invalid: Type mismatch for Index Key GSI1PK"},
	} {
		out, err := w.batch(updating("", tt.text, tt.parameters...), insert(fmt.Sprint("beside ", i), "1", "x"))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if e := out.Responses[0].Error; e == nil || e.Code != types.BatchStatementErrorCodeEnumValidationError ||
			!strings.HasPrefix(*e.Message, tt.want) {
			t.Errorf("%s: %+v, want %s", tt.text, e, tt.want)
		}
		if out.Responses[1].Error != nil {
			t.Errorf("%s: the statement beside it: %v", tt.text, out.Responses[1].Error)
		}
	}
	for pk := range 20 {
		must.Match(t, w.get(fmt.Sprint(pk), "-"), item(fmt.Sprint(pk), "-", attrs{"a": n("1")}), pk)
	}
	for _, text := range []string{"", strings.Repeat("x", 8193)} {
		_, err := w.batch(insert("fine", "-", "x"), updating("1", text))
		expectInvalid(t, err, "at 'statements.2.member.statement' failed to satisfy constraint: Member must have length")
	}
	if w.get("fine", "-") != nil {
		t.Error("a statement beside an empty one was carried out")
	}
	for text, what := range map[string]string{
		`UPDATE events SET a = a + b + ? WHERE PK = ? AND SK = ?`:             "+ in this place of a PartiQL statement",
		`UPDATE events SET a = a * ? WHERE PK = ? AND SK = ?`:                 "* in this place of a PartiQL statement",
		`UPDATE events SET a = (a + ?) WHERE PK = ? AND SK = ?`:               "( in this place of a PartiQL statement",
		`UPDATE events SET a = ? WHERE PK = ? AND SK = ? -- note`:             "-- in this place of a PartiQL statement",
		`UPDATE events /* note */ SET a = ? WHERE PK = ? AND SK = ?`:          "/* in this place of a PartiQL statement",
		`UPDATE events SET a = ? WHERE PK = ? AND SK = ?;`:                    "; in this place of a PartiQL statement",
		`UPDATE events SET a = ? WHERE PK = ? AND SK = ? AND 5 = 5`:           "a comparison of two values in a PartiQL UPDATE",
		`UPDATE events SET a = <<1>> WHERE PK = ? AND SK = ?`:                 "a list, map, set or Ion value in a PartiQL statement",
		`FROM events WHERE PK = ? AND SK = ? SET a = ?`:                       "PartiQL FROM",
		`UPDATE events SET a = ? WHERE NOT a = ?`:                             "PartiQL NOT",
		`UPDATE events SET a = ? WHERE a BETWEEN ? AND ?`:                     "PartiQL BETWEEN",
		`UPDATE events SET a = ? WHERE PK = ? AND SK = ? RETURNING ALL NEW *`: "PartiQL RETURNING",
		`UPDATE events SET a = ? WHERE a IS NULL`:                             "IS without MISSING in a PartiQL UPDATE",
		`UPDATE events SET a = if_not_exists(a, ?) WHERE PK = ?`:              "a path or function in a PartiQL UPDATE",
		`UPDATE events SET a = ? WHERE ` + strings.Repeat("(", 400):           "a PartiQL condition that is nested so deeply",
		`SELECT * FROM "events" WHERE PK = ?`:                                 "PartiQL SELECT",
		`INSERT INTO "events" VALUE {'PK': 'a', 'SK': ['x']}`:                 "a list, map, set or Ion value in a PartiQL statement",
	} {
		_, err := w.batch(updating("", text))
		expectUnsupported(t, err, "embedded: BatchExecuteStatement: "+what+" is not supported")
	}
}

// TestStatementValues writes values into the text of statements, and names that only expressions
// reserve without quotes.
func TestStatementValues(t *testing.T) {
	w := newWorld(t)
	run := func(text string, parameters ...types.AttributeValue) error {
		_, err := w.db.ExecuteStatement(background, &dynamodb.ExecuteStatementInput{Statement: &text, Parameters: parameters})
		return err
	}
	held(t, run(
		`INSERT INTO events VALUE {'PK': 'a', 'SK': '-', 'n': 5, 't': 'it''s', 'yes': TRUE, 'no': false, 'nil': null, 'e': '', 'p': ?}`,
		s("given")))
	want := item("a", "-",
		attrs{"n": n("5"), "t": s("it's"), "yes": &types.AttributeValueMemberBOOL{Value: true}, "no": &types.AttributeValueMemberBOOL{},
			"nil": &types.AttributeValueMemberNULL{Value: true}, "e": s(""), "p": s("given")})
	if got := w.get("a", "-"); !reflect.DeepEqual(got, want) {
		t.Fatalf("stored %v, want %v", got, want)
	}
	for _, tt := range []struct {
		set, where string
		with       []types.AttributeValue
		want       attrs // nil: the condition does not hold
	}{
		{`data = 'x'`, ``, nil, attrs{"data": s("x")}},
		{`status = ?, data = -1.50e1`, ``, []types.AttributeValue{s("y")}, attrs{"status": s("y"), "data": n("-15")}},
		{`n = n + 1`, `n = 5`, nil, attrs{"n": n("6")}},
		{`n = 10 - n, copy = n`, `5 < n AND n != 7`, nil, attrs{"n": n("4"), "copy": n("6")}},
		{`data = 'z'`, `n > copy`, nil, nil},
		{`data = 'z'`, `n < copy AND t = 'it''s'`, nil, attrs{"data": s("z")}},
		{`data = 'q'`, `? = n`, []types.AttributeValue{n("5")}, nil},
	} {
		where := ` WHERE 'a' = PK AND SK = '-'`
		if tt.where != "" {
			where += " AND " + tt.where
		}
		err := run(`UPDATE events SET `+tt.set+where, tt.with...)
		var failed *types.ConditionalCheckFailedException
		if errors.As(err, &failed) != (tt.want == nil) || (err != nil && tt.want != nil) {
			t.Errorf("%s where %s: %v", tt.set, tt.where, err)
		}
		for name, v := range tt.want {
			want[name] = v
		}
		must.Match(t, w.get("a", "-"), want, tt.set, tt.where)
	}
	if err := run(`UPDATE events SET n = ? WHERE PK = 'a' AND SK = '-'`, n("7"), n("8")); err != nil {
		t.Errorf("a parameter that the statement does not have: %v", err)
	}
	for text, message := range map[string]string{
		`UPDATE events SET n = 'x WHERE PK = 'a'`: "Statement wasn't well formed, can't be processed: Expected WHERE",
		`UPDATE events SET n = 'x`: "Statement wasn't well formed, can't be processed: A " +
			"text has no end",
		`UPDATE events SET n = 5x WHERE PK = 'a' AND SK = '-'`: "Statement wasn't well formed, can't be processed: Unexpected " +
			"text after a number",
		`UPDATE events SET n = 1e126 WHERE PK = 'a' AND SK = '-'`: "Number overflow",
		`UPDATE events SET n = 1 WHERE PK = 'a' AND SK = 5`:       "The provided key element does not match the schema",
		`UPDATE events SET n = count WHERE PK = 'a' AND SK = '-'`: "Statement wasn't well formed, can't be processed: Expected the " +
			"name of an attribute",
		`INSERT INTO events VALUE {'PK': 'b', 'SK': '-', 'n': n}`: "Statement wasn't well formed, can't be processed: Expected a " +
			"value after 'n':",
		`INSERT INTO events VALUE {'PK': 'b', 'SK': '-', 'n': 1e126}`: "Number overflow",
		`INSERT INTO events VALUE {'PK': 'b', 'SK': ''}`:              "One or more parameter values are not valid.",
		`INSERT INTO events VALUE {'PK': 'b', 'SK': '-', 'n': MISSING}`: "Statement wasn't well formed, can't be processed: Expected a " +
			"value after 'n':",
	} {
		expectInvalid(t, run(text), message)
	}
}

func TestExecuteUpdate(t *testing.T) {
	w := newWorld(t)
	w.put(item("a", "-", attrs{"a": n("1")}))
	in := &dynamodb.ExecuteStatementInput{Statement: aws.String(
		`UPDATE events SET a = a - ? WHERE (a >= ? OR a IS MISSING) AND PK = ? AND SK = ?`),
		Parameters:                          []types.AttributeValue{n("1.5"), n("1"), s("a"), s("-")},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if _, err := w.db.ExecuteStatement(background, in); err != nil || number(w.get("a", "-")["a"]) != "-0.5" {
		t.Fatalf("%v, %v", w.get("a", "-"), err)
	}
	var failed *types.ConditionalCheckFailedException
	if _, err := w.db.ExecuteStatement(background, in); !errors.As(err, &failed) || number(failed.Item["a"]) != "-0.5" {
		t.Errorf("again: %v", err)
	}
}

func TestExecuteStatement(t *testing.T) {
	w := newWorld(t)
	in := &dynamodb.ExecuteStatementInput{Statement: aws.String("insert into events value {'PK':?,'SK':?,'it''s':?}"),
		Parameters: []types.AttributeValue{s("a"), s("1"), n("1.0")}}
	if _, err := w.db.ExecuteStatement(background, in); err != nil || number(w.get("a", "1")["it's"]) != "1" {
		t.Fatalf("%v, %v", w.get("a", "1"), err)
	}
	var dup *types.DuplicateItemException
	if _, err := w.db.ExecuteStatement(background, in); !errors.As(err, &dup) {
		t.Errorf("again: %v", err)
	}
}

func (w *world) transact(token string, items ...types.TransactWriteItem) (*dynamodb.TransactWriteItemsOutput, error) {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	if token != "" {
		in.ClientRequestToken = aws.String(token)
	}
	return w.db.TransactWriteItems(background, in)
}

func txPut(pk string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String("events"), Item: item(pk, "1", attrs{"v": n("1")}),
		ConditionExpression:                 aws.String("attribute_not_exists(PK)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}}
}

func txAdd(pk, by string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: aws.String("events"), Key: key(pk, "1"),
		UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: attrs{":n": n(by)}}}
}

func TestTransactionRefusals(t *testing.T) {
	w := newWorld(t)
	_, err := w.transact("", txPut("a"), txAdd("a", "1"))
	expectInvalid(t, err, "Transaction request cannot include multiple operations on one item")
	_, err = w.transact("", make([]types.TransactWriteItem, 101)...)
	expectInvalid(t, err, "between 1 and 100")
	_, err = w.transact("", types.TransactWriteItem{})
	expectInvalid(t, err, "TransactItems can only contain one of")
	_, err = w.transact(strings.Repeat("x", 37), txPut("a"))
	expectInvalid(t, err, "clientRequestToken")
	update := func(text, condition string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: aws.String("events"), Key: key("b", "1"), UpdateExpression: &text,
			ConditionExpression:       &condition,
			ExpressionAttributeValues: attrs{":v": s("x"), ":yes": &types.AttributeValueMemberBOOL{Value: true}}}}
	}
	_, err = w.transact("", txPut("a"), update("SET a = :v", "a = :v AND b < :yes"))
	expectInvalid(t, err, "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL")
	_, err = w.transact("", txPut("a"), update("SET PK = :v", "b = :yes"))
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[1].Code != "ValidationError" ||
		!strings.HasPrefix(*cancelled.CancellationReasons[1].Message,
			"One or more parameter values were invalid: Cannot update attribute PK.") {
		t.Errorf("an update of the key: %v", err)
	}
}

func TestClientRequestToken(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		_, err := w.transact("token", txAdd("sum", "1"))
		held(t, err)
	}
	must.Equal(t, number(w.get("sum", "1")["v"]), "1")
	var mismatch *types.IdempotentParameterMismatchException
	if _, err := w.transact("token", txAdd("sum", "2")); !errors.As(err, &mismatch) {
		t.Errorf("other request under the same token: %v", err)
	}
	w.clock.advance(10 * time.Minute)
	if _, err := w.transact("token", txAdd("sum", "1")); err != nil || number(w.get("sum", "1")["v"]) != "2" {
		t.Errorf("after ten minutes it is a new request: %v, %v", w.get("sum", "1")["v"], err)
	}
}
