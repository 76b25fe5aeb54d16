package main

import (
	"context"
	"fmt"
	"slices"
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
	partedOrders = 200
	partedLines  = 10 // of an order
	partedBatch  = 10 // messages of a batch
)

// partedWay is one way to store an order and its lines.
type partedWay struct {
	name     string
	single   bool // each line is a message of its own
	atomic   bool
	messages []envelope.Message
	plan     *pipeline.Pipeline
}

// parts compares orders with ten lines that come as one message with the same items that come as
// eleven messages each. It runs on the engine, with the delay for each request.
func (b *bench) parts(ctx context.Context) error {
	b.head("Parts: %d orders of %d lines, in batches of %d messages, %s for each request; figures of one order", partedOrders, partedLines,
		partedBatch, delay)
	ways := []*partedWay{{name: "11 messages", single: true}, {name: "1 message"}, {name: "1 message, atomic", atomic: true}}
	var fresh, again [3]*series
	for i, w := range ways {
		if err := w.prepare(); err != nil {
			return err
		}
		fresh[i], again[i] = &series{name: w.name}, &series{name: w.name + ", again"}
	}
	for range b.turns {
		for i, w := range ways { // in turn, so that a busy moment hits all
			first, second, err := w.measure(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			fresh[i].runs, again[i].runs = append(fresh[i].runs, first), append(again[i].runs, second)
		}
	}
	if err := table(b.out, "orders", append(fresh[:], again[:]...)...); err != nil {
		return err
	}
	whole, single, atomic := fresh[1].runs[0], fresh[0].runs[0], fresh[2].runs[0]
	b.atMost("write units of an order with its lines, times those of 11 messages", whole.units/single.units, 1)
	b.atMost("requests of an order with its lines, times those of 11 messages", whole.requests/single.requests, 1)
	b.atMost("write units of an atomic order, times those of one that is not", atomic.units/whole.units, 2)
	return nil
}

// prepare compiles the way's pipeline and makes its messages.
func (w *partedWay) prepare() (err error) {
	line := pipeline.EventSpec{ID: "{order_id}#{line}", Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "LINE#{line}"}}
	if w.single {
		line.At = "{placed_at}"
	} else {
		line.Part = pipeline.PartSpec{Of: "order", Each: "lines", With: []string{"order_id"}}
	}
	w.plan, err = pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}", Events: map[string]pipeline.EventSpec{
		"order": {ID: "{order_id}", At: "{placed_at}", Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "ORDER"}, Atomic: w.atomic},
		"line":  line}})
	if err != nil {
		return err
	}
	for i := range partedOrders {
		const placed = `"placed_at":"2026-03-01T10:00:00Z"`
		var lines []string
		for n := range partedLines {
			lines = append(lines, fmt.Sprintf(`"line":"%d","sku":"sku-%d","quantity":%d,"price_cents":%d`, n, i%50+n, 1+n%3, 100*n+i))
		}
		order := fmt.Sprintf(`{"type":"order","order_id":"o-%d",%s,"customer":"c-%d"`, i, placed, i%70)
		if !w.single {
			w.messages = append(w.messages, envelope.Message{Body: order + `,"lines":[{` + strings.Join(lines, "},{") + "}]}"})
			continue
		}
		w.messages = append(w.messages, envelope.Message{Body: order + "}"})
		for _, line := range lines {
			w.messages = append(w.messages, envelope.Message{Body: fmt.Sprintf(`{"type":"line","order_id":"o-%d",%s,%s}`, i, placed, line)})
		}
	}
	return nil
}

// measure stores all orders on a new engine, and then delivers them again.
func (w *partedWay) measure(ctx context.Context) (fresh, again run, err error) {
	engine := embedded.New(embedded.Config{Intercept: func(_ context.Context, _ string, _ any, call func() (any, error)) (any, error) {
		time.Sleep(delay)
		return call()
	}})
	if _, err := stack.New(ctx, engine, stack.Config{}); err != nil {
		return fresh, again, err
	}
	st, err := store.New(tables.Config{Client: engine.DynamoDB(), Pipeline: w.plan, Events: stack.Events})
	if err != nil {
		return fresh, again, err
	}
	if fresh, err = w.store(ctx, engine, st, event.Inserted); err != nil {
		return fresh, again, err
	}
	again, err = w.store(ctx, engine, st, event.Duplicate)
	return fresh, again, err
}

// store plans and puts all messages. Each must get the verdict.
func (w *partedWay) store(ctx context.Context, engine *embedded.Engine, st *store.Store, want event.Verdict) (run, error) {
	before := engine.Usage()
	r, err := measure(func() error {
		for batch := range slices.Chunk(w.messages, partedBatch) {
			items := make([]*event.Item, len(batch))
			for i, m := range batch {
				var err error
				if items[i], err = w.plan.Plan(m); err != nil {
					return err
				}
			}
			results, _ := st.Put(ctx, items)
			for _, got := range results {
				if got.Verdict != want {
					return fmt.Errorf("a message is %s, and should be %s: %v", got.Verdict, want, got.Refusal)
				}
			}
		}
		return nil
	})
	used := engine.Usage().Sub(before)
	r.events, r.units, r.requests = partedOrders, used.WriteUnits(), float64(used.TotalRequests())
	return r, err
}
