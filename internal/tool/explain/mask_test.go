package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
)

const hashed = `
ingot: 1
epoch: 1
batches: true
type: "{type}"
events:
  user.seen:
    id: "{mail}"
    at: "{at}"
    key: {pk: "USER#{mail | hmac}", sk: "{at}"}
    retain: 30d
    indexes:
      GSI1: {pk: "PLAIN#{mail}", sk: "{at}"}
    attributes: {address: "mail"}
aggregates:
  mails:
    since: 1
    by: {mail: "{mail}"}
    from:
      user.seen: {values: {seen: count, last: newest mail}}
`

// Whatever becomes of a message, its explanation shows nothing of a field that the pipeline hashes.
func TestExplanationsAreMasked(t *testing.T) {
	const secret = "jo@x.example"
	note, err := json.Marshal(quarantine.Note{Verdict: "Poison", Reason: "bad-time", Detail: `mail "` + secret + `"`, PK: "PLAIN",
		Group: secret})
	must.Succeed(t, err)
	for name, m := range map[string]envelope.Message{
		"expired": {Body: `{"type":"user.seen","mail":"` + secret + `","at":"2020-03-01T10:00:00Z"}`},
		"quarantined": {Body: `{"type":"user.seen","mail":"` + secret + `","at":"2026-03-01T10:00:00Z"}`,
			Attributes: map[string]string{quarantine.Attribute: string(note)}},
	} {
		for _, mask := range []bool{true, false} {
			e := of(t, hashed)
			if mask {
				e.Personal = show.PersonalOf(e.Pipeline)
			}
			report := e.Explain([]Message{{Message: m}})
			var out strings.Builder
			must.Succeed(t, show.JSON(&out, report))
			if said := out.String() + text(t, report); strings.Contains(said, secret) == mask {
				t.Errorf("%s, masked %v:\n%s", name, mask, said)
			}
		}
	}
}
