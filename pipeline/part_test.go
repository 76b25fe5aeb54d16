package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// withParts is an order with lines, and with one item that finds the order by its customer.
const withParts = `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{shop}#{order}"
    at: "{at}"
    key: {pk: "ORDER#{shop}#{order}", sk: "ORDER"}
    retain: 90d
    ignore: [trace]
  line:
    part: {of: order, each: lines, with: [shop, order, currency, note]}
    id: "{shop}#{order}#{line}"
    key: {pk: "ORDER#{shop}#{order}", sk: "LINE#{line | pad:4}#{line}"}
    indexes:
      GSI1: {pk: "SKU#{sku}", sk: "{@at}#{@id}"}
  byCustomer:
    part: {of: order, with: [shop, order, customer]}
    id: "{shop}#{order}"
    key: {pk: "CUSTOMER#{customer}", sk: "{@id}"}
aggregates:
  sold:
    since: 1
    by: {sku: "{sku}", currency: "{currency}"}
    window: 1d
    retain: 100d
    from:
      line: {values: {sold: sum quantity}}
`

// message is an order as it comes, with these lines.
func message(lines string, more ...string) envelope.Message {
	members := append([]string{`"type":"order"`, `"shop":"s"`, `"order":"1"`, `"customer":"c"`, `"currency":"EUR"`,
		`"at":"2099-03-01T10:00:00.5Z"`, `"lines":` + lines}, more...)
	return envelope.Message{Body: "{" + strings.Join(members, ",") + "}"}
}

