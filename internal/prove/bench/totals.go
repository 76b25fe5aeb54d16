package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/estimate"
)

const (
	changesABatch = 100
	streamARN     = "arn:aws:dynamodb:eu-central-1:123456789012:table/events/stream/2099-01-01T00:00:00.000"
)

// totals compares counting changes with one ADD for each.
func (b *bench) totals(ctx context.Context) error {
	changes, err := b.storedItems(ctx)
	if err != nil {
		return err
	}
	input, err := streamBatches(changes, changesABatch, "INSERT")
	if err != nil {
		return err
	}
	ours, sample := &series{name: "ingot"}, &series{name: "an ADD each"}
	err = byTurns(b.turns, []*series{ours, sample}, func(way int) (run, error) {
		return b.counted(ctx, func(e *emulator) (run, error) {
			if way == 0 {
				return count(ctx, e.URL, "orders.yaml", input, len(changes))
			}
			return addEach(ctx, e.URL, changes, ofMerchant)
		})
	})
	if err != nil {
		return err
	}
	b.head("Aggregates: %d changes onto %d aggregates in batches of %d; %d runs of each by turns, each on a fresh emulator", len(changes),
		merchants, changesABatch, b.turns)
	if err := table(b.out, "changes", ours, sample); err != nil {
		return err
	}
	b.atMost("write units a change", worst(ours, func(r run) float64 { return r.units / float64(r.events) }), 0.2)
	b.atLeast("changes a second, times an ADD each", ratio(ours, sample, run.rate), 4)
	b.supposed(ours, 0.2)
	return nil
}

// supposed compares what the streams function took with what check and docs/deploy.md assume, given
// that many updates for each change. If the limit is missed, internal/tool/estimate/measured.go
// promises too much.
func (b *bench) supposed(ours *series, updates float64) {
	_, cpu, _ := ours.spread(run.perThousand)
	b.atMost(fmt.Sprintf("client CPU of a change with %s updates, of what ingot check supposes, %s", short(updates), ours.name),
		cpu/1000/(estimate.CPUPerChange+updates*estimate.CPUPerUpdate), 1)
}

// storedItems returns the items of the events as ingest stores them, in the order in which they
// arrived.
func (b *bench) storedItems(ctx context.Context) ([]image, error) {
	e, err := startEmulator(ctx, b.emulator)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := ingest(ctx, e.URL, batches(orders(newEvents, 0))); err != nil {
		return nil, err
	}
	items, err := e.scan(ctx, eventsTable)
	if err != nil {
		return nil, err
	}
	// The scan is sorted by merchant. By arrival the merchants take turns, so every batch meets all
	// aggregates.
	slices.SortFunc(items, func(a, b image) int { return strings.Compare(a["SK"].S, b["SK"].S) })
	return items, nil
}

// streamBatches returns inserts or removals of the items as Lambda sends them, each kind from its
// own shard. The sequence numbers are ours. Those of the emulator (1, 2, …) are shorter than the 21
// digits of the service, for which marks are made.
func streamBatches(items []image, size int, kind string) ([]json.RawMessage, error) {
	images := map[string]string{"INSERT": "NewImage", "REMOVE": "OldImage"}
	var all []json.RawMessage
	for start := 0; start < len(items); start += size {
		var records []any
		for i, item := range items[start:min(start+size, len(items))] {
			records = append(records, map[string]any{
				"eventID": fmt.Sprint(start + i), "eventName": kind, "eventVersion": "1.1", "eventSource": "aws:dynamodb",
				"awsRegion":      "eu-central-1",
				"eventSourceARN": streamARN,
				"dynamodb": map[string]any{"ApproximateCreationDateTime": 4_074_000_000, "Keys": image{"PK": item["PK"], "SK": item["SK"]},
					images[kind]:     item,
					"SequenceNumber": fmt.Sprintf("%021d", start+i+1), "SizeBytes": 700, "StreamViewType": "NEW_AND_OLD_IMAGES"},
			})
		}
		batch, err := json.Marshal(map[string]any{"Records": records, "shardId": "shardId-0000000-" + kind, "eventSourceARN": streamARN,
			"state":  struct{}{},
			"window": map[string]string{"start": "2099-02-07T00:00:00Z", "end": "2099-02-07T00:01:00Z"}, "isFinalInvokeForWindow": false,
			"isWindowTerminatedEarly": false})
		if err != nil {
			return nil, err
		}
		all = append(all, batch)
	}
	return all, nil
}

// counted runs on a new emulator, and checks that every change is in the totals once.
func (b *bench) counted(ctx context.Context, do func(*emulator) (run, error)) (run, error) {
	r, items, err := b.alone(ctx, totalsTable, do)
	if err != nil {
		return r, err
	}
	aggregates, changes, revenue := 0, 0, 0
	for _, item := range items {
		if strings.HasPrefix(item["PK"].S, "A#") {
			n, _ := strconv.Atoi(item["orders"].N) // a total without a number counts as 0, and the check below finds it
			sum, _ := strconv.Atoi(item["revenue"].N)
			aggregates, changes, revenue = aggregates+1, changes+n, revenue+sum
		}
	}
	if aggregates != merchants || changes != r.events || revenue != r.events*cents {
		return r, fmt.Errorf("%d changes are in %d totals, which sum to %d", changes, aggregates, revenue)
	}
	return r, nil
}
