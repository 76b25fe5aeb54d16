package envelope

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// object is the JSON of an object with these names and raw values, in order.
func object(members ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(members[i]) + ":" + members[i+1])
	}
	return b.String() + "}"
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

var (
	structuredMembers = []string{"specversion", `"1.0"`, "id", `"42"`, "source", `"/shop"`, "type", `"order.placed"`, "time",
		`"2099-01-02T03:04:05.5+01:00"`,
		"subject", `"o1"`, "trace", `"t"`, "sampled", `true`, "tries", `3`, "unset", `null`, "nested", `{"a":1}`, "data",
		`{"order_id" : "o1", "n": 1.0}`}
	eventBridgeMembers = []string{"version", `"0"`, "id", `"6a7e8feb-b491-4cf7-a9f1-bf3703467718"`, "detail-type", `"order.placed"`,
		"source", `"com.shop"`, "account", `"111122223333"`,
		"time", `"2099-01-02T03:04:05Z"`, "region", `"us-east-1"`, "resources", `["arn:aws:x"]`, "detail", `{"order_id":"o1"}`}
	binaryAttributes = map[string]string{"ce-specversion": "1.0", "ce-id": "42", "ce-source": "/shop", "ce-type": "order.placed",
		"ce-time": "2099-01-02T02:04:05.5Z", "ce-trace": "t", "content-type": "application/json", "tenant": "x"}
	at = time.Date(2099, 1, 2, 2, 4, 5, 5e8, time.UTC)
)

const orderPayload = `{"order_id":"o1"}`

func snsMembers(message, attributes string) []string {
	return []string{"Type", `"Notification"`, "MessageId", `"22b80b92"`, "TopicArn", `"arn:aws:sns:us-west-2:123456789012:MyTopic"`,
		"Subject", `"s"`, "Message", quote(message),
		"Timestamp", `"2012-05-02T00:54:06.655Z"`, "SignatureVersion", `"1"`, "MessageAttributes", attributes}
}

func mustOpen(t *testing.T, m Message) Opened {
	t.Helper()
	opened, err := Open(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Body, err)
	}
	return opened
}

// openBody opens a message that has nothing but a body.
func openBody(t *testing.T, body string) Opened {
	t.Helper()
	return mustOpen(t, Message{Body: body})
}

func check(t *testing.T, got Opened, kind string, want event.Event, data string) {
	t.Helper()
	must.Equal(t, got.Kind.String(), kind, got.Kind)
	must.Equal(t, got.Data.Text(), data)
	got.Data = event.Document{}
	if len(got.Attributes) == 0 && len(want.Attributes) == 0 {
		got.Attributes, want.Attributes = nil, nil
	}
	must.Match(t, got.Event, want)
}

func TestBarePayload(t *testing.T) {
	body := " {\"order_id\" : \"o1\"}\n"
	attributes := map[string]string{"tenant": "x"}
	opened := mustOpen(t, Message{Body: body, Attributes: attributes})
	attributes["tenant"] = "changed later"
	check(t, opened, "raw JSON", event.Event{Attributes: map[string]string{"tenant": "x"}}, body)
}

func TestStructuredCloudEvent(t *testing.T) {
	opened := mustOpen(t,
		Message{Body: object(structuredMembers...), Attributes: map[string]string{"tenant": "x", "trace": "the message's"}})
	check(t, opened, "CloudEvent (structured)", event.Event{
		Type: "order.placed", ID: "/shop#42", Source: "/shop", At: at,
		Attributes: map[string]string{"tenant": "x", "subject": "o1", "trace": "t", "sampled": "true", "tries": "3"},
	}, `{"order_id" : "o1", "n": 1.0}`)
}

func TestCloudEventDataInBase64(t *testing.T) {
	body := object(append(structuredMembers[:8:8], "data_base64", `"eyJvcmRlcl9pZCI6Im8xIn0="`, "data", "null")...)
	check(t, openBody(t, body), "CloudEvent (structured)",
		event.Event{Type: "order.placed", ID: "/shop#42", Source: "/shop"}, orderPayload)
}

