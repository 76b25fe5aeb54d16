package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// bank adds accounts, and transfers that require both of theirs. An account lives for 20 days.
func bank(s *setup) {
	key := func(pk string) pipeline.KeySpec { return pipeline.KeySpec{PK: pk, SK: "-"} }
	account := func(field string) pipeline.RequireSpec {
		return pipeline.RequireSpec{Type: "account", Key: map[string]string{"id": "{" + field + "}"}}
	}
	s.spec.Events["account"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: key("ACCOUNT#{id}"), Retain: 20 * 24 * time.Hour}
	s.spec.Events["transfer"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: key("TRANSFER#{id}"),
		Requires: []pipeline.RequireSpec{account("from"), account("to")}}
	s.spec.Events["booking"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: key("BOOKING#{id}"), Atomic: true}
	s.spec.Events["entry"] = pipeline.EventSpec{ID: "{id}#{account}", Key: pipeline.KeySpec{PK: "BOOKING#{id}", SK: "{account}"},
		Part:     pipeline.PartSpec{Of: "booking", Each: "entries", With: []string{"id"}},
		Requires: []pipeline.RequireSpec{account("account")}}
}

func opened(id string) string { return openedAt(id, "2099-03-01T10:00:00Z") }

func openedAt(id, at string) string { return fmt.Sprintf(`{"type":"account","id":%q,"at":%q}`, id, at) }

func transfer(id, from, to string) string {
	return fmt.Sprintf(`{"type":"transfer","id":%q,"from":%q,"to":%q,"at":"2099-03-01T10:00:00Z"}`, id, from, to)
}

// received says how often each message of a batch was received.
func received(e events.SQSEvent, n int) events.SQSEvent {
	for i := range e.Records {
		e.Records[i].Attributes["ApproximateReceiveCount"] = fmt.Sprint(n)
	}
	return e
}

// A transfer from or to an account that was never opened comes again twice, and is then Rejected.
// Once the account is there, it is stored.
func TestRequires(t *testing.T) {
	w := newWorld(t, bank)
	w.gets(received(messages(opened("ada")), 1), "Inserted")
	for n := 1; n < 3; n++ {
		w.gets(received(messages(transfer("1", "ada", "bob")), n), "Retry: requires, back")
		if detail := w.outcomes[0].Refusal.Detail; strings.Contains(detail, "bob") {
			t.Errorf("what is logged quotes the event: %s", detail)
		}
	}
	w.gets(received(messages(transfer("1", "ada", "bob")), 3), "Rejected: requires")
	must.Equal(t, w.outcomes[0].Refusal.Detail,
		`it requires account under the key "ACCOUNT#bob / -", which is not stored; send the message again once it is`)
	must.Equal(t, len(w.quarantined()), 1)
	must.Equal(t, len(w.items()), 1)

	w.gets(received(messages(opened("bob")), 1), "Inserted")
	w.gets(received(messages(transfer("1", "ada", "bob")), 1), "Inserted")
}

// What the same batch brings goes first, wherever it stands in it.
func TestRequiredInTheSameBatch(t *testing.T) {
	w := newWorld(t, bank)
	w.gets(received(messages(transfer("1", "ada", "bob"), opened("bob"), opened("ada")), 3), "Inserted; Inserted; Inserted")
}

// A message of a FIFO queue does not wait, so its group goes on.
func TestRequiredOnFIFO(t *testing.T) {
	w := newWorld(t, bank)
	e := received(messages(transfer("1", "ada", "bob"), opened("ada"), opened("bob"), transfer("2", "ada", "bob")), 1)
	w.gets(inGroup(e, ".fifo"), "Rejected: requires; Inserted; Inserted; Inserted")
}

// What a part requires is required of its whole, of which nothing is stored otherwise.
func TestRequiredByParts(t *testing.T) {
	w := newWorld(t, bank)
	booking := `{"type":"booking","id":"1","at":"2099-03-01T10:00:00Z","entries":[{"account":"ada"},{"account":"bob"}]}`
	w.gets(received(messages(opened("ada"), booking), 3), "Inserted; Rejected: requires")
	must.Equal(t, len(w.items()), 1)
	w.gets(received(messages(booking, opened("bob")), 1), "Inserted; Inserted")
	must.Equal(t, len(w.items()), 2+3)
}

// A thousand messages that need one item read it once.
func TestRequiredIsReadOnce(t *testing.T) {
	w := newWorld(t, bank)
	w.receive(messages(opened("ada"), opened("bob")))
	var bodies []string
	for i := range 1000 {
		bodies = append(bodies, transfer(fmt.Sprint(i), "ada", "bob"))
	}
	before := w.calls["BatchGetItem"]
	must.Equal(t, w.receive(messages(bodies...)), failures())
	must.Equal(t, w.batches[0].Verdicts[event.Inserted], 1000)
	must.Equal(t, w.calls["BatchGetItem"]-before, 1)
	must.Equal(t, w.batches[0].Cost.ReadUnits, 2)
}

// An event that is stored is a Duplicate, also if what it required is gone. An account that has
// expired, and that time to live has not removed yet, does not count.
func TestRequiredIsGone(t *testing.T) {
	w := newWorld(t, bank)
	w.gets(messages(opened("ada"), opened("bob"), transfer("1", "ada", "bob"), openedAt("old", "2099-02-10T10:00:00Z")),
		"Inserted; Inserted; Inserted; Inserted")
	repairer, err := repair.New(w.StoreConfig(w.plan))
	must.Succeed(t, err)
	_, err = repairer.Erase(context.Background(), event.Key{PK: "ACCOUNT#bob", SK: "-"})
	must.Succeed(t, err)
	w.Clock.Pass(2 * 24 * time.Hour)
	w.gets(received(messages(transfer("1", "ada", "bob"), transfer("2", "ada", "bob"), transfer("3", "ada", "old")), 3),
		"Duplicate; Rejected: requires; Rejected: requires")
}

// A read that fails proves nothing.
func TestRequiredIsUnread(t *testing.T) {
	w := newWorld(t, bank)
	w.receive(messages(opened("ada"), opened("bob")))
	w.refuse("BatchGetItem", errDenied)
	w.gets(received(messages(transfer("1", "ada", "bob"), opened("eve")), 9), "Retry: refused, back; Inserted")
}
