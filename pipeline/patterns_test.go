package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline/question"
)

// patternFile is a file with types for patterns. Lines of patterns are added to it.
const patternFile = `ingot: 1
epoch: 1
type: "{type}"
events:
  placed:
    id: "{order_id}"
    at: "{at}"
    key: {pk: "ORDER#{order_id}", sk: "ORDER"}
    indexes:
      GSI1: {pk: "CUSTOMER#{customer_id | hmac}", sk: "{@at | time}#{@id}"}
      GSI2: {pk: "DAY#{@at | day}#{@id | shard:8}", sk: "{@at | time}#{@id}", was: ["DAY#{@at | day}"]}
      GSI4: {pk: "SITE#{site}", sk: "{status}#{total_cents | pad:12}#{@id}"}
  paid:
    id: "{order_id}#{payment_id}"
    at: "{at}"
    key: {pk: "ORDER#{order_id}", sk: "PAYMENT#{payment_id}"}
    indexes:
      GSI1: {pk: "CUSTOMER#{buyer.id | hmac}", sk: "{@at | time}#{@id}"}
aggregates:
  daily: {since: 1, by: {site: "{site}", customer: "{customer_id | hmac}"}, window: 1d, from: {placed: {values: {orders: count}}}}
patterns:
  story: {read: [placed, paid]}
  customer: {read: [placed, paid], index: GSI1, newest: true, as: {customer: [customer_id, buyer.id]}}
  day: {read: [placed], index: GSI2, rate: 20}
  payment: {read: [paid]}
  site: {read: [placed], index: GSI4}
  order: {read: [placed]}
  days: {total: daily}
`

