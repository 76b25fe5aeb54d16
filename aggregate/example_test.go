package aggregate_test

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/pipeline"
)

// What one event adds to the totals that its pipeline declares.
func Example() {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"visit": {ID: "{visit_id}", At: "{at}",
			Key: pipeline.KeySpec{PK: "VISIT#{visit_id}", SK: "VISIT"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"site_daily": {Since: 1, By: map[string]string{"site": "{site | lower}"},
			Window: 24 * time.Hour, From: map[string]pipeline.FromSpec{"visit": {Values: map[string]string{"seconds": "sum seconds"}}}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	item, err := p.Plan(envelope.Message{Body: `{"type":"visit","visit_id":"v1","site":"North","seconds":40,"at":"2026-03-01T09:00:00Z"}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Contributions(item).List {
		fmt.Println(c.Def, c.By, time.Unix(c.Window, 0).UTC().Format(time.DateOnly), c.Def.Values[0].Name, c.Values[0].Number)
	}
	// Output: site_daily since 1 [north] 2026-03-01 seconds 40
}
