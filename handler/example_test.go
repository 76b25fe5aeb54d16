package handler_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// A Lambda function of your own learns what became of each message. Here the tables are those of a
// test; a function gives a *dynamodb.Client.
func ExampleIngest_Handle() {
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(`ingot: 1
epoch: 1
type: visit
events:
  visit: {id: "{visit}", at: "{at}", key: {pk: "VISIT#{visit}", sk: VISIT}}
`)}}, "pipeline.yaml")
	if err != nil {
		panic(err)
	}
	client := ingottest.New(stop{}, ingottest.Config{Pipeline: p}).DynamoDB()
	in, err := handler.NewIngest(tables.Config{Client: client, Pipeline: p, Events: ingottest.EventsTable,
		Aggregates: ingottest.AggregatesTable})
	if err != nil {
		panic(err)
	}
	in.OnResult = func(_ context.Context, o handler.Outcome) { fmt.Println(o.Message.MessageId, o.Verdict) }
	body := `{"visit": "v1", "at": "2099-03-01T09:00:00Z"}`
	answer, err := in.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "m1", Body: body}, {MessageId: "m2", Body: body}, {MessageId: "m3", Body: "no JSON"}}})
	if err != nil {
		panic(err)
	}
	fmt.Println("delivered again:", answer.BatchItemFailures[0].ItemIdentifier) // there is no quarantine queue
	// Output:
	// m1 Inserted
	// m2 Duplicate
	// m3 Poison
	// delivered again: m3
}

// stop ends an example that cannot go on. In your tests, use the *testing.T.
type stop struct{}

func (stop) Helper()                           {}
func (stop) Logf(string, ...any)               {}
func (stop) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (stop) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
