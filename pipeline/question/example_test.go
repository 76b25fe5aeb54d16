package question_test

import (
	"fmt"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/pipeline/question"
)

// A plan names the partitions that answer a question, and which part of each is read.
func ExamplePlan() {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1,
		Events: map[string]pipeline.EventSpec{"order": {ID: "{id}", At: "{at}",
			Key: pipeline.KeySpec{PK: "SHOP#{shop}#{@at | month}", SK: "{@at}#{id}"}}},
		Patterns: map[string]pipeline.PatternSpec{"orders": {Read: []string{"order"}, Newest: true}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, err := p.Pattern("orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(orders.Request())
	plan, err := question.Plan(orders, question.Question{Values: map[string][]string{"shop": {"north"}},
		From: "2026-02-20", To: "2026-03-03"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, period := range plan.Periods {
		for _, part := range period.Partitions {
			fmt.Println(part.PK, "from", part.Low, "to", part.High)
		}
	}
	// Output:
	// Query PK = SHOP#{shop}#{at|month}
	// SHOP#north#2026-03 from 2026-02-20T00:00:00.000000000Z to 2026-03-03T00:00:00.000000000Z
	// SHOP#north#2026-02 from 2026-02-20T00:00:00.000000000Z to 2026-03-03T00:00:00.000000000Z
}
