package pipeline

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

const withOffload = `ingot: 1
epoch: 2
type: "{kind}"
events:
  order:
    id: "{shop}#{order_id}"
    at: "{order.at}"
    key: {pk: "SHOP#{shop}", sk: "ORDER#{@id}"}
    indexes:
      GSI1: {pk: "TAG#{tags[1]}", sk: "{@id}", where: 'exists customer or order.state = "open"'}
    attributes: {state: order.state}
    ignore: [trace]
    offload: {over: 1KB, keep: [order.note]}
  line:
    part: {of: order, each: order.lines, with: [shop, order_id]}
    id: "{shop}#{order_id}#{n}"
    key: {pk: "SHOP#{shop}", sk: "LINE#{order_id}#{n}"}
    offload: {over: 1KB}
  plain:
    id: "{shop}"
    at: "{order.at}"
    key: {pk: "PLAIN#{shop}", sk: "-"}
aggregates:
  sums: {since: 1, by: {shop: "{shop}"}, from: {order: {values: {cents: "sum order.cents?", tags: "sum length tags?"}}}}
`

// offloading compiles the text of a file with offload.
func offloading(t testing.TB, text string) *Pipeline {
	t.Helper()
	spec := decode([]byte(text), declare.NewReport(""))
	p, err := compile(&spec, declare.NewReport(""), (*compiler).forPeople, nil)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return p
}

func planned(t testing.TB, p *Pipeline, body string) *event.Item {
	t.Helper()
	item, err := p.Plan(envelope.Message{Body: body})
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, body)
	}
	return item
}

// An item whose payload is offloaded keeps what the pipeline uses, spelled as it came. All else of
// it is as if the payload were in the item.
func TestOffload(t *testing.T) {
	with := offloading(t, withOffload)
	without := offloading(t, strings.NewReplacer("    offload: {over: 1KB, keep: [order.note]}\n", "", "    offload: {over: 1KB}\n",
		"").Replace(withOffload))
	long := strings.Repeat("x", 1000)
	kept := `"kind" : "order","shop":"s","tags":[1 , {"a":null},"é"],"order_id":1.50e0,"order":{"at":"2099-01-01T00:00:00Z","state":null,"lines":[{"n": 1,"a\u0062":[]}],"cents": 12,"note":{}}`
	body := `{"x":"` + long +
		`","kind" : "order" ,"shop":"s","tags":[1 , {"a":null},"é"],"order_id":1.50e0,"order":{ "y":[1], "at":"2099-01-01T00:00:00Z","state":null,"lines":[{"n": 1,"a\u0062":[]}],"cents": 12,"note":{}}}`
	a, b := planned(t, with, body), planned(t, without, body)
	if a.Payload == nil || a.Payload.Sum != sha256.Sum256([]byte(body)) || a.Payload.Text != body || a.Text() != body {
		t.Fatalf("the payload is %+v", a.Payload)
	}
	if a.Data != "{"+kept+"}" {
		t.Errorf("the item keeps\n%s, want\n{%s}", a.Data, kept)
	}
	if again, err := with.Kept("order", body); err != nil || again != a.Data {
		t.Errorf("it would keep %s, %v", again, err)
	}
	if a.Size() != b.Size()-len(b.Data)+len(a.Data)+len("i:payload")+32 {
		t.Errorf("it takes %d bytes, and %d with its payload", a.Size(), b.Size())
	}
	same(t, a, b)
	// Up to the limit nothing changes at all.
	short := strings.Replace(body, long, strings.Repeat("x", 1024-(len(body)-len(long))), 1)
	if a, b := planned(t, with, short), planned(t, without, short); len(short) != 1024 || !reflect.DeepEqual(a, b) {
		t.Errorf("a payload of %d bytes: %+v, want %+v", len(short), a, b)
	}
	if over := planned(t, with, strings.Replace(short, "xx", "xxx", 1)); over.Payload == nil {
		t.Error("a payload of 1,025 bytes is in its item")
	}
}

