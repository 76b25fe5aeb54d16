package values

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// parsed is the value that a text declares.
func parsed(t *testing.T, text string) Value {
	t.Helper()
	v, bad := Parse(text)
	if bad != nil {
		t.Fatalf("%s: %+v", text, *bad)
	}
	return v
}

func TestValuesHaveOneSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"count":                                "count",
		" sum  total ":                         "sum total",
		"sum - total":                          "sum -total",
		"sum total?":                           "sum total?",
		"sum 1":                                "sum 1",
		"sum - 2.50":                           "sum -2.5",
		"sum -1e3 where a = 1":                 "sum -1000 where a = 1",
		`sum ["1"]`:                            `sum ["1"]`,
		"max a.b[0]?":                          "max a.b[0]?",
		"sum length lines":                     "sum length lines",
		"sum - number( a.b )? where a = 1":     "sum -number(a.b)? where a = 1",
		"sum -length lines?":                   "sum -length lines?",
		"sum length":                           "sum length",
		"sum length?":                          "sum length?",
		"sum where":                            "sum where",
		"newest state?":                        "newest state?",
		"oldest length lines where a = 1":      "oldest length lines where a = 1",
		"sum length where":                     "sum length where",
		"sum length where where x > 1":         "sum length where where x > 1",
		"sum where where where = 1":            "sum where where where = 1",
		"count where paid = true":              "count where paid = true",
		"count   where  (paid = true)":         "count where paid = true",
		`min ["a where b"] where not exists x`: `min ["a where b"] where not exists x`,
		`sum ["a\" where b"]`:                  `sum ["a\" where b"]`,
		"sum a? where b > 1.0 or c in ('x')":   `sum a? where b > 1 or c in ("x")`,
	} {
		must.Equal(t, parsed(t, text).String(), want, text)
		must.Equal(t, parsed(t, want).String(), want)
	}
}

