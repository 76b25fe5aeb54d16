package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func num(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func bin(v ...byte) types.AttributeValue {
	return &types.AttributeValueMemberB{Value: v}
}

func testItem(t testing.TB, in map[string]types.AttributeValue) *value.Item {
	t.Helper()
	it, err := value.NewItem(in)
	must.Succeed(t, err)
	return it
}

func TestCondition(t *testing.T) {
	it := testItem(t, map[string]types.AttributeValue{
		"a": num("5"), "t": str("hello"), "rawb": bin(0x80, 1), "yes": &types.AttributeValueMemberBOOL{Value: true}, "m:x": bin(1, 2, 3),
	})
	values := map[string]types.AttributeValue{
		":5": num("5.0"), ":4": num("4"), ":10": num("10"), ":h": str("he"), ":hello": str("hello"), ":z": str("z"),
		":hi": bin(0xff), ":lo": bin(0x7f, 0xff), ":mark": bin(1, 2, 3), ":longer": bin(1, 2, 3, 0),
		":yes": &types.AttributeValueMemberBOOL{Value: true}, ":null": &types.AttributeValueMemberNULL{Value: true},
	}
	names := map[string]string{"#m": "m:x", "#t": "t"}
	for expr, want := range map[string]bool{
		"a = :5": true, "a <> :5": false, "a = :4": false, "a < :10": true, "a > :4": true, "a >= :5": true, "a <= :5": true,
		"a < :5":     false,
		"a = :hello": false, "a <> :hello": true, "a < :hello": false, "a > :hello": false, // other type
		"absent = :5": false, "absent < :5": false, "absent <> :5": true, "absent = another": false, "NOT absent = :5": true,
		"attribute_exists(a)": true, "attribute_exists(absent)": false, "attribute_not_exists(absent)": true,
		"attribute_not_exists(a)":                  false,
		"attribute_not_exists(#m) OR #m < :longer": true, "attribute_not_exists(#m) OR #m < :mark": false, "#m = :mark": true,
		"rawb > :lo": true, "rawb < :hi": true, // unsigned bytes
		"begins_with(t, :h)": true, "begins_with(#t, :z)": false, "begins_with(absent, :h)": false,
		"a BETWEEN :4 AND :10": true, "a BETWEEN :10 AND :4": false, "t BETWEEN :h AND :z": true, "absent BETWEEN :4 AND :10": false,
		"a IN (:4, :5)": true, "a IN (:4)": false, "absent IN (:4)": false, "yes = :yes": true, "yes = :null": false,
		"a = :5 AND t = :hello": true, "a = :4 OR t = :hello": true, "a = :4 AND t = :hello OR a = :5": true,
		"a = :4 AND (t = :hello OR a = :5)": false,
		"NOT a = :4 AND a = :5":             true, "NOT (a = :4 OR a = :5)": false, "not a = :5 or a = :5": true, ":5 = a": true,
		"a = t": false, "begins_with(:hello, t)": true,
	} {
		c, err := parseCondition("PutItem", "ConditionExpression", expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		must.Equal(t, c.Eval(Binding{names, values}, it), want, expr)
	}
	c, _ := parseCondition("PutItem", "ConditionExpression", "attribute_not_exists(PK)")
	if !c.Eval(Binding{}, nil) {
		t.Error("the item that is not there has attributes")
	}
}

func TestConditionMistakes(t *testing.T) {
	for expr, want := range map[string]string{
		"":                                  "Invalid ConditionExpression: The expression can not be empty;",
		"a = ":                              `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="`,
		"a b":                               `Invalid ConditionExpression: Syntax error; token: "b", near: "a b"`,
		"a = :x )":                          `token: ")"`,
		"(a = :x":                           `token: "<EOF>"`,
		"a ! :x":                            `token: "!"`,
		"a = # ":                            `token: "#"`,
		"((a = :x))":                        "The expression has redundant parentheses",
		"status = :x":                       "Attribute name is a reserved keyword; reserved keyword: status",
		"nosuch(a)":                         "Invalid function name; function: nosuch",
		"ATTRIBUTE_EXISTS(a)":               "Invalid function name; function: ATTRIBUTE_EXISTS",
		strings.Repeat("a", 4097):           "Expression size has exceeded the maximum allowed size; expression size: 4097",
		strings.Repeat("NOT ", 301):         "more operators than the maximum allowed",
		"a < :bool":                         "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
		"attribute_exists(a) AND a < :bool": "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
		"a = a": "The first operand must be distinct from the remaining operands for this operator or " +
			"function; operator: =, first operand: [a]",
		"b1 = :x OR begins_with(a, a)": "operator: begins_with, first operand: [a]",
		"a IN (:x, a)":                 "operator: IN, first operand: [a]",
		"a BETWEEN :x AND :n":          "The BETWEEN operator requires same data type for lower and upper bounds",
		"_a = :x":                      `Syntax error; token: "_", near: "_a"`,
		"begins_with(a, :n)": "Incorrect operand type for operator or function; operator or function: begins_with, " +
			"operand type: N",
		"a IN (:x":                 `token: "<EOF>"`,
		"a = :x AND":               `token: "<EOF>"`,
		"attribute_exists(:x)":     `token: ":x"`,
		"a BETWEEN :x OR :n":       `token: "OR"`,
		"(a = :x) AND ((b1 = :x))": "redundant parentheses",
		"9a = :x":                  `token: "9a"`,
		"attribute_exists(a, b1)":  `token: ","`,
		"a IN (" + strings.TrimSuffix(strings.Repeat(":x,", 101), ",") + ")": "too many operands",
	} {
		c, err := parseCondition("PutItem", "ConditionExpression", expr)
		if err == nil {
			err = c.Check(Binding{nil, map[string]types.AttributeValue{":x": str("x"), ":n": num("1"),
				":bool": &types.AttributeValueMemberBOOL{}}})
		}
		must.Fail(t, err, want)
	}
	// DynamoDB knows these forms and the engine does not, so the engine refuses them by name.
	for expr, want := range map[string]string{
		"contains(a, :x)": "function contains", "attribute_type(a, :x)": "function attribute_type", "size(a) = :x": "function size",
		"(a1) = :x": "a parenthesis around an operand", "a1.b1 = :x": "nested path", "a1[0] = :x": "nested path",
		"a1 = size(b1)": "function size as an operand",
	} {
		_, err := parseCondition("PutItem", "ConditionExpression", expr)
		var u *api.UnsupportedError
		if !errors.As(err, &u) || !strings.Contains(u.What, want) {
			t.Errorf("%s: %v; want unsupported %q", expr, err, want)
		}
	}
}

func TestBind(t *testing.T) {
	c, err := parseCondition("PutItem", "ConditionExpression", "#a = :x")
	must.Succeed(t, err)
	x := map[string]types.AttributeValue{":x": str("x")}
	for _, tt := range []struct {
		names  map[string]string
		values map[string]types.AttributeValue
		uses   *Uses
		want   string
	}{
		{map[string]string{"#a": "a"}, x, &c.uses, ""},
		{nil, x, &c.uses, "An expression attribute name used in the document path is not defined; attribute name: #a"},
		{map[string]string{"#a": "a"}, nil, &c.uses,
			"An expression attribute value used in expression is not defined; attribute value: :x"},
		{map[string]string{"#a": "a", "#c": "c", "#b": "b"}, x, &c.uses,
			"Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}"},
		{map[string]string{"#a": "a"}, map[string]types.AttributeValue{":x": str("x"), ":y": str("y")}, &c.uses,
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"},
		{map[string]string{"#a": "a"}, map[string]types.AttributeValue{":x": num("x")}, &c.uses,
			"ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :x"},
		{map[string]string{"#a": "a"}, nil, nil, "ExpressionAttributeNames can only be specified when using expressions"},
		{nil, x, nil, "ExpressionAttributeValues can only be specified when using expressions"},
		{map[string]string{}, x, &c.uses, "ExpressionAttributeNames must not be empty"},
	} {
		_, err := Bind(tt.names, tt.values, tt.uses)
		if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) && tt.want != "" {
			t.Errorf("bind(%v, %v): %v; want %q", tt.names, tt.values, err, tt.want)
		}
	}
}

func FuzzExpressions(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{
		"attribute_not_exists(#m) OR #m < :first", "SET #m = :last, a = if_not_exists(a, :z) + :d ADD n :one REMOVE flag", "PK, SK, #t",
		"a BETWEEN :a AND :b AND NOT (b1 IN (:c, :d))", "((", "SET", "a.b[1]", `INSERT INTO "t" VALUE {'PK': ?, 'it''s': ?}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if c, err := parseCondition("PutItem", "ConditionExpression", src); err == nil {
			b := Binding{names: map[string]string{}, values: map[string]types.AttributeValue{}}
			for _, v := range c.uses.values {
				b.values[v] = num("1")
			}
			for _, name := range c.uses.names {
				b.names[name] = "a"
			}
			_ = c.Check(b)
			c.Eval(b, testItem(t, map[string]types.AttributeValue{"a": num("2"), "b1": str("x")}))
		}
		if u, err := parseUpdate("UpdateItem", src); err == nil && len(u.actions) == 0 {
			t.Errorf("%q: an update without actions", src)
		}
		if p, err := parseProjection("GetItem", src); err == nil && len(p.paths) == 0 {
			t.Errorf("%q: a projection without paths", src)
		}
		s, err := parseStatement("ExecuteStatement", src)
		switch {
		case err != nil:
		case s.Insert != nil && (s.Insert.Table == "" || len(s.Insert.names) == 0):
			t.Errorf("%q: an insert of nothing", src)
		case s.Update != nil && (s.Update.Table == "" || len(s.Update.Update.actions) == 0):
			t.Errorf("%q: an update of nothing", src)
		}
	})
}
