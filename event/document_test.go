package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func parse(t *testing.T, src string) Document {
	t.Helper()
	d, err := ParseDocument(src)
	if err != nil {
		t.Fatalf("%s: %v", short(src), err)
	}
	return d
}

func TestDocumentReads(t *testing.T) {
	const src = ` {"id":"m-1","n":-1.50e+2,"ok":true,"no":false,"nil":null,"empty":"",
		"list":[10,[20,{"x":"deep"}],"three"],"o":{},"e":[],"caf\u00e9\n":"\ud83d\ude00\"\\\/\b\f\r\t","\u0000":1} `
	d := parse(t, src)
	if d.Text() != src || d.IsZero() {
		t.Error("the text is not kept as received")
	}
	root := d.Root()
	cases := []struct {
		path string
		kind Kind
		text string
		raw  string
	}{
		{"id", String, "m-1", `"m-1"`},
		{"n", Number, "-1.50e+2", "-1.50e+2"},
		{"ok", Bool, "true", "true"},
		{"no", Bool, "false", "false"},
		{"nil", Null, "null", "null"},
		{"empty", String, "", `""`},
		{"list[0]", Number, "10", "10"},
		{"list[1][1].x", String, "deep", `"deep"`},
		{"list[1]", Array, `[20,{"x":"deep"}]`, `[20,{"x":"deep"}]`},
		{"list[2]", String, "three", `"three"`},
		{"o", Object, "{}", "{}"},
		{"e", Array, "[]", "[]"},
		{`["caf\u00e9\n"]`, String, "😀\"\\/\b\f\r\t", `"\ud83d\ude00\"\\\/\b\f\r\t"`},
		{`["\u0000"]`, Number, "1", "1"},
		{"missing", Absent, "", ""}, {"id.x", Absent, "", ""}, {"id[0]", Absent, "", ""}, {"list.x", Absent, "", ""},
		{"list[3]", Absent, "", ""}, {"nil.x", Absent, "", ""}, {"[0]", Absent, "", ""}, {"o.x", Absent, "", ""},
	}
	for _, c := range cases {
		p, err := ParsePath(c.path)
		must.Succeed(t, err)
		n := root.At(p)
		if n.Kind() != c.kind || n.Text() != c.text || n.Raw() != c.raw || n.Exists() != (c.kind != Absent) {
			t.Errorf("%s is %s, text %q, raw %q", c.path, n.Kind(), n.Text(), n.Raw())
		}
	}
	var names []string
	for name := range root.Members() {
		names = append(names, name)
	}
	must.Match(t, names, []string{"id", "n", "ok", "no", "nil", "empty", "list", "o", "e", "café\n", "\x00"})
	must.Equal(t, root.Len(), len(names))
	var kinds []Kind
	for n := range root.Member("list").Elements() {
		kinds = append(kinds, n.Kind())
	}
	must.Match(t, kinds, []Kind{Number, Array, String})
	must.Equal(t, root.Member("list").Len(), 3)
}

func TestNodeOfNothing(t *testing.T) {
	for _, n := range []Node{{}, Document{}.Root()} {
		for range n.Members() {
			t.Error("a member of nothing")
		}
		for range n.Elements() {
			t.Error("an element of nothing")
		}
		if n.Exists() || n.Kind() != Absent || n.Text() != "" || n.Raw() != "" || n.Len() != 0 || n.Index(0).Exists() ||
			n.Member("").Exists() {
			t.Error("nothing is something")
		}
		if _, err := n.Decimal(); err == nil {
			t.Error("nothing is a number")
		}
	}
	if (Document{}).Text() != "" || !(Document{}).IsZero() {
		t.Error("the zero document holds something")
	}
}

