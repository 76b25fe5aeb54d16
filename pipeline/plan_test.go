package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
)

func orders(t testing.TB) *Pipeline {
	t.Helper()
	p, err := Load(os.DirFS("testdata"), "orders.yaml", Secret([]byte("secret")))
	must.Succeed(t, err)
	return p
}

const order = `{"type":"order.placed","merchant_id":"m#1","order_id":"o-7","customer_id":"c@example.com","placed_at":"2099-02-03T04:05:06.5Z","status":"open","total_cents":1250.0,"trace_id":"t1"}`

func refusal(t *testing.T, err error) *event.Refusal {
	t.Helper()
	var r *event.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("%T: %v", err, err)
	}
	if r.Verdict != event.Poison {
		t.Fatalf("%v", r)
	}
	return r
}

func TestPlan(t *testing.T) {
	item, err := orders(t).Plan(envelope.Message{Body: order})
	must.Succeed(t, err)
	text, err := json.MarshalIndent(struct {
		event.Item
		Digest string
	}{*item, item.Digest.String()}, "", "  ")
	must.Succeed(t, err)
	golden.File(t, "testdata/order.item.json", string(text)+"\n")
	if want := time.Date(2099, 2, 3, 4, 5, 7, 0, time.UTC).Add(90 * lifetime.Day).Unix(); item.ExpiresAt != want {
		t.Errorf("expires at %d, want %d: the time plus 90 days, rounded up", item.ExpiresAt, want)
	}
}

func TestPlanRefuses(t *testing.T) {
	p := orders(t)
	long := strings.Repeat("x", 2100)
	for _, c := range []struct {
		name, old, new string
		reason         event.Reason
		detail         string
	}{
		{"not JSON", "{", "", event.Undecodable, ""},
		{"an array", order, "[]", event.NotAnObject, ""},
		{"no type", `"type":"order.placed",`, "", event.MissingField, "type"},
		{"unknown type", "order.placed", "order.plced", event.UnknownType,
			`there is no event type "order.plced" in the pipeline; the nearest is order.placed`},
		{"type far from all", "order.placed", "zzz", event.UnknownType, `it has one of order.placed, order.refunded`},
		{"type of another kind", `"type":"order.placed"`, `"type":{}`, event.WrongType, "type"},
		{"missing field in id", `"order_id":"o-7",`, "", event.MissingField, "order_id"},
		{"null in id", `"o-7"`, "null", event.MissingField, "order_id"},
		{"empty text in id", `"o-7"`, `""`, event.MissingField, "order_id"},
		{"array in id", `"o-7"`, "[1]", event.WrongType, "order_id"},
		{"missing time", `"placed_at":"2099-02-03T04:05:06.5Z",`, "", event.MissingField, "placed_at"},
		{"bad time", "2099-02-03T", "2099-02-30T", event.BadTime, ""},
		{"time before 1970", "2099-", "1969-", event.BadTime, ""},
		{"number as time", `"2099-02-03T04:05:06.5Z"`, "5", event.BadTime, "placed_at"},
		{"key too long", "o-7", long, event.KeyTooLong, ""},
		{"pk too long", "m#1", strings.Repeat("m", 2040), event.KeyTooLong, "key pk takes 2049 bytes"},
		{"pk of 2048 bytes, but the total's is longer", "m#1", strings.Repeat("m", 2039), event.KeyTooLong, ""},
		{"array in key of an index", `"c@example.com"`, `[]`, event.WrongType, "GSI1: "},
		{"missing in an index", `"c@example.com"`, `null`, "", ""},
		{"a boolean attribute", `"open"`, `true`, "", ""},
		{"text in a sum", "1250.0", `"1250"`, "", ""}, // where is false
		{"type of a thousand letters", "order.placed", strings.Repeat("z", 1000), event.UnknownType, strings.Repeat("z", 100) + "…"},
		{"index key too long", "o-7", strings.Repeat("y", 1000), event.KeyTooLong, "GSI1 sk takes"},
		{"aggregate value missing", `"total_cents":1250.0`, `"total_cents":null,"x":1`, "", ""}, // where is false: nothing is summed
		{"sum out of range", "1250.0", "1e50", event.NumberOutOfRange,
			"field total_cents is beyond 10^18, the most that a sum takes; have the producer send it in a larger unit"},
		{"sum too fine", "1250.0", "0.0000000001", event.NumberOutOfRange,
			"field total_cents has 10 decimals, and a sum takes at most 9; round it at the producer"},
		{"sum of what floats leave", "1250.0", "0.30000000000000004", event.NumberOutOfRange,
			"has 17 decimals, and a sum takes at most 9; round it at the producer"},
		{"attribute out of range", "1250.0", "1e400", event.NumberOutOfRange,
			"attribute total: field total_cents is 1e126 or more in size"},
		{"attribute of 39 digits", "1250.0", "-" + strings.Repeat("1", 39), event.NumberOutOfRange,
			"attribute total: field total_cents has 39 significant digits, and DynamoDB stores 38; round it at the producer"},
		{"item too large", `"status":"open"`, `"status":"` + strings.Repeat("s", 250_000) + `"`, event.ItemTooLarge, "the item takes"},
		{"a number that nothing uses", `"trace_id":"t1"`, `"trace_id":1e400`, "", ""},
		{"an attribute that is missing", `"status":"open",`, "", "", ""},
		{"an attribute that is an object", `"open"`, "{}", "", ""},
	} {
		_, err := p.Plan(envelope.Message{Body: strings.Replace(order, c.old, c.new, 1)})
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: planned", c.name)
			continue
		}
		if r := refusal(t, err); r.Reason != c.reason || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s: %v, want %s … %s", c.name, r, c.reason, c.detail)
		}
	}
}