func TestCloudEventIdentityIsInjective(t *testing.T) {
	seen := map[string][2]string{}
	parts := []string{"a", "b", "a#", "#b", "a#b", "%23", "#", "##", "%", "a%23b"}
	for _, source := range parts {
		for _, id := range parts {
			body := object("specversion", `"1.0"`, "type", `"t"`, "source", quote(source), "id", quote(id), "data", "{}")
			got := openBody(t, body).ID
			if other, taken := seen[got]; taken {
				t.Errorf("%q and %q both give %q", other, [2]string{source, id}, got)
			}
			seen[got] = [2]string{source, id}
		}
	}
}

func TestCloudEventIdentityIsEscaped(t *testing.T) {
	body := object("specversion", `"1.0"`, "type", `"t"`, "source", `"/a#b"`, "id", `"c%#d"`, "data", "{}")
	must.Equal(t, openBody(t, body).ID, "/a%23b#c%25%23d")
}

func TestBinaryCloudEvent(t *testing.T) {
	for _, prefix := range prefixes {
		t.Run(prefix, func(t *testing.T) {
			attributes := map[string]string{}
			for name, value := range binaryAttributes {
				attributes[strings.Replace(name, "ce-", prefix, 1)] = value
			}
			want := maps.Clone(attributes)
			want["trace"] = "t"
			check(t, mustOpen(t, Message{Body: orderPayload, Attributes: attributes}), "CloudEvent (binary)",
				event.Event{Type: "order.placed", ID: "/shop#42", Source: "/shop", At: at, Attributes: want}, orderPayload)
		})
	}
}

func TestStructuredEventWithItsAttributesRepeated(t *testing.T) {
	body := object(structuredMembers...)
	must.Equal(t, mustOpen(t, Message{Body: body, Attributes: binaryAttributes}).Kind.Form, Structured)
	other := maps.Clone(binaryAttributes)
	other["ce-id"] = "43"
	opened := mustOpen(t, Message{Body: body, Attributes: other})
	if opened.Kind.Form != Binary || opened.ID != "/shop#43" || opened.Data.Text() != body {
		t.Errorf("another event as data is read as %v, id %s", opened.Kind, opened.ID)
	}
}

func TestEventBridge(t *testing.T) {
	opened := mustOpen(t, Message{Body: object(append([]string{"replay-name", `"r"`}, eventBridgeMembers...)...)})
	check(t, opened, "EventBridge", event.Event{
		Type: "order.placed", ID: "6a7e8feb-b491-4cf7-a9f1-bf3703467718", Source: "com.shop",
		At: must.Time("2099-01-02T03:04:05Z"),
	}, orderPayload)
}

// EventBridge gives each delivery a new id, so the id of the CloudEvent in it counts.
func TestCloudEventInEventBridge(t *testing.T) {
	opened := openBody(t, object(replaced(eventBridgeMembers, "detail", object(structuredMembers...))...))
	if opened.Kind.String() != "EventBridge > CloudEvent (structured)" || opened.ID != "/shop#42" || opened.Type != "order.placed" ||
		!opened.At.Equal(at) || opened.Data.Text() != `{"order_id" : "o1", "n": 1.0}` || opened.Attributes["trace"] != "t" {
		t.Errorf("%+v", opened)
	}
	late := object(replaced(structuredMembers, "time", `"soon"`)...)
	opened = openBody(t, object(replaced(eventBridgeMembers, "detail", late)...))
	if r := opened.BadAt; r == nil || !opened.At.IsZero() || !strings.Contains(r.Detail, "time of the CloudEvent") {
		t.Errorf("%+v", opened)
	}
}