func TestDocumentRefuses(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := []struct {
		src    string
		offset int
		what   string // part of the message
	}{
		{"", 0, "a value is missing"},
		{"  ", 2, "a value is missing"},
		{`{"a":1,"b":2,"a":3}`, 13, `member "a" appears twice`},
		{`{"a":1,"\u0061":3}`, 7, `member "\u0061" appears twice`},
		{`{"é":1,"\u00e9":3}`, 8, "appears twice"},
		{`{"😀":1,"\ud83d\ude00":3}`, 10, "appears twice"},
		{`{"":1,"":3}`, 6, `member "" appears twice`},
		{`[{"x":{"a":1,"b":{},"a":[]}}]`, 20, "appears twice"},
		{"{\"a\":\"\xff\"}", 6, "invalid UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", 6, "invalid UTF-8"},
		{"\"\uFFFD\xc0\xaf\"", 4, "invalid UTF-8"},
		{`"\ud800"`, 1, "surrogate"},
		{`"\udc00"`, 1, "surrogate"},
		{`"x\ud800\u0041"`, 2, "surrogate"},
		{`"\ud800\ud800"`, 1, "surrogate"},
		{`"\udc00\ud800"`, 1, "surrogate"},
		{`{"\ud800":1}`, 2, "surrogate"},
		{`"\u12g4"`, 1, "four hex digits"},
		{`"\u12`, 1, "four hex digits"},
		{`"\x41"`, 1, "unknown escape"},
		{`"\`, 1, "no closing quote"},
		{`"abc`, 0, "no closing quote"},
		{"\"a\nb\"", 2, "control character"},
		{"\"a\x00b\"", 2, "control character"},
		{`{} {}`, 3, "after the end"},
		{`{}x`, 2, "after the end"},
		{"1\x00", 1, "after the end"},
		{"\uFEFF{}", 0, "a byte order mark, as some editors write, is not a value"},
		{`{"a":}`, 5, "is not a value"},
		{`{"a"}`, 4, "a colon is missing"},
		{`{"a" 1}`, 5, "a colon is missing"},
		{`{"a":1,}`, 7, "name in quotes is missing"},
		{`{a:1}`, 1, "name in quotes is missing"},
		{`{"a":1 "b":2}`, 7, "a comma or a closing brace"},
		{`{"a":1`, 6, "a comma or a closing brace is missing before the end"},
		{`{`, 1, "before the end"},
		{`[`, 1, "a value is missing"},
		{`[1,]`, 3, "is not a value"},
		{`[1 2]`, 3, "a comma or a closing bracket"},
		{`[1}`, 2, "a comma or a closing bracket"},
		{`]`, 0, "is not a value"},
		{`tru`, 0, "is not a value"}, {`True`, 0, "is not a value"}, {`NaN`, 0, "is not a value"}, {`'a'`, 0, "is not a value"},
		{`// c`, 0, "is not a value"},
		{`truex`, 4, "after the end"},
		{`01`, 0, "needless 0"}, {`-`, 1, "lacks a digit"}, {`1.`, 2, "after its point"}, {`1e`, 2, "in its exponent"},
		{`+1`, 0, "is not a value"}, {`.5`, 0, "is not a value"},
		{`[1e1000000000000000000]`, 2, "more than 18 digits"},
		{nested(257), 256, "more than 256"},
		{strings.Repeat("[", 10_000), 256, "more than 256"},
		{strings.Repeat(`{"a":`, 10_000), 256 * 5, "more than 256"},
	}
	for _, c := range cases {
		d, err := ParseDocument(c.src)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !d.IsZero() {
			t.Errorf("%s: error %v", short(c.src), err)
			continue
		}
		must.Equal(t, syntax.Offset, c.offset, short(c.src))
		must.Say(t, syntax.What, c.what)
	}
	must.Equal(t, parse(t, nested(256)).Root().Kind(), Array)
	must.Equal(t, parse(t, `1e0000000000000000000000018`).Root().Kind(), Number)
}

func TestMessagesStayShortAndSayWhatIsThere(t *testing.T) {
	name := strings.Repeat("é", 500)
	_, err := ParseDocument(`{"` + name + `":1,"` + name + `":2}`)
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "ééé…") {
		t.Errorf("%v", err)
	}
	root := parse(t, `{"s":"x","list":[1,2],"nil":null}`).Root()
	for n, want := range map[Node]string{
		root.Member("s"):       `"x" is not a number`,
		root.Member("list"):    "array value is not a number",
		root.Member("nil"):     "null is not a number",
		root.Member("missing"): "absent value is not a number",
	} {
		_, err := n.Decimal()
		must.Equal(t, fmt.Sprint(err), want)
	}
	if Kind(99).String() != "unknown" || Object.String() != "object" {
		t.Error("a kind misnames itself")
	}
	for range root.Member("list").Elements() {
		break
	}
	for range root.Members() {
		break
	}
}