const small = `ingot: 1
epoch: 3
events:
  a:
    key: {pk: "A", sk: "{@id}"}
    indexes:
      GSI1: {pk: "{@source}", sk: "{@attribute.trace}"}
  b:
    id: "{n}"
    at: "{t | unixms}"
    key: {pk: "{n}", sk: "-"}
    mode: latest
    revision: seq number
aggregates:
  first:
    since: 1
    by: {region: "{@attribute.region}"}
    from:
      a: {where: kind = 'x', values: {things: count, low: min v, high: max v}}
  second:
    since: 2
    from:
      a: {values: {things: count}}
      b: {values: {back: sum -v}}
    onExpire: subtract
    window: 1h
  third:
    since: 3
    spread: 3
    from:
      a: {values: {added: sum w.x}}
`

func cloudEvent(data string) event.Event {
	doc, err := event.ParseDocument(data)
	if err != nil {
		panic(err)
	}
	return event.Event{Type: "a", ID: "s#1", Source: "s", At: time.Date(2099, 1, 1, 10, 30, 0, 0, time.UTC),
		Attributes: map[string]string{"region": "eu", "trace": "t9", "unused": "u"}, Data: doc}
}

func TestPlanTakesTheEnvelopesWord(t *testing.T) {
	p := mustLoad(t, small)
	item, err := p.PlanEvent(cloudEvent(`{"kind":"x","v":2.50,"w":{"x":1}}`))
	must.Succeed(t, err)
	if item.ID != "s#1" || item.Key != (event.Key{PK: "A", SK: "s%231"}) || item.ExpiresAt != 0 || item.Revision != nil || item.Epoch != 3 {
		t.Errorf("%+v", item)
	}
	if want := map[string]string{"source": "s", "attribute.region": "eu", "attribute.trace": "t9"}; !reflect.DeepEqual(item.Meta, want) {
		t.Errorf("meta %v, want %v", item.Meta, want)
	}
	if want := []event.IndexKey{{Name: "GSI1", Key: event.Key{PK: "s", SK: "t9"}}}; !reflect.DeepEqual(item.Indexes, want) {
		t.Errorf("indexes %v", item.Indexes)
	}
	e := cloudEvent(`{"v":2,"w":{"x":1}}`)
	e.Attributes, e.Source = nil, ""
	item, err = p.PlanEvent(e)
	if err != nil || len(item.Indexes) != 0 || len(item.Meta) != 0 {
		t.Errorf("an event without attributes: %v, %+v", err, item)
	}
	for name, change := range map[string]func(*event.Event){
		"id":   func(e *event.Event) { e.ID = "" },
		"at":   func(e *event.Event) { e.At = time.Time{} },
		"type": func(e *event.Event) { e.Type = "" },
	} {
		e := cloudEvent(`{"w":{"x":1}}`)
		change(&e)
		_, err := p.PlanEvent(e)
		if r := refusal(t, err); r.Reason != event.MissingField || !strings.HasPrefix(r.Detail, name+": ") {
			t.Errorf("without %s: %v", name, r)
		}
	}
	e = cloudEvent(`{"w":{"x":1}}`)
	e.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err = p.PlanEvent(e)
	if r := refusal(t, err); r.Reason != event.BadTime {
		t.Errorf("the year 10000: %v", r)
	}
	if _, err := p.PlanEvent(event.Event{Type: "a"}); refusal(t, err).Reason != event.NotAnObject {
		t.Errorf("no payload: %v", err)
	}
}

