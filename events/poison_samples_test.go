package events_test

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// poisonSamples returns messages that can never succeed.
func poisonSamples() []ingestSample {
	good := order{"m-111", "o-1", "c-111", "p-111", 1, 500, day + "09:00:00Z"}
	null := order{"m-111", "o-2", "c-111", "p-111", 1, 600, day + "09:00:01Z"}
	also := order{"m-111", "o-3", "c-111", "p-111", 2, 700, day + "09:00:02Z"}
	twice := order{"m-112", "o-1", "c-112", "p-112", 1, 500, day + "09:00:00Z"}
	poison := func(body string, reason event.Reason) []message {
		return []message{{body: body, sent: day + "09:00:00Z", verdict: event.Poison, reason: reason}}
	}
	const answer = "Poison: quarantined; nothing returned"
	return []ingestSample{
		{file: "ingest-poison-among-good.json", about: "A good order, one whose merchant is null, a good order",
			answer: "Inserted, Poison, Inserted: the others are unharmed", messages: []message{
				good.sent(event.Inserted),
				{body: strings.Replace(null.body(), `"merchant_id":"m-111"`, `"merchant_id":null`, 1), sent: null.at, verdict: event.Poison,
					reason: event.MissingField},
				also.sent(event.Inserted),
			}},
		{file: "ingest-not-json.json", about: "A body that is not JSON", answer: answer,
			messages: poison("order o-1 placed, 12.50 EUR", event.Undecodable)},
		{file: "ingest-not-an-object.json", about: "A body that is JSON but not an object", answer: answer,
			messages: poison(`["order.placed","m-112","o-1"]`, event.NotAnObject)},
		{file: "ingest-duplicate-member.json", about: "A payload that says its total twice", answer: answer +
			": parsers disagree on which one counts",
			messages: poison(strings.Replace(twice.body(), `"total_cents":500`, `"total_cents":500,"total_cents":5`, 1),
				event.Undecodable)},
		{file: "ingest-unknown-type.json", about: "A type that pipeline.yaml does not have", answer: answer,
			messages: poison(strings.Replace(twice.body(), "order.placed", "order.plaecd", 1), event.UnknownType)},
		{file: "ingest-wrong-type.json", about: "A total that is text", answer: answer + ": no total is changed by a guess",
			messages: poison(strings.Replace(twice.body(), `"total_cents":500`, `"total_cents":"5.00"`, 1), event.WrongType)},
		{file: "ingest-bad-time.json", about: "An order placed on 30 February", answer: answer,
			messages: poison(strings.Replace(twice.body(), `"placed_at":"2099-03-14`, `"placed_at":"2099-02-30`, 1), event.BadTime)},
		{file: "ingest-s3-pointer.json", about: "A payload that the extended client put into S3", answer: answer +
			": no bucket is named from which payloads may be read",
			messages: poison(
				`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large-payloads","s3Key":"2c8f8f7e-6d0a-4a55-9f0e-3f6b7f2f6f11"}]`, event.PayloadElsewhere)},
		{file: "ingest-ten-attributes.json", about: "A broken body with ten message attributes",
			answer: "Poison and returned: quarantine has no room for its note, so SQS carries it to the dead-letter queue",
			messages: []message{
				{body: "not JSON either", attributes: tenAttributes(), sent: day + "09:00:00Z", verdict: event.Poison,
					reason: event.Undecodable, returned: true}}},
	}
}

func tenAttributes() []attribute {
	list := make([]attribute, 10)
	for i := range list {
		list[i] = attribute{fmt.Sprintf("header-%d", i), "String", fmt.Sprintf("value %d", i)}
	}
	list[8].kind, list[8].value = "Number", "8"
	list[9].kind, list[9].value = "Binary", "nine"
	return list
}