func TestPartsOfAMessage(t *testing.T) {
	p := mustLoad(t, withParts)
	whole, err := p.Plan(message(`[ { "line": 1, "sku":"a", "quantity": 2.50 } ,{"line":2,"sku":"b","quantity":1}]`, `"trace":"t"`))
	must.Succeed(t, err)
	if whole.Parts == nil || whole.Parts.Count != 3 || len(whole.Parts.Items) != 3 {
		t.Fatalf("parts %+v", whole.Parts)
	}
	var got []string
	for _, item := range whole.Parts.Items {
		got = append(got, fmt.Sprintf("%s %s %s %v %d %s", item.Type, item.ID, item.Key, item.Indexes, item.ExpiresAt-whole.ExpiresAt,
			item.Data))
		if !item.At.Equal(whole.At) || item.Epoch != 1 || item.Parts != nil {
			t.Errorf("%+v", item)
		}
	}
	want := []string{
		`byCustomer s#1 CUSTOMER#c / s%231 [] 0 {"shop":"s","order":"1","customer":"c"}`,
		`line s#1#1 ORDER#s#1 / LINE#0001#1 [{GSI1 SKU#a / 2099-03-01T10:00:00.500000000Z#s%231%231}] 0 {"shop":"s","order":"1","currency":"EUR","line": 1, "sku":"a", "quantity": 2.50}`,
		`line s#1#2 ORDER#s#1 / LINE#0002#2 [{GSI1 SKU#b / 2099-03-01T10:00:00.500000000Z#s%231%232}] 0 {"shop":"s","order":"1","currency":"EUR","line":2,"sku":"b","quantity":1}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text := `["line",{"currency":"EUR","line":2,"order":"1","quantity":1,"shop":"s","sku":"b"},"order","s#1"]`
	if whole.Parts.Items[2].Digest != sha256.Sum256([]byte(text)) {
		t.Errorf("the digest of a part is not that of %s", text)
	}
	c := p.Contributions(whole.Parts.Items[1])
	if len(c.List) != 1 || c.List[0].Values[0].Number.String() != "2.5" || len(p.Contributions(whole).List) != 0 {
		t.Errorf("contributions %+v", c)
	}
	again, err := p.Parts(&event.Item{Key: whole.Key, Type: whole.Type, ID: whole.ID, At: whole.At, Epoch: whole.Epoch, Data: whole.Data})
	if err != nil || !equalItems(again, whole.Parts.Items) {
		t.Errorf("made again from the stored whole: %v, %v", again, err)
	}
	none, err := p.Plan(message(`[]`))
	if err != nil || none.Parts.Count != 1 { // the one by customer
		t.Errorf("%+v, %v", none.Parts, err)
	}
}

func equalItems(a, b []*event.Item) bool {
	return slices.EqualFunc(a, b, func(a, b *event.Item) bool {
		return a.Key == b.Key && a.Digest == b.Digest && a.Data == b.Data && a.ExpiresAt == b.ExpiresAt && a.ID == b.ID &&
			a.Type == b.Type && a.Epoch == b.Epoch
	})
}

// If one part is bad, nothing of the message is stored.
func TestBadParts(t *testing.T) {
	p := mustLoad(t, withParts)
	good := `{"line":1,"sku":"a","quantity":1}`
	many := strings.Repeat(good+",", planner.MaxParts)
	for _, c := range []struct {
		name, lines string
		more        []string
		reason      event.Reason
		detail      string
	}{
		{"not an array", `{"0":` + good + `}`, nil, event.WrongType, "part line: field lines is an object, not an array"},
		{"null", `null`, nil, event.MissingField, "part line: field lines is missing; if there are no parts, it is an empty array"},
		{"a scalar element", `[` + good + `,7]`, nil, event.MissingField, "part line, lines[1]: id: field line is missing"},
		{"a boolean element", `[true]`, nil, event.WrongType, "part line: lines[0] is a boolean, not an object, a text or a number"},
		{"a null element", `[null]`, nil, event.WrongType, "part line: lines[0] is null, not an object"},
		{"an array element", `[[]]`, nil, event.WrongType, "part line: lines[0] is an array, not an object"},
		{"over 1,000 elements", `[` + many + good + `]`, nil, event.TooManyParts,
			"part line: field lines has 1001 elements, and a message yields at most 1000 parts"},
		{"exactly 1,000, and one more type", `[` + strings.TrimSuffix(many, ",") + `]`, nil, event.TooManyParts,
			"field lines has 1000 elements"},
		{"two elements with one id", `[` + good + `,{"line":1.0,"sku":"b","quantity":1}]`, nil, event.PartsClash,
			"part line: lines[0] and lines[1] have the same key"},
		{"a name in whole and element", `[{"line":1,"sku":"a","quantity":1,"\u0073hop":"x"}]`, nil, event.PartsClash,
			"part line: both the whole and lines[0] have a member shop, and a part can have only one"},
		{"no id", `[` + good + `,{"sku":"a","quantity":1}]`, nil, event.MissingField, "part line, lines[1]: id: field line is missing"},
		{"no value", `[{"line":1,"sku":"a"}]`, nil, event.MissingField,
			"part line, lines[0]: aggregate sold, value sold: field quantity is missing"},
		{"an element that no total can count", `[{"line":1,"sku":"a","quantity":"many"}]`, nil, event.WrongType,
			"part line, lines[0]: aggregate sold"},
		{"a part too large", `[{"line":1,"sku":"a","quantity":1,"note":"` + strings.Repeat("x", 420_000) + `"}]`, nil, event.ItemTooLarge,
			"part line, lines[0]: the item takes"},
		{"parts that take too much together", `[` + manyLines(500) + `]`, []string{`"note":"` + strings.Repeat("x", 10_000) + `"`},
			event.TooManyParts, "part line: the parts of the message take over 4194304 bytes"},
	} {
		item, err := p.Plan(message(c.lines, c.more...))
		var r *event.Refusal
		if !errors.As(err, &r) || item != nil {
			t.Errorf("%s: %v, %v", c.name, item, err)
			continue
		}
		if r.Verdict != event.Poison || r.Reason != c.reason || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s: %v, want %s %s", c.name, err, c.reason, c.detail)
		}
		if r.Key != (event.Key{PK: "ORDER#s#1", SK: "ORDER"}) || r.Type != "order" {
			t.Errorf("%s: the refusal is about %s of %s", c.name, r.Key, r.Type)
		}
	}
	_, err := p.Plan(envelope.Message{Body: `{"type":"line","shop":"s","order":"1","line":1,"sku":"a","quantity":1}`})
	if r := refusal(t, err); r.Reason != event.UnknownType ||
		r.Detail != "line is a part of order: it comes only in a message of that type" {
		t.Errorf("a part by itself: %v", err)
	}
}

func manyLines(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"line":%d,"sku":"a","quantity":1}`, i)
	}
	return strings.Join(list, ",")
}

