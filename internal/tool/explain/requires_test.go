package explain

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const opened = `ingot: 1
epoch: 1
type: "{type}"
events:
  account: {id: "{account}", at: "{at}", key: {pk: "ACCOUNT#{account}", sk: "ACCOUNT"}}
  transfer:
    id: "{id}"
    at: "{at}"
    key: {pk: "T#{id}", sk: "X"}
    requires:
      - {type: account, key: {account: "{from}"}}
      - {type: account, key: {account: "{to}"}}
`

// What an event requires is shown with its keys, and that it is Inserted only once that is there.
func TestRequiredEventsAreExplained(t *testing.T) {
	r := of(t, opened).Explain([]Message{body(`{"type":"transfer","id":"1","at":"2026-03-01T10:00:00Z","from":"ada","to":"ben"}`)})
	must.Match(t, r.Messages[0].Requires, []Required{
		{"account", Key{"ACCOUNT#ada", "ACCOUNT"}}, {"account", Key{"ACCOUNT#ben", "ACCOUNT"}}})
	must.Say(t, text(t, r), "Inserted once what it requires is stored, unless its key is taken already", "ACCOUNT#ben")
}
