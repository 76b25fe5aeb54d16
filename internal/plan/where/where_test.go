package where

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

func document(t testing.TB, text string) event.Node {
	t.Helper()
	d, err := event.ParseDocument(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d.Root()
}

// condition compiles a text, which must be one.
func condition(t testing.TB, text string) *Condition {
	t.Helper()
	c, bad := Parse(text)
	if bad != nil {
		t.Fatalf("%s: %v", text, bad)
	}
	return c
}

func TestConditions(t *testing.T) {
	const payload = `{"total":1250,"big":9007199254740993,"status":"paid","note":null,"empty":"","flags":{"gift":true},
		"items":[{"sku":"a"}],"odd.name":"x","fee":0.10,"quote":"it's","and":1}`
	root := document(t, payload)
	for _, c := range []struct {
		text string
		want bool
	}{
		{`total > 0`, true}, {`total > 1250`, false}, {`total >= 1250.0`, true}, {`total < 1.2501e3`, true}, {`total <= 1249`, false},
		{`total = 1250`, true}, {`total != 1250`, false}, {`total != 1`, true}, {`total>0`, true},
		{`big = 9007199254740993`, true}, {`big = 9007199254740992`, false}, {`big > 9007199254740992`, true},
		{`fee = 0.1`, true}, {`fee = 1e-1`, true},
		{`status = "paid"`, true}, {`status = 'paid'`, true}, {`status != 'open'`, true}, {`status < 'pb'`, true},
		{`quote = 'it\'s'`, true}, {`quote = "it's"`, true},
		{`status in ('open', 'paid')`, true}, {`status in ('open')`, false}, {`total in (1, 1250, 'x')`, true},
		{`exists status`, true}, {`exists note`, false}, {`exists missing`, false}, {`exists empty`, true}, {`exists items[0].sku`, true},
		{`exists items[1]`, false},
		{`flags.gift = true`, true}, {`flags.gift != true`, false}, {`flags.gift = false`, false},
		{`["odd.name"] = 'x'`, true}, {`["and"] = 1`, true}, {`items[0].sku = 'a'`, true},
		// A comparison with a missing or null field, or with another kind, is false under every
		// operator.
		{`missing = 1`, false}, {`missing != 1`, false}, {`note != 1`, false}, {`note = 'null'`, false}, {`status != 1`, false},
		{`total != 'x'`, false},
		{`items = 1`, false}, {`flags.gift = 'true'`, false}, {`missing in (1)`, false}, {`not missing = 1`, true},
		{`not total = 1`, true}, {`not not total = 1250`, true}, {`not (total = 1 or status = 'paid')`, false},
		{`total = 1 or status = 'paid' and fee = 1`, false}, {`(total = 1 or status = 'paid') and fee = 0.1`, true},
		{`status = 'paid' or total = 1 and fee = 1`, true},
	} {
		w := condition(t, c.text)
		must.Equal(t, w.Holds(root), c.want, c.text)
		must.Equal(t, condition(t, w.String()).String(), w.String())
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		want   string
	}{
		{``, 0, `found the end where the condition needs the path of a field; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`total`, 5,
			`found the end where the condition needs an operator (= != < <= > >=) or in; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`total == 1`, 6, `== is not an operator; write =`},
		{`a = 1 && b = 2`, 6, `&& is not an operator; write and`},
		{`! a = 1`, 0, `! is not an operator; write not`},
		{`a <> 1`, 2, `<> is not an operator; write !=`},
		{`status = paid`, 9,
			`paid stands where a value should: fields are compared with numbers and quoted text only; write 'paid'`},
		{`a = 1 AND b = 2`, 6, `found AND where the condition needs and, or, or the end; write and`},
		{`a = 'x`, 4, `the text that begins here has no closing quote; write a closing quote where it ends`},
		{`a = 'x\n'`, 6, "a backslash stands only before a quote or a backslash; write the character itself"},
		{`a = 01`, 4, `01 is not a number; write a number such as 12.5, or text in quotes`},
		{`a = 1.`, 4, `1. is not a number; write a number such as 12.5, or text in quotes`},
		{`a = -`, 4, `- is not a number; write a number such as 12.5, or text in quotes`},
		{`(a = 1`, 6,
			`found the end where the condition needs and, or, or a closing parenthesis; write a closing parenthesis after what stands in it`},
		{`a = 1)`, 5,
			`found ) where the condition needs and, or, or the end; write and or or between two conditions, or leave it out`},
		{`a in 1`, 5,
			`found 1 where the condition needs an opening parenthesis; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`a in ()`, 6,
			`found ) where the condition needs a number, quoted text, true or false; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`a in (1 2)`, 8,
			`found 2 where the condition needs a comma or a closing parenthesis; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`exists`, 6,
			`found the end where the condition needs the path of a field; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`a..b = 1`, 0, ""},
		{`1 = a`, 0,
			`found 1 where the condition needs the path of a field; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`and = 1`, 0,
			`found and where the condition needs the path of a field; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{`a.b = null`, 0, `no field is ever equal to null; write not exists a.b`},
		{`x in (1, null)`, 9, `no field is ever equal to null; write nothing there, and or not exists with the field behind the comparison`},
		{`number(a) = "5"`, 12,
			`found the text "5" where the condition needs a number, because number() makes one; write a number without quotes, such as 12.5`},
		{`number(a = 5`, 9, `found = where the condition needs a closing parenthesis; write number(PATH)`},
		{`exists number(a)`, 13, ""},
		{`paid < true`, 7, `true and false have no order; write = or !=`},
		{strings.Repeat("(", 100) + "a = 1" + strings.Repeat(")", 100), 65,
			`more than 64 levels of parentheses and not; write at most 64`},
		{strings.Repeat("not ", 100) + "a = 1", 260, `more than 64 levels of parentheses and not; write at most 64`},
		{"a = '" + strings.Repeat("x", 5000) + "'", 0, `the condition is longer than 4,096 bytes; write at most 4,096`},
	} {
		_, bad := Parse(c.text)
		if bad == nil {
			t.Errorf("%.40s: no mistake found", c.text)
			continue
		}
		if bad.Offset != c.offset || c.want != "" && bad.Error() != c.want {
			t.Errorf("%.40s: at %d: %s", c.text, bad.Offset, bad)
		}
	}
}

// Advice is not only accepted: what it says to write does what was meant.
func TestAdviceDoesWhatIsMeant(t *testing.T) {
	root := document(t, `{"a":null,"b":"x","gift":true,"n":5}`)
	for _, c := range []struct {
		text, write, after string // after the advice, what stands behind it
		holds              bool
	}{
		{`a = null`, `not exists a`, ``, true}, {`number(n) = null`, `not exists n`, ``, false},
		{`b = null`, `not exists b`, ``, false}, {`b != null`, `exists b`, ``, true},
		{`a = None`, `not exists a`, ``, true},
		{`a is null`, `not exists a`, ``, true}, {`b IS NOT NULL`, `exists b`, ``, true}, {`gift = True`, `true`, ``, true},
		{`n => 5`, `>=`, ` 5`, true},
		{`n = 5 && b = 'y'`, `and`, ` b = 'y'`, false},
		{`n = 6 OR b = 'x'`, `or`, ` b = 'x'`, true}, {`!exists a`, `not`, ` exists a`, true},
	} {
		_, bad := Parse(c.text)
		if bad == nil || bad.Instead != c.write {
			t.Errorf("%s: %v, want %s", c.text, bad, c.write)
			continue
		}
		followed := c.text[:bad.Offset] + c.write + c.after
		must.Equal(t, condition(t, followed).Holds(root), c.holds, c.text, followed)
	}
}

// A test that no number meets is replaced by the same test of numbers.
func TestNumbersInPlaceOfText(t *testing.T) {
	for text, counts := range map[string][2]string{ // a payload that is to meet it, and one that is not
		`a > "4"`:                        {`{"a":10}`, `{"a":4}`},
		`b = 1 and a in ("4", '10')`:     {`{"a":10,"b":1}`, `{"a":10,"b":2}`},
		`(b = 1 or a != "4") and b != 2`: {`{"a":10,"b":3}`, `{"a":10,"b":2}`},
	} {
		a, _ := Path("a")
		found := condition(t, text).NoNumbers(a)[0]
		test := regexp.MustCompile(`^a (in \(.*?\)|\S+ "\d+")`).FindString(text[found.Offset:])
		followed := condition(t, text[:found.Offset]+found.Numbers+text[found.Offset+len(test):])
		for i, payload := range counts {
			must.Equal(t, followed.Holds(document(t, payload)), i == 0, text, payload)
		}
	}
}

// twin is a condition written in the simplest way, over the values of encoding/json and big.Rat.
type twin func(doc map[string]any) bool

var twinFields = []string{"a", "b", "c", "d", "e", "f"}

// randomWhere makes a condition as text, in odd layouts, and its twin.
func randomWhere(r *rand.Rand, depth int) (string, twin) {
	space := func() string { return strings.Repeat(" ", 1+r.IntN(2)) }
	switch n := r.IntN(8); {
	case depth > 0 && n < 2:
		word := [2]string{"and", "or"}[n]
		s, left := randomWhere(r, depth-1)
		u, right := randomWhere(r, depth-1)
		return "(" + s + space() + word + space() + u + ")", func(doc map[string]any) bool {
			l, r := left(doc), right(doc)
			return n == 0 && l && r || n == 1 && (l || r)
		}
	case depth > 0 && n == 2:
		s, of := randomWhere(r, depth-1)
		return "not" + space() + s, func(doc map[string]any) bool { return !of(doc) }
	case n == 3:
		f := twinFields[r.IntN(len(twinFields))]
		return "exists" + space() + f, func(doc map[string]any) bool { return doc[f] != nil }
	case n == 4:
		f := twinFields[r.IntN(len(twinFields))]
		var texts []string
		var values []any
		for range 1 + r.IntN(3) {
			s, v := randomLiteral(r)
			texts, values = append(texts, s), append(values, v)
		}
		return f + space() + "in(" + strings.Join(texts, ",") + ")", func(doc map[string]any) bool {
			for _, v := range values {
				if order, ok := naiveCompare(doc[f], v); ok && order == 0 {
					return true
				}
			}
			return false
		}
	}
	f := twinFields[r.IntN(len(twinFields))]
	s, v := randomLiteral(r)
	op := []string{"=", "!=", "<", "<=", ">", ">="}[r.IntN(6)]
	if _, isBool := v.(bool); isBool {
		op = []string{"=", "!="}[r.IntN(2)]
	}
	field, value := f, func(doc map[string]any) any { return doc[f] }
	if _, isNumber := v.(json.Number); isNumber && r.IntN(2) == 0 {
		field, value = "number( "+f+" )", func(doc map[string]any) any { return unquoted(doc[f]) }
	}
	return field + op + s, func(doc map[string]any) bool {
		order, ok := naiveCompare(value(doc), v)
		if !ok {
			return false
		}
		return map[string]bool{"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]
	}
}

// grammar is that of a number in RFC 8259.
var grammar = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$`)

func unquoted(v any) any {
	if text, is := v.(string); is && grammar.MatchString(text) {
		return json.Number(text)
	}
	return v
}

func randomLiteral(r *rand.Rand) (string, any) {
	switch r.IntN(4) {
	case 0:
		s := []string{"", "x", "xy", "é", "\U0001F600", `"`, `\`}[r.IntN(7)]
		return "'" + strings.ReplaceAll(s, `\`, `\\`) + "'", s
	case 1:
		b := r.IntN(2) == 0
		return strconv.FormatBool(b), b
	}
	n := randomNumber(r)
	return n, json.Number(n)
}

func randomNumber(r *rand.Rand) string {
	return []string{"0", "-0", "1", "1.0", "10e-1", "1e0", "-1", "2.50", "2.5", "9007199254740993", "9007199254740992", "1e20",
		"100000000000000000000", "0.1", "-0.10", "1e-20"}[r.IntN(16)]
}

func naiveCompare(field, with any) (int, bool) {
	switch w := with.(type) {
	case string:
		f, ok := field.(string)
		return strings.Compare(f, w), ok
	case bool:
		f, ok := field.(bool)
		if f == w {
			return 0, ok
		}
		return 1, ok
	case json.Number:
		f, ok := field.(json.Number)
		if !ok {
			return 0, false
		}
		a, _ := new(big.Rat).SetString(string(f))
		b, _ := new(big.Rat).SetString(string(w))
		return a.Cmp(b), true
	}
	return 0, false
}

func randomPayload(r *rand.Rand) string {
	var members []string
	for _, f := range twinFields {
		v := []string{"null", "true", "false", "{}", "[]", `""`, `"x"`, `"xy"`, `"é"`, `"\ud83d\ude00"`, `"\""`, `"\\"`, "", ""}[r.IntN(14)]
		if r.IntN(2) == 0 {
			v = randomNumber(r)
		}
		if r.IntN(4) == 0 {
			v = strconv.Quote([]string{randomNumber(r), " 1", "1 ", "+1", "01", "1,1", ".5", "5."}[r.IntN(8)])
		}
		if v != "" {
			members = append(members, strconv.Quote(f)+":"+v)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// plain is a payload as encoding/json reads it.
func plain(t *testing.T, payload string) (doc map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(payload))
	d.UseNumber()
	must.Succeed(t, d.Decode(&doc))
	return doc
}

// seed returns the source of a random test: INGOT_SEED, or a fixed one.
func seed(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(replay.Seed(t, 1), 0)) }

func TestConditionsAgreeWithTheirTwins(t *testing.T) {
	r := seed(t)
	both := [2]int{}
	for range 30_000 {
		text, naive := randomWhere(r, 3)
		payload := randomPayload(r)
		c, root := condition(t, text), document(t, payload)
		want := naive(plain(t, payload))
		if got := c.Holds(root); got != want {
			t.Fatalf("%s over %s: %v, and its twin says %v", text, payload, got, want)
		}
		if condition(t, c.String()).Holds(root) != want {
			t.Fatalf("%s: canonical %s", text, c)
		}
		if want {
			both[1]++
		} else {
			both[0]++
		}
	}
	if both[0] < 3000 || both[1] < 3000 {
		t.Errorf("too one-sided to prove anything: %v", both)
	}
}

func TestCanonicalText(t *testing.T) {
	for text, want := range map[string]string{
		`a>0`:                                    `a > 0`,
		` ( (a = 1.0) ) `:                        `a = 1`,
		`a='x"y'`:                                `a = "x\"y"`,
		`not number ( a.b ) in (1e0, 2)`:         `not number(a.b) in (1, 2)`,
		`number in (1) or number(number) > 0`:    `number in (1) or number(number) > 0`,
		`a=1 and b=2 or c=3`:                     `a = 1 and b = 2 or c = 3`,
		`a=1 and (b=2 or not (c=3 or exists d))`: `a = 1 and (b = 2 or not (c = 3 or exists d))`,
		`["a"] in (1e2,'z',true)`:                `a in (100, "z", true)`,
	} {
		must.Equal(t, condition(t, text).String(), want, text)
	}
}

func FuzzParse(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{`total_cents > 0`, `a in (1, 'x') and not exists b`, `["odd\"]name"] = "\\"`, `((a=1))`,
		`a = -1.5e3 or b != true`, `a[`, `é<'ü'`} {
		f.Add(s, `{"a":1,"b":"x"}`)
	}
	f.Fuzz(func(t *testing.T, text, payload string) {
		if w, odd := ParseWhen(text); odd == nil {
			doc, _ := event.ParseDocument(payload)
			if now := w.Holds(doc.Root(), event.Node{}, true); now && !w.Holds(doc.Root(), event.Node{}, false) {
				t.Fatalf("%q holds over %s without an earlier payload, and not if that is unknown", text, payload)
			}
		}
		c, bad := Parse(text)
		if bad != nil {
			if bad.Offset < 0 || bad.Offset > len(text) || bad.What == "" {
				t.Fatalf("%q: %+v", text, bad)
			}
			return
		}
		canonical := c.String()
		again, bad := Parse(canonical)
		if bad != nil && len(canonical) <= maxLength {
			t.Fatalf("%q is canonical %q: %v", text, canonical, bad)
		}
		doc, err := event.ParseDocument(payload)
		if bad != nil || err != nil {
			return
		}
		if c.Holds(doc.Root()) != again.Holds(doc.Root()) {
			t.Fatalf("%q and its canonical %q differ over %s", text, canonical, payload)
		}
		if s := again.String(); s != canonical {
			t.Fatalf("%q: canonical %q, then %q", text, canonical, s)
		}
	})
}

func TestWhatIsSaidOfACondition(t *testing.T) {
	const text = `a = 'x' or not a = "12" and b in (1, '2') and exists a and (b in ('3', true) or a > '7')`
	c := condition(t, text)
	var paths []string
	for _, p := range c.Paths() {
		paths = append(paths, p.String())
	}
	a, _ := Path("a")
	b, _ := Path("b")
	for what, pair := range map[string][2]any{
		"paths":   {fmt.Sprint(paths), "[a a b a b a]"},
		"kinds a": {fmt.Sprint(c.Kinds(a)), fmt.Sprint([]event.Kind{event.String, event.String, event.String})},
		"kinds b": {fmt.Sprint(c.Kinds(b)), fmt.Sprint([]event.Kind{event.Number, event.String, event.String, event.Bool})},
		"texts":   {fmt.Sprint(c.Texts()), "[{4 x} {19 12} {37 2} {66 3} {84 7}]"},
		"no number a": {fmt.Sprintf("%+v", c.NoNumbers(a)),
			`[{Offset:0 With:"x" Numbers: Ordered:false} {Offset:80 With:"7" Numbers:a > 7 Ordered:true}]`},
		"no number b": {fmt.Sprintf("%+v", c.NoNumbers(b)),
			`[{Offset:28 With:"2" Numbers:b in (1, 2) Ordered:false} {Offset:60 With:"3" Numbers: Ordered:false}]`},
	} {
		must.Equal(t, pair[0], pair[1], what)
	}
	var none *Condition
	if !none.Holds(event.Node{}) || none.String() != "" || none.Paths() != nil || none.Texts() != nil {
		t.Error("no condition says something")
	}
}
