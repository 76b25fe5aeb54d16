package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
)

const (
	pageItems  = 50
	pageShards = 8
	pageBytes  = 2000 // of an item, about
	pagesRead  = 40
)

// pages compares a page of a pattern over shards with a page of one partition. Both run on the
// engine, with the delay for each request.
func (b *bench) pages(ctx context.Context) error {
	st, err := pagedStore(ctx)
	if err != nil {
		return err
	}
	one, err := readPages(ctx, st, "one")
	if err != nil {
		return err
	}
	merged, err := readPages(ctx, st, "merged")
	if err != nil {
		return err
	}
	b.head("Reading: pages of %d items of %d bytes, over %d shards and from one partition; %d pages each, %s for each request", pageItems,
		pageBytes, pageShards, pagesRead, delay)
	b.note("from one partition: %s ms and %s units a page", short(one.ms), short(one.units))
	b.note("over %d shards: %s ms and %s units a page, with %s requests", pageShards, short(merged.ms), short(merged.units),
		short(merged.requests))
	b.atMost("median time of a page over 8 shards, times that of one Query", merged.ms/one.ms, 1.5)
	b.atMost("read units of a page over 8 shards, times those of one Query", merged.units/one.units, 1.8)
	return nil
}

// pagedStore returns a store with enough events for all pages.
func pagedStore(ctx context.Context) (*store.Store, error) {
	reading := false
	t, err := newTabled(ctx, pipeline.Spec{
		Events: map[string]pipeline.EventSpec{"e": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "E#{id}", SK: "-"},
			Indexes: map[string]pipeline.IndexSpec{
				"GSI1": {PK: "DAY#{@at | day}", SK: "{@at | time}#{@id}"},
				"GSI2": {PK: fmt.Sprintf("DAY#{@at | day}#{@id | shard:%d}", pageShards), SK: "{@at | time}#{@id}"}}}},
		Patterns: map[string]pipeline.PatternSpec{"one": {Read: []string{"e"}, Index: "GSI1"},
			"merged": {Read: []string{"e"}, Index: "GSI2"}}}, slowed(&reading))
	if err != nil {
		return nil, err
	}
	bodies := make([]string, pageItems*(pagesRead+2))
	for i := range bodies {
		at := time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339)
		bodies[i] = fmt.Sprintf(`{"type":"e","id":"%d","at":%q,"text":%q}`, i, at, strings.Repeat("x", pageBytes-440))
	}
	err = puts(ctx, t.Store, bodies, event.Inserted)
	reading = true
	return t.Store, err
}

// pageCost is what a page takes: the median of the times, and means.
type pageCost struct{ ms, units, requests float64 }

// readPages reads one page after another.
func readPages(ctx context.Context, st *store.Store, pattern string) (pageCost, error) {
	var c pageCost
	var times []time.Duration
	ask := query.Ask{Values: map[string][]string{"at": {"2026-03-01"}}, Limit: pageItems}
	for range pagesRead {
		start := time.Now()
		page, err := query.Of(st).Read(ctx, pattern, ask)
		if err != nil {
			return c, err
		}
		if len(page.Items) != pageItems {
			return c, fmt.Errorf("a page of %s has %d items", pattern, len(page.Items))
		}
		times = append(times, time.Since(start))
		c.units += page.Units / pagesRead
		c.requests += float64(page.Requests) / pagesRead
		ask.Page = page.Next
	}
	slices.Sort(times)
	c.ms = float64(times[len(times)/2].Microseconds()) / 1000
	return c, nil
}
