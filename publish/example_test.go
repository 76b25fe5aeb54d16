package publish_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

// A program of your own can publish to whatever it likes: a target is a function.
func ExamplePublisher_Handle() {
	files := fstest.MapFS{
		"pipeline.yaml": {Data: []byte(`ingot: 1
epoch: 1
events:
  visit: {id: "{visit}", at: "{at}", key: {pk: "VISIT#{visit}", sk: "VISIT"}}
`)},
		"publish.yaml": {Data: []byte(`publish: 1
source: site
publications:
  visits: {from: [visit], to: "arn:aws:sqs:eu-west-1:111122223333:visits"}
`)},
	}
	p, err := pipeline.Load(files, "pipeline.yaml")
	if err != nil {
		panic(err)
	}
	plan, err := publish.Load(files, "publish.yaml", p)
	if err != nil {
		panic(err)
	}
	publisher, err := publish.New(plan, tables.Config{Client: &dynamodb.Client{}, Events: "events"}, func(arn string) publish.Target {
		return publish.Target{ARN: arn, Largest: 1 << 20, Send: func(_ context.Context, list []publish.Message) []error {
			for _, m := range list {
				fmt.Println(m.Change, m.Type, m.ID[:8])
			}
			return make([]error, len(list))
		}}
	})
	if err != nil {
		panic(err)
	}
	_, err = publisher.Handle(context.Background(), json.RawMessage(`{"Records": [{"eventName": "INSERT",
  "eventSourceARN": "arn:aws:dynamodb:eu-west-1:111122223333:table/events/stream/2031-05-05T06:00:00.000",
  "dynamodb": {"SequenceNumber": "100000000000000000000001", "ApproximateCreationDateTime": 1935900000,
    "Keys": {"PK": {"S": "VISIT#1"}, "SK": {"S": "VISIT"}},
    "NewImage": {"PK": {"S": "VISIT#1"}, "SK": {"S": "VISIT"}, "type": {"S": "visit"}, "id": {"S": "1"}, "epoch": {"N": "1"},
      "at": {"S": "2031-05-05T06:00:00.000000000Z"}, "digest": {"B": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
      "data": {"S": "{\"visit\":\"1\",\"at\":\"2031-05-05T06:00:00Z\"}"}}}}]}`))
	if err != nil {
		panic(err)
	}
	// Output: stored visit a9aaf866
}
