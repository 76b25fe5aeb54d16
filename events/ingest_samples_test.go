package events_test

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

const day = "2099-03-14T"

// ingestSamples lists the files for the ingest function. Every file has its own merchant, so the
// files can run in any order against one table. If a file runs twice, what was Inserted is a
// Duplicate.
func ingestSamples() []ingestSample {
	return append(plainSamples(), append(poisonSamples(), envelopeSamples()...)...)
}

func plainSamples() []ingestSample {
	one := order{"m-101", "o-1", "c-101", "p-101", 2, 4998, day + "09:26:53Z"}
	twice := order{"m-103", "o-1", "c-103", "p-103", 1, 1250, day + "09:30:00Z"}
	clash := order{"m-104", "o-1", "c-104", "p-104", 1, 1250, day + "09:31:00Z"}
	other := clash
	other.cents = 1251
	big := order{"m-105", "o-1", "c-105", "p-105", 1, 9007199254740992, day + "09:32:00Z"}
	bigger := big
	bigger.cents++
	many := order{"m-102", "o-1", "c-102", "p-102", 3, 2997, day + "10:00:00.25Z"}
	fair := order{"m-106", "o-1", "c-106", "p-106", 1, 700, day + "09:40:00Z"}
	ingested := event.Inserted
	return []ingestSample{
		{file: "ingest-one.json", about: "One order, as bare JSON", answer: "Inserted; nothing returned",
			messages: []message{one.sent(ingested)}},
		{file: "ingest-empty.json", about: "No message at all", answer: "an empty list"},
		{file: "ingest-many.json", about: "An order's whole life: placed, two payments, refunded, shipped", answer: "five times Inserted",
			messages: []message{
				many.sent(ingested),
				{body: paid("m-102", "o-1", "pay-1", "failed", 2997, day+"10:01:00Z"), sent: day + "10:01:00Z", verdict: ingested,
					key: key("m-102", "o-1", "PAYMENT#pay-1")},
				{body: paid("m-102", "o-1", "pay-2", "captured", 2997, day+"10:02:30Z"), sent: day + "10:02:30Z", verdict: ingested,
					key: key("m-102", "o-1", "PAYMENT#pay-2")},
				{body: refunded("m-102", "o-1", "ref-1", "c-102", 999, day+"15:00:00Z"), sent: day + "15:00:00Z", verdict: ingested,
					key: key("m-102", "o-1", "REFUND#ref-1")},
				{body: shipped("m-102", "o-1", "shp-1", "in_transit", day+"12:00:00Z", day+"12:00:00Z"), sent: day + "12:00:01Z",
					verdict: ingested, key: key("m-102", "o-1", "SHIPMENT#shp-1")},
			}},
		{file: "ingest-duplicate.json",
			about:  "One order twice in one batch: members in another order, 1250 written 1.25e3, another trace_id",
			answer: "Inserted and Duplicate; one item", messages: []message{
				twice.sent(ingested),
				{body: `{"placed_at":"2099-03-14T09:30:00Z","total_cents":1.25e3,"status":"placed","currency":"EUR","quantity":1.0,"product_id":"p-103","customer_id":"c-103","order_id":"o-1","merchant_id":"m-103","type":"order.placed","trace_id":"0d4477c5aa10be92"}`,
					sent: day + "09:30:20Z", verdict: event.Duplicate, key: twice.key()},
			}},
		{file: "ingest-conflict.json", about: "One order twice with different totals",
			answer: "Inserted and Conflict: the second is quarantined, never dropped", messages: []message{
				clash.sent(ingested),
				conflicting(other),
			}},
		{file: "ingest-big-integers.json", about: "The same, with totals that differ only beyond a float's precision (2^53 and 2^53 + 1)",
			answer: "Inserted and Conflict", messages: []message{
				big.sent(ingested),
				conflicting(bigger),
			}},
		{file: "ingest-latest.json", about: "Three revisions of one parcel, out of order",
			answer: "the newest Inserted, the two older ones Stale", messages: []message{
				{body: shipped("m-107", "o-1", "shp-1", "label_created", day+"08:00:00Z", day+"08:00:00Z"), sent: day + "08:00:01Z",
					verdict: event.Stale, key: key("m-107", "o-1", "SHIPMENT#shp-1")},
				{body: shipped("m-107", "o-1", "shp-1", "delivered", day+"08:00:00Z", day+"16:45:00Z"), sent: day + "16:45:01Z",
					verdict: ingested, key: key("m-107", "o-1", "SHIPMENT#shp-1")},
				{body: shipped("m-107", "o-1", "shp-1", "in_transit", day+"08:00:00Z", day+"11:10:00Z"), sent: day + "16:50:00Z",
					verdict: event.Stale, key: key("m-107", "o-1", "SHIPMENT#shp-1")},
			}},
		{file: "ingest-fifo.json", about: "A FIFO queue with two groups; one holds a message that can never succeed",
			answer: "the rest Inserted, group by group in order; the broken one quarantined", queue: "ingest.fifo",
			messages: fifoMessages()},
		{file: "ingest-fair-queue.json", about: "A standard queue whose messages carry a group id (fair queues)",
			answer: "Inserted; the group id does not make it FIFO", messages: []message{
				{body: fair.body(), sent: fair.at, system: map[string]string{"MessageGroupId": "m-106"}, verdict: ingested,
					key: fair.key()},
			}},
		{file: "ingest-redelivered.json", about: "The order of ingest-one.json once more, on its third receive",
			answer:   "Duplicate after ingest-one.json; Inserted on a fresh table",
			after:    []string{"ingest-one.json"},
			messages: []message{{body: one.body(), sent: one.at, receives: 3, verdict: event.Duplicate, key: one.key()}}},
		{file: "ingest-expired.json", about: "An order of 2020, long past its 90 days",
			answer: "Expired: quarantined, because storing it could count it twice", messages: []message{
				{body: order{"m-108", "o-1", "c-108", "p-108", 1, 800, "2020-03-14T09:00:00Z"}.body(), sent: "2020-03-14T09:00:01Z",
					verdict: event.Expired, reason: event.PastExpiry, key: key("m-108", "o-1", "ORDER")},
			}},
	}
}

