package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// accounts adds an account that claims its email address, and which may have another address too.
func accounts(s *setup) {
	s.spec.Events["account"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "ACCOUNT"},
		Retain: 90 * 24 * time.Hour, Atomic: true}
	s.spec.Events["email"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", With: []string{"email"}}, ID: "{email}",
		Key: pipeline.KeySpec{PK: "EMAIL#{email}", SK: "CLAIM"}}
	s.spec.Events["device"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", Each: "devices", With: []string{"id"}},
		ID: "{id}#{n}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "DEVICE#{n}"}}
}

func account(id, email string, devices ...int) string {
	list := make([]string, len(devices))
	for i, n := range devices {
		list[i] = fmt.Sprintf(`{"n":%d}`, n)
	}
	return fmt.Sprintf(`{"type":"account","id":%q,"at":"2099-03-01T10:00:00Z","email":%q,"devices":[%s]}`, id, email,
		strings.Join(list, ","))
}

// An atomic message is one verdict: all of it is stored or nothing. The second owner of a value
// goes to quarantine, with a note that names the value, and so does what no transaction could put.
func TestIngestAtomic(t *testing.T) {
	many := make([]int, 99)
	for i := range many {
		many[i] = i
	}
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, accounts, func(s *setup) { s.store.Concurrency = 1 }) // so that a claims before b does
		e := messages(account("a", "x@y", 1, 2), order("1", 1), account("b", "x@y", 3), account("a", "x@y", 1, 2),
			account("c", "c@y", many...), account("d", "d@y", 1, 1), account("e", "e@y", many[:98]...))
		for i := range e.Records {
			e.Records[i].EventSourceARN += queue
			e.Records[i].Attributes["MessageGroupId"] = "one"
		}
		must.Equal(t, w.receive(e), `{"batchItemFailures":[]}`)
		r := w.batches[0]
		if r.Received != 7 || r.Verdicts[event.Inserted] != 3 || r.Verdicts[event.Duplicate] != 1 || r.Verdicts[event.Poison] != 2 ||
			r.Verdicts[event.Conflict] != 1 {
			t.Errorf("%+v", r)
		}
		if r.Parts[event.Inserted] != 3+99 || r.Parts[event.Duplicate] != 3 || r.Parts[event.Conflict] != 0 {
			t.Errorf("parts %v", r.Parts)
		}
		must.Equal(t, len(w.items()), 4+1+100)
		var notes []string
		for _, o := range w.outcomes {
			if o.Refusal != nil {
				notes = append(notes, string(o.Refusal.Reason)+" "+o.Refusal.Key.PK+": "+o.Refusal.Detail)
			}
		}
		want := []string{"claimed EMAIL#x@y: email \"x@y\" is taken: another account holds it",
			"too-many-parts ACCOUNT#c: the message yields 101 items with its whole, and account is atomic: a transaction puts at " +
				"most 100 items",
			"parts-clash ACCOUNT#d: part device: devices[0] and devices[1] have the same key"}
		if strings.Join(notes, "\n") != strings.Join(want, "\n") || len(w.quarantined()) != 3 {
			t.Errorf("%d letters:\n%s", len(w.quarantined()), strings.Join(notes, "\n"))
		}
	}
}