// same fails if two items differ in anything but where their payload is.
func same(t *testing.T, a, b *event.Item) {
	t.Helper()
	plain := func(i *event.Item) event.Item {
		c := *i
		c.Data, c.Payload, c.Packed, c.Parts = i.Text(), nil, nil, nil
		return c
	}
	if !reflect.DeepEqual(plain(a), plain(b)) {
		t.Fatalf("the item is\n%+v, want\n%+v", plain(a), plain(b))
	}
	if (a.Parts == nil) != (b.Parts == nil) {
		t.Fatal("one of the two has parts")
	}
	if a.Parts == nil {
		return
	}
	if len(a.Parts.Items) != len(b.Parts.Items) {
		t.Fatalf("%d parts, want %d", len(a.Parts.Items), len(b.Parts.Items))
	}
	for i := range a.Parts.Items {
		same(t, a.Parts.Items[i], b.Parts.Items[i])
	}
}

// What DynamoDB would not store of an item, because of what it keeps, is Poison as without offload.
func TestKeptThatDoesNotFit(t *testing.T) {
	text := strings.Replace(withOffload, "keep: [order.note]", "keep: [x]", 1)
	p := offloading(t, text)
	_, err := p.Plan(
		envelope.Message{Body: `{"kind":"order","shop":"s","order_id":1,"order":{"at":"2099-01-01T00:00:00Z","lines":[]},"x":"` +
			strings.Repeat("x", event.MaxItem) + `"}`})
	if r := refusal(t, err); r.Reason != event.ItemTooLarge {
		t.Errorf("%v", r)
	}
	item := planned(t, p, `{"kind":"order","shop":"s","order_id":1,"order":{"at":"2099-01-01T00:00:00Z","lines":[]},"y":"`+
		strings.Repeat("y", 900<<10)+`"}`)
	if item.Size() > 500 {
		t.Errorf("an item with little to keep takes %d bytes", item.Size())
	}
}

func TestOffloadIsRefused(t *testing.T) {
	for _, c := range map[string]struct{ old, new, want string }{
		"under latest": {"plain:\n", "plain:\n    mode: latest\n    revision: n number\n    offload: {over: 1KB}\n",
			"offload does not go with mode latest"},
		"a name": {"plain:\n", "\"pl/ain\":\n    offload: {over: 1KB}\n", "the name pl/ain cannot be a folder of the payload " +
			"bucket, and offload needs one; write a name of letters, digits, ., _ and -"},
		"a number": {"over: 1KB}", "over: 1024}",
			"over is a number, not a size; write a whole number and KB, from 1KB to 256KB"},
		"another unit": {"over: 1KB}", "over: 1MB}", "over is 1MB; write a whole number and KB, from 1KB to 256KB"},
		"too much":     {"over: 1KB}", "over: 257KB}", "over is 257KB; write"},
		"a sign":       {"over: 1KB}", "over: +1KB}", "over is +1KB; write"},
		"nothing":      {"over: 1KB}", "over: KB}", "over is KB; write"},
		"too little":   {"over: 1KB}", "over: 0KB}", "over is 0KB; write"},
		"no size":      {"{over: 1KB}", "{keep: [a]}", "over is missing in offload"},
		"a path":       {"[order.note]", "[order..note]", "path"},
		"a claim": {"plain:\n",
			"claim:\n    part: {of: plain, with: [email]}\n    id: \"{email}\"\n    key: {pk: \"EMAIL#{email}\", sk: \"-\"}\n    offload: {over: 1KB}\n  plain:\n    atomic: true\n", "a claim can pass to another event, and its objects cannot"},
		"none of these": {"type:", "type:", ""},
	} {
		refused(t, strings.Replace(withOffload, c.old, c.new, 1), c.want)
	}
}

