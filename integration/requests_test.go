package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store"
)

// TestRequests counts what batches send to real clients. The number of requests determines how long
// a batch takes.
func TestRequests(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		t.Run("ingest", func(t *testing.T) { ingestRequests(newWorld(t, b, aggregate.Receipts)) })
		for counting, want := range map[aggregate.Counting]streamRequests{
			// Each of the 5 totals takes one update. When the batch comes again, each takes one
			// that fails and returns the mark.
			aggregate.Marks: {first: map[string]int{"UpdateItem": 5}, again: map[string]int{"UpdateItem": 5}},
			// A transaction holds 100 items: 95 receipts and 5 totals, and then 5 receipts and 5
			// totals. When the batch comes again, each transaction is sent once and cancelled.
			aggregate.Receipts: {first: map[string]int{"TransactWriteItems": 2}, again: map[string]int{"TransactWriteItems": 2}},
		} {
			t.Run(counting.String(), func(t *testing.T) { newWorld(t, b, counting, oneAtATime).streamRequests(want) })
		}
	})
}

// oneAtATime makes the number of requests depend on the batch alone. Otherwise concurrent
// transactions over the same totals may have to be repeated, and a largest value that is not known
// yet is guessed.
func oneAtATime(w *world) {
	w.concurrency = 1
	for _, from := range w.spec.Aggregates["daily"].From {
		delete(from.Values, "largest")
	}
}

// ask sends one batch to the ingest function. It asserts the requests, and that all messages get
// the same verdict.
func (w *world) ask(what string, bodies []string, verdict event.Verdict, want map[string]int) {
	w.Helper()
	var e events.SQSEvent
	for i, body := range bodies {
		e.Records = append(e.Records,
			events.SQSMessage{MessageId: fmt.Sprint(i), Body: body, EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:in"})
	}
	before := w.sent()
	clear(w.verdicts)
	response, err := w.ingest.Handle(ctx, e)
	if err != nil || len(response.BatchItemFailures) != 0 {
		w.Fatalf("%s: %d failures, %v", what, len(response.BatchItemFailures), err)
	}
	if w.verdicts[verdict] != len(bodies) {
		w.Errorf("%s: verdicts %v, want %d %s", what, w.verdicts, len(bodies), verdict)
	}
	if got := w.since(before); !maps.Equal(got, want) {
		w.Errorf("%s: sent %v, want %v", what, got, want)
	}
}

func ingestRequests(w *world) {
	var all, others []string
	for i := range 1000 {
		all = append(all, order("m0", fmt.Sprint("o", i), 5, began))
		others = append(others, order("m0", fmt.Sprint("o", i), 6, began))
	}
	w.ask("1,000 new events", all, event.Inserted, map[string]int{"BatchExecuteStatement": 40})
	w.ask("250 of them again", all[:250], event.Duplicate, map[string]int{"BatchExecuteStatement": 10, "BatchGetItem": 3})
	w.ask("3 new events", []string{order("m1", "a", 1, began), order("m1", "b", 1, began), order("m1", "c", 1, began)}, event.Inserted,
		map[string]int{"PutItem": 3})
	w.ask("one of them again", []string{order("m1", "a", 1, began)}, event.Duplicate, map[string]int{"PutItem": 1})
	// The payloads tell a conflict from another spelling. They are read five at a time.
	w.ask("25 conflicts", others[:25], event.Conflict, map[string]int{"BatchExecuteStatement": 1, "BatchGetItem": 6, "SendMessageBatch": 3})
	w.ask("a first revision", []string{parcel("p", 1, 1, began)}, event.Inserted, map[string]int{"PutItem": 1})
	w.ask("a newer one", []string{parcel("p", 2, 1, began)}, event.Updated, map[string]int{"PutItem": 2})
	w.ask("an older one", []string{parcel("p", 1, 1, began)}, event.Stale, map[string]int{"PutItem": 1})
}

type streamRequests struct{ first, again map[string]int }

// streamRequests passes one batch of 100 orders by 4 merchants to the streams function, twice.
func (w *world) streamRequests(want streamRequests) {
	var bodies []string
	for i := range 100 {
		bodies = append(bodies, order(fmt.Sprint("m", i%4), fmt.Sprint("o", i), 5, began))
	}
	w.ask("100 new events", bodies, event.Inserted, map[string]int{"BatchExecuteStatement": 4})
	batch := w.batch(100)
	for _, round := range []map[string]int{want.first, want.again} {
		before := w.sent()
		response, err := w.streams.Handle(ctx, batch)
		if err != nil || len(response.BatchItemFailures) != 0 {
			w.Fatalf("%v, %v", response, err)
		}
		if got := w.since(before); !maps.Equal(got, round) {
			w.Errorf("a batch of 100 changes sent %v, want %v", got, round)
		}
	}
	if w.counted.Received != 200 || w.counted.Updates == 0 || w.counted.Dropped == 0 {
		w.Errorf("reports %+v", w.counted)
	}
	w.live("live", "orders 100 revenue 500")
}

// batch returns one event of n records. It collects them from all shards of the stream as if they
// came from one. Nobody can choose the shard of an order, and the count must not depend on it.
func (w *world) batch(n int) []byte {
	w.Helper()
	var all struct {
		Records []json.RawMessage
		ShardID string            `json:"shardId,omitempty"`
		State   map[string]string `json:"state,omitempty"`
	}
	cfg := esm.StreamConfig{Client: w.backend.streams, ARN: w.stream, BatchSize: 1000,
		Function: w.function(func(_ context.Context, payload []byte) ([]byte, error) {
			var e struct{ Records []json.RawMessage }
			must.Succeed(w, json.Unmarshal(payload, &e))
			all.Records = append(all.Records, e.Records...)
			return []byte("{}"), nil
		})}
	s, err := esm.NewStream(cfg)
	must.Succeed(w, err)
	w.until(fmt.Sprint(n, " records"), func() bool {
		_, err := s.Poll(ctx)
		must.Succeed(w, err)
		return len(all.Records) == n
	})
	if w.counting == aggregate.Marks {
		all.ShardID = "shardId-00000004074278400000-00000001"
	}
	slices.SortFunc(all.Records, func(a, b json.RawMessage) int { return sequence(w, a).Compare(sequence(w, b)) })
	payload, err := json.Marshal(all)
	must.Succeed(w, err)
	return payload
}

func sequence(t testing.TB, record json.RawMessage) event.Sequence {
	t.Helper()
	doc, err := event.ParseDocument(string(record))
	must.Succeed(t, err)
	change, err := store.ReadRecord(doc.Root(), "")
	must.Succeed(t, err)
	return change.Sequence
}
