package pipeline_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// A file is compiled once, at start. The key of the hmac function comes from the environment, never
// from the file.
func ExampleLoad() {
	p, err := pipeline.Load(os.DirFS("testdata"), "orders.yaml", pipeline.Secret([]byte("from INGOT_PII_KEY")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(slices.Sorted(maps.Keys(p.Describe().Spec.Events)), p.Indexes())
	// Output: [order.placed order.refunded] [GSI1 GSI2]
}

// Everything wrong with a file is reported at once, with its place and what to write.
func ExampleMistakes() {
	files := fstest.MapFS{"pipeline.yaml": {Data: []byte(`ingot: 1
epoch: 1
events:
  click:
    id: "{@digest}"
    key: {pk: "CLICK#{@id}", sk: "-"}
    retian: 30d
aggregates:
  clicks_daily:
    since: 1
    by: {page: "{page}"}
    window: 1d
    from:
      clicks: {values: {clicks: count}}
`)}}
	_, err := pipeline.Load(files, "pipeline.yaml")
	fmt.Println(err)
	// Output:
	// pipeline.yaml:7:5: unknown name retian; write retain
	// pipeline.yaml:14:7: there is no event type clicks; write click
}

// A pipeline can be declared in Go as well.
func ExampleNew() {
	p, err := pipeline.New(pipeline.Spec{
		Ingot: 1, Epoch: 1, Type: "reading",
		Events: map[string]pipeline.EventSpec{
			"reading": {
				ID:     "{sensor}#{@at | time}",
				At:     "{ms | unixms}",
				Key:    pipeline.KeySpec{PK: "SENSOR#{sensor}", SK: "{@at | time}"},
				Retain: 30 * 24 * time.Hour,
			},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"hourly": {
				Since: 1, By: map[string]string{"sensor": "{sensor}"}, Window: time.Hour,
				From: map[string]pipeline.FromSpec{"reading": {Where: "ok = true",
					Values: map[string]string{"readings": "count", "warmest": "max celsius"}}},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	item, err := p.Plan(envelope.Message{Body: `{"sensor":"s/1","ms":4070908800250,"ok":true,"celsius":-1.50}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Key)
	for _, c := range p.Contributions(item).List {
		for i, v := range c.Values {
			fmt.Println(c.Def.Name, c.By, c.Def.Values[i].Name, v.Number)
		}
	}
	// Output:
	// SENSOR#s/1 / 2099-01-01T00:00:00.250000000Z
	// hourly [s/1] readings 1
	// hourly [s/1] warmest -1.5
}

// What cannot be stored is refused with a reason to group by and a detail to read.
func ExamplePipeline_Plan() {
	p, err := pipeline.Load(os.DirFS("testdata"), "orders.yaml", pipeline.Secret([]byte("secret")))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = p.Plan(envelope.Message{Body: `{"type":"order.placed","merchant_id":"m1","placed_at":"2099-01-01T00:00:00Z"}`})
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Verdict, refusal.Reason)
		fmt.Println(refusal.Detail)
	}
	// Output:
	// Poison missing-field
	// id: field order_id is missing
}
