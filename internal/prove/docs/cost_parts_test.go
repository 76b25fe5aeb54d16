package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/cost"
	samples "github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/pipeline"
)

// TestCostParts shows that the page explains every part that the output can have, in the same
// order. It also shows that the page's example of a file of prices is one.
func TestCostParts(t *testing.T) {
	p, err := pipeline.Load(os.DirFS(root), sampleshop.Pipeline, pipeline.Secret([]byte("secret")))
	if err != nil {
		t.Fatal(err)
	}
	const order = `{"type":"order.placed","merchant_id":"m","order_id":"o","customer_id":"c","product_id":"p","quantity":1,"currency":"EUR","total_cents":5,"placed_at":"2026-03-14T09:00:00Z"}` + "\n"
	events := cost.NewSampled("two orders", 4, 1, 1)
	sampler := samples.Sampler{Pipeline: p, Now: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC), Each: events.Add}
	if _, err := sampler.Read("two orders", strings.NewReader(order+order)); err != nil {
		t.Fatal(err)
	}
	report := cost.Compute(cost.Input{Pipeline: p, Rate: 1000, Partitions: 4, Memory: cost.DefaultMemory, Architecture: "arm64",
		Events: events})
	ledger, err := pipeline.Load(os.DirFS(root), "examples/ledger/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	byPut := cost.Compute(cost.Input{Pipeline: ledger, Rate: 1000, Partitions: 4, Memory: cost.DefaultMemory, Architecture: "arm64"})
	feed, err := pipeline.Load(os.DirFS(root), "examples/feed/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	essays := cost.NewSampled("an essay", 4, 1, 1)
	essay := `{"type":"post.written","post_id":"p","author":"a","title":"t","words":9000,"at":"2026-03-14T09:00:00Z","text":"` +
		strings.Repeat("word ", 9000) + `"}` + "\n"
	sampler = samples.Sampler{Pipeline: feed, Now: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC), Each: essays.Add}
	if _, err := sampler.Read("an essay", strings.NewReader(essay+essay)); err != nil {
		t.Fatal(err)
	}
	apart := cost.Compute(cost.Input{Pipeline: feed, Rate: 1000, Partitions: 4, Memory: cost.DefaultMemory, Architecture: "arm64",
		Events: essays})
	var printed, explained []string
	for _, part := range report.Parts {
		if !slices.Contains(printed, part.Name) {
			printed = append(printed, part.Name)
		}
	}
	for _, other := range []*cost.Report{byPut, apart} { // a part that the shop does not have comes after the one before it
		for i, part := range other.Parts {
			if !slices.Contains(printed, part.Name) {
				printed = slices.Insert(printed, slices.Index(printed, other.Parts[i-1].Name)+1, part.Name)
			}
		}
	}
	for _, row := range table(t, costPage, "cost parts") {
		explained = append(explained, row[0])
	}
	if !slices.Equal(printed, explained) {
		t.Errorf("the output has the parts\n%q and the page explains\n%q", printed, explained)
	}
	example := blocksOf(t, costPage, "yaml prices")[0]
	if _, err := cost.ReadPrices(filepath.Join(root, costPage), []byte(example.text)); err != nil {
		t.Error(err)
	}
}
