package envelope

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
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
		body, payload, kind, data string
	}{
		"a bare payload":             {newPointer, orderPayload, "raw JSON", orderPayload},
		"the old spelling":           {oldPointer, orderPayload, "raw JSON", orderPayload},
		"a CloudEvent in the object": {newPointer, structured, "CloudEvent (structured)", ""},
		"a pointer in a notification": {object(snsMembers(newPointer, `{"tenant":{"Type":"String","Value":"t1"}}`)...),
			orderPayload,
			"SNS > raw JSON", orderPayload},
		"a notification in the object": {newPointer, object(snsMembers(orderPayload, "{}")...), "SNS > raw JSON",
			orderPayload},
	} {
		opened := mustOpen(t, Message{Body: c.body, Payload: &c.payload})
		must.Equal(t, opened.Kind.String(), c.kind, name)
		if c.data != "" {
			must.Equal(t, opened.Data.Text(), c.data, name)
		}
		if name == "a pointer in a notification" {
			must.Equal(t, opened.Attributes["tenant"], "t1")
		}
	}
	opened := mustOpen(t, Message{Body: newPointer, Attributes: binaryAttributes, Payload: new(orderPayload)})
	must.Equal(t, opened.Kind.String(), "CloudEvent (binary)")
	must.Equal(t, opened.Data.Text(), orderPayload)
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
	must.Equal(t, mustOpen(t, Message{Body: orderPayload, Payload: new("{}")}).Data.Text(), orderPayload)
}
