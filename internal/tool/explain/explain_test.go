package explain

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// of returns an explainer of a pipeline.yaml.
func of(t testing.TB, text string) *Explainer {
	t.Helper()
	files := fstest.MapFS{"p.yaml": {Data: []byte(text)}, "schemas/goods.json": {Data: []byte(`{"required": ["sku"]}`)}}
	p, err := pipeline.Load(files, "p.yaml", pipeline.Secret([]byte(show.StandIn)))
	must.Succeed(t, err)
	return &Explainer{Pipeline: p, Counting: aggregate.Marks, Partitions: 4, Now: must.Time("2026-03-01T00:00:00Z"),
		Schemas: pipeline.SchemaFiles([]byte(text))}
}

// explainer returns an explainer of the sample shop.
func explainer(t testing.TB, counting aggregate.Counting) *Explainer {
	t.Helper()
	text := must.Read(t, "../../../"+sampleshop.Pipeline)
	e := of(t, string(text))
	e.Counting, e.Now, e.StandInKey = counting, must.Time("2099-03-15T00:00:00Z"), true
	return e
}

// text returns what a report says to people.
func text(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	r.WriteText(&b)
	return b.String()
}

// body returns a message without attributes.
func body(text string) Message { return Message{Message: envelope.Message{Body: text}} }

func messagesOf(t *testing.T, name string) []Message {
	t.Helper()
	text := must.Read(t, filepath.Join("..", "..", "..", "events", name))
	list, batch, err := Messages(string(text))
	if err != nil || !batch {
		t.Fatalf("%s: batch %v, %v", name, batch, err)
	}
	return list
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		golden, sample string
		counting       aggregate.Counting
	}{
		{"one-receipts.txt", "ingest-one.json", aggregate.Receipts},
		{"many.txt", "ingest-many.json", aggregate.Marks},
		{"conflict.txt", "ingest-conflict.json", aggregate.Marks},
		{"poison-among-good.txt", "ingest-poison-among-good.json", aggregate.Marks},
		{"not-json.txt", "ingest-not-json.json", aggregate.Marks},
		{"unknown-type.txt", "ingest-unknown-type.json", aggregate.Marks},
		{"wrong-type.txt", "ingest-wrong-type.json", aggregate.Marks},
		{"expired.txt", "ingest-expired.json", aggregate.Marks},
		{"sns-cloudevent.txt", "ingest-sns-cloudevent.json", aggregate.Marks},
	} {
		t.Run(c.golden, func(t *testing.T) {
			golden.File(t, filepath.Join("testdata", c.golden), text(t, explainer(t, c.counting).Explain(messagesOf(t, c.sample))))
		})
	}
}

// What explain says about an item is what would be stored: the same plan, with sizes by the same
// rules.
func TestItemIsThePlan(t *testing.T) {
	e := explainer(t, aggregate.Receipts)
	for _, m := range messagesOf(t, "ingest-many.json") {
		item, err := e.Pipeline.Plan(m.Message)
		must.Succeed(t, err)
		x := e.Explain([]Message{m}).Messages[0]
		if x.Digest != item.Digest.String() || x.Item.Bytes != item.Size() ||
			x.Item.WriteUnits != itemform.WriteUnits(item.Size())*(1+len(item.Indexes)) {
			t.Errorf("%s: %+v of %d bytes, the plan has %d and digest %s", x.ID, x.Item, x.Item.Bytes, item.Size(), item.Digest)
		}
		var totals []string
		for _, a := range x.Aggregates {
			if a.NotCounted == "" {
				totals = append(totals, a.PK+" "+a.SK)
			}
		}
		var want []string
		for _, c := range e.Pipeline.Contributions(item).List {
			key := lanes.Key(c.Def, lanes.ItemBucket(item.Key, c.Def.Spread), c.By, c.Window)
			want = append(want, key.PK+" "+key.SK)
		}
		must.Match(t, totals, want, x.ID)
	}
}

