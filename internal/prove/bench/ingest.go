package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/tool/estimate"
)

// ingest compares storing new events with a plain function and with the floor. Its speed lies
// within a few per cent of the floor's, as do two runs of one way, so it takes twice as many runs.
func (b *bench) ingest(ctx context.Context) error {
	input := batches(orders(newEvents, duplicates))
	bodies, err := record(ctx, input)
	if err != nil {
		return err
	}
	ours, sample, floor := &series{name: "ingot"}, &series{name: "a PutItem each"}, &series{name: "floor"}
	turns := 2 * b.turns
	err = byTurns(turns, []*series{ours, floor, sample}, func(way int) (run, error) {
		return b.fresh(ctx, newEvents, func(e *emulator) (run, error) {
			switch way {
			case 0:
				return ingest(ctx, e.URL, input)
			case 1:
				return replay(ctx, e.URL, bodies, newEvents)
			}
			return putEach(ctx, e.URL, input)
		})
	})
	if err != nil {
		return err
	}
	b.head("Ingest: %d new events of %d bytes and %d duplicates in batches of %d, no index; %d runs of each by turns, each on a "+
		"fresh emulator", newEvents, bodyBytes, duplicates, batchSize, turns)
	if err := table(b.out, "events", ours, sample, floor); err != nil {
		return err
	}
	b.note("the floor sends the requests of ingot, and so takes the write units of ingot")
	b.atLeast("events a second, times the floor's", ratio(ours, floor, run.rate), 0.95)
	b.atMost("client CPU of an event, part of a PutItem's", ratio(ours, sample, run.perThousand), 1.0/8)
	_, cpu, _ := ours.spread(run.perThousand)
	b.atMost("client CPU of an event, of what ingot cost supposes", cpu/1000/estimate.CPUPerMessage, 1)
	// A duplicate of an event in an earlier batch costs its failed condition: 15 in 5,000.
	b.atMost("write units a new event", worst(ours, func(r run) float64 { return r.units / float64(r.events) }), 1.005)
	b.atMost("requests a new event", worst(ours, func(r run) float64 { return r.requests / float64(r.events) }), 0.05)
	return nil
}

// delayedEvents is how many events the plain function stores in its delayed run. It takes 7 ms for
// each.
const delayedEvents = 1_000

// delayed compares the two with requests that take as long as those of the service.
func (b *bench) delayed(ctx context.Context) error {
	all, some := batches(orders(newEvents, duplicates)), batches(orders(delayedEvents, 0))
	ours, sample := &series{name: "ingot"}, &series{name: "a PutItem each"}
	turns := min(b.turns, 3)
	err := byTurns(turns, []*series{ours, sample}, func(way int) (run, error) {
		input, stored := all, newEvents
		store := func(url string, in []events.SQSEvent) (run, error) { return ingest(ctx, url, in) }
		if way == 1 {
			input, stored = some, delayedEvents
			store = func(url string, in []events.SQSEvent) (run, error) { return putEach(ctx, url, in) }
		}
		return b.fresh(ctx, stored, func(e *emulator) (run, error) {
			proxy := newDelayed(e.URL)
			defer proxy.Close()
			return store(proxy.URL, input)
		})
	})
	if err != nil {
		return err
	}
	b.head("Ingest with %v added to every request; %d runs of each by turns, of %d and %d new events", delay, turns, newEvents,
		delayedEvents)
	if err := table(b.out, "events", ours, sample); err != nil {
		return err
	}
	b.note("the client's CPU includes the proxy that delays")
	b.atLeast("events a second, times a PutItem each", ratio(ours, sample, run.rate), 10)
	return nil
}

// alone runs on a new emulator, and returns what is in a table afterwards.
func (b *bench) alone(ctx context.Context, table string, do func(*emulator) (run, error)) (run, []image, error) {
	e, err := startEmulator(ctx, b.emulator)
	if err != nil {
		return run{}, nil, err
	}
	defer e.Close()
	r, err := do(e)
	if err != nil {
		return r, nil, err
	}
	items, err := e.scan(ctx, table)
	return r, items, err
}

// fresh runs on a new emulator, and checks that what the run claims to have stored is there.
func (b *bench) fresh(ctx context.Context, stored int, do func(*emulator) (run, error)) (run, error) {
	r, items, err := b.alone(ctx, eventsTable, do)
	if err != nil {
		return r, err
	}
	if len(items) != stored || r.events != stored {
		return r, fmt.Errorf("%d items are stored and %d counted as new, of %d", len(items), r.events, stored)
	}
	return r, nil
}

// worst returns the largest of a figure that should not vary.
func worst(s *series, figure func(run) float64) float64 {
	_, _, most := s.spread(figure)
	return most
}
