package docs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/pipeline"
)

// TestCostParts shows that the page explains every part that the output can have, in the same
// order. It also shows that the page's example of a file of prices is one.
func TestCostParts(t *testing.T) {
	p := loaded(t, sampleshop.Pipeline)
	prices, err := cost.PricesOf("")
	must.Succeed(t, err)
	in := func(p *pipeline.Pipeline) cost.Input {
		return cost.Input{Pipeline: p, Prices: prices, Rate: 1000, Partitions: 4, Memory: cost.DefaultMemory, Architecture: "arm64",
			Now: must.Time("2026-03-15T00:00:00Z")}
	}
	lines := func(p *pipeline.Pipeline, text string) *cost.Report {
		in := in(p)
		in.File = "some events"
		report, err := cost.Compute(in, cost.Messages(in.File, strings.NewReader(text),
			func(line string) ([]envelope.Message, error) { return []envelope.Message{{Body: line}}, nil }))
		must.Succeed(t, err)
		return report
	}
	// Each total gets so many orders that it remembers many shards. One order comes twice.
	var orders strings.Builder
	for n := range 2000 {
		i := n % 1999
		fmt.Fprintf(&orders, `{"type":"order.placed","merchant_id":"m-%d","order_id":"%d","customer_id":"c-%d","product_id":"p-%d",`+
			`"quantity":1,"currency":"EUR","total_cents":5,"placed_at":"2026-03-14T09:00:00Z"}`+"\n", i%40, i, i%40, i%40)
	}
	report := lines(p, orders.String())
	ledger, feed := loaded(t, "examples/ledger/pipeline.yaml"), loaded(t, "examples/feed/pipeline.yaml")
	byPut := lines(ledger, strings.Repeat(`{"type":"transfer.posted","transfer_id":"1","posted_at":"2026-03-14T09:00:00Z","entries":[`+
		`{"account":"a","book":"customers","cents":-1},{"account":"b","book":"customers","cents":1}]}`+"\n", 2))
	apart := lines(feed, strings.Repeat(`{"type":"post.written","post_id":"p","author":"a","title":"t","words":9000,"at":"2026-03-14T09:00:00Z","text":"`+
		strings.Repeat("word ", 9000)+`"}`+"\n", 2))
	beside := in(p)
	beside.Stack = &rules.Billed{OwnKey: true, Secrets: 1}
	for _, name := range []string{"publish", "capture", cost.Large} {
		stack, err := cost.StackOf(name)
		must.Succeed(t, err)
		beside.Beside = append(beside.Beside, stack)
	}
	whole, err := cost.Suppose(beside, 1)
	must.Succeed(t, err)
	var printed, explained []string
	for _, part := range report.Parts {
		if !slices.Contains(printed, part.Name) {
			printed = append(printed, part.Name)
		}
	}
	for _, other := range []*cost.Report{byPut, apart, whole} { // a part that the shop does not have comes after the one before it
		for i, part := range other.Parts {
			if !slices.Contains(printed, part.Name) {
				printed = slices.Insert(printed, slices.Index(printed, other.Parts[i-1].Name)+1, part.Name)
			}
		}
	}
	for _, row := range table(t, costPage, "cost parts") {
		explained = append(explained, row[0])
	}
	must.Match(t, printed, explained)
	_, err = cost.ReadPrices(filepath.Join(root, costPage), []byte(blocksOf(t, costPage, "yaml prices")[0].text))
	must.Succeed(t, err)
}
