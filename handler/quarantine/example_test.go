package quarantine_test

import (
	"fmt"

	"github.com/ingot-events/ingot/handler/quarantine"
)

// A program that reads the quarantine queue finds why each message is there in the message
// attribute "ingot".
func ExampleReadNote() {
	note, ok := quarantine.ReadNote(`{"verdict":"Conflict","reason":"digest-differs",` +
		`"detail":"another payload","pk":"ORDER#o1","sk":"ORDER"}`)
	if !ok {
		fmt.Println("not a note of Ingot's")
		return
	}
	fmt.Println(note.Verdict, note.Reason, note.PK)
	// Output: Conflict digest-differs ORDER#o1
}
