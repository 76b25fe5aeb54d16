package estimate_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

var now = must.Time("2099-03-15T00:00:00Z")

// world is the engine with an aggregates table, and the pipeline of the sample shop.
type world struct {
	t      *testing.T
	engine *embedded.Engine
	db     *embedded.DynamoDB
	plan   *pipeline.Pipeline
	tables *table.Writers
}

func newWorld(t *testing.T, counting aggregate.Counting) *world {
	t.Helper()
	plan, err := pipeline.Load(os.DirFS("../../.."), sampleshop.Pipeline, pipeline.Secret([]byte("secret")))
	must.Succeed(t, err)
	clock := func() time.Time { return now }
	engine := embedded.New(embedded.Config{Now: clock})
	db := engine.DynamoDB()
	_, err = stack.AggregatesTable("totals").Create(t.Context(), db)
	must.Succeed(t, err)
	s, err := table.Open(tables.Config{Client: db, Pipeline: plan, Aggregates: "totals", Counting: counting, Env: env.Env{Now: clock}})
	if err == nil {
		err = s.Heads.Start(t.Context())
	}
	must.Succeed(t, err)
	return &world{t, engine, db, plan, s}
}

// count sends one order through a lane. It returns the order's contributions, and the write units
// that the engine metered for it. (The store's own count uses the size that a total had when the
// store last read it.)
func (w *world) count(counting aggregate.Counting, n int) (float64, []aggregate.Contribution) {
	w.t.Helper()
	body := fmt.Sprintf(
		`{"type":"order.placed","merchant_id":"m-1","order_id":"o-%d","customer_id":"c-1","product_id":"p-1","quantity":1,"currency":"EUR","total_cents":499900,"placed_at":"2099-03-14T09:00:00Z"}`, n)
	item, err := w.plan.Plan(envelope.Message{Body: body})
	must.Succeed(w.t, err)
	sequence, err := event.ParseSequence(fmt.Sprintf("%021d", n+1))
	must.Succeed(w.t, err)
	lane := event.Lane{StreamARN: "arn:aws:dynamodb:eu-west-1:123456789012:table/events/stream/x", ShardID: fmt.Sprint("shardId-", n)}
	b := lanes.NewBatch(counting, lane)
	list := w.plan.Contributions(item).List
	b.Add(&event.Change{Kind: event.Insert, Lane: lane, Sequence: sequence, Created: now, Key: item.Key, New: item}, nil, list)
	before := w.engine.Usage()
	applied := w.tables.Counter.Apply(w.t.Context(), b, func(_ context.Context, _ *lanes.Update, cause error) error { return cause })
	if applied.Err != nil {
		w.t.Fatal(applied.Err)
	}
	return w.engine.Usage().Sub(before).WriteUnits(), list
}

// size returns an item's size by the service's rules, over all attributes of its image.
func (w *world) size(key event.Key) int {
	w.t.Helper()
	out, err := w.db.GetItem(w.t.Context(), &dynamodb.GetItemInput{TableName: aws.String("totals"),
		Key: testworld.Key(key.PK, key.SK)})
	must.Succeed(w.t, err)
	size := 0
	for name, v := range out.Item {
		size += len(name)
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += itemform.NumberSize(v.Value)
		case *types.AttributeValueMemberB:
			size += len(v.Value)
		default:
			w.t.Fatalf("attribute %s is %T", name, v)
		}
	}
	return size
}

// Totals that 4 partitions have touched for 72 hours are as large as estimated. They are a little
// smaller, because the estimate leaves room for longer numbers and for the expired part. One more
// update of them costs what was estimated.
func TestEstimatesHoldOnTheEngine(t *testing.T) {
	const partitions = 4
	w := newWorld(t, aggregate.Marks)
	var cost float64
	var list []aggregate.Contribution
	for n := range estimate.LanesPerPartition * partitions {
		cost, list = w.count(aggregate.Marks, n)
	}
	units := 0
	for _, c := range list {
		if c.Def.Spread > 1 {
			units++ // its buckets stay below one kilobyte
			continue
		}
		marks := estimate.Marks(c.Def, aggregate.Marks, partitions)
		guess, real := estimate.Bytes(c.Def, c.By)+marks*estimate.MarkBytes, w.size(lanes.Key(c.Def, 0, c.By, c.Window))
		if guess < real || guess > real+80 {
			t.Errorf("%s: %d bytes estimated, %d in the table", c.Def.Name, guess, real)
		}
		units += estimate.Units(c.Def, guess, aggregate.Marks)
	}
	must.Equal(t, cost, float64(units), units)
}

func TestReceiptsCostWhatIsEstimated(t *testing.T) {
	w := newWorld(t, aggregate.Receipts)
	cost, list := w.count(aggregate.Receipts, 0)
	units := estimate.ReceiptUnits
	for _, c := range list {
		units += estimate.Units(c.Def, estimate.Bytes(c.Def, c.By), aggregate.Receipts)
	}
	must.Equal(t, cost, float64(units), units)
}

func TestMarkBytes(t *testing.T) {
	lane := lanes.LaneIDOf(event.Lane{StreamARN: "s", ShardID: "x"})
	must.Equal(t, len(lane.MarkAttribute())+len(lanes.Mark{}), estimate.MarkBytes)
}

func TestSpreadForOne(t *testing.T) {
	for bare := 50; bare < 1100; bare += 37 {
		for _, partitions := range []int{1, 4, 50} {
			spread := estimate.SpreadForOne(bare, partitions)
			fits := func(spread int) bool {
				def := &aggregate.Definition{Spread: spread}
				return bare+estimate.Marks(def, aggregate.Marks, partitions)*estimate.MarkBytes <= 1024
			}
			switch {
			case spread == 0:
				if fits(estimate.LanesPerPartition * partitions) {
					t.Errorf("%d bytes, %d partitions: no spread given, and one mark a bucket fits", bare, partitions)
				}
			case !fits(spread) || spread > 1 && fits(spread-1):
				t.Errorf("%d bytes, %d partitions: spread %d is not the least that fits", bare, partitions, spread)
			}
		}
	}
}
