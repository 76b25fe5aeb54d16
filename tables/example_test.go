package tables_test

import (
	"fmt"

	"github.com/ingot-events/ingot/tables"
)

// A batch costs what its calls cost together.
func ExampleCost_Add() {
	var batch tables.Cost
	batch.Add(tables.Cost{Requests: 1, WriteUnits: 3})
	batch.Add(tables.Cost{Requests: 1, ReadUnits: 0.5, Throttles: map[string]int{"KeyRangeThroughputExceeded": 1}})
	fmt.Println(batch.Requests, batch.WriteUnits, batch.ReadUnits, batch.Throttles)
	// Output: 2 3 0.5 map[KeyRangeThroughputExceeded:1]
}