func TestNotCountedAndNotIndexedSayWhy(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	paid := `{"type":"order.paid","merchant_id":"m","order_id":"o","payment_id":"p","currency":"EUR","amount_cents":5,"paid_at":"2099-03-14T09:00:00Z"}`
	r := e.Explain([]Message{body(paid)})
	x := r.Messages[0]
	if x.Verdict != "Inserted" || len(x.Indexes) != 1 || x.Indexes[0] != (Index{Name: "GSI3", Missing: "field status is missing"}) {
		t.Errorf("indexes: %+v %s", x.Indexes, x.Detail)
	}
	if len(x.Aggregates) != 1 || x.Aggregates[0].NotCounted != `where status = "captured" does not hold` {
		t.Errorf("aggregates: %+v", x.Aggregates)
	}
	// This type uses no hmac, but other types of the pipeline do.
	if r.StandInKey {
		t.Error("the stand-in is named beside no hash")
	}
}

func TestMessages(t *testing.T) {
	const received = `{"Messages":[{"MessageId":"1","ReceiptHandle":"r","MD5OfBody":"x","Body":"{\"a\":1}","MessageAttributes":{"n":{"StringValue":"v","DataType":"String"},"b":{"BinaryValue":"eA==","DataType":"Binary"}}}]}`
	list, batch, err := Messages(received)
	if err != nil || !batch || len(list) != 1 || list[0].ID != "1" || list[0].Body != `{"a":1}` || len(list[0].Attributes) != 1 ||
		list[0].Attributes["n"] != "v" {
		t.Errorf("received: %+v %v %v", list, batch, err)
	}
	for _, empty := range []string{"", `{"Messages":[]}`, `{"Records":[]}`} {
		list, batch, err := Messages(empty + "\r\n")
		if err != nil || !batch || len(list) != 0 {
			t.Errorf("%q: %+v %v %v", empty, list, batch, err)
		}
	}
	for _, whole := range []string{" ", "not JSON", "[1]", `{"Records":[{"eventSource":"aws:s3"}]}`, `{"Records":1}`,
		`{"Messages":[{"Body":"x"}],"type":"note"}`, `{"Records":[{"body":"x"}],"type":"note"}`, `{"Messages":[{"text":"x"}]}`,
		`{"Messages":{}}`, `{"Messages":[],"type":"note"}`} {
		list, batch, err := Messages(whole + "\r\n")
		if err != nil || batch || len(list) != 1 || list[0].Body != whole {
			t.Errorf("%q: %+v %v %v", whole, list, batch, err)
		}
	}
	for text, want := range map[string]error{
		`{"Records":[{"eventSource":"aws:dynamodb"}]}`:     ErrStream,
		`[{"eventSource":"aws:dynamodb"}]`:                 ErrStream, // from EventBridge Pipes
		`{"Records":[{"eventSource":"aws:sqs","body":5}]}`: errRecords,
		`{"Records":[{"messageId":"m","body":"{}"}]}`:      errRecords,
		`{"Messages":[{"Body":"{}"}]}`:                     errMessages,
		`{"Messages":[{"ReceiptHandle":"r"}]}`:             errMessages,
		"\ufeff{}":                                         errMark,
		"\xff\xfe{\x00}\x00":                               errUTF16,
		"\xfe\xff\x00{\x00}":                               errUTF16,
		"{\"city\":\"K\xf6ln\"}":                           errUTF8,
	} {
		if list, _, err := Messages(text); err != want || list != nil {
			t.Errorf("%q: %v and %d messages, want %v", text, err, len(list), want)
		}
	}
}

