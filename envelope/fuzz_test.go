package envelope

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// FuzzOpen holds Open to what is true of any message: it refuses with Poison, or gives an object
// that is text of the message, and never claims an envelope whose markers a plain JSON decoder does
// not see.
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
		checkPointer(t, body, map[string]string{name: value})
		opened, err := Open(Message{Body: body, Attributes: map[string]string{name: value}})
		if err != nil {
			var refusal *event.Refusal
			if !errors.As(err, &refusal) || refusal.Verdict != event.Poison || refusal.Reason == "" || refusal.Detail == "" {
				t.Fatalf("error %v is not a full refusal", err)
			}
			return
		}
		if opened.Data.Root().Kind() != event.Object {
			t.Fatalf("payload %s is not an object", opened.Data.Text())
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
		case opened.Kind.Form == EventBridgeStructured:
			detail, _ := plain["detail"].(map[string]any)
			if detail["specversion"] != "1.0" || opened.Type != detail["type"] || opened.Source != detail["source"] {
				t.Fatalf("taken for a CloudEvent in an EventBridge event: %s", body)
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

// FuzzArray holds OpenAll to what is true of any message: what is not an array is opened as by
// Open. The elements of an array are those that a plain JSON decoder sees, in its order, and each
// is opened as a message of its own would be.
func FuzzArray(f *testing.F) {
	corpus.Add(f)
	structured, bridge := object(structuredMembers...), object(eventBridgeMembers...)
	f.Add("["+orderPayload+"]", "", "")
	f.Add("[ "+structured+" ,\n"+bridge+",7,[],null]", "ce-id", "42")
	f.Add(object(snsMembers("["+structured+","+orderPayload+"]", `{"a":{"Type":"String","Value":"b"}}`)...), "a", "outer")
	f.Add(object(snsMembers(object(snsMembers("[1]", "{}")...), "null")...), "", "")
	f.Add(`["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`, "ExtendedPayloadSize", "9")
	f.Add("[]", "", "")
	f.Fuzz(func(t *testing.T, body, name, value string) {
		m := Message{Body: body, Attributes: map[string]string{name: value}}
		opened, elements, err := OpenAll(m, wholeMessage)
		alone, aloneErr := Open(m)
		if elements == nil {
			var refusal *event.Refusal
			switch {
			case err != nil && (!errors.As(err, &refusal) || refusal.Verdict != event.Poison || refusal.Detail == ""):
				t.Fatalf("error %v is not a full refusal", err)
			case err == nil && aloneErr != nil || err != nil && aloneErr == nil:
				t.Fatalf("%s: %v, and by Open: %v", body, err, aloneErr)
			case err == nil && (opened.Data.Text() != alone.Data.Text() || opened.Kind != alone.Kind || opened.ID != alone.ID):
				t.Fatalf("%s is opened as %+v, and by Open as %+v", body, opened, alone)
			}
			return
		}
		if aloneErr == nil || err != nil || len(elements) > MaxEvents {
			t.Fatalf("%d events (%v) of what is one: %v", len(elements), err, aloneErr)
		}
		text := body
		if strings.HasPrefix(strings.TrimSpace(body), "{") {
			var notification struct{ Message string }
			must.Succeed(t, json.Unmarshal([]byte(body), &notification))
			text = notification.Message
		}
		var plain []json.RawMessage
		if err := json.Unmarshal([]byte(text), &plain); err != nil || len(plain) != len(elements) {
			t.Fatalf("%d elements, and %d by another decoder: %v", len(elements), len(plain), err)
		}
		for i, element := range elements {
			if element.Body != strings.TrimSpace(string(plain[i])) {
				t.Fatalf("element %d is %s, and %s by another decoder", i, element.Body, plain[i])
			}
			if name != "" && element.Attributes[name] == "" && value != "" {
				t.Fatalf("element %d lacks the attribute %q", i, name)
			}
			one, err := Open(element)
			object := strings.HasPrefix(element.Body, "{")
			if err == nil && (!object || one.Data.Root().Kind() != event.Object) {
				t.Fatalf("element %d, %s, is opened as %+v", i, element.Body, one)
			}
			if bare, bareErr := Open(Message{Body: element.Body}); bareErr == nil && err == nil && bare.Kind.Form == Structured &&
				(one.ID != bare.ID || one.Type != bare.Type) {
				t.Fatalf("element %d is opened as %+v, and alone as %+v", i, one, bare)
			}
		}
	})
}

// checkPointer holds two ways of looking at one message against each other: a message has a pointer
// exactly if Open refuses it for that, and with the object's text it is opened as that text would
// be.
func checkPointer(t *testing.T, body string, attributes map[string]string) {
	const payload = `{"a":1}`
	text := payload
	_, is := PointerOf(Message{Body: body, Attributes: attributes})
	_, err := Open(Message{Body: body, Attributes: attributes})
	var refusal *event.Refusal
	if elsewhere := errors.As(err, &refusal) && refusal.Reason == event.PayloadElsewhere; is && !elsewhere {
		// The attributes of a CloudEvent come first, and so do the members of an envelope.
		t.Fatalf("%s has a pointer, and is opened as if it had none: %v", body, err)
	} else if elsewhere && !is {
		t.Fatalf("%s is refused for a pointer that nobody finds", body)
	}
	opened, err := Open(Message{Body: body, Attributes: attributes, Payload: &text})
	if is && err == nil && opened.Data.Text() != payload {
		t.Fatalf("%s was opened as %s", body, opened.Data.Text())
	}
}