// The member that says the type of a bare payload is a part of the payload, unless it is ignored.
func TestOneEventBareAndInAnEnvelope(t *testing.T) {
	const bare = `{"type":"order.placed","merchant_id":"m","order_id":"o","at":"2099-02-03T04:05:06Z"}`
	enveloped := `{"specversion":"1.0","id":"1","source":"/s","type":"order.placed","data":` +
		strings.Replace(bare, `"type":"order.placed",`, "", 1) + `}`
	const file = "ingot: 1\nepoch: 1\ntype: '{type}'\nevents:\n  order.placed: {id: '{merchant_id}#{order_id}', at: '{at}', key: {pk: '{@id}', sk: '-'}%s}\n"
	for ignore, same := range map[string]bool{"": false, ", ignore: [type]": true} {
		p := mustLoad(t, fmt.Sprintf(file, ignore))
		one, err := p.Plan(envelope.Message{Body: bare})
		must.Succeed(t, err)
		two, err := p.Plan(envelope.Message{Body: enveloped})
		must.Succeed(t, err)
		if one.Key != two.Key || (one.Digest == two.Digest) != same {
			t.Errorf("%q: %v %s, %v %s", ignore, one.Key, one.Digest, two.Key, two.Digest)
		}
	}
}

func TestRevision(t *testing.T) {
	byTime := mustLoad(t, strings.Replace(small, "seq number", "seq time", 1))
	byNumber := mustLoad(t, small)
	for _, c := range []struct {
		p      *Pipeline
		seq    string
		want   string
		reason event.Reason
	}{
		{byNumber, `12.50`, "12.5", ""},
		{byNumber, `-3`, "-3", ""},
		{byNumber, `"12"`, "", event.WrongType},
		{byNumber, `null`, "", event.MissingField},
		{byNumber, `1e126`, "", event.NumberOutOfRange},
		{byTime, `"1970-01-01T00:00:01.5Z"`, "1500000000", ""},
		{byTime, `"9999-12-31T23:59:59.999999999Z"`, "253402300799999999999", ""},
		{byTime, `12`, "", event.WrongType},
		{byTime, `"yesterday"`, "", event.BadTime},
	} {
		doc, err := event.ParseDocument(`{"n":1,"t":0,"v":1,"seq":` + c.seq + `}`)
		must.Succeed(t, err)
		item, err := c.p.PlanEvent(event.Event{Type: "b", Data: doc})
		if c.reason != "" {
			if err == nil || refusal(t, err).Reason != c.reason {
				t.Errorf("%s: %v, want %s", c.seq, err, c.reason)
			}
			continue
		}
		if err != nil || item.Revision == nil || item.Revision.String() != c.want {
			t.Errorf("%s: %v, %+v", c.seq, err, item)
		}
	}
}

func TestContributions(t *testing.T) {
	p := mustLoad(t, small)
	show := func(item *event.Item) string {
		var lines []string
		c := p.Contributions(item)
		for _, x := range c.List {
			var values []string
			for i, v := range x.Values {
				text := "-"
				if v.Set {
					text = v.Number.String()
				}
				values = append(values, x.Def.Values[i].Name+"="+text)
			}
			lines = append(lines, fmt.Sprintf("%s %v %s %s", x.Def.Name, x.By, lanes.Key(x.Def, 0, x.By, x.Window),
				strings.Join(values, " ")))
		}
		for _, d := range c.Behind {
			lines = append(lines, "behind "+d.Name)
		}
		for _, f := range c.Failed {
			lines = append(lines, "failed "+f.Def.Name+": "+f.Err.Error())
		}
		return strings.Join(lines, "\n")
	}
	item, err := p.PlanEvent(cloudEvent(`{"kind":"x","v":2.50,"w":{"x":1e-3}}`))
	must.Succeed(t, err)
	const want = `first [eu] A#first#1#0#eu / - high=2.5 low=2.5 things=1
second [] A#second#2#0 / 2099-01-01T10:00:00Z back=- things=1
third [] A#third#3#0 / - added=0.001`
	must.Equal(t, show(item), want)
	stored := event.Item{Key: item.Key, Type: item.Type, ID: item.ID, At: item.At, Digest: item.Digest, Epoch: item.Epoch, Meta: item.Meta,
		Data: item.Data}
	must.Equal(t, show(&stored), want)
	stamped := *item
	stamped.Epoch = 1
	must.Equal(t, show(&stamped), strings.Split(want, "\n")[0]+"\nbehind second\nbehind third")
	old := *item
	old.Data = `{"kind":"y"}`
	if got := show(&old); got != strings.Split(want, "\n")[1]+
		"\nfailed third: Poison (missing-field): aggregate third, value added: field w.x is missing" {
		t.Errorf("an item that lacks a field:\n%s", got)
	}
	broken := *item
	broken.Data = `{`
	if c := p.Contributions(&broken); len(c.List) != 0 || len(c.Failed) != 3 {
		t.Errorf("an item whose data is not JSON: %+v", c)
	}
	alien := *item
	alien.Type = "z"
	must.Equal(t, show(&alien), "")
	doc, _ := event.ParseDocument(`{"n":1,"t":1500,"v":7,"seq":1}`)
	item, err = p.PlanEvent(event.Event{Type: "b", Data: doc})
	must.Succeed(t, err)
	must.Equal(t, show(item), "second [] A#second#2#0 / 1970-01-01T00:00:00Z back=-7 things=-")
}

