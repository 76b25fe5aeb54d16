package pipeline

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

func TestValuesHaveOneSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"count":                                "count",
		" sum  total ":                         "sum total",
		"sum - total":                          "sum -total",
		"sum total?":                           "sum total?",
		"max a.b[0]?":                          "max a.b[0]?",
		"sum length lines":                     "sum length lines",
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
		v, bad := parseValue(text)
		if bad != nil {
			t.Errorf("%s: %+v", text, *bad)
			continue
		}
		if again, bad := parseValue(v.String()); v.String() != want && want != "" || bad != nil || again.String() != v.String() {
			t.Errorf("%s: %s, want %s (%v)", text, v, want, bad)
		}
	}
}

// valued returns a file with these values over orders, written as in the file.
func valued(values string) string {
	return "ingot: 1\nepoch: 1\ntype: order\nevents:\n  order: {id: \"{n}\", at: \"{t}\", key: {pk: \"{n}\", sk: \"-\"}, ignore: [trace]}\naggregates:\n  all:\n    since: 1\n    from:\n      order:\n        values:\n          " + values + "\n"
}

// A value may be written as a mapping. It means the same as the text.
func TestValuesAsMappings(t *testing.T) {
	for mapping, text := range map[string]string{
		`paid: {count: true, where: "status in (\"a\", \"b\")"}`: `paid: count where status in ("a", "b")`,
		`big: {sum: total?, where: total > 100}`:                 "big: sum total? where total > 100",
		`big: {max: length lines}`:                               "big: max length lines",
		`back: {sum: -refund}`:                                   "back: sum -refund",
		"big:\n            min: total\n            where: |\n              total > 100\n              and paid = true": `big: min total where total > 100 and paid = true`,
	} {
		a, b := mustLoad(t, valued(mapping)), mustLoad(t, valued(text))
		if one, other := a.Definitions()[0].Text, b.Definitions()[0].Text; one != other {
			t.Errorf("%s\n%s\n%s", mapping, one, other)
		}
	}
}

func TestMistakesInValues(t *testing.T) {
	for _, c := range []struct{ values, want, written string }{
		{"paid: {where: a = 1}", "p.yaml:12:17: paid does not say how it is computed; write count: true, sum: PATH, min: PATH, max: " +
			"PATH, newest: PATH, oldest: PATH, histogram: PATH or distinct: PATH beside where", "paid: {count: true, where: a = 1}"},
		{"paid: {sum: a, max: a}", "paid is computed in two ways, sum and max; write one of the two instead", "paid: {sum: a}"},
		{"paid: {count: a}", "count counts events and reads no field; write count: true instead", "paid: {count: true}"},
		{"paid: {count: false}", "count counts events and reads no field; write count: true instead", "paid: {count: true}"},
		{"paid: {sums: a}", "unknown name sums; write sum instead", "paid: {sum: a}"},
		{"paid: {sum: a b}", `p.yaml:12:17: path "a b"`, `paid: {sum: '["a b"]'}`},
		{"paid: {sum: a, where: a >}", "p.yaml:12:36: found the end", "paid: {sum: a, where: a > 1}"},
		{"paid: sum a where a >", "p.yaml:12:32: ", "paid: sum a where a > 1"},
		{"paid: sum a where a > '0'",
			`p.yaml:12:33: where compares a with "0", and sum a where a > "0" needs a number there: no event that meets this could be counted; write a > 0 instead`, "paid: sum a where a > 0"},
		{"paid: {sum: a, where: a > '0'}", `p.yaml:12:37: where compares a with "0"`, "paid: {sum: a, where: a > 0}"},
		{"paid: count where trace.id = 1", "p.yaml:12:29: where uses trace.id, which ignore leaves out of the digest of order",
			"paid: count where id = 1"},
		{"paid: sum trace?", "paid uses trace, which ignore leaves out", "paid: sum id?"},
		{"paid: count?", `write count instead`, "paid: count"},
		{"paid: sum ?", "sum needs a field; write sum PATH instead", "paid: sum a?"},
		{"paid: max -length a", "only sum can be negated; write max length a instead", "paid: max length a"},
		{"paid: avg length lines", "an average is not kept, because two averages cannot be added up; write sum PATH, with a count",
			"paid: sum length lines"},
		{"paid: sum length $.a",
			"$.a is a JSONPath, and $ would be a field of that name: paths begin at the payload; write sum length a instead",
			"paid: sum length a"},
	} {
		_, err := loadText(valued(c.values))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.values, err, c.want)
		}
		mustLoad(t, valued(c.written))
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
			optional: rng.IntN(2) == 0, where: among("", "a > 2", `s = "x"`, "not exists a")}
		e.negative = e.op == "sum" && rng.IntN(3) == 0
		members := []string{`"n":1`}
		for _, m := range []string{`"a":` + among("1", "2.5", "-7", "3e2", "null", `"5"`, "[1,2]", "{}"), `"lines":` +
			among("[]", "[1]", "[1,[2,3],null]", "null", "4", "{\"x\":1}"), `"s":` + among(`"x"`, `"y"`, "null")} {
			if rng.IntN(4) > 0 {
				members = append(members, m)
			}
		}
		body := "{" + strings.Join(members, ",") + "}"
		v, bad := parseValue(e.String())
		if bad != nil {
			t.Fatalf("%s: %+v", e, *bad)
		}
		doc, err := event.ParseDocument(body)
		if err != nil {
			t.Fatal(err)
		}
		amount, refusal := v.amount(doc.Root())
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
}