// Two elements with one id are refused too if their keys differ: they would be one event in two
// items.
func TestPartsWithOneID(t *testing.T) {
	p := mustLoad(t, strings.Replace(withParts, `sk: "LINE#{line | pad:4}#{line}"`, `sk: "LINE#{line | pad:4}#{line}#{sku}"`, 1))
	_, err := p.Plan(message(`[{"line":1,"sku":"a","quantity":1},{"line":2,"sku":"a","quantity":1},{"line":1,"sku":"b","quantity":1}]`))
	if r := refusal(t, err); r.Reason != event.PartsClash ||
		r.Detail != "part line: lines[0] and lines[2] have the same id, so they would be one event" {
		t.Error(err)
	}
}

// If the id of a part was changed, two parts that are stored may have one id today. They are found
// all the same, under their own keys. They are refused if they were not put with their whole.
func TestStoredPartsWithOneID(t *testing.T) {
	was := mustLoad(t, withParts)
	whole, err := was.Plan(message(`[{"line":1,"sku":"a","quantity":1},{"line":2,"sku":"a","quantity":1}]`))
	must.Succeed(t, err)
	is := mustLoad(t, strings.Replace(withParts, `id: "{shop}#{order}#{line}"`, `id: "{shop}#{order}"`, 1))
	stored := *whole
	stored.Parts = &event.Parts{Count: whole.Parts.Count}
	again, err := is.Parts(&stored)
	if err != nil || len(again) != 3 || again[1].Key != whole.Parts.Items[1].Key || again[2].Key != whole.Parts.Items[2].Key ||
		again[2].Digest != whole.Parts.Items[2].Digest {
		t.Errorf("%v, %v", again, err)
	}
	for name, put := range map[string]*event.Parts{"no parts": nil, "fewer parts": {Count: 1}} {
		stored.Parts = put
		if _, err := is.Parts(&stored); err == nil || refusal(t, err).Reason != event.PartsClash {
			t.Errorf("a whole that was stored with %s: %v", name, err)
		}
	}
}

// A whole and a part that have one key are refused too.
func TestPartWithTheKeyOfItsWhole(t *testing.T) {
	p := mustLoad(t, strings.Replace(withParts, `sk: "LINE#{line | pad:4}#{line}"`, `sk: "{line}"`, 1))
	_, err := p.Plan(message(`[{"line":"ORDER","sku":"a","quantity":1}]`))
	if r := refusal(t, err); r.Reason != event.PartsClash || r.Detail != "part line: the whole and lines[0] have the same key" {
		t.Error(err)
	}
}