// planText prints a plan: a line for each partition.
func planText(p *question.QueryPlan) string {
	var b strings.Builder
	for _, period := range p.Periods {
		for _, part := range period.Partitions {
			fmt.Fprintf(&b, "%s", part.PK)
			switch {
			case part.Complete:
				fmt.Fprintf(&b, " = %q", part.Low)
			case part.Prefix != "":
				fmt.Fprintf(&b, " begins %q", part.Prefix)
			case part.Low != "" || part.High != "":
				fmt.Fprintf(&b, " %q to %q", part.Low, part.High)
			}
			if p.Backward {
				b.WriteString(" backward")
			}
			b.WriteString("\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func named(pairs ...string) map[string][]string {
	m := map[string][]string{}
	for _, pair := range pairs {
		name, list, _ := strings.Cut(pair, "=")
		m[name] = strings.Split(list, ",")
	}
	return m
}

func TestPlans(t *testing.T) {
	p := mustLoad(t, patternFile)
	now := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		declared string
		q        question.Question
		want     string
	}{
		{"story", question.Question{Values: named("order_id=a#1")}, `ORDER#a%231`},
		{"order", question.Question{Values: named("order_id=50%")}, `ORDER#50%25 = "ORDER"`},
		{"order", question.Question{Values: named("order_id=b,a,b")}, "ORDER#a = \"ORDER\"\nORDER#b = \"ORDER\""},
		{"payment", question.Question{Values: named("order_id=1")}, `ORDER#1 begins "PAYMENT#"`},
		{"payment", question.Question{Values: named("order_id=1", "payment_id=2")}, `ORDER#1 = "PAYMENT#2"`},
		{"payment", question.Question{Values: named("order_id=1"), Prefix: "2#"}, `ORDER#1 begins "PAYMENT#2%23"`},
		{"site", question.Question{Values: named("site=s", "status=1")}, `SITE#s begins "1#"`}, // 1 does not find 10
		{"site", question.Question{Values: named("site=s", "status=1"), From: "500", To: "1000"},
			`SITE#s "1#000000000500" to "1#000000001000"`},
		{"site", question.Question{Values: named("site=s", "status=1"), From: "500"}, `SITE#s "1#000000000500" to "1$"`},
		{"day", question.Question{Values: named("at=2026-03-01")}, days("2026-03-01")},
		{"day", question.Question{From: "2026-03-01T10:00:00Z", To: "2026-03-02"},
			strings.ReplaceAll(days("2026-03-01"), "\n", ` "2026-03-01T10:00:00.000000000Z" to "2026-03-02T00:00:00.000000000Z"`+"\n") +
				` "2026-03-01T10:00:00.000000000Z" to "2026-03-02T00:00:00.000000000Z"`},
	} {
		declared, err := p.Pattern(c.declared)
		must.Succeed(t, err)
		c.q.Now = now
		plan, err := question.Plan(declared, c.q)
		if err != nil {
			t.Errorf("%s %+v: %v", c.declared, c.q, err)
			continue
		}
		must.Equal(t, planText(plan), c.want, c.declared, c.q)
	}
}

// days lists the partitions of a day: the one of was, and one for each shard.
func days(day string) string {
	list := []string{"DAY#" + day}
	for n := range 8 {
		list = append(list, fmt.Sprintf("DAY#%s#%d", day, n))
	}
	return strings.Join(list, "\n")
}

// The name of a folder and a separator ask an index by {path | parent} for what is in the folder.
// What is at the top is not in the index.
func TestWhatIsInAFolder(t *testing.T) {
	p := mustLoad(t, `ingot: 1
epoch: 1
type: file.stored
events:
  file.stored:
    id: "{path}"
    at: "{at}"
    key: {pk: "FILE#{path}", sk: FILE}
    indexes: {GSI1: {pk: "DIR#{path | parent}", sk: "{@id}"}}
patterns: {files: {read: [file.stored], index: GSI1}}
`)
	pattern, err := p.Pattern("files")
	must.Succeed(t, err)
	plan, err := question.Plan(pattern, question.Question{Values: named("path=/a/")})
	must.Succeed(t, err)
	must.Equal(t, planText(plan), "DIR#/a")
	for path, want := range map[string]string{"/a/b": "DIR#/a", "/a/b/c": "DIR#/a/b", "/a": ""} {
		item, err := p.Plan(envelope.Message{Body: `{"path":"` + path + `","at":"2026-03-01T00:00:00Z"}`})
		must.Succeed(t, err)
		pk := ""
		for _, index := range item.Indexes {
			pk = index.Key.PK
		}
		must.Equal(t, pk, want, path)
	}
}

func TestHashedParameter(t *testing.T) {
	p := mustLoad(t, patternFile)
	declared, err := p.Pattern("customer")
	must.Succeed(t, err)
	if got := fmt.Sprint(declared.Parameters()); got != "[{customer false true false} {at true false true} {id true false false}]" {
		t.Errorf("parameters %s", got)
	}
	plan, err := question.Plan(declared, question.Question{Values: named("customer=c-1")})
	must.Succeed(t, err)
	pk := plan.Periods[0].Partitions[0].PK
	if len(pk) != len("CUSTOMER#")+64 || !plan.Backward || strings.Contains(plan.Question, "c-1") || !strings.Contains(plan.Question, pk) {
		t.Errorf("plan %+v", plan)
	}
	bare, err := New(
		Spec{Ingot: 1, Epoch: 1, Events: map[string]EventSpec{"e": {ID: "{id}", At: "{at}", Key: KeySpec{"E#{id | hmac}", "-"}}},
			Patterns: map[string]PatternSpec{"e": {Read: []string{"e"}}}}, CheckOnly())
	must.Succeed(t, err)
	if declared, err = bare.Pattern("e"); err != nil {
		t.Fatal(err)
	}
	if _, err = question.Plan(declared, question.Question{Values: named("id=1")}); err != ErrNoSecret {
		t.Errorf("without the secret: %v", err)
	}
}

func TestRefusedQuestions(t *testing.T) {
	p := mustLoad(t, patternFile)
	now := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		declared string
		q        question.Question
		want     string
	}{
		{"story", question.Question{}, "story needs order_id; write order_id=VALUE"},
		{"story", question.Question{Values: named("order_di=1")}, "story has no parameter order_di; write order_id"},
		{"story", question.Question{Values: named("order_id=")}, "order_id is empty, and no key has an empty value; write order_id=VALUE"},
		{"story", question.Question{Values: map[string][]string{"order_id": many}},
			"order_id has 101 values, and a question has at most 100 of one parameter; ask in several questions"},
		{"customer", question.Question{Values: named("total_cents=5")},
			"total_cents is in no key of GSI1; its parameters are customer, at, id. To ask for total_cents, put it into a key: " +
				"{total_cents} for one value, or {total_cents | pad:12} in a sort key for a range of numbers"},
		{"site", question.Question{Values: named("site=s", "total_cents=5")},
			"total_cents stands behind {status} in the sort key, and can only be given together with it; write status=VALUE too"},
		{"site", question.Question{Values: named("site=s", "status=a,b")},
			"status has 2 values, and a parameter of the sort key may have several only if the values make the whole key of each item in " +
				"the table; ask for one at a time"},
		{"site", question.Question{Values: named("site=s", "status=a"), From: "x"},
			`from: "x" is not a non-negative integer without leading zeros`},
		{"payment", question.Question{Values: named("order_id=o"), From: "a", To: "60"},
			"no range of {payment_id} can be read, since to is 60: as text, 100 comes before 60; put {payment_id | pad:12} into the key"},
		{"payment", question.Question{Values: named("order_id=o"), From: "2026-03-01T00:00:00+01:00"},
			"no range of {payment_id} can be read, since from is 2026-03-01T00:00:00+01:00: as text, such times are not in order; " +
				"put {payment_id | time} into the key"},
		{"site", question.Question{Values: named("site=s", "status=a"), From: "9", To: "9"},
			`the range of {total_cents|pad:12} is empty: from "9" is not before to "9"`},
		{"site", question.Question{Values: named("site=s", "status=a"), Prefix: "9"},
			"no prefix of {total_cents|pad:12} can be read: after pad, " +
				"values with the same beginning do not stand together; give one value or a range"},
		{"day", question.Question{}, "day needs at, or a range that begins with from; write at=2026-03-01, or a since: in the pattern"},
		{"day", question.Question{Values: named("at=2026-03")}, "at: 2026-03 is not a whole day; write a day such as 2026-03-01"},
		{"day", question.Question{Values: named("at=tomorrow")},
			`at: "tomorrow" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its year is wrong or missing; the beginning of one, such as 2026-03-01, is enough`},
		{"day", question.Question{From: "2020-01-01"},
			"the question covers 2254 partitions, and one question reads at most 1000; ask for a shorter range or for fewer values"},
		{"day", question.Question{From: "2026-01-01", To: "2026-06-01"},
			"the question covers 1359 partitions, and one question reads at most 1000; ask for a shorter range or for fewer values"},
		{"day", question.Question{From: "2026-03-02", To: "2026-03-01"},
			"the range is empty: from 2026-03-02T00:00:00.000000000Z is not before to 2026-03-01T00:00:00.000000000Z"},
		{"order", question.Question{Values: named("order_id=1"), Prefix: "x"},
			"the values that are given fix the whole key of order, so nothing is left for a range or a prefix; leave it out"},
	} {
		declared, err := p.Pattern(c.declared)
		must.Succeed(t, err)
		c.q.Now = now
		if _, err = question.Plan(declared, c.q); err == nil || err.Error() != c.want {
			t.Errorf("%s %+v:\ngot  %v\nwant %s", c.declared, c.q, err, c.want)
		}
	}
	for name, want := range map[string]string{"custmer": "there is no pattern custmer; the nearest is customer",
		"x": "there is no pattern x; the pipeline has one of customer, day, days, order, payment, site, story"} {
		if _, err := p.Pattern(name); err == nil || err.Error() != want {
			t.Errorf("pattern %s: %v", name, err)
		}
	}
}

func TestPatternMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"p: {read: [placd]}", "p.yaml:29:14: there is no event type placd; write placed"},
		{"p: {read: [placed, placed]}", "p.yaml:29:22: placed is read twice; write it once"},
		{"p: {raed: [placed]}", "p.yaml:29:7: unknown name raed; write read"},
		{"p: {}", "p.yaml:29:6: p does not say what it reads; write read: [paid], or total: and an aggregate"},
		{"p: {read: []}", "p.yaml:29:6: p does not say what it reads; write read: [paid], or total: and an aggregate"},
		{"p: {read: [placed], total: daily}",
			"p.yaml:29:30: a pattern reads events or totals, not both; write read: or total: alone"},
		{"p: {read: [placed], index: GSI7}",
			`p.yaml:29:30: no event type is in GSI7; write GSI1, or indexes: {GSI7: {pk: "…", sk: "…"}} in the event types that it reads`},
		{"p: {read: [placed, paid], index: GSI2}", "p.yaml:29:22: events of paid are not in GSI2; write only the types that are, or " +
			"GSI2: {pk: …, sk: …} in the indexes: of paid"},
		{"p: {read: [placed, paid], index: GSI1}", "p.yaml:29:13: placed and paid have different pk in GSI1: CUSTOMER#{customer_id|hmac} " +
			"and CUSTOMER#{buyer.id|hmac}, so no Query reads both; write as: {customer_id: [customer_id, buyer.id]} beside read:"},
		{"p: {read: [placed], index: GSI1, as: {amount: [total_cents]}}", "p.yaml:29:50: total_cents is in no key of GSI1; write " +
			"{total_cents | pad:12} in a sort key to ask for a range of numbers, or {total_cents} in a key to ask for one value"},
		{"p: {read: [placed], index: GSI1, as: {c: [custmer_id]}}",
			"p.yaml:29:45: custmer_id is in no key of GSI1; write customer_id"},
		{"p: {total: dialy}", "p.yaml:29:14: there is no aggregate dialy; write daily"},
		{"p: {total: daily, index: GSI1}", "p.yaml:29:21: index cannot be used with totals; write the pattern without it"},
		{"p: {read: [placed], newest: yes please}",
			"p.yaml:29:31: newest is text, not true or false; write true, or leave newest out"},
		{"p: {read: [placed], rate: 0}", "p.yaml:29:29: rate is 0; write a whole number from 1 to 1000000"},
		{"P: {read: [placed]}",
			`p.yaml:29:3: "P" is not a valid name for a pattern; write a lower-case letter, then lower-case letters, digits and _, at most 64`},
	} {
		_, err := loadText(patternFile + "  " + c.line + "\n")
		if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.line, err, c.want)
		}
	}
	_, err := loadText(patternFile + "  p: {read: [placd]}\n  q: {total: dialy}\n")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes are reported as %v", err)
	}
}

