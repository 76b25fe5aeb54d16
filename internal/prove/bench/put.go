package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	opened "github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const (
	movedEvents = 640 // of each way
	movedBatch  = 10  // messages of a batch
)

// movedWay is one way to store events and to keep one total of them.
type movedWay struct {
	how     string
	writers int
}

const (
	byHand = "by hand" // with transactions
	byPut  = "movedBy: put"
)

// put compares a total that moves with the put with TransactWriteItems by hand. It runs on the
// engine, with the delay for each request. While a transaction is under way, it holds its items, as
// it does in the service: another one that meets them is refused with TransactionConflict.
func (b *bench) put(ctx context.Context) error {
	b.head("Totals with the put: %d events of under 1 KB in batches of %d, %s for each request", movedEvents, movedBatch, delay)
	var ways []*series
	figures := map[movedWay]run{}
	for _, w := range []movedWay{{byHand, 1}, {byPut, 1}, {byHand, 4}, {byPut, 4}} {
		r, conflicts, err := w.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", w.how, err)
		}
		figures[w] = r
		name := fmt.Sprintf("%s, writers: %d (%d conflicts)", w.how, w.writers, conflicts)
		ways = append(ways, &series{name: name, runs: []run{r}})
	}
	if err := table(b.out, "events", ways...); err != nil {
		return err
	}
	put, hand := figures[movedWay{byPut, 1}], figures[movedWay{byHand, 1}]
	b.atMost("write units of an event, batches of one total, times those by hand", put.units/hand.units, 0.6)
	put, hand = figures[movedWay{byPut, 4}], figures[movedWay{byHand, 4}]
	b.atLeast("events a second of one total, 4 writers, times those by hand", put.rate()/hand.rate(), 1)
	return nil
}

// measure stores all events once, and checks that the totals are right.
func (w movedWay) measure(ctx context.Context) (r run, conflicts int64, err error) {
	h := &holding{held: map[string]bool{}}
	t, err := newTabled(ctx, soldSpec(), h.intercept)
	if err != nil {
		return r, 0, err
	}
	items, err := soldItems(t.plan)
	if err != nil {
		return r, 0, err
	}
	h.on.Store(true)
	r, err = t.measure(movedEvents, func() error { return w.store(ctx, t, items) })
	h.on.Store(false)
	r.units += float64(h.refusedUnits.Load())
	if err != nil {
		return r, 0, err
	}
	var sum int64
	for page, err := range t.TotalPages(ctx, tables.Segment{}) {
		if err != nil {
			return r, 0, err
		}
		for _, total := range page.All {
			n, _ := total.Values["units"].Int64()
			sum += n
		}
	}
	if sum != movedEvents {
		return r, 0, fmt.Errorf("the totals come to %d, not to %d", sum, movedEvents)
	}
	return r, h.conflicts.Load(), nil
}

func soldSpec() pipeline.Spec {
	return pipeline.Spec{
		Events: map[string]pipeline.EventSpec{"sold": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "SOLD#{id}", SK: "-"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"sold": {Since: 1, By: map[string]string{"sku": "{sku}"}, MovedBy: "put",
			From: map[string]pipeline.FromSpec{"sold": {Values: map[string]string{"units": "sum units"}}}}}}
}