func TestSNS(t *testing.T) {
	attributes := `{"tenant":{"Type":"String","Value":"x"},"tries":{"Type":"Number","Value":"3"},"tags":{"Type":"String.Array","Value":"[\"a\"]"},"blob":{"Type":"Binary","Value":"AA=="}}`
	wanted := map[string]string{"tenant": "x", "tries": "3", "tags": `["a"]`}
	t.Run("raw", func(t *testing.T) {
		check(t, openBody(t, object(snsMembers(orderPayload, attributes)...)), "SNS > raw JSON",
			event.Event{Attributes: wanted}, orderPayload)
	})
	t.Run("without attributes", func(t *testing.T) {
		members := snsMembers(orderPayload, "")
		check(t, openBody(t, object(members[:len(members)-2]...)), "SNS > raw JSON", event.Event{}, orderPayload)
	})
	t.Run("the message's attributes stay where the notification has none of the name", func(t *testing.T) {
		opened := mustOpen(t, Message{Body: object(snsMembers(orderPayload, attributes)...),
			Attributes: map[string]string{"tenant": "outer", "hop": "1"}})
		must.Equal(t, opened.Attributes["tenant"], "x")
		must.Equal(t, opened.Attributes["hop"], "1")
	})
	t.Run("structured", func(t *testing.T) {
		opened := openBody(t, object(snsMembers(object(structuredMembers...), "null")...))
		must.Equal(t, opened.Kind.String(), "SNS > CloudEvent (structured)")
		must.Equal(t, opened.ID, "/shop#42")
	})
	t.Run("EventBridge", func(t *testing.T) {
		if kind := mustOpen(t,
			Message{Body: object(snsMembers(object(eventBridgeMembers...), "{}")...)}).Kind; kind.String() != "SNS > EventBridge" {
			t.Error(kind)
		}
	})
	t.Run("binary", func(t *testing.T) {
		var members []string
		for name, value := range binaryAttributes {
			members = append(members, name, object("Type", `"String"`, "Value", quote(value)))
		}
		opened := openBody(t, object(snsMembers(orderPayload, object(members...))...))
		if opened.Kind.String() != "SNS > CloudEvent (binary)" || opened.ID != "/shop#42" || opened.Data.Text() != orderPayload {
			t.Errorf("%v, id %s, data %s", opened.Kind, opened.ID, opened.Data.Text())
		}
	})
	t.Run("a notification in a notification is a payload", func(t *testing.T) {
		inner := object(snsMembers(orderPayload, "{}")...)
		opened := mustOpen(t, Message{Body: object(snsMembers(inner, "{}")...)})
		must.Equal(t, opened.Kind.String(), "SNS > raw JSON")
		must.Equal(t, opened.Data.Text(), inner)
	})
}

// TestOneMarkerAtATime takes each marker away, and gives each a wrong type: what is left is a bare
// payload.
func TestOneMarkerAtATime(t *testing.T) {
	formats := map[string]struct {
		members []string
		markers []string
		wrong   map[string][]string // further values that are not markers
	}{
		"structured": {structuredMembers, []string{"specversion", "id", "source", "type"},
			map[string][]string{"specversion": {`"0.3"`, `"1"`, `"1.1"`, `1.0`}}},
		"EventBridge": {eventBridgeMembers, []string{"version", "id", "detail-type", "source", "account", "time", "region", "resources",
			"detail"}, map[string][]string{"version": {`"1"`}, "resources": {`{}`}, "detail": {`[]`}}},
		"SNS": {snsMembers(orderPayload, "{}"), []string{"Type", "MessageId", "TopicArn", "Message", "Timestamp"},
			map[string][]string{"Type": {`"SubscriptionConfirmation"`}, "TopicArn": {`"MyTopic"`}}},
	}
	for name, f := range formats {
		for _, marker := range f.markers {
			values := append([]string{"", "null", "7", `true`, `["a"]`, `{"a":"b"}`, `""`}, f.wrong[marker]...)
			for _, value := range values {
				body := object(replaced(f.members, marker, value)...)
				switch {
				case marker == "resources" && value == `["a"]`, marker == "detail" && value == `{"a":"b"}`, marker == "Message" &&
					value == `""`:
					continue // a right type after all
				}
				opened := openBody(t, body)
				if opened.Kind != (Kind{}) || opened.Data.Text() != body || opened.Type != "" || opened.ID != "" {
					t.Errorf("%s with %s %q: recognised as %v", name, marker, value, opened.Kind)
				}
			}
		}
	}
	for marker := range binaryAttributes {
		attributes := maps.Clone(binaryAttributes)
		delete(attributes, marker)
		_, needed := map[string]bool{"ce-specversion": true, "ce-id": true, "ce-source": true, "ce-type": true}[marker]
		if opened := mustOpen(t, Message{Body: orderPayload, Attributes: attributes}); (opened.Kind.Form == Raw) != needed {
			t.Errorf("binary without %s: recognised as %v", marker, opened.Kind)
		}
	}
	mixed := map[string]string{"ce-specversion": "1.0", "ce_id": "42", "ce-source": "/shop", "ce-type": "t"}
	if kind := mustOpen(t, Message{Body: orderPayload, Attributes: mixed}).Kind; kind.Form != Raw {
		t.Errorf("markers under two prefixes: recognised as %v", kind)
	}
	for _, bad := range []string{`[]`, `{"a":1}`, `{"a":{"Type":"String"}}`, `{"a":{"Value":"x"}}`, `{"a":{"Type":"String","Value":1}}`} {
		body := object(snsMembers(orderPayload, bad)...)
		if kind := openBody(t, body).Kind; kind.SNS {
			t.Errorf("SNS with MessageAttributes %s: recognised", bad)
		}
	}
}