// What is computed from what an item keeps is what is computed from the payload, for random files
// and payloads: every key, attribute and condition, every total, and every part. A naive program
// that knows encoding/json alone finds the same values at every path that is used.
func TestKeptAgainstANaiveTwin(t *testing.T) {
	seed := replay.Seed(t, 0)
	r := rand.New(rand.NewPCG(seed, 1))
	good, parts, counted := 0, 0, 0
	for range 300 {
		text, paths := randomFile(r)
		with := offloading(t, text)
		without := offloading(t, strings.ReplaceAll(text, "    offload: {over: 1KB, keep: [k.a]}\n", ""))
		for range 20 {
			body := `{"id":"1","at":"2099-01-01T00:00:00Z","pad":"` + strings.Repeat("x", 1024) + `",` + randomMembers(r, 0) + "}"
			a, err := with.Plan(envelope.Message{Body: body})
			b, plain := without.Plan(envelope.Message{Body: body})
			if fmt.Sprint(err) != fmt.Sprint(plain) {
				t.Fatalf("%v, and without offload %v:\n%s\n%s", err, plain, text, body)
			}
			if err != nil {
				continue
			}
			good++
			same(t, a, b)
			stored := *a
			stored.Payload, stored.Parts = &event.Payload{Sum: a.Payload.Sum}, nil
			if got, want := fmt.Sprintf("%+v", with.Contributions(&stored)), fmt.Sprintf("%+v",
				without.Contributions(b)); stripPointers(got) != stripPointers(want) {
				t.Fatalf("it contributes %s, want %s:\n%s\n%s\n%s", got, want, text, body, a.Data)
			}
			counted += len(without.Contributions(b).List)
			if a.Parts != nil {
				again, err := with.Parts(&stored)
				if err != nil || len(again) != len(a.Parts.Items) {
					t.Fatalf("%d parts, %v:\n%s\n%s", len(again), err, text, body)
				}
				for i := range again {
					parts++
					same(t, again[i], a.Parts.Items[i])
				}
			}
			replanned(t, with, &stored, b, text, body)
			whole, part := naive(t, body), naive(t, a.Data)
			for _, path := range paths {
				if x, y := look(whole, path), look(part, path); !reflect.DeepEqual(x, y) {
					t.Fatalf("%s is %v, want %v:\n%s\n%s\n%s", path, y, x, text, body, a.Data)
				}
			}
			if strings.Contains(a.Data, "pad") {
				t.Fatalf("it keeps what nobody uses: %s", a.Data)
			}
		}
	}
	if good < 1000 || parts < 200 || counted < 500 {
		t.Errorf("only %d items with %d parts and %d contributions", good, parts, counted)
	}
}

// replanned computes all that follows from the payload, from what the item keeps.
func replanned(t *testing.T, p *Pipeline, stored, want *event.Item, text, body string) {
	t.Helper()
	doc, err := event.ParseDocument(stored.Data)
	must.Succeed(t, err)
	source := keys.Source{Data: doc.Root(), Type: stored.Type, At: stored.At, HasAt: true, Digest: stored.Digest, ID: stored.ID}
	made := func(tpl *keys.Template) string {
		bytes, err := tpl.Append(nil, &source)
		if err != nil {
			return ""
		}
		return string(bytes)
	}
	typ := p.plan.Types[stored.Type]
	again := &event.Item{Key: event.Key{PK: made(typ.PK), SK: made(typ.SK)}}
	for _, i := range typ.Indexes {
		if key := (event.Key{PK: made(i.PK), SK: made(i.SK)}); i.Where.Holds(doc.Root()) && key.PK != "" && key.SK != "" {
			again.Indexes = append(again.Indexes, event.IndexKey{Name: i.Name, Key: key})
		}
	}
	for _, a := range want.Attributes {
		at := slices.IndexFunc(typ.Attributes, func(declared planner.Attribute) bool { return declared.Name == a.Name })
		a.Text = doc.Root().At(typ.Attributes[at].Path).Text()
		if a.Kind == event.NumberAttribute {
			d, err := event.ParseDecimal(a.Text)
			must.Succeed(t, err)
			a.Text = d.String()
		}
		again.Attributes = append(again.Attributes, a)
	}
	if again.Key != want.Key || !slices.Equal(again.Indexes, want.Indexes) || !slices.Equal(again.Attributes, want.Attributes) {
		t.Fatalf("%+v, want %+v:\n%s\n%s\n%s", again, want, text, body, stored.Data)
	}
}

