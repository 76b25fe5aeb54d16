package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// held ends the test if a call that must succeed did not.
func held(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expectInvalid asserts a ValidationException as the SDK would return it.
func expectInvalid(t *testing.T, err error, text string) {
	t.Helper()
	var api smithy.APIError
	var op *smithy.OperationError
	if !errors.As(err, &api) || !errors.As(err, &op) || api.ErrorCode() != "ValidationException" ||
		!strings.Contains(api.ErrorMessage(), text) {
		t.Errorf("got %v; want a ValidationException with %q in an OperationError", err, text)
	}
}

func expectUnsupported(t *testing.T, err error, want string) {
	t.Helper()
	var u *embedded.UnsupportedError
	if !errors.As(err, &u) || u.Error() != want {
		t.Errorf("got %v; want %q", err, want)
	}
}

func (w *world) update(in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	in.TableName = aws.String("events")
	if in.Key == nil {
		in.Key = key("a", "1")
	}
	return w.db.UpdateItem(background, in)
}

func number(v types.AttributeValue) string {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return fmt.Sprint(v)
}

// TestStoredItemsAreApart shows that changes that a caller makes to its input, or to the map of an
// answer, do not reach the store.
func TestStoredItemsAreApart(t *testing.T) {
	w := newWorld(t)
	mutable, raw := &types.AttributeValueMemberS{Value: "before"}, []byte("before")
	it := item("a", "1", attrs{"t": mutable, "r": &types.AttributeValueMemberB{Value: raw}})
	w.put(it)
	mutable.Value, raw[0] = "after", 'X'
	got := w.get("a", "1")
	delete(got, "t")
	got = w.get("a", "1")
	must.Equal(t, got["t"].(*types.AttributeValueMemberS).Value, "before")
	must.Equal(t, string(got["r"].(*types.AttributeValueMemberB).Value), "before")
}

// TestPutRefusals has what the contract leaves out.
func TestPutRefusals(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		item attrs
		want string
	}{
		"index key type": {item("a", "1", attrs{"GSI1PK": n("1")}),
			"Type mismatch for Index Key GSI1PK Expected: S Actual: N IndexName: GSI1"},
		"empty index key": {item("a", "1", attrs{"GSI1SK": s("")}), "IndexName: GSI1, IndexKey: GSI1SK"},
		"nil value":       {item("a", "1", attrs{"v": nil}), "Supplied AttributeValue is empty"},
		"false NULL inside": {item("a", "1", attrs{"v": list(&types.AttributeValueMemberNULL{})}),
			"Null attribute value types must have the value of true"},
		"0 too large":       {item("a", "1", attrs{"v": n("0e126")}), "Number overflow"},
		"0 too small":       {item("a", "1", attrs{"v": n("-0E-131")}), "Number underflow"},
		"nested too deeply": {item("a", "1", attrs{"v": nested(32, s("x"))}), "Nesting Levels have exceeded supported limits"},
		"an empty map too": {item("a", "1", attrs{"v": nested(31, &types.AttributeValueMemberM{})}),
			"Nesting Levels have exceeded supported limits"},
		"no name":          {item("a", "1", attrs{"": s("x")}), "Empty attribute name"},
		"no name in a map": {item("a", "1", attrs{"v": &types.AttributeValueMemberM{Value: attrs{"": s("x")}}}), "Empty attribute name"},
		"long name": {item("a", "1", attrs{strings.Repeat("x", 65536): s("x")}),
			"Attribute name is too large, must be less than 65536 bytes"},
		"empty BS": {item("a", "1", attrs{"v": &types.AttributeValueMemberBS{}}), "Binary sets should not be empty"},
	} {
		_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: tt.item})
		t.Run(name, func(t *testing.T) { expectInvalid(t, err, tt.want) })
	}
	w.put(item("a", "1", attrs{"v": nested(31, s("x")), "w": n("0e125"), "x": n("0E-130"), strings.Repeat("x", 65535): s("")}))
}

func list(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: v}
}

