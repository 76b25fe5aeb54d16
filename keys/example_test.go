package keys_test

import (
	"fmt"

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
