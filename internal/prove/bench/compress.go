package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
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
	plain, packed := &series{name: "as they are"}, &series{name: "compressed"}
	err := byTurns(b.turns, []*series{plain, packed}, func(way int) (run, error) { return storeAll(ctx, bodies, way == 1) })
	if err != nil {
		return err
	}
	b.head("Compress: %d orders of %d bytes, planned and put on the engine, %d runs", packedOrders, len(bodies[0]), b.turns)
	if err := table(b.out, "orders", plain, packed); err != nil {
		return err
	}
	b.atMost("write units of a compressed order of 4 KB, times those without",
		ratio(packed, plain, func(r run) float64 { return r.units }), 0.5)
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
func storeAll(ctx context.Context, bodies []string, compress bool) (run, error) {
	t, err := newTabled(ctx, pipeline.Spec{Events: map[string]pipeline.EventSpec{"order": {ID: "{order_id}", At: "{placed_at}",
		Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "ORDER"}, Compress: compress}}}, nil)
	if err != nil {
		return run{}, err
	}
	return t.measure(len(bodies), func() error { return t.putAll(ctx, bodies, 25, event.Inserted) })
}