// replaced is members with one value changed, or the member gone for an empty value.
func replaced(members []string, name, value string) []string {
	var out []string
	for i := 0; i < len(members); i += 2 {
		switch {
		case members[i] != name:
			out = append(out, members[i], members[i+1])
		case value != "":
			out = append(out, name, value)
		}
	}
	return out
}

func TestRefusals(t *testing.T) {
	markers := structuredMembers[:8:8]
	with := func(members ...string) string { return object(append(markers, members...)...) }
	const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`
	for _, tt := range []struct {
		name, body string
		reason     event.Reason
		detail     string
	}{
		{"empty body", "", event.Undecodable, "body"},
		{"not JSON", "hello", event.Undecodable, "body"},
		{"duplicate member", `{"a":1,"a":2}`, event.Undecodable, "body"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", event.Undecodable, "body"},
		{"array", `[{"a":1}]`, event.NotAnObject, "the body is an array"},
		{"string", `"a"`, event.NotAnObject, "a string"},
		{"number", `7`, event.NotAnObject, "a number"},
		{"null", `null`, event.NotAnObject, "null"},
		{"true", `true`, event.NotAnObject, "a boolean"},
		{"CloudEvent without data", with(), event.NotAnObject, "data of the CloudEvent is missing"},
		{"CloudEvent with text as data", with("data", `"x"`), event.NotAnObject, "data of the CloudEvent is a string"},
		{"CloudEvent with both", with("data", `{}`, "data_base64", `"e30="`), event.BadEnvelope, "both"},
		{"data_base64 is a number", with("data_base64", `1`), event.BadEnvelope, "not a string"},
		{"data_base64 is not base64", with("data_base64", `"{}"`), event.BadEnvelope, "base64"},
		{"data_base64 is not JSON", with("data_base64", `"AAAA"`), event.Undecodable, "data_base64"},
		{"data_base64 is an array", with("data_base64", `"W10="`), event.NotAnObject, "an array"},
		{"SNS with text", object(snsMembers("hello", "{}")...), event.Undecodable, "in the SNS notification: body"},
		{"S3 pointer", pointer, event.PayloadElsewhere, "bucket b, key k"},
		{"old S3 pointer", `["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`,
			event.PayloadElsewhere, "bucket b"},
		{"S3 pointer in SNS", object(snsMembers(pointer, "{}")...), event.PayloadElsewhere, "in the SNS notification"},
		{"pointer of another class", `["com.example.Pointer",{"s3BucketName":"b","s3Key":"k"}]`, event.NotAnObject, "array"},
		{"pointer without a key", `["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b"}]`,
			event.NotAnObject, "array"},
		{"pointer with a third element",
			`["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b","s3Key":"k"},1]`,
			event.NotAnObject, "array"},
	} {
		t.Run(tt.name, func(t *testing.T) { refused(t, Message{Body: tt.body}, tt.reason, tt.detail) })
	}
	refused(t, Message{Body: `[]`, Attributes: binaryAttributes}, event.NotAnObject, "an array")
}

// refused fails unless a message is Poison for this reason, and the detail says so.
func refused(t *testing.T, m Message, reason event.Reason, detail string) {
	t.Helper()
	opened, err := Open(m)
	var refusal *event.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("opened as %v, error %v", opened.Kind, err)
	}
	must.Equal(t, refusal.Verdict, event.Poison)
	must.Equal(t, refusal.Reason, reason)
	must.Say(t, refusal.Detail, detail)
}