// nested returns a value inside so many lists and maps.
func nested(depth int, v types.AttributeValue) types.AttributeValue {
	for i := range depth {
		if i%2 == 0 {
			v = list(v)
		} else {
			v = &types.AttributeValueMemberM{Value: attrs{"a": v}}
		}
	}
	return v
}

// TestForms sends requests whose form is wrong, so that the engine need not look at any table.
func TestForms(t *testing.T) {
	w := newWorld(t)
	const words = "failed to satisfy constraint: Member must satisfy enum value set: "
	put := func(change func(*dynamodb.PutItemInput)) error {
		in := &dynamodb.PutItemInput{TableName: aws.String("nosuch"), Item: key("a", "1")}
		change(in)
		_, err := w.db.PutItem(background, in)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"ReturnValues": {put(func(in *dynamodb.PutItemInput) { in.ReturnValues = "X" }),
			"1 validation error detected: Value 'X' at 'returnValues' " + words + "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"},
		"ReturnConsumedCapacity": {put(func(in *dynamodb.PutItemInput) { in.ReturnConsumedCapacity = "total" }),
			"1 validation error detected: Value 'total' at 'returnConsumedCapacity' " + words + "[INDEXES, TOTAL, NONE]"},
		"ReturnValuesOnConditionCheckFailure": {put(func(in *dynamodb.PutItemInput) { in.ReturnValuesOnConditionCheckFailure = "ALL_NEW" }),
			"1 validation error detected: Value 'ALL_NEW' at 'returnValuesOnConditionCheckFailure' " + words + "[ALL_OLD, NONE]"},
		"three at once": {put(func(in *dynamodb.PutItemInput) {
			in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, in.ReturnValues = "X", "X", "X"
		}), "3 validation errors detected: Value 'X' at 'returnConsumedCapacity'"},
		"a table beside others": {put(func(in *dynamodb.PutItemInput) { in.TableName, in.ReturnValues = aws.String("bad!"), "X" }),
			"1 validation error detected: Value 'bad!' at 'tableName' failed to satisfy constraint: Member must satisfy regular " +
				"expression pattern: [a-zA-Z0-9_.-]+"},
		"no table": {put(func(in *dynamodb.PutItemInput) {
			in.TableName = nil
		}), "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null"},
		"an empty name": {put(func(in *dynamodb.PutItemInput) { in.TableName = aws.String("") }),
			"1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than " +
				"or equal to 1"},
		"a short name": {put(func(in *dynamodb.PutItemInput) {
			in.TableName = aws.String("ab")
		}), "Member must have length greater than or equal to 3"},
		"a long name": {put(func(in *dynamodb.PutItemInput) {
			in.TableName = aws.String(strings.Repeat("a", 256))
		}), "Member must have length less than or equal to 255"},
		"UpdateItem names one": {func() error {
			_, err := w.db.UpdateItem(background, &dynamodb.UpdateItemInput{TableName: aws.String("nosuch"), Key: key("a", "1"),
				ReturnValues: "X", ReturnConsumedCapacity: "X"})
			return err
		}(), "1 validation error detected: Value 'X' at 'return"},
		"deep in a transaction": {func() error {
			_, err := w.transact("", txPut("a"),
				types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("events"), Key: key("b", "1"),
					ReturnValuesOnConditionCheckFailure: "X"}})
			return err
		}(), "Value 'X' at 'transactItems.2.member.delete.returnValuesOnConditionCheckFailure' " + words},
		"a table in a transaction": {func() error {
			_, err := w.transact("", types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("x!"), Key: key("b", "1")}})
			return err
		}(), "Value 'x!' at 'transactItems.1.member.delete.tableName' failed to satisfy constraint"},
		"a table of a batch": {func() error {
			_, err := w.db.BatchGetItem(background,
				&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"": {Keys: []attrs{key("a", "1")}}}})
			return err
		}(), "Value '' at 'requestItems.tableName' failed to satisfy constraint"},
		"no table to make": {func() error { _, err := w.db.CreateTable(background, &dynamodb.CreateTableInput{}); return err }(),
			"The parameter 'TableName' is required but was not present in the request"},
		"a key's type": {func() error {
			in := eventsTable("other").Input()
			in.KeySchema[1].KeyType = "SORT"
			_, err := w.db.CreateTable(background, in)
			return err
		}(), "1 validation error detected: Value 'SORT' at 'keySchema.2.member.keyType' " + words + "[HASH, RANGE]"},
	} {
		t.Run(name, func(t *testing.T) { expectInvalid(t, c.err, c.want) })
	}
	expectUnsupported(t, put(func(in *dynamodb.PutItemInput) {
		in.TableName = aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/events")
	}),
		"embedded: PutItem: a TableName that is an ARN is not supported")
	out, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: key("a", "1"),
		ReturnItemCollectionMetrics: types.ReturnItemCollectionMetricsSize, ReturnValues: types.ReturnValueNone,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityNone})
	if err != nil || out.ItemCollectionMetrics != nil {
		t.Errorf("a table without local indexes has metrics of item collections: %v, %v", out, err)
	}
}

