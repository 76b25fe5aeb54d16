package demo

import (
	"cmp"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/examples"
)

// Bundle is data that comes with the demo, and the pipeline that it goes through.
type Bundle struct {
	Name   string // for --example
	Kind   string // "real" or "synthetic"
	Data   func(seed uint64) Data
	Files  fs.FS
	File   string // the pipeline's name in Files
	Secret string // the key for keyed hashes; empty if the pipeline has none
}

// Bundles returns all bundles. The first is the default of the demo.
func Bundles() []Bundle {
	return []Bundle{
		{"earthquakes", "real", func(uint64) Data { return Earthquakes() }, bundled, "data/earthquakes.yaml", ""},
		{"shop", "synthetic", Shop, examples.Files, "shop/pipeline.yaml", ShopSecret},
		{"leaderboard", "synthetic", Leaderboard, examples.Files, "leaderboard/pipeline.yaml", ""},
		{"feed", "synthetic", Feed, examples.Files, "feed/pipeline.yaml", ""},
		{"ledger", "synthetic", Bank, examples.Files, "ledger/pipeline.yaml", ""},
		{"sensors", "synthetic", Sensors, examples.Files, "sensors/pipeline.yaml", ""},
	}
}

// synthetic is the description of all generated data.
const synthetic = "SYNTHETIC, made by a seeded generator"

// fact is one event that a generator makes.
type fact struct {
	at   time.Time
	body string
}

// made returns generated facts as lines, in the order in which they happened.
func made(facts func() []fact) func() iter.Seq2[Line, error] {
	return func() iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			all := facts()
			slices.SortStableFunc(all, func(a, b fact) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.body, b.body)) })
			for i, fact := range all {
				if !yield(Line{i + 1, envelope.Message{Body: fact.body}}, nil) {
					return
				}
			}
		}
	}
}