func soldItems(p *pipeline.Pipeline) ([]*event.Item, error) {
	bodies := make([]string, movedEvents)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"type":"sold","id":"%d","at":"2026-03-01T10:00:00Z","sku":"0","units":1}`, i)
	}
	return planned(p, bodies)
}

// store has the writers store all events.
func (w movedWay) store(ctx context.Context, t *tabled, items []*event.Item) error {
	errs := make([]error, w.writers)
	var group sync.WaitGroup
	for n := range w.writers {
		group.Go(func() {
			for at := n * movedBatch; at < len(items) && errs[n] == nil; at += w.writers * movedBatch {
				batch := items[at : at+movedBatch]
				if w.how == byHand {
					errs[n] = t.byHand(ctx, batch)
				} else {
					errs[n] = t.putStored(ctx, batch)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// putStored puts a batch until all of it is stored, as its queue would have it done.
func (t *tabled) putStored(ctx context.Context, batch []*event.Item) error {
	for len(batch) > 0 {
		results, _ := t.Put(ctx, batch)
		var left []*event.Item
		for i, r := range results {
			switch {
			case r.Verdict == event.Retry:
				left = append(left, batch[i])
			case !r.Verdict.Stored():
				return fmt.Errorf("an event is not stored: %+v", r)
			}
		}
		batch = left
	}
	return ctx.Err()
}

// byHand stores each event and adds to its total in a transaction of its own, as a program without
// Ingot would. A transaction that conflicts with another one is sent again after a random wait.
func (t *tabled) byHand(ctx context.Context, batch []*event.Item) error {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for _, item := range batch {
		c := t.plan.Contributions(item).List[0]
		total := lanes.Key(c.Def, 0, c.By, c.Window)
		in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String(stack.Events), ConditionExpression: aws.String("attribute_not_exists(PK)"),
				Item: map[string]types.AttributeValue{"PK": text(item.Key.PK), "SK": text(item.Key.SK), "data": text(item.Data)}}},
			{Update: &types.Update{TableName: aws.String(stack.Aggregates),
				Key:                       map[string]types.AttributeValue{"PK": text(total.PK), "SK": text(total.SK)},
				UpdateExpression:          aws.String("ADD units :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}},
		}}
		for try := 0; ; try++ {
			_, err := t.engine.DynamoDB().TransactWriteItems(ctx, in)
			if err == nil {
				break
			}
			var cancelled *types.TransactionCanceledException
			if !errors.As(err, &cancelled) {
				return err
			}
			time.Sleep(time.Duration(rand.Float64() * float64(min(25*time.Millisecond<<min(try, 6), time.Second))))
		}
	}
	return nil
}

// countAll counts all items as the changes of one shard, changesABatch in a batch.
func countAll(ctx context.Context, st *store.Store, items []*event.Item) error {
	in, err := opened.Open(st.Config())
	if err != nil {
		return err
	}
	lane := event.Lane{StreamARN: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1", ShardID: "shardId-1"}
	for at := 0; at < len(items); at += changesABatch {
		batch := lanes.NewBatch(aggregate.Marks, lane)
		for i, item := range items[at:min(at+changesABatch, len(items))] {
			sequence, err := event.ParseSequence(fmt.Sprintf("%021s", strconv.Itoa(1000+at+i)))
			if err != nil {
				return err
			}
			batch.Add(&event.Change{Kind: event.Insert, Lane: lane, Sequence: sequence, Created: item.At, Key: item.Key, New: item}, nil,
				st.Config().Pipeline.Contributions(item).List)
		}
		applied := in.Counter.Apply(ctx, batch, func(_ context.Context, _ *lanes.Update, cause error) error { return cause })
		if applied.Err != nil || !applied.Unproven.IsZero() {
			return fmt.Errorf("a batch is not counted: %+v", applied)
		}
	}
	return nil
}

// holding delays every request. A transaction holds its items while it is under way.
type holding struct {
	on                      atomic.Bool
	conflicts, refusedUnits atomic.Int64 // the engine does not count what never reaches it
	mu                      sync.Mutex
	held                    map[string]bool
}

func (h *holding) intercept(_ context.Context, _ string, in any, call func() (any, error)) (any, error) {
	if !h.on.Load() {
		return call()
	}
	tx, ok := in.(*dynamodb.TransactWriteItemsInput)
	if !ok {
		time.Sleep(delay)
		return call()
	}
	names := make([]string, len(tx.TransactItems))
	for i, one := range tx.TransactItems {
		if one.Put != nil {
			names[i] = nameOf(one.Put.Item)
		} else if one.Update != nil {
			names[i] = nameOf(one.Update.Key)
		}
	}
	if reasons := h.take(names); reasons != nil {
		h.conflicts.Add(1)
		h.refusedUnits.Add(int64(2 * len(names)))
		time.Sleep(delay)
		return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
	}
	defer h.release(names)
	time.Sleep(delay)
	return call()
}

func nameOf(img map[string]types.AttributeValue) string {
	pk, _ := img["PK"].(*types.AttributeValueMemberS)
	sk, _ := img["SK"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return ""
	}
	return pk.Value + "\x00" + sk.Value
}

// take holds all items, or none and says which are held by another transaction.
func (h *holding) take(names []string) (reasons []types.CancellationReason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	conflict := false
	for _, name := range names {
		code := "None"
		if h.held[name] {
			code, conflict = "TransactionConflict", true
		}
		reasons = append(reasons, types.CancellationReason{Code: aws.String(code)})
	}
	if conflict {
		return reasons
	}
	for _, name := range names {
		h.held[name] = true
	}
	return nil
}

func (h *holding) release(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		delete(h.held, name)
	}
}