func TestCreateTableMistakes(t *testing.T) {
	w := newWorld(t)
	for want, change := range map[string]func(*dynamodb.CreateTableInput){
		"Table is being created with a stream disabled, UpdateViewType should not be specified": func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification.StreamEnabled = aws.Bool(false)
		},
		"Table is being created with a stream enabled, UpdateViewType must be specified": func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification.StreamViewType = ""
		},
		"List of GlobalSecondaryIndexes is empty": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{}
		},
		"GlobalSecondaryIndex count exceeds the per-table limit of 20": func(in *dynamodb.CreateTableInput) {
			for i := range 20 {
				g := in.GlobalSecondaryIndexes[0]
				g.IndexName = aws.String(fmt.Sprint("more-", i))
				in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, g)
			}
		},
		"ProjectionType is ALL, but NonKeyAttributes is specified": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes = []string{"a"}
		},
		"Value 'ab' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than " +
			"or equal to 3": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].IndexName = aws.String("ab")
		},
		"Value 'a!' at 'tableName' failed to satisfy constraint": func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("a!") },
	} {
		in := eventsTable("other").Input()
		change(in)
		_, err := w.db.CreateTable(background, in)
		t.Run(want, func(t *testing.T) { expectInvalid(t, err, want) })
	}
}

func TestListTables(t *testing.T) {
	w := newWorld(t) // has the table events
	for _, name := range []string{"zebra", "ant"} {
		w.createTable(name)
	}
	out, err := w.db.ListTables(background, &dynamodb.ListTablesInput{})
	if err != nil || !reflect.DeepEqual(out.TableNames, []string{"ant", "events", "zebra"}) || out.LastEvaluatedTableName != nil {
		t.Errorf("all: %+v, %v", out, err)
	}
	out, err = w.db.ListTables(background, &dynamodb.ListTablesInput{Limit: aws.Int32(1), ExclusiveStartTableName: aws.String("ant")})
	if err != nil || !reflect.DeepEqual(out.TableNames, []string{"events"}) || aws.ToString(out.LastEvaluatedTableName) != "events" {
		t.Errorf("one after another: %+v, %v", out, err)
	}
	for want, in := range map[string]*dynamodb.ListTablesInput{
		"Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1":     {Limit: aws.Int32(0)},
		"Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100":    {Limit: aws.Int32(101)},
		"Value 'a!' at 'exclusiveStartTableName' failed to satisfy constraint: Member must satisfy regular expres": {ExclusiveStartTableName: aws.String("a!")},
	} {
		_, err := w.db.ListTables(background, in)
		expectInvalid(t, err, want)
	}
}

