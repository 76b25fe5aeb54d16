package main

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

const soldOutEvents = 1000 // of one batch

// soldOut counts the requests of a batch whose events all take from one total, for a total that has
// nothing, and for one that has enough for a few of them.
func (b *bench) soldOut(ctx context.Context) error {
	b.head("Sold out: a batch of %d events that take one each from a total with a floor", soldOutEvents)
	none, err := refuse(ctx, 0)
	if err != nil {
		return err
	}
	few, err := refuse(ctx, soldOutEvents/20)
	if err != nil {
		return err
	}
	b.atMost("requests of a batch of 1,000 events, if nothing is left", none, 100)
	b.atMost("requests of a batch of 1,000 events, if there is enough for 50", few, 100)
	return nil
}

// refuse puts the batch when so many are left, on a new engine, and returns the number of requests.
func refuse(ctx context.Context, left int) (requests float64, err error) {
	t, err := newTabled(ctx, pipeline.Spec{
		Events: map[string]pipeline.EventSpec{"moved": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "MOVED#{id}", SK: "-"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"stock": {Since: 1, By: map[string]string{"sku": "{sku}"}, MovedBy: "put",
			AtLeast: map[string]event.Decimal{"left": {}},
			From:    map[string]pipeline.FromSpec{"moved": {Values: map[string]string{"left": "sum quantity"}}}}}}, nil)
	if err != nil {
		return 0, err
	}
	put := func(events, quantity int) ([]tables.Result, error) {
		bodies := make([]string, events)
		for i := range bodies {
			bodies[i] = fmt.Sprintf(`{"type":"moved","id":"%d of %d","at":"2026-03-01T10:00:00Z","sku":"a","quantity":%d}`, i, events, quantity)
		}
		items, err := planned(t.plan, bodies)
		if err != nil {
			return nil, err
		}
		results, _ := t.Put(ctx, items)
		return results, ctx.Err()
	}
	if _, err := put(1, left); err != nil {
		return 0, err
	}
	before := t.engine.Usage()
	results, err := put(soldOutEvents, -1)
	stored := 0
	for _, r := range results {
		switch {
		case r.Verdict == event.Inserted:
			stored++
		case r.Verdict != event.Rejected:
			return 0, fmt.Errorf("an event is %s: %v", r.Verdict, r.Refusal)
		}
	}
	if err == nil && stored != left {
		err = fmt.Errorf("%d events are stored, and %d were left", stored, left)
	}
	return float64(t.engine.Usage().Sub(before).TotalRequests()), err
}
