package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
)

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
		`left: {sum: -1, where: seats > 0}`:                      "left: sum -1 where seats > 0",
		`left: {sum: 2.50}`:                                      "left: sum 2.5",
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
		{"paid: {sum: a, max: a}", "paid is computed in two ways, sum and max; write one of the two", "paid: {sum: a}"},
		{"paid: {count: a}", `count counts events and reads no field; write count: true, where: "exists a"`,
			`paid: {count: true, where: "exists a"}`},
		{"paid: {count: false}", "count counts events and reads no field; write count: true", "paid: {count: true}"},
		{"paid: {sums: a}", "unknown name sums; write sum", "paid: {sum: a}"},
		{"paid: {sum: a b}", `p.yaml:12:17: path "a b"`, `paid: {sum: '["a b"]'}`},
		{"paid: {sum: a, where: a >}", "p.yaml:12:36: found the end", "paid: {sum: a, where: a > 1}"},
		{"paid: sum a where a >", "p.yaml:12:32: ", "paid: sum a where a > 1"},
		{"paid: sum a where a > '0'",
			`p.yaml:12:29: where compares a with "0", and sum a where a > "0" needs a number there: no event that meets this could be counted; write a > 0`, "paid: sum a where a > 0"},
		{"paid: {sum: a, where: a > '0'}", `p.yaml:12:33: where compares a with "0"`, "paid: {sum: a, where: a > 0}"},
		{"paid: count where trace.id = 1", "p.yaml:12:29: where uses trace.id, which ignore leaves out of the digest of order",
			"paid: count where id = 1"},
		{"paid: sum trace?", "paid uses trace, which ignore leaves out", "paid: sum id?"},
		{"paid: count?", `write count`, "paid: count"},
		{"paid: sum 1?", `p.yaml:12:17: number "1?": there is more text after the number; write sum NUMBER or sum PATH`, "paid: sum 1"},
		{"paid: {sum: -01}", `number "01": `, "paid: {sum: -1}"},
		{"paid: sum 0 where a > 0", "p.yaml:12:17: a sum adds a number other than 0, of at most 10^18 and with at " +
			"most 9 decimals; write sum 1 or sum -2.5", "paid: sum -2.5 where a > 0"},
		{"paid: sum -2e18", "a sum adds a number other than 0", "paid: sum 1"},
		{"paid: max 5", `path "5": '5' cannot stand here`, "paid: sum 5"},
		{"paid: sum ?", "sum needs a field; write sum PATH", "paid: sum a?"},
		{"paid: max -length a", "only sum can be negated; write min length a", "paid: min length a"},
		{"paid: avg length lines", "an average is not kept, because two averages cannot be added up; write sum length lines, with a count",
			"paid: sum length lines"},
		{"paid: sum length $.a",
			"$.a is a JSONPath, and $ would be a field of that name: paths begin at the payload; write a",
			"paid: sum length a"},
	} {
		refused(t, valued(c.values), c.want)
		mustLoad(t, valued(c.written))
	}
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