// conflicting returns an order as a message that is in conflict with one that came before.
func conflicting(o order) message {
	m := o.sent(event.Conflict)
	m.reason = event.DigestDiffers
	return m
}

func fifoMessages() []message {
	a := order{"m-109", "o-1", "c-109", "p-109", 1, 1900, day + "09:00:00Z"}
	group := func(id, sequence string) map[string]string {
		return map[string]string{"MessageGroupId": id, "SequenceNumber": sequence, "MessageDeduplicationId": "d-" + sequence}
	}
	return []message{
		{body: a.body(), sent: a.at, system: group("m-109#o-1", "18899999999999999872"), verdict: event.Inserted, key: a.key()},
		{body: strings.Replace(order{"m-109", "o-2", "c-109", "p-109", 1, 1900, day + "09:01:00Z"}.body(), `"order_id":"o-2",`, ``, 1),
			sent:   day + "09:01:00Z",
			system: group("m-109#o-2", "18900000000000000128"), verdict: event.Poison, reason: event.MissingField},
		{body: paid("m-109", "o-1", "pay-1", "captured", 1900, day+"09:02:00Z"), sent: day + "09:02:00Z",
			system: group("m-109#o-1", "18900000000000000384"), verdict: event.Inserted, key: key("m-109", "o-1", "PAYMENT#pay-1")},
		{body: refunded("m-109", "o-2", "ref-1", "c-109", 1900, day+"09:03:00Z"), sent: day + "09:03:00Z",
			system: group("m-109#o-2", "18900000000000000640"), verdict: event.Inserted, key: key("m-109", "o-2", "REFUND#ref-1")},
	}
}