func naive(t *testing.T, text string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// look walks a path such as a.b[1]. What is not there is an error, and null is nil.
func look(v any, path string) any {
	for _, step := range strings.Split(strings.NewReplacer("[", ".[", "]", "").Replace(path), ".") {
		if digits, index := strings.CutPrefix(step, "["); index {
			list, _ := v.([]any)
			i, _ := strconv.Atoi(digits)
			if i >= len(list) {
				return fmt.Errorf("missing")
			}
			v = list[i]
			continue
		}
		object, _ := v.(map[string]any)
		next, ok := object[step]
		if !ok {
			return fmt.Errorf("missing")
		}
		v = next
	}
	return v
}

// stripPointers takes addresses out of a printed value.
func stripPointers(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "0x") {
			for i += 2; i < len(text) && strings.IndexByte("0123456789abcdef", text[i]) >= 0; i++ {
			}
			i--
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

var stepNames = []string{"a", "b", "c", "k"}

func randomPath(r *rand.Rand) string {
	path := stepNames[r.IntN(len(stepNames))]
	for range r.IntN(3) {
		if r.IntN(4) == 0 {
			path += fmt.Sprintf("[%d]", r.IntN(3))
		} else {
			path += "." + stepNames[r.IntN(len(stepNames))]
		}
	}
	return path
}

// randomFile returns a file, and the paths that it uses.
func randomFile(r *rand.Rand) (string, []string) {
	paths := []string{"id", "at", "k.a"}
	path := func() string {
		p := randomPath(r)
		paths = append(paths, p)
		return p
	}
	text := `ingot: 1
epoch: 2
type: e
events:
  e:
    id: "{id}"
    at: "{at}"
    key: {pk: "E#{id}", sk: "{@at}"}
    offload: {over: 1KB, keep: [k.a]}
    indexes:
      GSI1: {pk: "X#{` + path() + `}", sk: "{` + path() + `}", where: "not exists ` + path() + ` or ` + path() + ` = 1"}
    attributes: {x: "` + path() + `", y: "` + path() + `"}
`
	if r.IntN(2) == 0 {
		with := stepNames[r.IntN(len(stepNames))]
		paths = append(paths, with, "rows.list")
		text += `  row:
    part: {of: e, each: rows.list, with: [id, ` + with + `]}
    id: "{id}#{n}"
    key: {pk: "E#{id}", sk: "ROW#{n}"}
`
	}
	text += `aggregates:
  sums: {since: 1, from: {e: {where: "exists ` + path() + ` or exists ` + path() + `", values: {num: "count", s: {distinct: "` + path() +
		`?", where: "exists ` + path() + `"}}}}}
`
	return text, paths
}

func randomMembers(r *rand.Rand, depth int) string {
	var members []string
	for _, name := range stepNames {
		if r.IntN(3) > 0 {
			members = append(members, fmt.Sprintf(`%q :%s`, name, randomValue(r, depth+1)))
		}
	}
	if depth == 0 {
		rows := make([]string, r.IntN(3))
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"n": %d, "x": %s}`, i, randomValue(r, 2))
		}
		members = append(members, `"rows": {"other": 1, "list":[`+strings.Join(rows, " , ")+`]}`)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return strings.Join(members, ", ")
}

func randomValue(r *rand.Rand, depth int) string {
	switch n := r.IntN(9); {
	case n < 3 && depth < 4:
		return "{ " + randomMembers(r, depth) + " }"
	case n == 3 && depth < 4:
		list := make([]string, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth+1)
		}
		return "[" + strings.Join(list, ", ") + " ]"
	case n == 4:
		return "null"
	case n == 5:
		return "1.0e0"
	case n == 6:
		return "true"
	}
	return fmt.Sprintf(`"\u006%d"`, r.IntN(9))
}
