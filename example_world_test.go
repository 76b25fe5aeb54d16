package ingot_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// check ends an example that cannot go on.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// newTables returns a world with empty tables and a stream, in this process.
func newTables() *testworld.World {
	w, err := testworld.New(context.Background(), testworld.Config{Start: time.Date(2099, 3, 1, 12, 0, 0, 0, time.UTC),
		Engine: embedded.Config{Partitions: 1}, Stack: stack.Config{Indexes: []string{"GSI1", "GSI2", "GSI3"}}})
	check(err)
	return w
}

// exampleWorld is a deployed pipeline in this process.
type exampleWorld struct {
	*testworld.World
	ctx    context.Context
	spec   pipeline.Spec
	plan   *pipeline.Pipeline
	store  *store.Store
	stream *esm.Stream
	placed int
}

// newWorld places an order for each amount and waits until the totals have them.
func newWorld(ctx context.Context, merchant string, cents ...int) *exampleWorld {
	w := &exampleWorld{World: newTables(), ctx: ctx, spec: pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"order.placed": {ID: "{merchant_id}#{order_id}", At: "{placed_at}",
			Key: pipeline.KeySpec{PK: "ORDER#{merchant_id}#{order_id}", SK: "ORDER"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"merchant_daily": {Since: 1, Window: 24 * time.Hour,
			By: map[string]string{"merchant": "{merchant_id}", "currency": "{currency}"},
			From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{
				"orders": "count", "ordered": "sum total_cents", "largest": "max total_cents"}}}}}}}
	w.deploy(func(*pipeline.Spec) {})
	var err error
	w.stream, err = w.MapStream(esm.StreamConfig{Window: w.Window(), Function: esm.Function{Handler: w.count}})
	check(err)
	w.place(merchant, cents...)
	return w
}

// deploy changes the pipeline and starts the functions anew.
func (w *exampleWorld) deploy(change func(*pipeline.Spec)) {
	change(&w.spec)
	var err error
	w.plan, err = pipeline.New(w.spec)
	check(err)
	w.store, err = w.Store(w.plan)
	check(err)
	check(w.store.Start(w.ctx))
}

// count is the streams function.
func (w *exampleWorld) count(ctx context.Context, payload []byte) ([]byte, error) {
	return lambda.NewHandler(w.Streams(w.store).Handle).Invoke(ctx, payload)
}

func (w *exampleWorld) place(merchant string, cents ...int) {
	for _, c := range cents {
		w.placed++
		item, err := w.plan.Plan(envelope.Message{Body: fmt.Sprintf(
			`{"type":"order.placed","merchant_id":%q,"order_id":%d,"placed_at":"2099-03-01T10:00:00Z","total_cents":%d,"currency":"EUR"}`,
			merchant, w.placed, c)})
		check(err)
		w.store.Put(w.ctx, []*event.Item{item})
	}
	w.drain()
}

// drain delivers changes until there are none.
func (w *exampleWorld) drain() {
	for {
		polled, err := w.stream.Poll(w.ctx)
		check(err)
		if polled.Records == 0 {
			return
		}
	}
}

// spoil adds 1 to a value of a total, which nobody should do.
func (w *exampleWorld) spoil(pk, sk, value string) {
	_, err := w.Engine.DynamoDB().UpdateItem(w.ctx, &dynamodb.UpdateItemInput{TableName: aws.String("totals"),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk},
			"SK": &types.AttributeValueMemberS{Value: sk}},
		UpdateExpression: aws.String("ADD #v :one"), ExpressionAttributeNames: map[string]string{"#v": value},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
	check(err)
}
