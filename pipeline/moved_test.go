package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const movedFile = `ingot: 1
epoch: 3
type: "{type}"
events:
  received:
    id: "{id}"
    at: "{at}"
    key: {pk: "IN#{id}", sk: IN}
  reserved:
    id: "{id}"
    at: "{at}"
    key: {pk: "OUT#{id}", sk: OUT}
aggregates:
  stock:
    since: 2
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: 0}
    from:
      received: {values: {available: sum quantity}}
      reserved: {values: {available: sum -quantity, reservations: count}, where: quantity > 0}
`

// What moves the totals, and their bounds, are part of the definition. A file without them has the
// definition that it had.
func TestMovedByIsPartOfTheDefinition(t *testing.T) {
	p := mustLoad(t, strings.Replace(movedFile, "    from:", "    atMost: {reservations: 5}\n    from:", 1))
	def, _ := p.Definition("stock")
	bounds := []aggregate.Bound{{}, {Value: 1, Ceiling: true, Limit: event.DecimalOf(5)}}
	if def.MovedBy != aggregate.Put || !slices.Equal(def.Bounds, bounds) {
		t.Errorf("%v %v", def.MovedBy, def.Bounds)
	}
	const text = `{"atLeast":{"available":"0"},"atMost":{"reservations":"5"},"by":{"sku":"{sku}"},"from":{"received":{"values":{"available":"sum quantity"}},` +
		`"reserved":{"values":{"available":"sum -quantity","reservations":"count"},"where":"quantity > 0"}},` +
		`"movedBy":"put","name":"stock","onExpire":"keep","retain":0,"since":2,"spread":1,"window":0}`
	if def.Text != text {
		t.Errorf("the canonical text, which heads store, has changed:\n%s", def.Text)
	}
	sameAgain(t, p)
	for floor, want := range map[string]string{"-100.50": `"-100.5"`, `"1e3"`: `"1000"`,
		"123456789012345678.25": `"123456789012345678.25"`} {
		p := mustLoad(t, strings.Replace(movedFile, "available: 0}", "available: "+floor+"}", 1))
		if text := p.Definitions()[0].Text; !strings.HasPrefix(text, `{"atLeast":{"available":`+want+`}`) {
			t.Error(text)
		}
	}
	plain := strings.Replace(movedFile, "    movedBy: put\n    atLeast: {available: 0}\n", "", 1)
	for _, file := range []string{plain, strings.Replace(plain, "    from:", "    movedBy: stream\n    from:", 1)} {
		def := mustLoad(t, file).Definitions()[0]
		if strings.Contains(def.Text, "movedBy") || strings.Contains(def.Text, `"at`) || def.Bounds != nil {
			t.Error(def.Text)
		}
	}
}

// A planned item says that its put moves totals, if it does.
func TestPlannedItemMoves(t *testing.T) {
	p := mustLoad(t, movedFile)
	for payload, want := range map[string]int64{
		`{"type":"received","id":"1","at":"2026-03-01T09:00:00Z","sku":"s","quantity":1}`: 3,
		`{"type":"reserved","id":"1","at":"2026-03-01T09:00:00Z","sku":"s","quantity":1}`: 3,
		`{"type":"reserved","id":"1","at":"2026-03-01T09:00:00Z","sku":"s","quantity":0}`: 0, // its where does not hold
	} {
		doc, err := event.ParseDocument(payload)
		must.Succeed(t, err)
		item, err := p.PlanEvent(event.Event{Data: doc})
		if err != nil || item.Put != want {
			t.Errorf("%s: %v %+v", payload, err, item)
		}
		without := *item
		without.Put = 0
		if grown := item.Size() - without.Size(); (want == 0) != (grown == 0) || want != 0 && grown != len("i:put")+2 {
			t.Errorf("%s: i:put takes %d bytes", payload, grown)
		}
	}
}