func (e plainValue) String() string {
	text := e.op
	if e.op != "count" {
		text += " "
		if e.negative {
			text += "-"
		}
		if e.length {
			text += "length "
		}
		text += e.path
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
	if err := d.Decode(&payload); err != nil {
		t.Fatal(err)
	}
	rat := func(v any) *big.Rat {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r
	}
	holds := map[string]bool{"": true, "a > 2": rat(payload["a"]) != nil && rat(payload["a"]).Cmp(big.NewRat(2, 1)) > 0,
		`s = "x"`: payload["s"] == "x", "not exists a": payload["a"] == nil}
	value := payload[e.path]
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
		number = rat(value)
	}
	if number == nil {
		return nil, true
	}
	if e.negative {
		number.Neg(number)
	}
	return number, false
}

// An event that supplies none of the values is counted as well: it is in its total's number and
// fingerprint.
func TestAnEventThatSuppliesNothing(t *testing.T) {
	p := mustLoad(t, valued("tips: sum tip?\n          paid: count where status = 'paid'\n          items: sum length lines?"))
	for body, want := range map[string]string{
		`{}`:                                    "",
		`{"tip":null,"status":"open"}`:          "",
		`{"tip":0,"lines":[]}`:                  "items 0, tips 0",
		`{"tip":2,"status":"paid","lines":[1]}`: "items 1, paid 1, tips 2",
	} {
		item, err := p.Plan(envelope.Message{Body: withFields(body)})
		if err != nil {
			t.Fatal(err)
		}
		c := p.Contributions(item)
		if len(c.List) != 1 {
			t.Fatalf("%s: %+v", body, c)
		}
		var got []string
		for i, amount := range c.List[0].Values {
			if amount.Set {
				got = append(got, fmt.Sprintf("%s %s", c.List[0].Def.Values[i].Name, amount.Number))
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func withFields(body string) string {
	if body == "{}" {
		return `{"n":1,"t":"2026-03-01T00:00:00Z"}`
	}
	return `{"n":1,"t":"2026-03-01T00:00:00Z",` + body[1:]
}

// A dated value takes every scalar, in canonical form, and refuses what a total cannot keep.
func TestDatedAmounts(t *testing.T) {
	v, bad := parseValue("newest x?")
	if bad != nil {
		t.Fatal(bad)
	}
	for body, want := range map[string]string{
		`{"x": 1.50}`: "1.5", `{"x":"\u0041"}`: `"A"`, `{"x":true}`: "true", `{"x":1e300}`: "1e300", `{"x":null}`: "", `{}`: "",
		`{"x":"` + strings.Repeat("a", 1022) + `"}`: `"` + strings.Repeat("a", 1022) + `"`,
	} {
		a, refusal := v.amount(document(t, body).Root())
		if refusal != nil || a.Text != want || a.Set != (want != "") {
			t.Errorf("%.40s: %+v, %v", body, a, refusal)
		}
	}
	for body, want := range map[string]event.Reason{
		`{"x":{}}`: event.WrongType, `{"x":[1]}`: event.WrongType,
		`{"x":"` + strings.Repeat("a", 1023) + `"}`: event.ValueTooLong,
	} {
		if _, refusal := v.amount(document(t, body).Root()); refusal == nil || refusal.Reason != want || refusal.Verdict != event.Poison {
			t.Errorf("%.40s: %v, want %s", body, refusal, want)
		}
	}
}

func document(t *testing.T, body string) event.Document {
	t.Helper()
	doc, err := event.ParseDocument(body)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A histogram takes what a sum takes, and refuses the rest as a sum does.
func TestHistogramAmounts(t *testing.T) {
	v, bad := parseValue("histogram x")
	if bad != nil {
		t.Fatal(bad)
	}
	for body, want := range map[string]string{`{"x":1}`: "424:1", `{"x":0}`: "0:1", `{"x":-0.0}`: "0:1", `{"x":-1e18}`: "-1270:1",
		`{"x":0.000000001}`: "1:1"} {
		if a, refusal := v.amount(document(t, body).Root()); refusal != nil || !a.Set || a.Text != want {
			t.Errorf("%s: %+v, %v", body, a, refusal)
		}
	}
	for body, says := range map[string]string{`{"x":1e300}`: "beyond 10^18, the most that a histogram takes; ",
		`{"x":1e-10}`: "has 10 decimals, and a histogram takes at most 9; "} {
		if _, refusal := v.amount(document(t, body).Root()); refusal == nil || !strings.Contains(refusal.Detail, says) {
			t.Errorf("%s: %v, want %q", body, refusal, says)
		}
	}
	for body, want := range map[string]event.Reason{
		`{"x":1e300}`: event.NumberOutOfRange, `{"x":1e-10}`: event.NumberOutOfRange, `{"x":"1"}`: event.WrongType,
		`{}`: event.MissingField,
	} {
		if _, refusal := v.amount(document(t, body).Root()); refusal == nil || refusal.Reason != want {
			t.Errorf("%s: %v, want %s", body, refusal, want)
		}
	}
}
