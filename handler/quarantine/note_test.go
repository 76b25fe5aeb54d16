package quarantine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// A letter about a record fits with its note, whatever its keys and its detail are. One that does
// not fit would hold its shard for good.
func TestRecordLettersFit(t *testing.T) {
	key := strings.Repeat("\x01", 2048)
	for n := maxMessageBytes - 80<<10; n < maxMessageBytes; n += 4 << 10 {
		r := Record{PK: key, SK: key[:1024], Detail: key, Reason: Unpublished, Record: json.RawMessage(`"` + strings.Repeat("x", n) + `"`)}
		if l := r.Letter(); l.fit() != nil {
			t.Fatalf("with a record of %d bytes: %v", n, l.fit())
		}
	}
}

// A letter of a function on the stream is about something stored, and is never sent again.
func TestOfStream(t *testing.T) {
	for reason, want := range map[event.Reason]bool{UndecodableRecord: true, GivenUp: true, RefusedUpdate: true, Unpublished: true,
		event.Undecodable: false, "": false} {
		must.Equal(t, (&Note{Reason: string(reason)}).OfStream(), want, reason)
	}
	var none *Note
	if none.OfStream() {
		t.Error("a message without a note is one of the stream's")
	}
}