// Every mistake about parts says what to write instead.
func TestPartMistakes(t *testing.T) {
	for _, c := range []struct {
		name, old, new, want string
		others               bool // there are other mistakes too
	}{
		{"no of", "{of: order, each: lines,", "{each: lines,",
			"p.yaml:12:5: of is missing in part; write of: and the event type that it is a part of, such as order.placed", false},
		{"unknown whole", "{of: order, each", "{of: ordr, each", "p.yaml:12:16: there is no event type ordr; write order", false},
		{"part of a part", "{of: order, with: [shop, order, customer]", "{of: line, with: [shop, order, customer]",
			"p.yaml:18:16: line is a part itself, and a part has no parts; write order", false},
		{"part of itself", "{of: order, each", "{of: line, each",
			"p.yaml:12:16: line is a part itself, and a part has no parts; write the type that it is a part of", false},
		{"unknown name", "each: lines", "every: lines", "p.yaml:12:23: unknown name every; write one of each, of, with", false},
		{"own time", "  line:\n", "  line:\n    at: \"{at}\"\n",
			"p.yaml:12:9: a part has no at of its own: its time is that of its whole; write line without at", false},
		{"own ignore", "  line:\n", "  line:\n    ignore: [sku]\n", "p.yaml:12:13: a part cannot ignore anything: it is made again from " +
			"its whole, and must always be the same; write the ignore of order", false},
		{"latest whole", "    ignore: [trace]", "    mode: latest\n    revision: rev number",
			"p.yaml:19:16: order has mode latest, and a whole is stored once, with its parts; write a type with mode insert",
			false},
		{"no id", `    id: "{shop}#{order}#{line}"` + "\n", "",
			`id is missing in line: a part has no envelope that says it; write id: and the fields that tell parts apart, such as "{order_id}#{line}"`, false},
		{"source", `sk: "{@at}#{@id}"`, `sk: "{@source}#{@id}"`,
			"p.yaml:16:37: sk cannot use @source; write a field of the payload, such as {order_id}", false},
		{"nothing", "{of: order, each: lines, with: [shop, order, currency, note]}", "{of: order}", "p.yaml:12:11: line would have an " +
			"empty payload: part has neither each nor with; write with: and the members that it has of its whole, such as " +
			"[order_id]", false},
		{"inner member", "[shop, order, currency, note]", "[shop, order, currency.code]", "p.yaml:12:42: currency.code is inside of a member, and needs a name of its own in the part; " +
			"write {shop: shop, order: order, code: currency.code}", false},
		{"twice", "[shop, order, currency, note]", "[shop, order, shop]", "p.yaml:12:56: with has shop twice; write one of the two",
			false},
		{"each in with", "[shop, order, currency, note]", "[shop, order, lines]",
			"p.yaml:12:29: with has lines too, so every part would hold all of it; write with without lines", false},
		{"each ignored", "[trace]", `["lines[0].trace"]`, "p.yaml:12:29: each uses lines, and ignore leaves lines[0].trace out of the " +
			"digest of order; write another member, or ignore without lines[0].trace there", false},
		{"each element ignored in part", "[trace]", `["lines[].trace"]`,
			"p.yaml:12:29: each uses lines, and ignore leaves lines[].trace out", false},
		{"with ignored", "[trace]", "[currency.rate]", "p.yaml:12:56: with[2] uses currency, and ignore leaves currency.rate out of the " +
			"digest of order; write another member, or ignore without currency.rate there", false},
		{"no time", "    at: \"{at}\"\n", "",
			`order has no at, so its time is its envelope's, which may differ next time; its parts have the time of the whole; write at: in order, such as "{placed_at}"`, false},
		{"time of an attribute", `at: "{at}"`, `at: "{@attribute.at}"`,
			`order takes its time from @attribute.at, which may differ next time; its parts have the time of the whole; write at: from the payload in order, such as "{placed_at}"`, false},
		{"whole not shown", "[shop, order, currency, note]", "[order, currency]", "key does not show shop of the whole, which the id of " +
			"order uses: parts of two wholes could have one key; add {shop} to sk, and shop to part.with", false},
		{"shown in part", `sk: "{@id}"}` + "\naggregates", `sk: "{shop}"}` + "\naggregates", "key does not show order", true},
		{"id of the envelope", `    id: "{shop}#{order}"` + "\n    at", "    at",
			`the id of order uses @id, which no part can show: parts of two wholes could have one key; write an id in order that is made of its fields, such as "{order_id}"`, true},
		{"shorter", "  line:\n", "  line:\n    retain: 30d\n", "p.yaml:12:13: retain is shorter than that of order, so parts would " +
			"expire before their whole; write retain: 90d or longer, or line without retain, for that of the whole", false},
		{"shorter before", "  line:\n", "  line:\n    retain: 90d\n    was: [{retain: 30d, before: 2026-03-01T00:00:00Z}]\n",
			"was[0] is shorter than the retain that order had then, so parts would expire before their whole; write the was of " +
				"order", false},
		{"not a mapping", "{of: order, each: lines, with: [shop, order, currency, note]}", "order",
			"part is text, not a mapping; write {of: order.placed, each: lines, with: [order_id]}", false},
	} {
		text := strings.Replace(withParts, c.old, c.new, 1)
		if text == withParts {
			t.Fatalf("%s changes nothing", c.name)
		}
		_, err := loadQuietly(text)
		var ms Mistakes
		if !errors.As(err, &ms) || len(ms) != 1 && !c.others || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant just %s", c.name, err, c.want)
		}
	}
}