func TestAmounts(t *testing.T) {
	p := mustLoad(t, small)
	for data, want := range map[string]string{
		`{"w":{"x":"1"}}`:                     "wrong-type aggregate third, value added: field w.x is a string, not a number",
		`{"w":{"x":{}}}`:                      "wrong-type aggregate third, value added: field w.x is an object, not a number",
		`{"w":{"x":null}}`:                    "missing-field aggregate third, value added: field w.x is missing",
		`{"w":{"x":1e18}}`:                    "",
		`{"w":{"x":1.000000001}}`:             "",
		`{"w":{"x":1000000000000000001}}`:     "number-range aggregate third, value added: field w.x is beyond 10^18",
		`{"kind":"x","v":1e125,"w":{"x":1}}`:  "",
		`{"kind":"x","v":1e126,"w":{"x":1}}`:  "number-range aggregate first, value high: field v is 1e126 or more in size",
		`{"kind":"x","v":1e-131,"w":{"x":1}}`: "number-range aggregate first, value high: field v is below 1e-130 in size",
		`{"kind":"y","v":"z","w":{"x":1}}`:    "",
	} {
		_, err := p.PlanEvent(cloudEvent(data))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", data, err)
			}
			continue
		}
		if r := refusal(t, err); !strings.HasPrefix(string(r.Reason)+" "+r.Detail, want) {
			t.Errorf("%s: %v", data, r)
		}
	}
	e := cloudEvent(`{"kind":"x","v":1,"w":{"x":1}}`)
	e.Attributes["region"] = strings.Repeat("r", 2037)
	if _, err := p.PlanEvent(e); refusal(t, err).Reason != event.KeyTooLong {
		t.Errorf("a total's key of 2,049 bytes: %v", err)
	}
	e.Attributes["region"] = e.Attributes["region"][1:]
	if item, err := p.PlanEvent(e); err != nil {
		t.Errorf("a total's key of 2,048 bytes: %v", err)
	} else if c := p.Contributions(item).List[0]; len(lanes.Key(c.Def, 0, c.By, c.Window).PK) != event.MaxPK {
		t.Errorf("%d bytes", len(lanes.Key(c.Def, 0, c.By, c.Window).PK))
	}
}

