package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
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
	messages []string
	spec     pipeline.Spec
}

// parts compares orders with ten lines that come as one message with the same items that come as
// eleven messages each. It runs on the engine, with the delay for each request.
func (b *bench) parts(ctx context.Context) error {
	b.head("Parts: %d orders of %d lines, in batches of %d messages, %s for each request; figures of one order", partedOrders, partedLines,
		partedBatch, delay)
	ways := []*partedWay{{name: "11 messages", single: true}, {name: "1 message"}, {name: "1 message, atomic", atomic: true}}
	var fresh, again [3]*series
	for i, w := range ways {
		w.prepare()
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

// prepare makes the way's pipeline and its messages.
func (w *partedWay) prepare() {
	line := pipeline.EventSpec{ID: "{order_id}#{line}", Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "LINE#{line}"}}
	if w.single {
		line.At = "{placed_at}"
	} else {
		line.Part = pipeline.PartSpec{Of: "order", Each: "lines", With: []string{"order_id"}}
	}
	w.spec.Events = map[string]pipeline.EventSpec{
		"order": {ID: "{order_id}", At: "{placed_at}", Key: pipeline.KeySpec{PK: "ORDER#{order_id}", SK: "ORDER"}, Atomic: w.atomic},
		"line":  line}
	for i := range partedOrders {
		const placed = `"placed_at":"2026-03-01T10:00:00Z"`
		var lines []string
		for n := range partedLines {
			lines = append(lines, fmt.Sprintf(`"line":"%d","sku":"sku-%d","quantity":%d,"price_cents":%d`, n, i%50+n, 1+n%3, 100*n+i))
		}
		order := fmt.Sprintf(`{"type":"order","order_id":"o-%d",%s,"customer":"c-%d"`, i, placed, i%70)
		if !w.single {
			w.messages = append(w.messages, order+`,"lines":[{`+strings.Join(lines, "},{")+"}]}")
			continue
		}
		w.messages = append(w.messages, order+"}")
		for _, line := range lines {
			w.messages = append(w.messages, fmt.Sprintf(`{"type":"line","order_id":"o-%d",%s,%s}`, i, placed, line))
		}
	}
}

// measure stores all orders on a new engine, and then delivers them again.
func (w *partedWay) measure(ctx context.Context) (fresh, again run, err error) {
	t, err := newTabled(ctx, w.spec, slowed(aws.Bool(true)))
	if err != nil {
		return fresh, again, err
	}
	if fresh, err = t.measure(partedOrders, func() error { return t.putAll(ctx, w.messages, partedBatch, event.Inserted) }); err != nil {
		return fresh, again, err
	}
	again, err = t.measure(partedOrders, func() error { return t.putAll(ctx, w.messages, partedBatch, event.Duplicate) })
	return fresh, again, err
}