// A part lives as long as its whole, unless it says that it lives longer.
func TestLifetimeOfParts(t *testing.T) {
	plan := func(text string) *event.Item {
		whole, err := mustLoad(t, text).Plan(message(`[{"line":1,"sku":"a","quantity":1}]`))
		must.Succeed(t, err)
		return whole
	}
	longer := plan(strings.Replace(strings.Replace(withParts, "  line:\n", "  line:\n    retain: 91d\n", 1), "100d", "101d", 1))
	if d := longer.Parts.Items[1].ExpiresAt - longer.ExpiresAt; d != 24*60*60 || longer.Parts.Items[0].ExpiresAt != longer.ExpiresAt {
		t.Errorf("%d s longer", d)
	}
	was := plan(strings.Replace(withParts, "    ignore: [trace]\n", "    was: [{retain: 30d, before: 2100-01-01T00:00:00Z}]\n", 1))
	if want := was.At.Add(30 * 24 * time.Hour).Unix(); was.Parts.Items[1].ExpiresAt != want+1 { // rounded up
		t.Errorf("%d, want %d", was.Parts.Items[1].ExpiresAt, want)
	}
}

// The normal spelling compiles to the same parts.
func TestSpecOfParts(t *testing.T) {
	a := mustLoad(t, withParts)
	b, err := New(a.Describe().Spec)
	must.Succeed(t, err)
	m := message(`[{"line":1,"sku":"a","quantity":1}]`)
	x, _ := a.Plan(m)
	y, err := b.Plan(m)
	if err != nil || !equalItems(x.Parts.Items, y.Parts.Items) || !a.IsPart("line") || a.IsPart("order") || !a.HasParts("order") ||
		a.HasParts("line") || a.IsPart("x") {
		t.Errorf("%v", err)
	}
}

// A whole reads what its parts have of it, and the array that they are elements of.
func TestReadsOfParts(t *testing.T) {
	d := mustLoad(t, withParts).Describe()
	read := map[string]string{}
	for _, r := range d.Reads["order"] {
		if strings.HasPrefix(r.Use, "part ") {
			read[r.Path.String()] += fmt.Sprintf("%s %v;", strings.TrimPrefix(r.Use, "part "), r.Needed)
		}
	}
	want := map[string]string{
		"lines":    "line true;",
		"shop":     "byCustomer id true;line id true;line key.pk true;",
		"order":    "byCustomer id true;line id true;line key.pk true;",
		"customer": "byCustomer key.pk true;",
		"currency": "line sold by currency true;",
	}
	if !maps.Equal(read, want) {
		t.Errorf("%v, want %v", read, want)
	}
	for _, r := range d.Reads["line"] {
		if r.Use == "type" {
			t.Error("the payload of a part has no type")
		}
	}
}

func TestKeyOfAPart(t *testing.T) {
	p := mustLoad(t, withParts)
	key, err := p.Key("line", envelope.Message{Body: `{"shop":"s","order":"1","line":7}`})
	if err != nil || key != (event.Key{PK: "ORDER#s#1", SK: "LINE#0007#7"}) {
		t.Errorf("%v, %v", key, err)
	}
	if key, err = p.Key("byCustomer", envelope.Message{Body: `{"shop":"s","order":"1","customer":"c"}`}); err != nil || key.SK != "s%231" {
		t.Errorf("%v, %v", key, err)
	}
	p = mustLoad(t, strings.Replace(withParts, `sk: "LINE#`, `sk: "{@at}#LINE#`, 1))
	if _, err = p.Key("line", envelope.Message{Body: `{"shop":"s","order":"1","line":7}`}); err == nil ||
		!strings.Contains(err.Error(), "uses its position, or the time or the digest of its whole, order") {
		t.Error(err)
	}
}