func TestUpdate(t *testing.T) {
	w := newWorld(t)
	out, err := w.update(&dynamodb.UpdateItemInput{
		UpdateExpression: aws.String(
			"SET #s = :s, m1 = if_not_exists(m1, :zero) + :two, copy1 = if_not_exists(absent, :s) ADD n1 :two"),
		ExpressionAttributeNames:  map[string]string{"#s": "status"},
		ExpressionAttributeValues: attrs{":s": s("new"), ":two": n("2"), ":zero": n("0")},
		ReturnValues:              types.ReturnValueAllNew,
	})
	held(t, err)
	want := item("a", "1", attrs{"status": s("new"), "m1": n("2"), "copy1": s("new"), "n1": n("2")})
	must.Match(t, out.Attributes, want)
	// Every action sees the item as it was before.
	out, err = w.update(&dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("SET m1 = m1 - :half, copy1 = m1 ADD n1 :half REMOVE #s, absent"),
		ExpressionAttributeNames:  map[string]string{"#s": "status"},
		ExpressionAttributeValues: attrs{":half": n("0.5")}, ReturnValues: types.ReturnValueUpdatedOld,
	})
	held(t, err)
	if want := (attrs{"m1": n("2"), "copy1": s("new"), "n1": n("2"), "status": s("new")}); !reflect.DeepEqual(out.Attributes, want) {
		t.Errorf("UPDATED_OLD %v, want %v", out.Attributes, want)
	}
	if got, want := w.get("a", "1"), item("a", "1", attrs{"m1": n("1.5"), "copy1": n("2"), "n1": n("2.5")}); !reflect.DeepEqual(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
	out, err = w.update(&dynamodb.UpdateItemInput{UpdateExpression: aws.String("ADD n1 :n REMOVE m1"),
		ExpressionAttributeValues: attrs{":n": n("-2.5")}, ReturnValues: types.ReturnValueUpdatedNew})
	if err != nil || !reflect.DeepEqual(out.Attributes, attrs{"n1": n("0")}) {
		t.Errorf("UPDATED_NEW %v, %v", out, err)
	}
	if out, err := w.update(&dynamodb.UpdateItemInput{Key: key("bare", "1")}); err != nil || out.Attributes != nil ||
		len(w.get("bare", "1")) != 2 {
		t.Errorf("update without expression: %v, %v", out, err)
	}
}

func TestUpdateMistakes(t *testing.T) {
	w := newWorld(t)
	w.put(item("a", "1", attrs{"t": s("x"), "big": n("9e125"), "exact": n("1e37"), "blob1": b("x")}))
	values := attrs{":n": n("1"), ":s": s("x")}
	for expr, want := range map[string]string{
		"SET PK = :s":             "Cannot update attribute PK. This attribute is part of the key",
		"SET a1 = :n, a1 = :n":    "Two document paths overlap with each other",
		"SET a1 = :n SET a2 = :n": `The "SET" section can only be used once`,
		"SET a1 = absent":         "refers to an attribute that does not exist in the item",
		"SET a1 = t + :n":         "An operand in the update expression has an incorrect data type",
		"ADD t :n":                "An operand in the update expression has an incorrect data type",
		"ADD blob1 :n":            "An operand in the update expression has an incorrect data type",
		"ADD a1 :s":               "Incorrect operand type for operator or function; operator: ADD, operand type: STRING",
		"INVALID SYNTAX":          `Syntax error; token: "INVALID", near: "INVALID SYNTAX"`,
		"SET a1 = :undefined":     "An expression attribute value used in expression is not defined; attribute value: :undefined",
		"SET count = :n":          "Attribute name is a reserved keyword; reserved keyword: count",
		"SET a1 = nosuch(:n, :n)": "Invalid function name; function: nosuch",
		"REMOVE a1 a2":            `token: "a2"`,
		"SET GSI1PK = :n":         "Type mismatch for Index Key GSI1PK",
		"SET a1 = exact + :n1":    "", // 38 digits, so it fits
		"SET a1 = exact + :tenth": "Attempting to store more than 38 significant digits in a Number",
		"SET a1 = big + :big":     "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"SET a1 = big1":           "refers to an attribute that does not exist",
		"SET " + "a1 = :n, ":      `token: "<EOF>"`,
		"ADD a1 t":                `token: "t"`,
		"SET a1 = :n + ":          `token: "<EOF>"`,
	} {
		in := &dynamodb.UpdateItemInput{UpdateExpression: aws.String(expr), ExpressionAttributeValues: attrs{}}
		for name, v := range values {
			if strings.Contains(expr+" ", name+" ") || strings.Contains(expr, name+",") || strings.Contains(expr, name+")") {
				in.ExpressionAttributeValues[name] = v
			}
		}
		for name, v := range (attrs{":n1": n("1"), ":tenth": n("0.1"), ":big": n("9e125")}) {
			if strings.HasSuffix(expr, name) {
				in.ExpressionAttributeValues[name] = v
			}
		}
		if len(in.ExpressionAttributeValues) == 0 {
			in.ExpressionAttributeValues = nil
		}
		_, err := w.update(in)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", expr, err)
			}
			continue
		}
		t.Run(expr, func(t *testing.T) { expectInvalid(t, err, want) })
	}
	for expr, want := range map[string]string{
		"DELETE a1 :s": "DELETE section in UpdateExpression", "SET a1.b1 = :s": "nested path in UpdateExpression (SET a1.b1 = :s)",
		"SET a1 = list_append(a1, :s)": "list_append in UpdateExpression",
	} {
		_, err := w.update(&dynamodb.UpdateItemInput{UpdateExpression: aws.String(expr), ExpressionAttributeValues: attrs{":s": s("x")}})
		expectUnsupported(t, err, "embedded: UpdateItem: "+want+" is not supported")
	}
}

