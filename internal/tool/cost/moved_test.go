package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/pipeline"
)

// byPutFile has every kind of transaction: single items, atomic wholes, and parts by themselves.
const byPutFile = `
ingot: 1
epoch: 1
type: "{type}"
events:
  plain: {id: "{id}", at: "{at}", key: {pk: "P#{id}", sk: "X"}}
  goods: {id: "{id}", at: "{at}", key: {pk: "G#{id}", sk: "X"}, indexes: {GSI1: {pk: "SKU#{sku}", sk: "{@id}"}}}
  transfer: {id: "{id}", at: "{at}", key: {pk: "T#{id}", sk: "X"}, atomic: true}
  entry:
    part: {of: transfer, each: entries, with: [id]}
    id: "{id}#{account}"
    key: {pk: "T#{id}", sk: "E#{account}"}
  signup: {id: "{id}", at: "{at}", key: {pk: "S#{id}", sk: "X"}, atomic: true}
  email: {part: {of: signup, with: [mail]}, id: "{mail}", key: {pk: "M#{mail}", sk: "X"}}
  order: {id: "{id}", at: "{at}", key: {pk: "O#{id}", sk: "X"}}
  line:
    part: {of: order, each: lines, with: [id]}
    id: "{id}#{n}"
    key: {pk: "O#{id}", sk: "L#{n}"}
aggregates:
  stock: {since: 1, by: {sku: "{sku}"}, movedBy: put, atLeast: {available: 0}, from: {goods: {values: {available: sum quantity}}}}
  flow: {since: 1, movedBy: put, spread: 2, by: {day: "{day}"}, from: {goods: {values: {events: count}}}}
  balances: {since: 1, by: {account: "{account}"}, movedBy: put, from: {entry: {values: {cents: sum cents}}}}
  sold: {since: 1, by: {sku: "{sku}"}, movedBy: put, from: {line: {values: {sold: count}}}}
  all: {since: 1, from: {plain: {values: {events: count}}, goods: {values: {events: count}}}}
`

// byPutEvents returns n events of each type, in turn.
func byPutEvents(n int) []string {
	var list []string
	for i := range n {
		id := func(typ, rest string) string {
			return fmt.Sprintf(`{"type":%q,"id":"%d","at":"2026-03-14T09:00:00Z",%s}`, typ, i, rest)
		}
		list = append(list, id("plain", `"x":1`), id("goods", fmt.Sprintf(`"sku":"s-%d","day":"d-%d","quantity":3`, i%7, i%3)),
			id("transfer", fmt.Sprintf(`"entries":[{"account":"a-%d","cents":5},{"account":"b-%d","cents":-5}]`, i%11, i)),
			id("signup", fmt.Sprintf(`"mail":"m-%d"`, i)),
			id("order", fmt.Sprintf(`"lines":[{"n":1,"sku":"s-%d"},{"n":2,"sku":"t-%d"}]`, i%2, i)))
	}
	return list
}

// What is computed for transactions is what the tables charge: for those that share totals, and for
// those that do not.
func TestTransactionsAreWhatIsCharged(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(byPutFile)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range []string{"", "goods", "transfer", "signup", "order"} {
		for _, messages := range []int{1, 20, 250} {
			for _, again := range []bool{false, true} {
				if again && messages > 20 {
					continue // there are too few batches: the estimate is of many
				}
				t.Run(fmt.Sprintf("%s, %d in a batch, again %v", only, messages, again), func(t *testing.T) {
					var lines []string
					for _, line := range byPutEvents(300) {
						if strings.Contains(line, `"type":"`+only) {
							lines = append(lines, line)
						}
					}
					if again { // one in twenty, some batches later
						for i := len(lines) - 1 - messages; i >= 0; i -= 20 {
							lines = slices.Insert(lines, i+1+messages, lines[i])
						}
					}
					compareWithTables(t, p, lines, messages, again)
				})
			}
		}
	}
}

func compareWithTables(t *testing.T, p *pipeline.Pipeline, lines []string, messages int, again bool) {
	at := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	w, err := testworld.New(t.Context(), testworld.Config{Start: at, Stack: stack.Config{Indexes: p.Indexes()}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := w.Store(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, requests := w.Engine.Usage(), 0
	for begin := 0; begin < len(lines); begin += messages {
		var items []*event.Item
		for _, line := range lines[begin:min(begin+messages, len(lines))] {
			item, err := p.Plan(envelope.Message{Body: line})
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, item)
		}
		results, cost := st.Put(t.Context(), items)
		requests += cost.Requests
		for i, r := range results {
			if !r.Verdict.Stored() {
				t.Fatalf("message %d: %+v", begin+i, r)
			}
		}
	}
	used := w.Engine.Usage().Sub(before)

	s := NewSampled("events", 1, 1000, float64(messages))
	sample := sampledBy(t, p, s, strings.Join(lines, "\n")+"\n")
	r := Compute(Input{Name: "p.yaml", Pipeline: p, Rate: 100, Partitions: 1, Memory: DefaultMemory, Architecture: "arm64", Events: sample,
		Messages: float64(messages)})
	n := float64(len(lines)) / 1e6
	units := func(parts ...string) (sum float64) {
		for _, part := range parts {
			sum += of(r, part, "write units") * n
		}
		return sum
	}
	within := 0.001
	if again {
		within = 0.1
	}
	for what, c := range map[string]struct{ computed, charged, within float64 }{
		"write units": {units("puts", "indexes", "totals by put", "repetitions"), used.WriteUnits(), within},
		"requests":    {of(r, "puts", "DynamoDB requests") * n, float64(requests), 0.1},
	} {
		t.Logf("%-12s computed %.0f, charged %.0f", what, c.computed, c.charged)
		if math.Abs(c.computed-c.charged) > c.within*c.charged {
			t.Errorf("%s: %.0f computed, and %.0f charged", what, c.computed, c.charged)
		}
	}
}

// How often a total moves by the put is estimated without a sample just as it is packed with one.
func TestTransactionsOnOneTotal(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(byPutFile)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&lines, `{"type":"goods","id":"%d","at":"2026-03-14T09:00:00Z","sku":"s","day":"d","quantity":3}`+"\n", n)
	}
	def, known := p.Definition("stock")
	if !known {
		t.Fatal("there is no such aggregate")
	}
	for _, rate := range []float64{1, 100, 4000, 50_000} {
		s := sampledBy(t, p, NewSampled("events", 1, 1000, MessagesInBatch(rate, 0)), lines.String())
		packed := s.finish(rate).moved.packs / 3000 * rate
		load := estimate.LoadOf(def, aggregate.Marks, 1, estimate.Bytes(def, nil), 1, rate, rate)
		if math.Abs(load.Updates-packed) > 0.2*packed {
			t.Errorf("at %v events a second %.0f transactions move the total, and %.0f are estimated", rate, packed, load.Updates)
		}
	}
}