// A naive program that knows encoding/json alone makes the same parts of random messages, or
// refuses the same ones.
func TestPartsAgainstANaiveTwin(t *testing.T) {
	seed := replay.Seed(t, 0)
	r := rand.New(rand.NewPCG(seed, 1))
	p := mustLoad(t, withParts)
	planned := 0
	for range 3000 {
		m := message(randomLines(r))
		want := naiveLines(m.Body)
		whole, err := p.Plan(m)
		if (err == nil) != (want != nil) {
			t.Fatalf("%s\n%v, and the twin has %v", m.Body, err, want)
		}
		if err != nil {
			continue
		}
		planned++
		var got []string
		for _, item := range whole.Parts.Items[1:] {
			got = append(got, item.Key.SK+" "+plainJSON(item.Data)+" "+item.Digest.String())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\n%q\nwant %q", m.Body, got, want)
		}
	}
	if planned < 500 {
		t.Errorf("only %d of 3,000 messages could be planned", planned)
	}
}

func randomLines(r *rand.Rand) string {
	list := make([]string, r.IntN(4))
	for i := range list {
		members := []string{fmt.Sprintf(`"line":%d`, i), `"sku":"a"`, fmt.Sprintf(`"quantity": %d`, r.IntN(9))}
		switch r.IntN(12) {
		case 0:
			members[0] = fmt.Sprintf(`"line":%d`, r.IntN(3))
		case 1:
			members = append(members, `"currency":"USD"`)
		case 2:
			members = members[1:]
		case 3:
			members = append(members, `"note":{"b":[1,{"a":"\u00e9"}],"a":null}`)
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		list[i] = "{" + strings.Join(members, " , ") + "}"
	}
	if r.IntN(20) == 0 {
		return `"none"`
	}
	return "[" + strings.Join(list, ",") + "]"
}

// naiveLines returns sort key, payload and digest of each line, or nil if the message is bad.
func naiveLines(body string) []string {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	lines, ok := m["lines"].([]any)
	if !ok {
		return nil
	}
	texts := []string{}
	seen := map[string]bool{}
	for _, l := range lines {
		data := maps.Clone(l.(map[string]any))
		for _, name := range []string{"shop", "order", "currency"} {
			if _, twice := data[name]; twice {
				return nil
			}
			data[name] = m[name]
		}
		n, ok := data["line"].(json.Number)
		if !ok || seen[n.String()] {
			return nil
		}
		seen[n.String()] = true
		i, _ := n.Int64()
		text, _ := json.Marshal(data) // names in byte order; the test's texts need no other escapes
		sum := sha256.Sum256([]byte(`["line",` + string(text) + `,"order","` + m["shop"].(string) + "#" + m["order"].(string) + `"]`))
		texts = append(texts, fmt.Sprintf("LINE#%04d#%d %s %x", i, i, text, sum))
	}
	return texts
}

// plainJSON writes a JSON text with its names in byte order.
func plainJSON(text string) string {
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	_ = d.Decode(&v)
	out, _ := json.Marshal(v)
	return string(out)
}

// Of parts with bad times, each is named, with what is wrong with it.
func TestPartsWithBadTimes(t *testing.T) {
	p := mustLoad(t, folded("{m}", "{m}", "-", "{m}#{i | time}"))
	_, err := p.Plan(envelope.Message{Body: `{"m":"x","n":1,"u":"y","t":"2026-03-01T00:00:00Z",` +
		`"l":[{"i":"soon"},{"i":"2026-03-01T00:00:00Z"},{"i":"2026-03-01"},{}]}`})
	must.Equal(t, event.RefusalOf(err).Reason, event.BadTime)
	for _, part := range []string{`part p, l[0]: id: field i | time: "soon" is`, `; part p, l[2]: id: field i | time: "2026-03-01" `} {
		must.Fail(t, err, part)
	}
}
