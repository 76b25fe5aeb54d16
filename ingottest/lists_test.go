package ingottest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// carts is a shop: the lines of an order are parts that are put with it, a line in a cart is
// replaced by its newest revision, and what is reserved moves with the put.
const carts = `
ingot: 1
epoch: 1
type: "{type}"
batches: true
events:
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: ORDER}
    atomic: true
    retain: 30d
  line:
    part: {of: order, each: lines, with: [order, shop]}
    id: "{order}#{sku}"
    key: {pk: "ORDER#{order}", sk: "LINE#{sku}"}
  wish:
    id: "{cart}#{sku}"
    at: "{at}"
    mode: latest
    revision: at time
    key: {pk: "CART#{cart}", sk: "WISH#{sku}"}
aggregates:
  wishes:
    since: 1
    by: {cart: "{cart}", sku: "{sku}"}
    onExpire: subtract
    rank: {value: quantity, within: [cart]}
    from: {wish: {where: quantity > 0, values: {quantity: sum quantity}}}
  sold:
    since: 1
    by: {shop: "{shop}", sku: "{sku}"}
    onExpire: subtract
    movedBy: put
    rank: {value: pieces, within: [shop], shards: 2}
    from: {line: {values: {pieces: sum pieces}}}
patterns:
  cart: {total: wishes, top: 100}
  best: {total: sold, top: 100}
`

// The lines of a cart and the goods of a shop are lists, whatever moves their totals: events of an
// array, revisions, parts in transactions, an erasure, and time to live.
func TestListsBesideAllElse(t *testing.T) {
	p := written.Pipeline(t, carts)
	ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
		list := func(pattern, field, value string) string {
			var lines []string
			for _, total := range w.Read(pattern, query.Ask{Values: map[string][]string{field: {value}}}).Totals {
				for _, v := range total.Values {
					lines = append(lines, fmt.Sprint(total.By["sku"], " ", v))
				}
			}
			return strings.Join(lines, ", ")
		}
		w.Send(`[{"type":"wish","cart":"c-1","sku":"tea","at":"2031-03-01T10:00:00Z","quantity":1},`+
			`{"type":"wish","cart":"c-1","sku":"cup","at":"2031-03-01T10:00:00Z","quantity":2},`+
			`{"type":"wish","cart":"c-2","sku":"tea","at":"2031-03-01T10:00:00Z","quantity":9}]`,
			`{"type":"order","order":"1","shop":"n","at":"2031-03-01T11:00:00Z",`+
				`"lines":[{"sku":"tea","pieces":3},{"sku":"cup","pieces":4}]}`,
			`{"type":"order","order":"2","shop":"s","at":"2031-03-09T11:00:00Z","lines":[{"sku":"tea","pieces":5}]}`)
		w.Drain()
		w.Send(`{"type":"wish","cart":"c-1","sku":"cup","at":"2031-03-01T12:00:00Z","quantity":0}`,
			`{"type":"wish","cart":"c-1","sku":"tea","at":"2031-03-01T12:00:00Z","quantity":7}`)
		w.Drain()
		must.Equal(t, list("cart", "cart", "c-1"), "tea 7")
		must.Equal(t, list("cart", "cart", "c-2"), "tea 9")
		must.Equal(t, list("best", "shop", "n"), "cup 4, tea 3")
		must.Equal(t, list("best", "shop", "s"), "tea 5")
		_, err := repair.Of(w.Store()).Erase(t.Context(), event.Key{PK: "CART#c-2", SK: "WISH#tea"})
		must.Succeed(t, err)
		w.Drain()
		w.Advance(35 * 24 * time.Hour)
		w.Sweep()
		w.Drain()
		must.Equal(t, list("cart", "cart", "c-2"), "")
		must.Equal(t, list("best", "shop", "n"), "")
		must.Equal(t, list("best", "shop", "s"), "tea 5")
		w.Verify()
	})
}

// scores is a leaderboard of each level, in its first and its second form.
const (
	scores = `
ingot: 1
epoch: 1
type: win
events:
  win: {id: "{id}", at: "{at}", key: {pk: "GAME#{id}", sk: WIN}}
aggregates:
  scores:
    since: 1
    by: {level: "{level}", player: "{player}"}
    rank: {value: points, within: [level]}
    from: {win: {values: {points: sum points}}}
patterns:
  board: {total: scores, top: 10}
`
	better = "best: max points, points: sum points"
)

