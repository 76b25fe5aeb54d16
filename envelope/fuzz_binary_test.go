package envelope

import (
	"errors"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/keys"
)

// FuzzBinary opens a body beside the attributes of a CloudEvent in binary mode: it is one exactly
// if all four marks are there, and its identity never depends on where one of source and id ends
// and the other begins.
func FuzzBinary(f *testing.F) {
	corpus.Add(f)
	f.Add(orderPayload, "1.0", "42", "/shop", "order.placed", "2099-01-02T02:04:05.5Z", "trace", "t")
	f.Add(orderPayload, "1.0", "#", "a#b%", "t", "", "", "")
	f.Add(orderPayload, "0.3", "42", "/shop", "order.placed", "", "subject", "x")
	f.Add("[]", "1.0", "42", "/shop", "order.placed", "yesterday", "id", "other")
	f.Fuzz(func(t *testing.T, body, version, id, source, typ, time, name, value string) {
		if _, err := event.ParseDocument(quote(value)); err != nil {
			value = "x" // SQS takes no such text
		}
		for _, prefix := range prefixes {
			attributes := map[string]string{prefix + "specversion": version, prefix + "id": id, prefix + "source": source, prefix +
				"type": typ}
			if time != "" {
				attributes[prefix+"time"] = time
			}
			if !described(name) {
				attributes[prefix+name] = value
			}
			opened, err := Open(Message{Body: body, Attributes: attributes})
			if err != nil {
				var refusal *event.Refusal
				if !errors.As(err, &refusal) || refusal.Verdict != event.Poison || refusal.Reason == "" || refusal.Detail == "" {
					t.Fatalf("error %v is not a full refusal", err)
				}
				continue
			}
			marked := version == "1.0" && id != "" && source != "" && typ != ""
			if opened.Kind.Form == Raw && marked {
				t.Fatalf("%v: a CloudEvent is taken for a bare payload", attributes)
			}
			if opened.Kind != (Kind{Form: Binary}) {
				continue
			}
			if !marked || opened.Type != typ || opened.Source != source || opened.Data.Text() != body || opened.ID != keys.Escape(source)+
				"#"+keys.Escape(id) {
				t.Fatalf("%v is opened as %+v", attributes, opened.Event)
			}
			if at, err := keys.ParseTime(time); time == "" && (!opened.At.IsZero() || opened.BadAt != nil) ||
				time != "" && ((err == nil) != (opened.BadAt == nil) || err == nil && !at.Equal(opened.At)) {
				t.Fatalf("time %q is opened as %s, %v", time, opened.At, err)
			}
			if name != "" && !described(name) && opened.Attributes[name] != value {
				t.Fatalf("attribute %q is %q, not %q", name, opened.Attributes[name], value)
			}
		}
	})
}
