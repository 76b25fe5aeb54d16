package quarantine

import (
	"testing"

	"github.com/ingot-events/ingot/event"
)

// A letter of a function on the stream is about something stored, and is never sent again.
func TestOfStream(t *testing.T) {
	for reason, want := range map[event.Reason]bool{UndecodableRecord: true, GivenUp: true, RefusedUpdate: true, Unpublished: true,
		event.Undecodable: false, "": false} {
		if n := (&Note{Reason: string(reason)}); n.OfStream() != want {
			t.Errorf("%q: want %v", reason, want)
		}
	}
	var none *Note
	if none.OfStream() {
		t.Error("a message without a note is one of the stream's")
	}
}
