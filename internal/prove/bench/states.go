package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// statedReadings is how many readings a batch has.
const statedReadings = 1000

// states compares readings that have a part each with readings that write the states of one, a
// hundred or a thousand devices. Each batch meets the states of the one before it. It runs on the
// engine, with the delay for each request.
func (b *bench) states(ctx context.Context) error {
	b.head("States: batches of %d readings, %s for each request; figures of one reading", statedReadings, delay)
	ways := []struct {
		name    string
		devices int // 0: the part is no state
	}{{"part", 0}, {"state of 1 device", 1}, {"states of 100", 100}, {"states of 1,000", statedReadings}}
	list := make([]*series, len(ways))
	for i, w := range ways {
		list[i] = &series{name: w.name}
	}
	for range b.turns {
		for i, w := range ways {
			r, err := measureStates(ctx, w.devices)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			list[i].runs = append(list[i].runs, r)
		}
	}
	if err := table(b.out, "readings", list...); err != nil {
		return err
	}
	b.atMost("write units of a reading and the state of its device alone", list[1].runs[0].units/statedReadings, 1.01)
	b.atMost("write units of a reading and a state of its own", list[3].runs[0].units/statedReadings, 5)
	return nil
}

// measureStates stores one batch of readings, and measures the next.
func measureStates(ctx context.Context, devices int) (r run, err error) {
	last := pipeline.EventSpec{Part: pipeline.PartSpec{Of: "reading", With: []string{"id", "device", "n"}},
		ID: "{id}", Key: pipeline.KeySpec{PK: "READING#{id}", SK: "PART"}}
	if devices > 0 {
		last.ID, last.Key = "{device}", pipeline.KeySpec{PK: "DEVICE#{device}", SK: "LAST"}
		last.Mode, last.Revision = "latest", "n number"
	}
	spec := pipeline.Spec{Events: map[string]pipeline.EventSpec{
		"reading": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "READING#{id}", SK: "READING"}}, "last": last}}
	t, err := newTabled(ctx, spec, slowed(aws.Bool(true)))
	if err != nil {
		return r, err
	}
	batch := func(from int) (list []string) {
		for i := range statedReadings {
			list = append(list, fmt.Sprintf(`{"type":"reading","id":"r-%d","at":"2026-03-01T10:00:00Z","device":"d-%d","n":%d}`, from+i,
				i%max(1, devices), from+i))
		}
		return list
	}
	if err := t.putAll(ctx, batch(0), statedReadings, event.Inserted); err != nil {
		return r, err
	}
	return t.measure(statedReadings, func() error { return t.putAll(ctx, batch(statedReadings), statedReadings, event.Inserted) })
}
