package keys

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func compiled(tb testing.TB, text string) *Template {
	tb.Helper()
	t, err := ParseTemplate(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return t
}

func TestTemplateParts(t *testing.T) {
	const text = `ORDER#{ a.b[0] | trim|first:8 }#x{@at | day}#{@attribute.a-b.c}#{a.b[0]}#{["}|\""] | hmac}`
	template := compiled(t, text)
	if template.Text() != text || template.Constant() || !template.UsesHMAC() {
		t.Error("the template misjudges itself")
	}
	var got []string
	for _, p := range template.Parts() {
		line := p.Literal + p.Path.String() + p.Derived
		for _, f := range p.Funcs {
			line += " | " + f.Name + ":" + f.Arg
		}
		if p.Lossy {
			line += " (lossy)"
		}
		if p.IsVariable() != (p.Literal == "") || !strings.HasPrefix(text[p.Offset:], p.Literal) || p.IsVariable() &&
			text[p.Offset] != '{' {
			t.Errorf("%s: offset %d, variable %v", line, p.Offset, p.IsVariable())
		}
		got = append(got, line)
	}
	want := []string{"ORDER#", "a.b[0] | trim: | first:8 (lossy)", "#x", "@at | day: (lossy)", "#", "@attribute.a-b.c", "#", "a.b[0]", "#",
		`["}|\""] | hmac:`}
	must.Match(t, got, want)
	must.Equal(t, fmt.Sprint(template.Paths()), `[a.b[0] ["}|\""]]`)
	must.Match(t, template.Derived(), []string{"@at", "@attribute.a-b.c"})
	constant := compiled(t, "TOTAL#1")
	if text, err := constant.Expand(&Source{}); !constant.Constant() || constant.UsesHMAC() || text != "TOTAL#1" || err != nil {
		t.Errorf("a constant is %q, %v", text, err)
	}
}

func TestTemplateMistakes(t *testing.T) {
	cases := []struct {
		text   string
		offset int
		what   string // part of the message
	}{
		{"", 0, "empty"},
		{"a{b", 1, "not closed; write {b}"}, {"{", 0, "not closed; write a } behind the path"}, {`{["x}`, 0, "not closed; write a }"},
		{`{["x#y"]`, 0, `not closed; write {["x#y"]}`}, {`{a["x#y"]#b`, 0, `not closed; write {a["x#y"]}#b`},
		{"a}b", 1, "closing brace without"}, {"{a}}", 3, "closing brace without"},
		{"{}", 1, "nothing between the braces"}, {"{ }", 2, "nothing between the braces"}, {"{|hmac}", 1, "nothing between the braces"},
		{"x{a b}", 2, "path"}, {"{2a}", 1, "path"}, {"{a..b}", 1, "path"}, {"{{a}}", 1, "path"},
		{"{@when}", 1, "not a derived value"}, {"{@}", 1, "not a derived value"}, {"{@id.x}", 1, "not a derived value"},
		{"{@ID}", 1, "not a derived value"},
		{"{@attribute.}", 1, "does not name a message attribute"}, {"{@attribute.a b}", 1, "does not name a message attribute"},
		{"{@attribute}", 1, "not a derived value"},
		{"{a | hmca}", 5, "not a function"}, {"{a |}", 4, "not a function"}, {"{a | | trim}", 5, "not a function"},
		{"{a | HMAC}", 5, "not a function"},
		{"{a | pad}", 5, "needs an argument"}, {"{a | pad:}", 5, "whole number from 1 to 38"}, {"{a | pad:0}", 5, "whole number"},
		{"{a | pad:39}", 5, "whole number"},
		{"{a | pad:08}", 5, "whole number"}, {"{a | pad:+8}", 5, "whole number"}, {"{a | pad:x}", 5, "whole number"},
		{"{a | pad:99999999999999999999}", 5, "whole number"},
		{"{a | shard:0}", 5, "from 1 to 10000"}, {"{a | shard:10001}", 5, "from 1 to 10000"}, {"{a | sha256:64}", 5, "from 1 to 63"},
		{"{a | first:0}", 5, "from 1 to 1024"},
		{"{a | trim:1}", 5, "takes no argument"}, {"{a | time:}", 5, "takes no argument"},
		{"{a | parent:2}", 5, "not at \"2\"; write parent:."}, {"{a | parent:}", 5, "not at \"\""}, {"{a | parent:--}", 5, "not at \"--\""},
		{"{a | parent:é}", 5, "not at"}, {"{a | parent:/}", 5, "parent divides at / by itself; write parent"},
		{"{a | split}", 5, "needs an argument; write split:8"}, {"{a | split:0}", 5, "from 1 to 100, not \"0\"; write split:1"},
		{"{a | split:-1:/}", 5, "from 1 to 100, not \"-1:/\"; write split:1:/"}, {"{a | split:/}", 5, "write split:8"},
		{"{a | split:2:}", 5, "split divides at one of"}, {"{a | split:2:x}", 5, "not at \"x\"; write split:2"},
		{"{a | split:2:#}", 5, "split divides at # by itself; write split:2"}, {"{a | split:2: /}", 5, "not at \" /\""},
		{"{a | split:2:/:3}", 5, "not at \"/:3\""}, {"{a | pad:8:/}", 5, "from 1 to 38, not \"8:/\"; write pad:8"},
		{"{a | sha256:8:/}", 5, "from 1 to 63"},
		{"{a | rev}", 5, "fixed width"}, {"{a | day | rev}", 11, "cannot follow day"}, {"{a | day | month}", 11, "cannot follow day"},
		{"{a | hmac | time}", 12, "cannot follow hmac"},
		{"{a | hmac | pad:8}", 12, "cannot follow hmac"}, {"{a | unix | day}", 12, "cannot follow unix"},
		{"{a | pad:3 | pad:4}", 13, "cannot follow pad"},
		{"a\nb", 1, "control character"}, {"a\u0085", 1, "control character"}, {"a\xff", 1, "invalid UTF-8"},
	}
	for _, c := range cases {
		_, err := ParseTemplate(c.text)
		var mistake *TemplateError
		if !errors.As(err, &mistake) || mistake.Offset != c.offset || !strings.Contains(mistake.Error(), c.what) {
			t.Errorf("%q: %+v, want offset %d and %q", c.text, err, c.offset, c.what)
		}
	}
	_, err := ParseTemplate("{a | shard}")
	must.Equal(t, fmt.Sprint(err), "shard needs an argument; write shard:8")
}

func TestLossyFunctions(t *testing.T) {
	for text, lossy := range map[string]bool{
		"{a}": false, "{@at}": false, "{@at | time}": false, "{@at | time | rev}": false, "{a | pad:8}": false, "{a | pad:8 | rev}": false,
		"{a | hmac}": false, "{a | sha256}": false,
		"{a | hmac | sha256}": false, "{a | sha256:63}": true, "{a | shard:8}": true, "{a | first:8}": true, "{a | trim}": true,
		"{a | lower}": true, "{a | upper}": true,
		"{@at | minute}": true, "{@at | hour}": true, "{@at | day}": true, "{@at | month}": true, "{@at | year}": true,
		"{@at | unix}": true, "{@at | unixms}": true, "{a | parent}": true, "{a | parent:.}": true,
		"{a | split:1}": true, "{a | split:1:/}": true,
		"{a | lower | hmac}": true, "{@at | unix | pad:12}": true,
	} {
		must.Equal(t, compiled(t, text).Parts()[0].Lossy, lossy, text)
	}
}

// The parent is what comes before the last separator, so a folder's own name with a separator
// behind it asks for what is in the folder. What has no parent is missing.
func TestParent(t *testing.T) {
	for _, tt := range []struct{ value, call, want string }{
		{"/a/b/c", "parent", "/a/b"}, {"/a/b", "parent", "/a"}, {"a/b", "parent", "a"},
		{"/a", "parent", ""}, {"a", "parent", ""}, {"/", "parent", ""},
		{"/a/b/", "parent", "/a/b"}, {"a/", "parent", "a"}, {"/a//b", "parent", "/a/"}, {"//", "parent", "/"},
		{"/größe/日本/😀", "parent", "/größe/日本"}, {"日/本", "parent", "日"},
		{"/a/b/c", "parent | parent", "/a"}, {"/a/b", "parent | parent", ""}, {"/a", "parent | sha256", ""},
		{"org.shop.cart", "parent:.", "org.shop"}, {"a/b", "parent:.", ""}, {"a::b", "parent::", "a:"},
		{"a#b#c", "parent:#", "a%23b"}, {`a\b`, `parent:\`, "a"},
	} {
		got, err := compiled(t, "{@id | "+tt.call+"}").Expand(&Source{ID: tt.value})
		if missing := (*Missing)(nil); got != tt.want || errors.As(err, &missing) != (tt.want == "") {
			t.Errorf("%s of %q: %q, %v, want %q", tt.call, tt.value, got, err, tt.want)
		}
	}
	_, err := compiled(t, "{@id | parent}").Expand(&Source{})
	must.Equal(t, fmt.Sprint(err), "@id is empty")
	for _, separator := range strings.Split(separators, "") {
		if separator == "/" {
			continue
		}
		tpl := compiled(t, "{@id | parent:"+separator+"}")
		got, err := tpl.Plain(&Source{ID: "a/b" + separator + "c"})
		must.Succeed(t, err)
		must.Equal(t, got, "a/b", separator)
		must.Equal(t, compiled(t, tpl.Canonical()).Canonical(), tpl.Canonical())
	}
}

// A piece is the one that strings.Split makes, at # or at the separator that is named.
func TestSplitAgainstItsTwin(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		separator := string(separators[r.IntN(len(separators))])
		var value string
		for range 1 + r.IntN(6) {
			value += []string{separator, "#", "a", "é", "😀"}[r.IntN(5)]
		}
		n, call := 1+r.IntN(3), ":"+separator
		if separator == "#" {
			call = ""
		}
		tpl := compiled(t, fmt.Sprintf("{@id | split:%d%s}", n, call))
		want := ""
		if pieces := strings.Split(value, separator); n <= len(pieces) {
			want = pieces[n-1]
		}
		if got, err := tpl.Plain(&Source{ID: value}); got != want || (err == nil) != (want != "") {
			t.Fatalf("%s of %q: %q, %v, want %q", tpl.Text(), value, got, err, want)
		}
		must.Equal(t, compiled(t, tpl.Canonical()).Canonical(), tpl.Canonical())
	}
}

// No letter, digit, space, brace, quote or bar is a separator; all else in ASCII is.
func TestSeparators(t *testing.T) {
	for c := ' '; c <= '~'; c++ {
		bad := strings.ContainsRune(` {}"|`, c) || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if _, err := ParseTemplate("{a | split:2:" + string(c) + "}"); (err != nil) != (bad || c == '#') {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func TestCheckSeparated(t *testing.T) {
	for text, fine := range map[string]bool{
		"x": true, "{a}": true, "x{a}y": true, "{a}#{b}": true, "{a}x#y{b}": true, "{a}##{b}": true, "#{a}#{b}#": true,
		"{a}{b}": false, "{a}-{b}": false, "#{a}{b}": false, "{a}#{b}{c}": false, "{a}#{b}-{c}": false, "{@at | day}T{@id}": false,
	} {
		err := compiled(t, text).CheckSeparated()
		var mistake *TemplateError
		if (err == nil) != fine || err != nil && (!errors.As(err, &mistake) || text[mistake.Offset] != '{' || mistake.Offset == 0) {
			t.Errorf("%s: %v", text, err)
		}
	}
	err := compiled(t, "{a}-{b}-{@id}").CheckSeparated()
	const want = `"-" does not separate field a from field b, because their values may contain it too, ` +
		"so different values can make the same key; write a # between them"
	must.Equal(t, fmt.Sprint(err), want)
}

func TestExpandExplainsItself(t *testing.T) {
	s := &Source{Data: root(t,
		`{"n":1,"nil":null,"empty":"","blank":" ","list":[],"obj":{},"when":"yesterday","wide":12345,"email":"a@b","long":"`+
			strings.Repeat("x", 1000)+`","runes":"x`+strings.Repeat("日", 30)+`"}`)}
	for text, want := range map[string]string{
		"{x.y}":               "field x.y is missing",
		"{nil}":               "field nil is null",
		"{empty}":             "field empty is empty",
		"{blank | trim}":      "field blank contains only white space",
		"{@id}":               "@id is empty",
		"{@at | day}":         "@at is missing",
		"{@digest}":           "@digest is missing",
		"{@attribute.tenant}": "@attribute.tenant is missing",
		"{list}":              "Poison (wrong-type): field list is an array, which cannot become text",
		"{obj | hmac}":        "Poison (wrong-type): field obj is an object, which cannot become text",
		"{when | day}":        `Poison (bad-time): field when | day: "yesterday" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its year is wrong or missing`,
		"{when | unix}":       `Poison (bad-time): field when | unix: "yesterday" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its year is wrong or missing`,
		"{runes | day}": `Poison (bad-time): field runes | day: "x` + strings.Repeat("日", 19) +
			`…" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its year is wrong or missing`,
		"{long | day}": `Poison (bad-time): field long | day: "` + strings.Repeat("x", 60) +
			`…" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its year is wrong or missing`,
		"{wide | pad:4}":  `Poison (number-range): field wide | pad:4: "12345" has more than 4 digits`,
		"{email | pad:4}": `Poison (wrong-type): field email | pad:4: "a@b" is not a non-negative integer without leading zeros`,
		"{email | hmac}":  "Retry (refused): field email | hmac: there is no secret; set INGOT_PII_KEY",
	} {
		got, err := compiled(t, text).Expand(s)
		must.Equal(t, fmt.Sprint(err), want, text)
		must.Equal(t, got, "", text)
	}
}

// What was in the buffer stays, and a failure leaves nothing behind.
func TestAppendToABuffer(t *testing.T) {
	s := &Source{Data: root(t, `{"a":"x#y","b":7}`)}
	dst, err := compiled(t, "A#{a}#{b | pad:3}").Append([]byte("before#"), s)
	if string(dst) != "before#A#x%23y#007" || err != nil {
		t.Errorf("%q, %v", dst, err)
	}
	dst, err = compiled(t, "A#{a}#{c}").Append([]byte("before#"), s)
	if string(dst) != "before#" || err == nil {
		t.Errorf("%q, %v", dst, err)
	}
}

func TestTimeTemplates(t *testing.T) {
	for text, fine := range map[string]bool{
		"{a}": true, "{a | unix}": true, "{a | unixms}": true, "{a | trim | unix}": true, "{a | trim}": true, "{@at}": true,
		"{@attribute.sent}": true, "{a | utc}": true, "{a | trim | rfc2822}": true, "{a | strip | number | unixns}": true,
		"{a | number}": false, "{a | utc | unix}": false,
		"x": false, "{a}Z": false, "{a}#{b}": false, "{a | day}": false, "{a | time | unix}": false, "{a | time}": false,
		"{a | hmac}": false,
	} {
		template := compiled(t, text)
		err := template.CheckTime()
		must.Equal(t, err == nil, fine, text, err)
		if text == "x" {
			must.Equal(t, err.Error(), `a time is one value; write "{x}", "{x | unix}" or "{x | unixms}"`)
		}
		if _, err := template.Time(&Source{}); err == nil {
			t.Errorf("%s reads a time from nothing", text)
		}
	}
	s := &Source{
		Data: root(t,
			`{"end":253402300799.999999999,"beyond":253402300800,"fine":0.0000000001,"zero":0,"ms":0.000001,"n":5,"huge":1e999999999999999999,"tiny":1e-999999999999999999,"naive":"2017-03-22T16:28:02",`+
				`"mail":"Wed, 20 Jul 2016 20:44:36 +0000","day":"Mon, 20 Jul 2016 20:44:36 +0000","zoned":"2020-07-16T13:53:54Europe",`+
				`"comma":"2019-11-05T16:33:54,9Z","short":"2019-11-05T16:33Z","late":"2019-11-05T24:00:00Z",`+
				`"millis":1644983921000,"micros":1556893286484340,"nanos":"1556893286484340854"}`),
		Attributes: map[string]string{"sent": "1530000000000", "word": "word", "at": "2024-03-05T14:07:31+02:00"},
	}
	for text, want := range map[string]string{
		"{end | unix}": "9999-12-31T23:59:59.999999999Z", "{zero | unix}": "1970-01-01T00:00:00.000000000Z",
		"{ms | unixms}":              "1970-01-01T00:00:00.000000001Z",
		"{@attribute.sent | unixms}": "2018-06-26T08:00:00.000000000Z", "{@attribute.at}": "2024-03-05T12:07:31.000000000Z",
	} {
		at, err := compiled(t, text).Time(s)
		must.Succeed(t, err)
		must.Equal(t, FormatTime(at), want, text)
	}
	for text, want := range map[string]string{
		"{beyond | unix}": "outside of the years", "{fine | unix}": "finer than a nanosecond", "{huge | unix}": "outside of the years",
		"{tiny | unix}":            "finer than a nanosecond",
		"{n}":                      `field n: "5" is a number, probably of seconds: write {n | unix}`,
		"{@attribute.sent}":        `"1530000000000" is a number, probably of milliseconds: write {@attribute.sent | unixms}`,
		"{naive}":                  `field naive: "2017-03-22T16:28:02" has no offset from UTC: write {naive | utc} if it is UTC`,
		"{naive | unix}":           "is not a number: use utc in place of unix",
		"{mail | utc}":             "its year is wrong or missing",
		"{mail}":                   "its year is wrong or missing: write {mail | rfc2822}",
		"{naive | rfc2822}":        "is not a time like Mon, 02 Jan 2006 15:04:05 -0700: its day is wrong or missing",
		"{day | rfc2822}":          "its weekday is wrong or missing",
		"{zoned}":                  "its offset from UTC is wrong or missing",
		"{comma}":                  "its decimal point is wrong or missing",
		"{short}":                  "its second is wrong or missing",
		"{late | trim}":            "its hour is wrong or missing",
		"{micros | unixms}":        "these are microseconds, which no function reads",
		"{nanos | unixms}":         "these are nanoseconds: use unixns",
		"{millis | unix}":          "these are milliseconds: use unixms",
		"{@attribute.at | unix}":   "is not a number but an RFC 3339 time: leave | unix out",
		"{@attribute.word | unix}": "\"word\" is not a number",
	} {
		_, err := compiled(t, text).Time(s)
		var refusal *event.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != event.BadTime || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	at := time.Date(2024, 3, 5, 14, 0, 0, 5, time.FixedZone("", 3600))
	if got, err := compiled(t, "{@at}").Time(&Source{At: at, HasAt: true}); err != nil || !got.Equal(at) || got.Location() != time.UTC {
		t.Errorf("@at is %v, %v", got, err)
	}
}