// A question names the type of the totals that it asks for, if they are by type.
func TestTotalsByType(t *testing.T) {
	const typed = "aggregates:\n  typed: {since: 1, window: 1d, by: {what: '{@type}'}, from: {placed: {values: {orders: count}}}}\n"
	p := mustLoad(t, strings.Replace(patternFile, "aggregates:\n", typed, 1)+"  by_type: {total: typed}\n")
	declared, err := p.Pattern("by_type")
	must.Succeed(t, err)
	groups, _, _, err := question.Groups(declared, question.Question{Values: map[string][]string{"type": {"placed", "50%"}}})
	if got := fmt.Sprint(groups); err != nil || got != "[map[what:placed] map[what:50%]]" {
		t.Errorf("groups %s and %v", got, err)
	}
	if _, _, _, err := question.Groups(declared, question.Question{}); err == nil ||
		!strings.Contains(err.Error(), "by_type needs type; write type=VALUE") {
		t.Errorf("without a type: %v", err)
	}
}

// TestPatternsChangeNothingStored shows that a file with patterns makes the same items as without.
func TestPatternsChangeNothingStored(t *testing.T) {
	with := mustLoad(t, patternFile)
	without := mustLoad(t, patternFile[:strings.Index(patternFile, "patterns:")])
	for i, d := range with.Definitions() {
		if d.Text != without.Definitions()[i].Text {
			t.Errorf("definition %s differs", d)
		}
	}
}