// Duplicates must be found at every size of object and at any distance, and names that merely look
// alike not.
func TestDuplicateMembersInObjectsOfAnySize(t *testing.T) {
	object := func(names []string) string {
		var b strings.Builder
		for i, n := range names {
			fmt.Fprintf(&b, `%c"%s":[{"x":1}]`, "{,"[min(i, 1)], n)
		}
		return b.String() + "}"
	}
	for _, n := range []int{1, 2, manyNames - 2, manyNames - 1, manyNames, manyNames + 1, 100} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("n%03dx", i))
		}
		parse(t, object(names))
		for _, twice := range []int{0, n / 2, n - 1} {
			_, err := ParseDocument(object(append(slices.Clone(names), strings.Replace(names[twice], "n", `\u006e`, 1))))
			must.Fail(t, err, "appears twice")
		}
	}
}

func TestDocumentOfManyMembersIsLinear(t *testing.T) {
	object := func(n int) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			fmt.Fprintf(&b, `"aa%daa":1,`, i)
		}
		return b.String() + `"end":0}`
	}
	took := func(n int) time.Duration {
		src, start := object(n), time.Now()
		if got := parse(t, src).Root().Len(); got != n+1 {
			t.Fatalf("%d members of %d", got, n+1)
		}
		return time.Since(start)
	}
	// Linear work takes 100 times as long for 100 times as many members, and quadratic work 10,000.
	// The machine may be busy at one of the moments, so the fastest runs are compared.
	few, many := took(1000), took(100_000)
	for range 4 {
		few, many = min(few, took(1000)), min(many, took(100_000))
	}
	if many > 2000*few {
		t.Errorf("an object of 1,000 members took %v, and one of 100,000 members %v", few, many)
	}
}

func TestDocumentOfOneMebibyte(t *testing.T) {
	big := `{"text":"` + strings.Repeat("x", 1<<20) + `","rows":[` + strings.Repeat(`{"a":1,"b":"é"},`, 60_000) + `{}],"fake":"` +
		strings.Repeat(":", 1<<20) + `"}`
	if d := parse(t, big); d.Root().Member("rows").Len() != 60_001 || len(d.Root().Member("text").Text()) != 1<<20 {
		t.Error("a long document lost something")
	}
}

// order is a typical payload of about 400 bytes.
const order = `{"type":"order.placed","merchant_id":"m-4711","order_id":"o-2024-000123","customer_id":"c-99887766","placed_at":"2024-03-05T14:07:31.123Z","currency":"EUR","total_cents":129900,"tax_cents":20741,"status":"placed","items":[{"sku":"SKU-1","qty":2,"price_cents":49950},{"sku":"SKU-22","qty":1,"price_cents":30000}],"shipping":{"method":"express","city":"Wien","zip":"1010","country":"AT"},"trace_id":"9f2c"}`

func TestParseDocumentAllocatesTwice(t *testing.T) {
	got := testing.AllocsPerRun(100, func() {
		_, err := ParseDocument(order)
		must.Succeed(t, err)
	})
	if got > 2 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkParseDocument(b *testing.B) {
	b.SetBytes(int64(len(order)))
	for b.Loop() {
		_, err := ParseDocument(order)
		must.Succeed(b, err)
	}
}

// A text of many tiny values must not take many times its own size. The bound counts values and
// names, and does not depend on how long the text is.
func TestTooManyValues(t *testing.T) {
	for _, many := range []string{"[" + strings.Repeat("0,", MaxNodes+1) + "0]", "[" + strings.Repeat("[],", MaxNodes+1) + "0]"} {
		var refused *SyntaxError
		if _, err := ParseDocument(many); !errors.As(err, &refused) || !strings.Contains(err.Error(), "more than 2097152 values") {
			t.Errorf("error %v", err)
		}
	}
	for _, fine := range []string{"[" + strings.Repeat("0,", MaxNodes-10) + "0]", `["` + strings.Repeat(":", 2*MaxNodes) + `"]`} {
		if _, err := ParseDocument(fine); err != nil {
			t.Error(err)
		}
	}
}
