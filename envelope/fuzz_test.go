package envelope

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/corpus"
)

// FuzzOpen holds Open to what is true of any message: it refuses with Poison, or gives an object that is text
// of the message, and never claims an envelope whose markers a plain JSON decoder does not see.
func FuzzOpen(f *testing.F) {
	corpus.Add(f)
	structured, bridge := object(structuredMembers...), object(eventBridgeMembers...)
	f.Add(orderPayload, "", "")
	f.Add(structured, "ce-id", "42")
	f.Add(bridge, "tenant", "x")
	f.Add(object(snsMembers(structured, `{"a":{"Type":"String","Value":"b"}}`)...), "", "")
	f.Add(object(snsMembers(object(snsMembers(bridge, "{}")...), "null")...), "", "")
	f.Add(object(append(structuredMembers[:8:8], "data_base64", `"eyJvcmRlcl9pZCI6Im8xIn0="`)...), "", "")
	f.Add(`["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`, "ExtendedPayloadSize", "9")
	f.Fuzz(func(t *testing.T, body, name, value string) {
		opened, err := Open(Message{Body: body, Attributes: map[string]string{name: value}})
		if err != nil {
			var refusal *event.Refusal
			if !errors.As(err, &refusal) || refusal.Verdict != event.Poison || refusal.Reason == "" || refusal.Detail == "" {
				t.Fatalf("error %v is no full refusal", err)
			}
			return
		}
		if opened.Data.Root().Kind() != event.Object {
			t.Fatalf("payload %s is no object", opened.Data.Text())
		}
		if _, err := event.ParseDocument(opened.Data.Text()); err != nil {
			t.Fatalf("payload %s does not parse alone: %v", opened.Data.Text(), err)
		}
		var plain map[string]any
		if err := json.Unmarshal([]byte(body), &plain); err != nil {
			t.Fatalf("opened, but not a JSON object: %v", err)
		}
		switch {
		case opened.Kind.SNS:
			if plain["Type"] != "Notification" {
				t.Fatalf("taken for SNS: %s", body)
			}
		case opened.Kind.Form == Structured:
			if plain["specversion"] != "1.0" || opened.Type != plain["type"] || opened.Source != plain["source"] {
				t.Fatalf("taken for a CloudEvent: %s", body)
			}
		case opened.Kind.Form == EventBridge:
			if opened.Type != plain["detail-type"] || opened.ID != plain["id"] {
				t.Fatalf("taken for an EventBridge event: %s", body)
			}
		case opened.Kind.Form == Raw:
			if opened.Data.Text() != body || opened.ID != "" || opened.Type != "" {
				t.Fatalf("a bare payload was changed: %s", body)
			}
		default:
			t.Fatalf("one attribute makes no binary CloudEvent: %s", body)
		}
	})
}