// The place of broken JSON is a line and a column of the file. If the body is inside a batch, there
// is not a place, because the file does not show the body's lines.
func TestWhereAFileIsNotJSON(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	for _, c := range []struct {
		text         string
		line, column int
		advice       string
	}{
		{"{\n  \"city\": \"Köln\" \"x\": 1\n}\n", 2, 18, ""},
		{"{\r\n\"a\": 1,\r\n}\r\n", 3, 1, ""},
		{"{\"a\": 1\n", 1, 8, ""},
		{"not JSON", 1, 1, ""},
		{"{\n\"id\": 1}\n{\"id\": 2}\n", 3, 1, oneEvent},
		{"{\"id\": 1} [2]", 1, 11, oneEvent},
		{"{\"id\": 1}}", 1, 10, ""},
		{"{\"id\": 1, \"id\": 2}", 1, 11, ""},
		{`{"Records":[{"eventSource":"aws:sqs","messageId":"m","body":"{\n1"}]}`, 0, 0, ""},
		{`{"type":"order.placed"}`, 0, 0, ""},
	} {
		list, _, err := Messages(c.text)
		must.Succeed(t, err)
		r := e.Explain(list)
		x := r.Messages[0]
		if x.Line != c.line || x.Column != c.column || x.Advice != c.advice || x.Verdict != "Poison" {
			t.Errorf("%q: line %d, column %d, %q: %s", c.text, x.Line, x.Column, x.Advice, x.Detail)
		}
		if said := text(t, r); strings.Contains(said, " of the file") != (c.line > 0) ||
			strings.Contains(said, "on a line of its own") != (c.advice != "") {
			t.Errorf("%q:\n%s", c.text, said)
		}
	}
}

// Events one to a line are messages of one batch. If one of them is not JSON, the report names the
// place in the file.
func TestEventsOneALine(t *testing.T) {
	list, _, err := Messages("\ufeff\n{\"id\": 1}\n")
	if err != errMark || list != nil {
		t.Errorf("a byte order mark: %v", err)
	}
	list, batch, err := Messages("{\"id\": 1}\r\n\n  {\"id\": 2}\n{\"id\": 3\n")
	if err != nil || batch || len(list) != 3 || list[1].Body != `{"id": 2}` {
		t.Fatalf("%v, %v, %+v", err, batch, list)
	}
	x := explainer(t, aggregate.Marks).Explain(list).Messages[2]
	if x.Verdict != "Poison" || x.Line != 4 || x.Column != 9 {
		t.Errorf("%+v", x)
	}
	for _, text := range []string{"{\"id\": 1}\n", "1\n2\n", "{\n}\n{}\n", "[{}]\n", "[\n{}]\n[{}]"} {
		if list, _, err := Messages(text); err != nil || len(list) != 1 {
			t.Errorf("%q: %d messages, %v", text, len(list), err)
		}
	}
	if list, _, err := Messages("[{}]\n{}\n"); err != nil || len(list) != 2 {
		t.Errorf("an array in the first line: %d messages, %v", len(list), err)
	}
}

// If a message is refused after its type is read, text and JSON name its type.
func TestRefusalsNameTheType(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	for event, want := range map[string]string{
		`{"type":"order.paid","merchant_id":"m","order_id":"o","paid_at":"2099-03-14T09:00:00Z"}`:                                  "order.paid",
		`{"specversion":"1.0","id":"1","source":"s","type":"order.paid","time":"2099-03-14T09:00:00Z","data":{"merchant_id":"m"}}`: "order.paid",
		`{"specversion":"1.0","id":"1","source":"s","type":"order.lost","time":"2099-03-14T09:00:00Z","data":{"merchant_id":"m"}}`: "order.lost", // the envelope's own
		`{"type":"order.lost"}`: "order.lost", // the pipeline does not have it
		`{"merchant_id":"m"}`:   "",
	} {
		if got := e.Explain([]Message{body(event)}).Messages[0]; got.Type != want || got.Verdict != "Poison" {
			t.Errorf("%s: type %q, %s (%s)", event, got.Type, got.Verdict, got.Detail)
		}
	}
}