func TestRedigest(t *testing.T) {
	p := orders(t)
	item, err := p.Plan(envelope.Message{Body: order})
	must.Succeed(t, err)
	same, err := p.Redigest(item.Type, strings.Replace(order, `"t1"`, `"t2"`, 1))
	if err != nil || same != item.Digest {
		t.Errorf("another trace_id, which is ignored: %v", err)
	}
	other, err := p.Redigest(item.Type, strings.Replace(order, `1250.0`, `1251`, 1))
	if err != nil || other == item.Digest {
		t.Errorf("another total: %v", err)
	}
	for _, c := range [][2]string{{"z", order}, {item.Type, "{"}, {item.Type, "[]"}} {
		if _, err := p.Redigest(c[0], c[1]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

// seed returns the source of a random test: INGOT_SEED, or a fixed one.
func seed(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(replay.Seed(t, 1), 0)) }

// A message means the same regardless of the order of its members and the spelling of its numbers.
func TestPlanDoesNotDependOnSpelling(t *testing.T) {
	r := seed(t)
	p := orders(t)
	members := []string{`"type":"order.placed"`, `"merchant_id":"m"`, `"order_id":7`, `"customer_id":"c"`,
		`"placed_at":"2099-01-01T00:00:00Z"`,
		`"status":"open"`, `"total_cents":1250`, `"lines":[{"sku":"a","n":1},{"n":2,"sku":"b"}]`}
	spelled := map[string][]string{`"order_id":7`: {`"order_id": 7.0`, `"order\u005fid":70e-1`},
		`"total_cents":1250`:                            {`"total_cents":1.25e3`, `"total_cents" : 1250.00`},
		`"lines":[{"sku":"a","n":1},{"n":2,"sku":"b"}]`: {`"lines":[{"n":1.0,"sku":"\u0061"},{"sku":"b","n":2}]`}}
	first, err := p.Plan(envelope.Message{Body: "{" + strings.Join(members, ",") + "}"})
	must.Succeed(t, err)
	for range 500 {
		var list []string
		for _, i := range r.Perm(len(members)) {
			m := members[i]
			if ways := spelled[m]; len(ways) > 0 && r.IntN(2) == 0 {
				m = ways[r.IntN(len(ways))]
			}
			list = append(list, m)
		}
		if r.IntN(2) == 0 {
			list = append(list, fmt.Sprintf(`"trace_id":%d`, r.IntN(100)))
		}
		item, err := p.Plan(envelope.Message{Body: "{" + strings.Join(list, " , ") + "}"})
		must.Succeed(t, err)
		item.Data = first.Data
		if !reflect.DeepEqual(item, first) {
			t.Fatalf("%v:\n%+v\nis not\n%+v", list, item, first)
		}
		a, b := p.Contributions(item), p.Contributions(first)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: contributes %+v, not %+v", list, a, b)
		}
	}
}

// FuzzPlan checks that everything that is planned can be counted, and that every refusal has a
// verdict.
func FuzzPlan(f *testing.F) {
	corpus.Add(f)
	for _, body := range []string{order, order400, `{}`, `[]`,
		`{"type":"order.refunded","refund_id":1,"merchant_id":true,"refunded_at":"1970-01-01T00:00:00Z","refund_cents":-0.5}`} {
		f.Add(body, "eu", "s")
	}
	loaded := []*Pipeline{orders(f), plain(f), mustLoad(f, strings.Replace(small, "epoch: 3\n", "epoch: 3\ntype: a\n", 1))}
	f.Fuzz(func(t *testing.T, body, region, source string) {
		for _, p := range loaded {
			item, err := p.Plan(envelope.Message{Body: body, Attributes: map[string]string{"region": region, "source": source}})
			if err != nil {
				refusal(t, err)
				continue
			}
			if c := p.Contributions(item); len(c.Failed) > 0 || len(c.Behind) > 0 {
				t.Fatalf("%s: planned, and then %+v", body, c)
			}
			if d, err := p.Redigest(item.Type, item.Data); err != nil || d != item.Digest {
				t.Fatalf("%s: another digest when read again: %v", body, err)
			}
			if again, err := p.Plan(envelope.Message{Body: body,
				Attributes: map[string]string{"region": region, "source": source}}); err != nil || !reflect.DeepEqual(item, again) {
				t.Fatalf("%s: planned twice: %v\n%+v\n%+v", body, err, item, again)
			}
		}
	})
}

func TestWithoutTheSecretNothingIsPlanned(t *testing.T) {
	p, err := Load(os.DirFS("testdata"), "orders.yaml", CheckOnly())
	must.Succeed(t, err)
	_, err = p.Plan(envelope.Message{Body: order})
	var r *event.Refusal
	if !errors.As(err, &r) || r.Verdict != event.Retry {
		t.Errorf("%v", err)
	}
	if err := p.Ready(); !errors.Is(err, ErrNoSecret) {
		t.Errorf("ready: %v", err)
	}
	if p, err = Load(os.DirFS("testdata"), "orders.yaml", Secret([]byte("secret"))); err != nil || p.Ready() != nil {
		t.Errorf("with the secret: %v", err)
	}
}

// The name of a type that nobody declared is quoted. It is never cut inside a rune.
func TestUnknownTypeIsCutAtARune(t *testing.T) {
	_, err := orders(t).Plan(envelope.Message{Body: `{"type":"xx` + strings.Repeat("日", 50) + `"}`})
	if want := `"xx` + strings.Repeat("日", 32) + `…"`; !strings.Contains(refusal(t, err).Detail, want) {
		t.Errorf("got %v, want %s in it", err, want)
	}
}
