package envelope

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
)

const (
	newPointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large","s3Key":"a/b"}]`
	oldPointer = `["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"large","s3Key":"a/b"}]`
)

func TestPointerOf(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		is   bool
	}{
		"as Java writes it":            {newPointer, true},
		"as Java wrote it":             {oldPointer, true},
		"as Python writes it":          {strings.Replace(newPointer, ",", ", ", 1), true},
		"with white space around":      {" \n" + newPointer + "\n", true},
		"with one more member":         {strings.Replace(newPointer, "}", `,"x":1}`, 1), true},
		"in an SNS notification":       {object(snsMembers(newPointer, "{}")...), true},
		"of another class":             {strings.Replace(newPointer, "software.amazon", "example", 1), false},
		"without a bucket":             {strings.Replace(newPointer, "s3BucketName", "bucket", 1), false},
		"with an empty key":            {strings.Replace(newPointer, "a/b", "", 1), false},
		"with a number as its key":     {strings.Replace(newPointer, `"a/b"`, "1", 1), false},
		"with a third element":         {strings.Replace(newPointer, "}]", "},1]", 1), false},
		"an array of events":           {`[{"a":1},{"a":2}]`, false},
		"two notifications":            {object(snsMembers(object(snsMembers(newPointer, "{}")...), "{}")...), false},
		"text about a pointer":         {`{"message":` + object("a", newPointer) + `}`, false},
		"not JSON":                     {newPointer + "x", false},
		"a notification that has text": {object(snsMembers("hello", "{}")...), false},
	} {
		p, is := PointerOf(Message{Body: c.body})
		if is != c.is || is && p != (Pointer{"large", "a/b"}) {
			t.Errorf("%s: %v, %v", name, p, is)
		}
	}
}

// What the object holds is opened as if it had come in the message, with the message's attributes.
func TestOpenPointer(t *testing.T) {
	structured := object(structuredMembers...)
	for name, c := range map[string]struct {
		m       Message
		payload string
		kind    string
		data    string
	}{
		"a bare payload":             {Message{Body: newPointer}, orderPayload, "raw JSON", orderPayload},
		"the old spelling":           {Message{Body: oldPointer}, orderPayload, "raw JSON", orderPayload},
		"a CloudEvent in the object": {Message{Body: newPointer}, structured, "CloudEvent (structured)", ""},
		"a CloudEvent in attributes": {Message{Body: newPointer, Attributes: binaryAttributes}, orderPayload, "CloudEvent (binary)",
			orderPayload},
		"a pointer in a notification": {Message{Body: object(snsMembers(newPointer, `{"tenant":{"Type":"String","Value":"t1"}}`)...)},
			orderPayload,
			"SNS > raw JSON", orderPayload},
		"a notification in the object": {Message{Body: newPointer}, object(snsMembers(orderPayload, "{}")...), "SNS > raw JSON",
			orderPayload},
	} {
		c.m.Payload = &c.payload
		opened, err := Open(c.m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if opened.Kind.String() != c.kind || c.data != "" && opened.Data.Text() != c.data {
			t.Errorf("%s: %s with %s", name, opened.Kind, opened.Data.Text())
		}
		if name == "a pointer in a notification" && opened.Attributes["tenant"] != "t1" {
			t.Errorf("%s: attributes %v", name, opened.Attributes)
		}
	}
	for payload, says := range map[string]string{
		"hello":    "in the object that the message points to: body",
		"\xff":     "invalid UTF-8",
		"[1]":      "an array",
		newPointer: "another pointer, which is not followed",
	} {
		_, err := Open(Message{Body: newPointer, Payload: &payload})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), string(event.PayloadElsewhere)) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if opened, err := Open(Message{Body: orderPayload, Payload: new("{}")}); err != nil || opened.Data.Text() != orderPayload {
		t.Errorf("a message without a pointer is not itself: %v, %v", opened, err)
	}
}
