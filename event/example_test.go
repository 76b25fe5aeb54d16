package event_test

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// Numbers are exact decimals, and one number has one text, however it was written.
func ExampleDecimal() {
	price, err := event.ParseDecimal("0.10")
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := price.Add(price).Add(price)
	fmt.Println(sum)

	average := sum.Rat() // for arithmetic that a Decimal does not have
	average.Quo(average, event.DecimalOf(4).Rat())
	fmt.Println(average.FloatString(3))
	// Output:
	// 0.3
	// 0.075
}

// A document is parsed strictly. A name that appears twice is refused.
func ExampleParseDocument() {
	_, err := event.ParseDocument(`{"id": 1, "id": 2}`)
	fmt.Println(err)
	// Output: not strict JSON at byte 10: member "id" appears twice
}