func TestMistakesOfMovedBy(t *testing.T) {
	for old, c := range map[string]struct{ now, want string }{
		"movedBy: put": {"movedBy: puts", `p.yaml:17:14: unknown movedBy puts; write put`},
		"    movedBy: put\n": {"",
			`p.yaml:17:5: atLeast is a condition of the transaction that puts an event, and these totals are moved by the stream; write movedBy: put beside it`},
		"    since: 2\n": {"    since: 2\n    spread: 2\n",
			`p.yaml:19:5: spread is 2, and a floor needs a total that is one item; write spread: 1 beside it, or leave atLeast out`},
		"    by: {sku": {"    onExpire: subtract\n    by: {sku",
			`p.yaml:19:5: onExpire is subtract, so what expires could bring the total below its floor; write onExpire: keep beside it, or leave atLeast out`},
		"{available: 0}":          {"{avalable: 0}", `p.yaml:18:15: there is no value avalable in stock; write available`},
		"atLeast: {available: 0}": {"atLeast: 0", `p.yaml:18:14: atLeast is a number, not a mapping; write {available: 0}`},
		"available: 0}": {"available: none}",
			`p.yaml:18:26: available is none, which is not a plain number; write a number such as 0 or -100.5`},
		"    from": {"    atMost: {available: -1.5}\n    from",
			`p.yaml:19:25: available is at most -1.5, and its floor is 0; write 0 or more`},
		"    movedBy: put\n    atLeast": {"    spread: 2\n    onExpire: subtract\n    atMost", strings.Join([]string{
			`p.yaml:19:5: atMost is a condition of the transaction that puts an event, and these totals are moved by the stream; write movedBy: put beside it`,
			`p.yaml:19:5: onExpire is subtract, so what expires could bring the total above its ceiling; write onExpire: keep beside it, or leave atMost out`,
			`p.yaml:19:5: spread is 2, and a ceiling needs a total that is one item; write spread: 1 beside it, or leave atMost out`}, "\n")},
		"available: 0": {"available: [0]",
			`p.yaml:18:26: available is a list, not a number; write a number such as 0 or -100.5`},
		" 0}": {" 1e400}",
			`p.yaml:18:26: available is beyond 10^18 or has more than 9 decimals, and a sum cannot have such a value; write a number such as 0 or -100.5`},
		"reservations: count": {"reservations: max quantity",
			`p.yaml:21:67: reservations is a max, and a total that is movedBy: put has only counts and sums; write count or sum, or movedBy: stream`},
		"    key: {pk: \"IN#{id}\", sk": {"    mode: latest\n    revision: v number\n    key: {pk: \"IN#{id}\", sk",
			`p.yaml:22:7: mode of received is latest, and a total that is movedBy: put counts only events that never change; write movedBy: stream, or mode: insert for received`},
	} {
		_, err := loadQuietly(strings.Replace(movedFile, old, c.now, 1)) // a word of this advice is the reader's to fill in
		must.Fail(t, err, c.want)
	}
	// All of them are said at once.
	_, err := loadText(strings.NewReplacer("since: 2\n", "since: 2\n    spread: 2\n    onExpire: subtract\n", "{available: 0}",
		"{avalable: 0}").Replace(movedFile))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes: %v", err)
	}
}

// The items of an atomic message and the totals that they move fit into one transaction, or the
// message is Poison. Two items that move one total need one place for it.
func TestAtomicWithItsTotals(t *testing.T) {
	p := mustLoad(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: ORDER}
    atomic: true
  line:
    part: {of: order, each: lines, with: [id]}
    id: "{id}#{n}"
    key: {pk: "ORDER#{id}", sk: "LINE#{n}"}
aggregates:
  sold: {since: 1, by: {sku: "{sku}"}, movedBy: put, from: {line: {values: {lines: count}}}}
`)
	for _, c := range []struct{ lines, skus int }{{49, 49}, {50, 49}, {50, 50}, {98, 1}, {99, 1}, {100, 1}} {
		var lines []string
		for n := range c.lines {
			sku := fmt.Sprintf(`"sku":"s%d",`, n%max(1, c.skus))
			lines = append(lines, fmt.Sprintf(`{%s"n":%d}`, sku, n))
		}
		doc, err := event.ParseDocument(`{"type":"order","id":"1","at":"2026-03-01T09:00:00Z","lines":[` + strings.Join(lines, ",") + `]}`)
		must.Succeed(t, err)
		_, err = p.PlanEvent(event.Event{Data: doc})
		if fits := 1+c.lines+max(1, c.skus) <= 100; fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "too-many-parts") {
			t.Errorf("%d lines of %d skus: %v", c.lines, c.skus, err)
		}
		if c.lines == 99 && (err == nil || !strings.Contains(err.Error(), "the message yields 100 items with its whole, which move 1 "+
			"totals, and order is atomic: a transaction has at most 100 items and totals")) {
			t.Error(err)
		}
	}
}
