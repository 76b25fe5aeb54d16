package show

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
)

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		must.Equal(t, Comma(n), want, n)
	}
	for text, want := range map[string]string{"-0.5": "-0.5", "1234.5": "1,234.5", "12e40": "12e40",
		"100000000000000000000": "100000000000000000000"} {
		must.Equal(t, Grouped(text), want, text)
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	tell := NewProgress(&out, false)
	for n := range 9 {
		tell(Step{"sending", n, 8})
	}
	tell(Step{"checking", 0, 0})
	tell(Step{"checking", 10_000, 0})
	tell(Step{})
	want := "sending …\nsending: 2 of 8\nsending: 4 of 8\nsending: 6 of 8\nsending: 8 of 8\nchecking …\nchecking: 10,000\n"
	must.Equal(t, out.String(), want)
	out.Reset()
	tell = NewProgress(&out, true)
	tell(Step{"sending", 1, 2})
	tell(Step{"checking", 0, 0})
	tell(Step{"checking", 1, 0})
	tell(Step{})
	tell(Step{})
	must.Say(t, out.String(), "sending", "checking")
	// It shows how much is done, how long that took, and how long the rest will take.
	if !regexp.MustCompile(`sending  50% \|█+ +\| \(1/2\) \[\d+s:\d+s\]`).MatchString(out.String()) {
		t.Errorf("the bars are %q", out.String())
	}
}

