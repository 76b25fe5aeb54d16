package ingottest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
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
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(carts)}}, "p.yaml")
	must.Succeed(t, err)
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
