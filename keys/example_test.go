package keys_test

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// To query the events table by hand, write the values of a key as Ingot does.
func ExampleEscape() {
	fmt.Println("CUSTOMER#" + keys.Escape("north#1"))
	// Output: CUSTOMER#north%231
}

// Times in keys have one length, so their text sorts as they do.
func ExampleFormatTime() {
	at, err := keys.ParseTime("2026-03-01T10:00:00+01:00")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keys.FormatTime(at))
	// Output: 2026-03-01T09:00:00.000000000Z
}

// A template makes the same key of the same event, and different keys of different values.
func ExampleTemplate() {
	template, err := keys.ParseTemplate("MERCHANT#{merchant_id}#{order_id}")
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := event.ParseDocument(`{"merchant_id": "m-1", "order_id": "a#b"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Expand(&keys.Source{Data: payload.Root()}))
	// Output: MERCHANT#m-1#a%23b <nil>
}