// A bar fits into a terminal of 80 columns, whatever it counts.
func TestBarFits(t *testing.T) {
	for _, phase := range []string{"sending", "reading", "sending events through trouble"} {
		var out bytes.Buffer
		tell := NewProgress(&out, true)
		for _, done := range []int{0, 1, 12_345_678, 99_999_999, 100_000_000} {
			tell(Step{phase, done, 100_000_000})
		}
		tell(Step{})
		drawn := 0
		for line := range strings.SplitSeq(regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`).ReplaceAllString(out.String(), ""), "\r") {
			if line = strings.TrimRight(line, " \n"); line != "" {
				drawn++
			}
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if drawn == 0 {
			t.Errorf("%s: no bar was drawn: %q", phase, out.String())
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, é, 日本": "plain, é, 日本", "a\x1b[31mred": `a\u001b[31mred`, "tab\tline\nend\r": `tab\tline\nend\r`,
		"\x00\x7f\u0085": `\u0000\u007f\u0085`,
		"\u202egnp.exe":  `\u202egnp.exe`, "\u2066x\u2069": `\u2066x\u2069`, "\u200b\u200f\ufeff": `\u200b\u200f\ufeff`,
		"bad\xff": `bad\xff`, "": "",
	} {
		must.Equal(t, Text(in), want, in)
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": `\t=1`, "-12.50": "-12.50", "+12": "'+12", "12": "12",
		"a=1": "a=1", "-": "'-", "": "", "-1e5": "'-1e5",
	} {
		must.Equal(t, Cell(in), want, in)
	}
}

func TestTableFits(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(2)
	table.Fit(40)
	table.Row("merchant", "what it is about", "orders")
	table.Row("m-1", "a description that is far too long for the line", "1,234,567")
	table.Row("a line of its own that is longer than forty columns stays as it is")
	table.Print(&out)
	want := "  merchant  what it is about      orders\n  m-1       a description th…  1,234,567\n  a line of its own that is longer than forty columns stays as it is\n"
	must.Equal(t, out.String(), want)
	out.Reset()
	table = NewTable(0, 1) // numbers are never cut
	table.Fit(10)
	table.Row("123456789", "987654321")
	table.Print(&out)
	must.Equal(t, out.String(), "  123456789  987654321\n")
}

const personal = `
ingot: 1
epoch: 1
type: "{type}"
events:
  user.seen:
    id: "{id}"
    at: "{at}"
    key: {pk: "USER#{contact.email | lower | hmac}", sk: "{id}"}
    indexes:
      GSI1: {pk: "PLAIN#{contact.email}", sk: "{id}"}
      GSI2: {pk: "CITY#{city}", sk: "{id}"}
    attributes: {email: "contact.email", contact: "contact.phone", city: "city"}
aggregates:
  mails:
    since: 1
    by: {mail: "{contact.email}", city: "{city}"}
    from:
      user.seen: {values: {seen: count}}
  hashed:
    since: 1
    by: {mail: "{contact.email | lower | hmac}"}
    from:
      user.seen: {values: {seen: count}}
  kept:
    since: 1
    by: {city: "{city}"}
    from:
      user.seen:
        values:
          last: newest contact.email
          first: {oldest: contact.email?, where: 'city = "Bonn"'}
          different: distinct contact.email
          city: newest city
          seen: count
`

func hidden(t *testing.T) Personal {
	t.Helper()
	p := written.Pipeline(t, personal, pipeline.CheckOnly())
	return PersonalOf(p)
}

// A member that differs is masked as it would be inside of its payload, also if the whole member is
// missing on one side, and if there is an envelope around it.
func TestMembersAreMasked(t *testing.T) {
	m := hidden(t)
	for _, c := range [][3]string{
		{"contact.email", `"jo@x.io"`, `"***"`},
		{"contact", `{"email":"jo@x.io"}`, `"***"`},
		{"detail.contact.email", `"jo@x.io"`, `"***"`},
		{"customer", `{"contact":{"email":"jo@x.io"},"n":1.50}`, `{"contact":{"email":"***"},"n":1.50}`},
		{"customers", `[{"contact":{"email":"jo@x.io"}}]`, `[{"contact":{"email":"***"}}]`},
		{"a very long name…", `"jo@x.io"`, `"***"`}, // which cannot be read as a path
		{"[0].x", `"jo@x.io"`, `"***"`},
		{"contact.phone", `"1"`, `"1"`},
		{"amount", `1.50`, `1.50`},
		{"contact.email", ``, ``},
	} {
		must.Equal(t, m.Member(c[0], c[1]), c[2], c[0], c[1])
		must.Equal(t, (Personal{}).Member(c[0], c[1]), c[1])
	}
}

func TestDetailsAreMasked(t *testing.T) {
	m := hidden(t)
	for _, c := range []struct {
		reason     event.Reason
		text, want string
	}{
		{event.Claimed, `email "jo@x.io" is taken: another "user" holds it`, `email "***" is taken: another "***" holds it`},
		{event.BelowFloor, `balance of who="jo": sum is 12.5, and with this event it would be -3, which is below its floor of 0`,
			`balance of who="***": sum is ***, and with this event it would be ***, which is below its floor of 0`},
		{event.AboveCeiling, `spent: sum is 12, and with this event it would be 3000, which is above`,
			`spent: sum is ***, and with this event it would be ***, which is above`},
		{event.BadTime, `at: "jo \" x" cannot be read`, `at: "***" cannot be read`},
		{event.UnknownType, `type "user.sen" is not declared`, `type "user.sen" is not declared`},
	} {
		must.Equal(t, m.Detail(c.reason, c.text), c.want)
		must.Equal(t, (Personal{}).Detail(c.reason, c.text), c.text)
	}
	if m.Text("g") != Mask || m.Text("") != "" || (Personal{}).Text("g") != "g" {
		t.Error("a text of unknown origin is not masked")
	}
}

func TestPayloadsAreMasked(t *testing.T) {
	m := hidden(t)
	for in, want := range map[string]string{
		`{"id":"1","contact":{"email":"jo@x.io","phone":"1"},"n":1.50}`: `{"id":"1","contact":{"email":"***","phone":"1"},"n":1.50}`,
		`{"contact":{"email":{"a":["jo"]}}}`:                            `{"contact":{"email":"***"}}`,
		`{"contact":{"email":null}}`:                                    `{"contact":{"email":"***"}}`,
		`{"contact":{}, "email":"x"}`:                                   `{"contact":{},"email":"x"}`,
		`{"detail":{"contact":{"email":"jo@x.io"}}}`:                    `{"detail":{"contact":{"email":"***"}}}`,
		`{"Message":"{\"contact\":{\"email\":\"jo@x.io\"}}"}`:           `{"Message":"{\"contact\":{\"email\":\"***\"}}"}`,
		`[{"contact":{"email":"jo@x.io"}}]`:                             `[{"contact":{"email":"***"}}]`,
		`not json jo@x.io`:                                              `*** (16 bytes that are not JSON)`,
		`{"contact":{"email":"jo"},"contact":{}}`:                       `*** (39 bytes that are not JSON)`,
		`{"a":"{not json"}`:                                             `{"a":"{not json"}`,
	} {
		must.Equal(t, m.Data(in), want, in)
		must.Equal(t, (Personal{}).Data(in), in)
	}
}

func TestItemsAreMasked(t *testing.T) {
	m := hidden(t)
	item := event.Item{Type: "user.seen", ID: "1", Key: event.Key{PK: "USER#0123", SK: "1"}, Data: `{"contact":{"email":"jo@x.io"}}`,
		Indexes: []event.IndexKey{{Name: "GSI1", Key: event.Key{PK: "PLAIN#jo@x.io", SK: "1"}},
			{Name: "GSI2", Key: event.Key{PK: "CITY#Bonn", SK: "1"}}},
		Attributes: []event.Attribute{{Name: "city", Text: "Bonn"}, {Name: "contact", Text: "1"}, {Name: "email", Text: "jo@x.io"}}}
	got := m.Item(item)
	if got.Key.PK != "USER#0123" || got.ID != "1" || got.Data != `{"contact":{"email":"***"}}` {
		t.Errorf("%+v", got)
	}
	if got.Indexes[0].Key.PK != "***" || got.Indexes[0].Key.SK != "1" || got.Indexes[1].Key.PK != "CITY#Bonn" {
		t.Errorf("%+v", got.Indexes)
	}
	if got.Attributes[0].Text != "Bonn" || got.Attributes[1].Text != "1" || got.Attributes[2].Text != "***" {
		t.Errorf("%+v", got.Attributes)
	}
	if item.Indexes[0].Key.PK != "PLAIN#jo@x.io" || item.Attributes[2].Text != "jo@x.io" {
		t.Error("the item itself is changed")
	}
	if by := m.By("mails", map[string]string{"mail": "jo@x.io", "city": "Bonn"}); by["mail"] != "***" || by["city"] != "Bonn" {
		t.Errorf("%v", by)
	}
	must.Equal(t, m.By("hashed", map[string]string{"mail": "0123"})["mail"], "0123")
}

// A key that shows the id shows what the id is made of.
func TestKeysOfPersonalIDs(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: "{type}"
events:
  seen:
    id: "{email}"
    at: "{at}"
    key: {pk: "USER#{@id}", sk: "{city}"}
    indexes: {GSI1: {pk: "M#{email | hmac}", sk: "{@id}"}, GSI2: {pk: "CITY#{city}", sk: "-"}}
aggregates:
  mails: {since: 1, by: {who: "{@id}"}, from: {seen: {values: {n_seen: count}}}}
  cities: {since: 1, by: {city: "{city}"}, from: {seen: {values: {n_seen: count}}}}
`
	p := written.Pipeline(t, file, pipeline.Secret([]byte("a secret of sixteen bytes")))
	m := PersonalOf(p)
	got := m.Item(event.Item{Type: "seen", ID: "jo@x.io", Key: event.Key{PK: "USER#jo@x.io", SK: "Bonn"},
		Indexes: []event.IndexKey{{Name: "GSI1", Key: event.Key{PK: "M#0123", SK: "jo@x.io"}}}})
	if got.ID != "***" || got.Key.PK != "***" || got.Key.SK != "Bonn" || got.Indexes[0].Key.SK != "***" ||
		got.Indexes[0].Key.PK != "M#0123" {
		t.Errorf("%+v", got)
	}
	must.Equal(t, m.By("mails", map[string]string{"who": "jo@x.io"})["who"], "***")
	if !m.Total("mails") || m.Total("cities") || !m.Key("seen", "USER#{@id}") || !m.Key("seen", "M#{email | hmac}") ||
		m.Key("seen", "CITY#{city}") {
		t.Error("it does not tell which keys are personal")
	}
}
