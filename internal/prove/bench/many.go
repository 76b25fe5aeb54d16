package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/estimate"
)

const (
	manyAggregates = 4 // in many.yaml
	manyBatch      = 1_000
	plainChanges   = 500 // for the plain function, which takes four times 7 ms for each
)

// many measures changes that can hardly be folded. Each has totals of its own in four aggregates.
// First they are new. Then a cold function takes them out again, from another shard.
func (b *bench) many(ctx context.Context) error {
	changes, err := b.storedItems(ctx)
	if err != nil {
		return err
	}
	var batches [2][]json.RawMessage
	for i, kind := range []string{"INSERT", "REMOVE"} {
		if batches[i], err = streamBatches(changes, manyBatch, kind); err != nil {
			return err
		}
	}
	// Time is measured with the delay. CPU is measured without the proxy that adds it.
	waysOf := func() []*series {
		return []*series{{name: "ingot, new totals"}, {name: "ingot, known totals"}, {name: "an UpdateItem each"}}
	}
	delayed, quick := waysOf(), waysOf()
	for range min(b.turns, 3) {
		if err := b.manyOnce(ctx, true, batches, changes, delayed); err != nil {
			return err
		}
		if err := b.manyOnce(ctx, false, batches, changes, quick); err != nil {
			return err
		}
	}
	b.head("Many totals: %d changes onto %d totals of their own in batches of %d, %v added to every request; %d runs", len(changes),
		manyAggregates*len(changes), manyBatch, delay, len(delayed[0].runs))
	if err := table(b.out, "changes", delayed...); err != nil {
		return err
	}
	b.note("the client's CPU includes the proxy that delays; without it:")
	if err := table(b.out, "changes", quick...); err != nil {
		return err
	}
	perUpdate := func(figure func(run) float64) func(run) float64 {
		return func(r run) float64 { return figure(r) / float64(r.events*manyAggregates) }
	}
	for i, ours := range delayed[:2] {
		_, rate, _ := ours.spread(run.rate)
		b.atLeast("changes a second, "+ours.name, rate, 1000)
		b.atLeast("changes a second, times an UpdateItem each, "+ours.name, ratio(ours, delayed[2], run.rate), 10)
		b.atMost("client CPU of an update, part of an UpdateItem's, "+ours.name,
			ratio(quick[i], quick[2], run.perThousand), 0.25)
		requests := worst(ours, perUpdate(func(r run) float64 { return r.requests }))
		b.atMost("requests an update, "+ours.name, requests, 0.06)
		b.atMost("requests an update, of what ingot check supposes, "+ours.name, requests/estimate.RequestsPerUpdate, 1.01)
		b.atMost("write units an update, "+ours.name, worst(ours, perUpdate(func(r run) float64 { return r.units })), 1)
	}
	b.supposed(quick[0], manyAggregates)
	b.supposed(quick[1], manyAggregates)
	b.note("so ingot check takes a streams function of %d MB to count %.0f of these changes a second, with %.0f ms for a request",
		streamsMB, estimate.Sustained(streamsMB, manyAggregates), 1000*estimate.Latency)
	return nil
}

// manyOnce runs each way once. It checks that the totals hold every change, and afterwards none.
func (b *bench) manyOnce(ctx context.Context, slow bool, batches [2][]json.RawMessage, changes []image, ways []*series) error {
	e, err := startEmulator(ctx, b.emulator)
	if err != nil {
		return err
	}
	defer e.Close()
	url := e.URL
	if slow {
		proxy := newDelayed(e.URL)
		defer proxy.Close()
		url = proxy.URL
	}
	for i, ours := range ways[:2] {
		r, err := count(ctx, url, "many.yaml", batches[i], len(changes))
		if err != nil {
			return fmt.Errorf("%s: %w", ours.name, err)
		}
		ours.runs = append(ours.runs, r)
		if err := e.holds(ctx, manyAggregates*len(changes), []string{"1", "0"}[i]); err != nil {
			return fmt.Errorf("%s: %w", ours.name, err)
		}
	}
	r, err := addEach(ctx, url, changes[:plainChanges], ofEach)
	ways[2].runs = append(ways[2].runs, r)
	return err
}

// holds checks that there are so many totals and that each counts n orders.
func (e *emulator) holds(ctx context.Context, totals int, n string) error {
	items, err := e.scan(ctx, totalsTable)
	if err != nil {
		return err
	}
	for _, item := range items {
		if !strings.HasPrefix(item["PK"].S, "A#by_") {
			continue
		}
		if item["n"].N != n || item["orders"].N != n || item["flag"].S != "" {
			return fmt.Errorf("%s counts %s and %s orders, not %s; flag %q", item["PK"].S, item["n"].N, item["orders"].N, n, item["flag"].S)
		}
		totals--
	}
	if totals != 0 {
		return fmt.Errorf("%d totals are missing", totals)
	}
	return nil
}
