package events_test

import (
	"encoding/json"

	"github.com/ingot-events/ingot/event"
)

// envelopeSamples returns orders in each envelope that is understood.
func envelopeSamples() []ingestSample {
	at := day + "11:00:00Z"
	structured := order{"m-121", "o-1", "c-121", "p-121", 1, 2100, at}
	binary := order{"m-122", "o-1", "c-122", "p-122", 1, 2200, at}
	sns := order{"m-124", "o-1", "c-124", "p-124", 1, 2400, at}
	raw := order{"m-125", "o-1", "c-125", "p-125", 1, 2500, at}
	nested := order{"m-126", "o-1", "c-126", "p-126", 1, 2600, at}
	stored := func(body string, k event.Key, attributes ...attribute) []message {
		return []message{{body: body, attributes: attributes, sent: at, verdict: event.Inserted, key: k}}
	}
	return []ingestSample{
		{file: "ingest-cloudevent-structured.json", about: "A CloudEvent, structured mode: everything in one JSON object",
			answer: "Inserted; the payload is its data", messages: stored(cloudEvent("121", structured.body()), structured.key(),
				attribute{"content-type", "String", "application/cloudevents+json"})},
		{file: "ingest-cloudevent-binary.json", about: "A CloudEvent, binary mode: its attributes are message attributes",
			answer: "Inserted; the body is the payload", messages: stored(binary.body(), binary.key(),
				attribute{"ce-specversion", "String", "1.0"}, attribute{"ce-id", "String", "evt-122"},
				attribute{"ce-source", "String", "/shop/checkout"},
				attribute{"ce-type", "String", "order.placed"}, attribute{"ce-time", "String", at},
				attribute{"content-type", "String", "application/json"})},
		{file: "ingest-eventbridge.json", about: "A payment through an EventBridge rule",
			answer: "Inserted; the payload is its detail, the type its detail-type", messages: stored(
				`{"version":"0","id":"7bf73129-1428-4cd3-a780-95db273d1602","detail-type":"order.paid","source":"com.example.payments","account":"123456789012","time":"`+at+`","region":"eu-west-1","resources":[],"detail":`+
					paid("m-123", "o-1", "pay-1", "captured", 2300, at)+`}`, key("m-123", "o-1", "PAYMENT#pay-1"))},
		{file: "ingest-sns.json", about: "An order through an SNS topic, wrapped in its notification",
			answer: "Inserted; the payload is the notification's Message", messages: stored(notification(sns.body()), sns.key())},
		{file: "ingest-sns-raw.json", about: "The same with raw message delivery: nothing of SNS is left but message attributes",
			answer: "Inserted", messages: stored(raw.body(), raw.key(),
				attribute{"origin", "String", "checkout"})},
		{file: "ingest-sns-cloudevent.json", about: "A CloudEvent inside an SNS notification",
			answer: "Inserted; both envelopes are taken off", messages: stored(notification(cloudEvent("126", nested.body())),
				nested.key())},
	}
}

func cloudEvent(id, data string) string {
	return `{"specversion":"1.0","id":"evt-` + id + `","source":"/shop/checkout","type":"order.placed","time":"` + day +
		`11:00:00Z","datacontenttype":"application/json","data":` + data + `}`
}

// notification returns what SNS puts around a message for a queue without raw message delivery.
func notification(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{
  "Type" : "Notification",
  "MessageId" : "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  "TopicArn" : "arn:aws:sns:eu-west-1:123456789012:orders",
  "Message" : ` + string(quoted) + `,
  "Timestamp" : "` + day + `11:00:00.215Z",
  "SignatureVersion" : "1",
  "Signature" : "EXAMPLEpH+DcEwjAPg8O9mY8dReBSwksfg2S7WKQcikcNKWLQjwu6A4VbeS0QHVCkhRS7fUQvi2egU3N858fiTDN6bkkOxYDVrY0Ad8L10Hs3zH81mtnPk5uvvolIC1CXGu43obcgFxeL3khZl8IKvO61GWB6jI9b5+gLPoBc1Q=",
  "SigningCertURL" : "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem",
  "UnsubscribeURL" : "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:eu-west-1:123456789012:orders:c9135db0-26c4-47ec-8998-413945fb5a96"
}`
}