// A question may give values of by under their own names, as an answer shows them and as the
// command totals takes them. They are what the templates have made, so nothing is applied to them.
func TestTotalsByTheirOwnNames(t *testing.T) {
	const daily = "aggregates:\n  revenue_daily: {since: 1, window: 1d, by: {currency: '{total.currency | lower}', shop: '{site}'}, from: {placed: {values: {orders: count}}}}\n"
	p := mustLoad(t, strings.Replace(patternFile, "aggregates:\n", daily, 1)+"  revenue: {total: revenue_daily}\n")
	declared, err := p.Pattern("revenue")
	must.Succeed(t, err)
	for asked, want := range map[string]string{
		"currency=eur shop=s-1":       "[map[currency:eur shop:s-1]]",
		"total.currency=EUR site=s-1": "[map[currency:eur shop:s-1]]",
		"currency=eur":                "revenue needs site; write site=VALUE",
		"country=DE":                  "its parameters are total.currency, site, and the values of by under their own names, currency, shop",
	} {
		groups, _, _, err := question.Groups(declared, question.Question{Values: named(strings.Fields(asked)...)})
		if got := fmt.Sprint(groups); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", asked, got, err)
		}
	}
}

// A range of what the file says are times or numbers is refused if the sort key has them as they
// come, whatever the range begins with.
func TestRangesOutOfOrder(t *testing.T) {
	const times = "as text, times of different offsets or precisions are not in order; put "
	for _, c := range []struct{ at, sk, from, want string }{
		{"{t}", "{t}", "2026-03-01T09:00:00Z", times + "{t | time} into the key"},
		{"{t}", "{t}", "2026", times + "{t | time} into the key"},
		{"{t | utc}", "{t}", "2026-03-01 09:00:00", times + "{t | utc} into the key"},
		{"{t | unixms}", "{t}", "x", "as text, 100 comes before 60; put {t | pad:12} into the key"},
		{"{t}", "{version}", "2026-03-01", times + "{version | time} into the key"},
		{"{t}", "{points}", "x", "as text, 100 comes before 60; put {points | pad:12} into the key"},
		{"{t}", "{points | number}", "60",
			"number does not keep the order of values; give one value, or put {points | pad:12} into the key"},
		{"{t}", "{t | time}", "2026-03-01T09:00:00Z", ""},
		{"{t}", "{other}", "2026-03-01T09:00:00Z", ""},
	} {
		p := mustLoad(t, `ingot: 1
epoch: 1
type: game
events:
  game:
    id: "{g}"
    at: "`+c.at+`"
    key: {pk: "GAME#{g}", sk: GAME}
    mode: latest
    revision: version time
    indexes:
      GSI1: {pk: GAMES, sk: "`+c.sk+`#{g}"}
aggregates:
  points: {since: 1, onExpire: subtract, by: {g: "{g}"}, from: {game: {values: {points: sum points}}}}
patterns:
  games: {read: [game], index: GSI1}
`)
		declared, err := p.Pattern("games")
		must.Succeed(t, err)
		_, err = question.Plan(declared, question.Question{From: c.from})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