// form returns a form of the leaderboard.
func form(t *testing.T, replaced ...string) *pipeline.Pipeline {
	t.Helper()
	return written.Pipeline(t, strings.NewReplacer(replaced...).Replace(scores))
}

func win(id, player string, points int) string {
	return fmt.Sprintf(`{"id":%q,"at":"2031-03-01T10:00:00Z","level":7,"player":%q,"points":%d}`, id, player, points)
}

// While a changed aggregate is rebuilt, reads answer from its old generation, and say so. Once it
// is complete, it answers itself, also if it is behind again.
func TestReadsWhileAGenerationIsBuilt(t *testing.T) {
	first := form(t)
	for name, c := range map[string]struct {
		next string // the values of the second form
		more []string
		old  bool // whether the first form answers while it is built
	}{
		"a value more":     {better, nil, true},
		"another window":   {better, []string{"    by:", "    window: 1y\n    by:"}, false},
		"another grouping": {better, []string{`"{player}"`, `"{player | lower}"`}, false},
		"another order":    {better, []string{"value: points", "value: best"}, false},
		"other lists":      {better, []string{", within: [level]", ""}, false},
		"more shards":      {better, []string{"within", "shards: 3, within"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			next := form(t, append([]string{"epoch: 1", "epoch: 2", "since: 1", "since: 2", "points: sum points", c.next}, c.more...)...)
			w := ingottest.New(t, ingottest.Config{Pipeline: first})
			w.Send(win("1", "ann", 5), win("2", "bob", 3))
			w.Drain()
			w.Deploy(next)
			w.Send(win("3", "bob", 7), win("4", "cyd", 1))
			w.Drain()
			ask := query.Ask{Values: map[string][]string{"level": {"7"}}}
			if name == "other lists" {
				ask.Values = nil
			}
			if name == "another window" {
				ask.From = "2031-03-01"
			}
			read := func() string {
				var lines []string
				for _, total := range w.Read("board", ask).Totals {
					says := ""
					if total.Building {
						says = " building"
					}
					for _, flag := range total.Flags {
						says += " " + flag
					}
					lines = append(lines, fmt.Sprint(total.By["player"], " ", total.Values["points"], says))
				}
				return strings.Join(lines, ", ")
			}
			const says = " building scores since 2 is being built: these are the totals of scores since 1, as they were when it began"
			while := "bob 7 building, cyd 1 building"
			if c.old {
				while = "ann 5" + says + ", bob 3" + says
			}
			must.Equal(t, read(), while)
			def, _ := next.Definition("scores")
			pass, err := repair.Of(w.Store()).BeginPass(t.Context(), def)
			must.Succeed(t, err)
			_, err = repair.Of(w.Store()).Touch(t.Context())
			must.Succeed(t, err)
			w.Drain()
			differences, err := verify.Finish(t.Context(), next, w.Store(), pass, w.Now())
			must.Succeed(t, err)
			must.Equal(t, len(differences), 0)
			must.Equal(t, read(), "bob 10, ann 5, cyd 1")
			// A function of the old pipeline stores one more event.
			late, err := first.Plan(envelope.Message{Body: win("5", "ann", 1)})
			must.Succeed(t, err)
			old, err := store.New(tables.Config{Client: w.DynamoDB(), Pipeline: first, Events: ingottest.EventsTable,
				Env: env.Env{Now: w.Now}})
			must.Succeed(t, err)
			if results, _ := old.Put(t.Context(), []*event.Item{late}); results[0].Verdict != event.Inserted {
				t.Fatal(results[0])
			}
			w.Drain()
			must.Equal(t, read(), "bob 10 building, ann 5 building, cyd 1 building")
		})
	}
}

// A generation that was never complete does not answer for the one that replaces it.
func TestReadsWhileTwoGenerationsAreBuilt(t *testing.T) {
	w := ingottest.New(t, ingottest.Config{Pipeline: form(t)})
	w.Send(win("1", "ann", 5))
	w.Drain()
	w.Deploy(form(t, "epoch: 1", "epoch: 2", "since: 1", "since: 2", "points: sum points", better))
	w.Send(win("2", "ann", 7))
	w.Drain()
	w.Deploy(form(t, "epoch: 1", "epoch: 3", "since: 1", "since: 3", "points: sum points", better+", wins: count"))
	w.Send(win("3", "ann", 2))
	w.Drain()
	total := w.Total("scores", map[string]string{"level": "7", "player": "ann"}, time.Time{})
	must.Equal(t, fmt.Sprint(total.Values, total.Building, total.Flags), "map[best:2 points:2 wins:1] true []")
}
