package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
)

const byPutFile = `
ingot: 1
epoch: 1
type: "{type}"
events:
  goods: {id: "{id}", at: "{at}", key: {pk: "G#{id}", sk: "X"}}
aggregates:
  stock: {since: 1, by: {sku: "{sku}"}, movedBy: put, atLeast: {available: 0}, from: {goods: {values: {available: sum quantity}}}}
  flow: {since: 1, movedBy: put, spread: 2, by: {day: "{day}"}, from: {goods: {values: {events: count}}}}
`

// How often a total moves by the put is estimated as it is rehearsed.
func TestTransactionsOnOneTotal(t *testing.T) {
	in := input(t, byPutFile)
	in.Partitions = 1
	var lines strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&lines, `{"type":"goods","id":"%d","at":"2026-03-14T09:00:00Z","sku":"s","day":"d","quantity":3}`+"\n", n)
	}
	def, known := in.Pipeline.Definition("stock")
	if !known {
		t.Fatal("there is no such aggregate")
	}
	for _, rate := range []float64{1, 100, 4000, 50_000} {
		in.Rate = rate
		s, err := in.sample(linesOf(lines.String()))
		must.Succeed(t, err)
		packed := float64(s.Used(rehearse.Storing).Transactions) / 3000 * rate
		load := estimate.LoadOf(def, aggregate.Marks, 1, estimate.Bytes(def, nil), 1, rate, rate)
		if math.Abs(load.Updates-packed) > 0.2*packed {
			t.Errorf("at %v events a second %.0f transactions move the total, and %.0f are estimated", rate, packed, load.Updates)
		}
	}
}
