package pipeline

import (
	"slices"
	"testing"

	"github.com/ingot-events/ingot/envelope"
)

func TestHashes(t *testing.T) {
	p := mustLoad(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  a:
    id: "{n | hmac}"
    at: "{t}"
    key: {pk: "{n | hmac}", sk: "-"}
    indexes: {GSI1: {pk: "{@id}", sk: "-"}, GSI2: {pk: "{x}", sk: "-"}}
  b:
    id: "{n}"
    at: "{t}"
    key: {pk: "B#{n}", sk: "-"}
    indexes: {GSI1: {pk: "{@id}", sk: "-"}, GSI2: {pk: "X", sk: "{x | lower | hmac}"}}
aggregates:
  by_id: {since: 1, by: {id: "{@id}"}, from: {a: {values: {n_all: count}}, b: {values: {n_all: count}}}}
  by_x: {since: 1, by: {x: "{x | hmac}"}, from: {b: {values: {n_all: count}}}}
  all: {since: 1, from: {a: {values: {n_all: count}}}}
`)
	hashed := map[string]bool{
		"a id": true, "a key": true, "a GSI1": true, "a GSI2": false, "a aggregates.by_id": true, "a aggregates.by_x": false,
		"a aggregates.all": false,
		"b id":             false, "b key": false, "b GSI1": false, "b GSI2": true, "b aggregates.by_id": false, "b aggregates.by_x": true,
		"b GSI3": false, "c id": false,
	}
	for what, want := range hashed {
		if got := slices.Contains(p.Describe().Hashed[what[:1]], what[2:]); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// A refusal names the type that the event says, whether it is declared or not.
func TestARefusalSaysTheType(t *testing.T) {
	p := mustLoad(t, base)
	for body, want := range map[string]string{`{"type":"moved"}`: "moved", `{"type":"x"}`: "x", `{}`: "", `{"type":["moved"]}`: ""} {
		opened, err := envelope.Open(envelope.Message{Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.PlanEvent(opened.Event); refusal(t, err).Type != want {
			t.Errorf("%s: %q", body, refusal(t, err).Type)
		}
		opened.Type = "placed" // the envelope's type
		if _, err := p.PlanEvent(opened.Event); refusal(t, err).Type != "placed" {
			t.Errorf("%s in an envelope: %q", body, refusal(t, err).Type)
		}
	}
}
