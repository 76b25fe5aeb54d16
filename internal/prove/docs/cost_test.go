package docs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

const (
	costEvents = 1000
	costTotals = 20
	costBatch  = 100
	costPage   = "docs/cost.md"
)

// TestCostTable measures the table of costs. The embedded engine counts requests and units by
// DynamoDB's rules. Run it with -v to see them.
func TestCostTable(t *testing.T) {
	var want [][]string
	row := func(what string, used embedded.Usage, events int) {
		each := func(n float64) string { return fmt.Sprintf("%.2f", n/float64(events)) }
		want = append(want, []string{what, each(float64(used.TotalRequests())), each(used.WriteUnits()), each(used.ReadUnits())})
	}
	for _, index := range []bool{false, true} {
		w := newCostWorld(t, index, aggregate.Marks)
		if index {
			row("the same in one index", w.put(costEvents), costEvents)
			continue
		}
		row("store a new event, 1,000 at a time", w.put(costEvents), costEvents)
		row("the same 1,000 delivered again", w.put(costEvents), costEvents)
	}
	row("store a new event, alone", newCostWorld(t, false, aggregate.Marks).put(1), 1)
	for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
		w := newCostWorld(t, false, counting)
		w.put(costEvents)
		name := "count an event, 20 totals, 100 at a time"
		if counting == aggregate.Receipts {
			name = "the same with `Counting=receipts`"
		}
		row(name, w.count(t), costEvents)
		if counting == aggregate.Marks {
			row("the same 1,000 delivered again", w.count(t), costEvents)
		}
	}
	row("for comparison: a plain ADD for each event, which counts redeliveries twice", plainADDs(t), costEvents)
	t.Logf("per event:\n%s", asText(want))
	compareTable(t, costPage, "costs", want)
}

// costWorld is both tables, with one event type of about 400 bytes for each item and one aggregate
// of 20 totals.
type costWorld struct {
	*testworld.World
	plan  *pipeline.Pipeline
	store *store.Store
	items []*event.Item
}

func newCostWorld(t *testing.T, index bool, counting aggregate.Counting) *costWorld {
	t.Helper()
	w := &costWorld{}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: must.Time("2099-03-01T12:00:00Z"), Counting: counting,
		Engine: embedded.Config{Partitions: 1}, Stack: stack.Config{Indexes: []string{"GSI1"}}})
	must.Succeed(t, err)
	spec := pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "E#{id}", SK: "-"}}
	if index {
		spec.Indexes = map[string]pipeline.IndexSpec{"GSI1": {PK: "K#{k}", SK: "{@id}"}}
	}
	w.plan, err = pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "order", Events: map[string]pipeline.EventSpec{"order": spec},
		Aggregates: map[string]pipeline.AggregateSpec{"by_k": {Since: 1, By: map[string]string{"k": "{k}"},
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}}}})
	must.Succeed(t, err)
	w.store, err = w.Store(w.plan)
	must.Succeed(t, err)
	must.Succeed(t, w.store.Start(t.Context()))
	for i := range costEvents {
		body := fmt.Sprintf(`{"id":"%06d","at":"2099-03-01T10:00:00Z","k":%d,"cents":1250,"note":%q}`, i, i%costTotals,
			strings.Repeat("x", 200))
		item, err := w.plan.Plan(envelope.Message{Body: body})
		must.Succeed(t, err)
		w.items = append(w.items, item)
	}
	if size := w.items[0].Size(); size < 350 || size > 450 {
		t.Fatalf("an item has %d bytes, and the page says 400", size)
	}
	return w
}

// put stores the first n items in one call.
func (w *costWorld) put(n int) embedded.Usage {
	before := w.Engine.Usage()
	w.store.Put(context.Background(), w.items[:n])
	return w.Engine.Usage().Sub(before)
}

// count delivers all changes, beginning with the first.
func (w *costWorld) count(t *testing.T) embedded.Usage {
	t.Helper()
	stream, err := w.MapStream(esm.StreamConfig{BatchSize: costBatch, Window: 15 * time.Minute,
		Function: esm.Function{Handler: lambda.NewHandler(w.Streams(w.store).Handle).Invoke}})
	must.Succeed(t, err)
	var used embedded.Usage
	for done := 0; done < costEvents; {
		before := w.Engine.Usage()
		polled, err := stream.Poll(t.Context())
		if err != nil || polled.Failed > 0 || polled.Records == 0 {
			t.Fatalf("polled %+v, error %v", polled, err)
		}
		used = add(used, w.Engine.Usage().Sub(before))
		done += polled.Done
	}
	return used
}

// add adds up what functions asked for. Polling the stream is done by Lambda and costs nothing.
func add(a, b embedded.Usage) embedded.Usage {
	sum := embedded.Usage{Requests: map[string]int64{}, Tables: map[string]embedded.TableUsage{}}
	for _, u := range []embedded.Usage{a, b} {
		for api, n := range u.Requests {
			if api != "GetRecords" && api != "GetShardIterator" && api != "DescribeStream" {
				sum.Requests[api] += n
			}
		}
		for name, used := range u.Tables {
			total := sum.Tables[name]
			total.Write, total.IndexWrite = total.Write+used.Write, total.IndexWrite+used.IndexWrite
			total.Read, total.IndexRead = total.Read+used.Read, total.IndexRead+used.IndexRead
			sum.Tables[name] = total
		}
	}
	return sum
}

// plainADDs does what most stream functions do: one update for each change.
func plainADDs(t *testing.T) embedded.Usage {
	t.Helper()
	engine := embedded.New(embedded.Config{})
	_, err := stack.AggregatesTable("totals").Create(t.Context(), engine.DynamoDB())
	must.Succeed(t, err)
	before := engine.Usage()
	for i := range costEvents {
		_, err := engine.DynamoDB().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("totals"),
			Key:              testworld.Key(fmt.Sprint("K#", i%costTotals), "-"),
			UpdateExpression: aws.String("ADD orders :one, revenue :cents"), ExpressionAttributeValues: map[string]types.AttributeValue{
				":one": &types.AttributeValueMemberN{Value: "1"}, ":cents": &types.AttributeValueMemberN{Value: "1250"}}})
		must.Succeed(t, err)
	}
	return engine.Usage().Sub(before)
}
