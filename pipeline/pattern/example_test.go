package pattern_test

import (
	"fmt"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// A pattern says what a program may ask, and which request answers it.
func ExamplePattern_Parameters() {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1,
		Events: map[string]pipeline.EventSpec{"order": {ID: "{id}", At: "{at}",
			Key: pipeline.KeySpec{PK: "SHOP#{shop}", SK: "{@at}#{id}"}}},
		Patterns: map[string]pipeline.PatternSpec{"orders": {Read: []string{"order"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var orders *pattern.Pattern
	if orders, err = p.Pattern("orders"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(orders.Request())
	for _, parameter := range orders.Parameters() {
		fmt.Println(parameter.Name)
	}
	// Output:
	// Query PK = SHOP#{shop}
	// shop
	// at
	// id
}