// The values are compared with a plain reading of the payload by the standard library.
func TestValuesAgainstAPlainReading(t *testing.T) {
	seed := replay.Seed(t, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	among := func(list ...string) string { return list[rng.IntN(len(list))] }
	supplied, refused := 0, 0
	for range 20000 {
		e := plainValue{op: among("count", "sum", "min", "max"), path: among("a", "lines"), length: rng.IntN(3) == 0,
			text: rng.IntN(3) == 0, optional: rng.IntN(2) == 0, where: among("", "a > 2", "number(a) > 2", `s = "x"`, "not exists a")}
		if e.op == "sum" && rng.IntN(5) == 0 {
			e.path, e.length, e.text, e.optional = among("1", "2.50", "1e18", "0.000000001"), false, false, false
		}
		e.negative = e.op == "sum" && rng.IntN(3) == 0
		members := []string{`"n":1`}
		for _, m := range []string{`"a":` + among("1", "2.5", "-7", "3e2", "null", `"5"`, `"-2.50"`, `"3\u0065+2"`, `"05"`,
			`" 5"`, `"0x5"`, `"1_0"`, `"1/2"`, `""`, "true", "[1,2]", "{}"), `"lines":` +
			among("[]", "[1]", "[1,[2,3],null]", "null", "4", "{\"x\":1}"), `"s":` + among(`"x"`, `"y"`, "null")} {
			if rng.IntN(4) > 0 {
				members = append(members, m)
			}
		}
		body := "{" + strings.Join(members, ",") + "}"
		amount, refusal := parsed(t, e.String()).Amount(document(t, body).Root())
		want, broken := e.of(t, body)
		if broken != (refusal != nil) || !broken && amount.Set != (want != nil) {
			t.Fatalf("%s of %s: %+v, %v; a plain reading says %v, %v", e, body, amount, refusal, want, broken)
		}
		if refusal != nil {
			refused++
		}
		if refusal == nil && amount.Set {
			supplied++
			if got, ok := new(big.Rat).SetString(amount.Number.String()); !ok || got.Cmp(want) != 0 {
				t.Fatalf("%s of %s: %s, want %s", e, body, amount.Number, want)
			}
		}
	}
	if supplied < 1000 || refused < 1000 {
		t.Errorf("%d supplied, %d refused: the test says little", supplied, refused)
	}
}

// plainValue is an expression and its slow reading.
type plainValue struct {
	op, path, where            string
	length, optional, negative bool
	text                       bool
}

func (e plainValue) String() string {
	text := e.op
	if e.op != "count" {
		text += " "
		if e.negative {
			text += "-"
		}
		if e.length {
			text += "length " + e.path
		} else if e.text {
			text += "number(" + e.path + ")"
		} else {
			text += e.path
		}
		if e.optional {
			text += "?"
		}
	}
	if e.where != "" {
		text += " where " + e.where
	}
	return text
}

// of returns what the expression supplies, or nil for nothing. broken means that the payload is
// Poison.
func (e plainValue) of(t *testing.T, body string) (number *big.Rat, broken bool) {
	var payload map[string]any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	must.Succeed(t, d.Decode(&payload))
	rat := func(v any, quoted bool) *big.Rat {
		n, ok := v.(json.Number)
		if text, is := v.(string); is && quoted { // a reader of JSON says what a number is
			ok = text == strings.TrimSpace(text) && json.Unmarshal([]byte(text), &n) == nil && !strings.HasPrefix(text, `"`) && n != ""
		}
		if !ok {
			return nil
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r
	}
	holds := map[string]bool{"": true, "a > 2": rat(payload["a"], false) != nil && rat(payload["a"], false).Cmp(big.NewRat(2, 1)) > 0,
		"number(a) > 2": rat(payload["a"], true) != nil && rat(payload["a"], true).Cmp(big.NewRat(2, 1)) > 0,
		`s = "x"`:       payload["s"] == "x", "not exists a": payload["a"] == nil}
	value := payload[e.path]
	if e.path[0] <= '9' {
		value = json.Number(e.path)
	}
	elements, isList := value.([]any)
	switch {
	case !holds[e.where]:
		return nil, false
	case e.op == "count":
		return big.NewRat(1, 1), false
	case value == nil:
		return nil, !e.optional
	case e.length && isList:
		number = big.NewRat(int64(len(elements)), 1)
	case !e.length:
		number = rat(value, e.text)
	}
	if number == nil {
		return nil, true
	}
	if e.negative {
		number.Neg(number)
	}
	return number, false
}

// A dated value takes every scalar, in canonical form, and refuses what a total cannot keep.
func TestDatedAmounts(t *testing.T) {
	v := parsed(t, "newest x?")
	for body, want := range map[string]string{
		`{"x": 1.50}`: "1.5", `{"x":"\u0041"}`: `"A"`, `{"x":true}`: "true", `{"x":1e300}`: "1e300", `{"x":null}`: "", `{}`: "",
		`{"x":"` + strings.Repeat("a", 1022) + `"}`: `"` + strings.Repeat("a", 1022) + `"`,
	} {
		a, refusal := v.Amount(document(t, body).Root())
		if refusal != nil || a.Text != want || a.Set != (want != "") {
			t.Errorf("%.40s: %+v, %v", body, a, refusal)
		}
	}
	for body, want := range map[string]event.Reason{
		`{"x":{}}`: event.WrongType, `{"x":[1]}`: event.WrongType,
		`{"x":"` + strings.Repeat("a", 1023) + `"}`: event.ValueTooLong,
	} {
		if _, refusal := v.Amount(document(t, body).Root()); refusal == nil || refusal.Reason != want || refusal.Verdict != event.Poison {
			t.Errorf("%.40s: %v, want %s", body, refusal, want)
		}
	}
}

func document(t *testing.T, body string) event.Document {
	t.Helper()
	doc, err := event.ParseDocument(body)
	must.Succeed(t, err)
	return doc
}

// A histogram takes what a sum takes, and refuses the rest as a sum does.
func TestHistogramAmounts(t *testing.T) {
	v := parsed(t, "histogram x")
	for body, want := range map[string]string{`{"x":1}`: "424:1", `{"x":0}`: "0:1", `{"x":-0.0}`: "0:1", `{"x":-1e18}`: "-1270:1",
		`{"x":0.000000001}`: "1:1"} {
		if a, refusal := v.Amount(document(t, body).Root()); refusal != nil || !a.Set || a.Text != want {
			t.Errorf("%s: %+v, %v", body, a, refusal)
		}
	}
	for body, says := range map[string]string{`{"x":1e300}`: "beyond 10^18, the most that a histogram takes; ",
		`{"x":1e-10}`: "has 10 decimals, and a histogram takes at most 9; "} {
		if _, refusal := v.Amount(document(t, body).Root()); refusal == nil || !strings.Contains(refusal.Detail, says) {
			t.Errorf("%s: %v, want %q", body, refusal, says)
		}
	}
	for body, want := range map[string]event.Reason{
		`{"x":1e300}`: event.NumberOutOfRange, `{"x":1e-10}`: event.NumberOutOfRange, `{"x":"1"}`: event.WrongType,
		`{}`: event.MissingField,
	} {
		if _, refusal := v.Amount(document(t, body).Root()); refusal == nil || refusal.Reason != want {
			t.Errorf("%s: %v, want %s", body, refusal, want)
		}
	}
}