// A time that cannot be read is a fault of those events alone whose type has no time of its own.
func TestBadTimeOfAnEnvelope(t *testing.T) {
	at := func(time string) string {
		return object(append(structuredMembers[:8:8], "data", "{}", "time", time)...)
	}
	binary := maps.Clone(binaryAttributes)
	binary["ce-time"] = "soon"
	for name, c := range map[string]struct {
		m      Message
		detail string
	}{
		"CloudEvent":  {Message{Body: at(`"yesterday"`)}, "time of the CloudEvent: "},
		"a number":    {Message{Body: at(`7`)}, "time of the CloudEvent is a number"},
		"before 1970": {Message{Body: at(`"1969-12-31T23:59:59Z"`)}, "time of the CloudEvent: "},
		"attribute":   {Message{Body: `{}`, Attributes: binary}, "message attribute ce-time: "},
		"EventBridge": {Message{Body: object(replaced(eventBridgeMembers, "time", `"soon"`)...)}, "time of the EventBridge event: "},
	} {
		opened, err := Open(c.m)
		if err != nil || !opened.At.IsZero() || opened.BadAt == nil || opened.BadAt.Reason != event.BadTime ||
			!strings.HasPrefix(opened.BadAt.Detail, c.detail) {
			t.Errorf("%s: %+v, %v", name, opened.BadAt, err)
		}
	}
}

// wholeMessage says that a message may be an array of events.
var wholeMessage = []Batch{{}}

// Each element of an array is opened as if it had come alone. In a notification, it has the
// notification's attributes, and those of the message where they do not say otherwise.
func TestOpenAnArray(t *testing.T) {
	structured, bridge := object(structuredMembers...), object(eventBridgeMembers...)
	elements := []string{orderPayload, structured, bridge, "[" + orderPayload + "]"}
	list := "[" + strings.Join(elements, " , ") + "]"
	open := func(m Message, sns string, attributes map[string]string) {
		t.Helper()
		_, messages, err := OpenAll(m, wholeMessage)
		if err != nil || len(messages) != len(elements) {
			t.Fatalf("%d elements, %v", len(messages), err)
		}
		for i, kind := range []string{"raw JSON", "CloudEvent (structured)", "EventBridge"} {
			opened, err := Open(messages[i])
			if err != nil || opened.Kind.String() != sns+kind {
				t.Errorf("element %d is %s (%v), want %s", i, opened.Kind, err, sns+kind)
			}
			for name, value := range attributes {
				must.Equal(t, opened.Attributes[name], value, i, name)
			}
			alone, err := Open(Message{Body: elements[i]})
			if err != nil || alone.ID != opened.ID || alone.Type != opened.Type || alone.Data.Text() != opened.Data.Text() {
				t.Errorf("element %d is %+v, and alone it is %+v, %v", i, opened, alone, err)
			}
		}
		_, err = Open(messages[3])
		must.Fail(t, err, "it is an array; a payload must be a JSON object")
	}
	open(Message{Body: list, Attributes: map[string]string{"tenant": "a"}}, "", map[string]string{"tenant": "a"})
	open(Message{Body: object(snsMembers(list, `{"tenant":{"Type":"String","Value":"inner"}}`)...),
		Attributes: map[string]string{"tenant": "outer", "hop": "1"}},
		"SNS > ", map[string]string{"tenant": "inner", "hop": "1"})
	if _, messages, err := OpenAll(Message{Body: bridge}, wholeMessage); err != nil || messages != nil {
		t.Errorf("an event is opened as %d elements, %v", len(messages), err)
	}
	// EventBridge has an object as its detail, and a CloudEvent is one event: neither holds an
	// array.
	cloud := append(slices.Clone(structuredMembers[:8]), "data", list)
	if _, messages, err := OpenAll(Message{Body: object(cloud...)}, wholeMessage); err == nil || messages != nil {
		t.Errorf("the data of a CloudEvent: %d elements, %v", len(messages), err)
	}
}
