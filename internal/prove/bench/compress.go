package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const (
	packedOrders = 2000
	packedBytes  = 4 << 10 // of a body, about
)

// compress compares orders of 4 KB that are stored compressed with the same ones that are not, on
// the engine: the write units, and the time from the bodies to the stored items.
func (b *bench) compress(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(1, 1))
	bodies := make([]string, packedOrders)
	for i := range bodies {
		bodies[i] = wideOrder(rng, i)
	}
	var times, units [2][]float64
	for range b.turns {
		for way, compress := range []bool{false, true} { // in turn, so that a busy moment hits both
			took, spent, err := storeAll(ctx, bodies, compress)
			if err != nil {
				return err
			}
			times[way], units[way] = append(times[way], float64(took.Nanoseconds())/1000/packedOrders),
				append(units[way], spent/packedOrders)
		}
	}
	_, plainTime, _ := sorted(times[0])
	_, time, _ := sorted(times[1])
	_, plainUnits, _ := sorted(units[0])
	_, packed, _ := sorted(units[1])
	b.head("Compress: %d orders of %d bytes, planned and put on the engine, %d runs", packedOrders, len(bodies[0]), b.turns)
	b.note("as they are: %s write units and %s µs each", short(plainUnits), short(plainTime))
	b.note("compressed:  %s write units and %s µs each", short(packed), short(time))
	b.atMost("write units of a compressed order of 4 KB, times those without", packed/plainUnits, 0.5)
	return nil
}

// wideOrder returns an order with as many lines as fit into packedBytes. Names repeat, and values
// do not.
func wideOrder(rng *rand.Rand, i int) string {
	var lines []string
	body := func() string {
		return fmt.Sprintf(`{"type":"order","order_id":"o-%d","placed_at":"2026-03-01T10:00:00Z","customer":"%016x","lines":[%s]}`, i,
			rng.Uint64(), strings.Join(lines, ","))
	}
	for len(strings.Join(lines, ",")) < packedBytes-250 {
		lines = append(lines, fmt.Sprintf(`{"sku":"%08x","description":"item %d","quantity":%d,"price_cents":%d,"tax":"0.%02d"}`,
			rng.Uint32(), rng.IntN(10_000), 1+rng.IntN(9), rng.IntN(100_000), rng.IntN(25)))
	}
	return body()
}

// storeAll plans and puts the bodies, 25 at a time, on a new engine.
func storeAll(ctx context.Context, bodies []string, compress bool) (took time.Duration, units float64, err error) {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"order": {ID: "{order_id}", At: "{placed_at}",
			Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "ORDER"}, Compress: compress}}})
	if err != nil {
		return 0, 0, err
	}
	engine := embedded.New(embedded.Config{})
	if _, err := stack.New(ctx, engine, stack.Config{}); err != nil {
		return 0, 0, err
	}
	st, err := store.New(tables.Config{Client: engine.DynamoDB(), Pipeline: p, Events: stack.Events})
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for at := 0; at < len(bodies); at += 25 {
		var items []*event.Item
		for _, body := range bodies[at:min(at+25, len(bodies))] {
			item, err := p.Plan(envelope.Message{Body: body})
			if err != nil {
				return 0, 0, err
			}
			items = append(items, item)
		}
		results, cost := st.Put(ctx, items)
		for _, r := range results {
			if r.Verdict != event.Inserted {
				return 0, 0, fmt.Errorf("an order is %s: %v", r.Verdict, r.Refusal)
			}
		}
		units += cost.WriteUnits
	}
	return time.Since(began), units, nil
}