// TestUnsupportedFields shows that every call refuses, by name, a field that the engine does not
// implement.
func TestUnsupportedFields(t *testing.T) {
	w := newWorld(t)
	_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: key("a", "1"),
		ConditionalOperator: types.ConditionalOperatorAnd})
	expectUnsupported(t, err, "embedded: PutItem: ConditionalOperator is not supported")
	_, err = w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), Select: types.SelectAllAttributes})
	expectUnsupported(t, err, "embedded: Scan: Select ALL_ATTRIBUTES is not supported")
	for _, index := range []string{"GSI1", ""} {
		_, err = w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), IndexName: &index})
		expectUnsupported(t, err, "embedded: Scan: IndexName is not supported")
	}
	_, err = w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), ScanFilter: map[string]types.Condition{}})
	expectUnsupported(t, err, "embedded: Scan: ScanFilter is not supported")
	_, err = w.db.BatchGetItem(background,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"events": {Keys: []attrs{key("a", "1")},
			AttributesToGet: []string{"a"}}}})
	expectUnsupported(t, err, "embedded: BatchGetItem: KeysAndAttributes.AttributesToGet is not supported")
	in := eventsTable("other").Input()
	in.GlobalSecondaryIndexes[0].Projection.ProjectionType = types.ProjectionTypeInclude
	_, err = w.db.CreateTable(background, in)
	expectUnsupported(t, err, "embedded: CreateTable: an index projection other than ALL and KEYS_ONLY is not supported")
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	w.put(item("a", "1", attrs{"v": n("1")}))
	del := func(cond *string) (*dynamodb.DeleteItemOutput, error) {
		return w.db.DeleteItem(background, &dynamodb.DeleteItemInput{TableName: aws.String("events"), Key: key("a", "1"),
			ConditionExpression: cond, ReturnValues: types.ReturnValueAllOld})
	}
	var failed *types.ConditionalCheckFailedException
	if _, err := del(aws.String("v = PK")); !errors.As(err, &failed) {
		t.Errorf("condition does not hold: %v", err)
	}
	if out, err := del(nil); err != nil || number(out.Attributes["v"]) != "1" {
		t.Errorf("delete: %v, %v", out, err)
	}
	if out, err := del(nil); err != nil || out.Attributes != nil {
		t.Errorf("delete again: %v, %v", out, err)
	}
}

func TestCancelledContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: key("a", "1")})
	var canceled *smithy.CanceledError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &canceled) {
		t.Errorf("got %v", err)
	}
}