// Explain has no rules of its own. What only the function knows decides too, such as who has
// claimed a value.
func TestVerdictsAreTheFunctions(t *testing.T) {
	e := of(t, `ingot: 1
epoch: 1
type: user
events:
  user: {id: "{id}", at: "{at}", key: {pk: "USER#{id}", sk: "-"}, atomic: true}
  mail: {part: {of: user, with: [mail]}, id: "{mail}", key: {pk: "MAIL#{mail}", sk: "-"}}
`)
	user := func(id string) Message {
		return body(`{"id":"` + id + `","mail":"a","at":"2026-03-01T00:00:00Z"}`)
	}
	r := e.Explain([]Message{user("1"), user("2"), user("1")})
	for i, want := range []string{"Inserted", "Conflict claimed", "Duplicate"} {
		if x := r.Messages[i]; strings.TrimSpace(x.Verdict+" "+x.Reason) != want || (x.Parts != nil) != (i == 0) {
			t.Errorf("message %d: %s (%s): %s", i+1, x.Verdict, x.Reason, x.Detail)
		}
	}
}

// A payload's control characters must not reach the terminal, and a long one must not flood it.
func TestPayloadsAreShownHarmlessly(t *testing.T) {
	long := strings.Repeat("long", 1000)
	said := text(t, explainer(t, aggregate.Marks).Explain([]Message{body(`{"type":"order.placed\u001b[2J","x":"` + long + `"}`),
		body(`{"type":"order.placed","merchant_id":"m\u0085\u202e","order_id":"o","customer_id":"c","product_id":"p","quantity":1,"currency":"EUR","total_cents":1,"placed_at":"2099-03-14T09:00:00Z","x":"` + long + `"}`)}))
	if strings.ContainsAny(said, "\x1b\u0085\u202e") {
		t.Error("a character got through that controls the terminal or the direction of writing")
	}
	if len(said) > 6000 || !strings.Contains(said, "whole with --output json") {
		t.Errorf("%d bytes are shown:\n%s", len(said), said)
	}
}

// If an event may leave out values, those that it changes are shown. If a total counts the event
// but none of its values changes, the report says so.
func TestValuesThatAnEventLeavesOut(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: order
events:
  order: {id: "{n}", at: "{t}", key: {pk: "{n}", sk: "-"}}
aggregates:
  all:
    since: 1
    from:
      order: {values: {paid: {count: true, where: status = 'paid'}, lines: sum length lines?, tips: sum tip?}}
`
	e := of(t, file)
	for event, want := range map[string]string{
		`{"n":1,"t":"2026-03-01T00:00:00Z"}`:                                       "counts it, and none of its values moves\n",
		`{"n":1,"t":"2099-03-01T00:00:00Z","tip":3,"status":"paid","lines":[1,2]}`: "lines +2, paid +1, tips +3\n",
	} {
		must.Say(t, text(t, e.Explain([]Message{body(event)})), want)
	}
}

// A state is put beside its whole, at four units, and a newer one stands in its way.
func TestStatesAreExplained(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: reading
events:
  reading: {id: "{id}", at: "{at}", key: {pk: "READING#{id}", sk: "-"}}
  last: {part: {of: reading, with: [device, n]}, id: "{device}", key: {pk: "DEVICE#{device}", sk: "-"}, mode: latest, revision: n number}
`
	m := body(`{"id":"1","device":"d","n":7,"at":"2026-03-01T00:00:00Z"}`)
	for text, want := range map[string]int{file: 4, strings.Replace(file, `sk: "-"}}`, `sk: "-"}, atomic: true}`, 1): 2} {
		x := of(t, text).Explain([]Message{m}).Messages[0].Parts[0]
		if x.Revision != "7" || x.Item.WriteUnits != want || !x.Item.Transaction ||
			x.sentence() != "Inserted, or Updated in place of an older one, unless a newer one is stored" {
			t.Errorf("%+v, %+v: %s", x, x.Item, x.sentence())
		}
	}
}
