package events_test

import (
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

const (
	marks    = "marks"
	receipts = "receipts"
	sunday   = "2099-03-15T00:00:00Z"
)

// streams-insert.json adds these three items. Later files change or remove them.
var (
	expiring = order{"m-201", "o-1", "c-201", "p-201", 2, 4998, "2099-03-15T09:00:00Z"}
	old      = order{"m-216", "o-1", "c-216", "p-216", 1, 100, "2099-03-15T09:10:00Z"} // it expires 70 minutes after it is stored
	mistaken = order{"m-203", "o-1", "c-203", "p-203", 5, 7500, "2099-03-15T09:00:02Z"}
	parcel   = shipped("m-202", "o-1", "shp-1", "in_transit", "2099-03-15T09:00:01Z", "2099-03-15T09:00:01Z")
	arrived  = shipped("m-202", "o-1", "shp-1", "delivered", "2099-03-15T09:00:01Z", "2099-03-16T14:20:00Z")
)

// streamSamples lists the files for the streams function. Only the files that name a file in after
// touch the totals of that file. So the files can run in any order that respects after. The last
// file flags every head, and with the heads every total.
func streamSamples() []streamSample {
	return append(storySamples(), oddSamples()...)
}

func storySamples() []streamSample {
	return []streamSample{
		{file: "streams-insert.json", about: "Three items put: two orders and a parcel", answer: "counted", shard: "a",
			created: "2099-03-15T09:00:05Z",
			records: []record{
				inserted("4100000000012345678901", picture{body: expiring.body()}, counted),
				inserted("4200000000012345678902", picture{body: parcel}, counted),
				inserted("4300000000012345678903", picture{body: mistaken.body()}, counted),
			},
			totals: []total{
				daily("m-201", sunday, 1, values{"orders": "1", "ordered": "4998", "largest": "4998"}),
				product("p-201", 1, values{"orders": "1", "units": "2"}),
				recent("c-201", 1, values{"orders": "1", "spent": "4998"}),
				parcels("m-202", "in_transit", 1, "1"),
				daily("m-203", sunday, 1, values{"orders": "1", "ordered": "7500", "largest": "7500"}),
				product("p-203", 1, values{"orders": "1", "units": "5"}),
				recent("c-203", 1, values{"orders": "1", "spent": "7500"}),
			}},
		{file: "streams-modify.json", about: "The parcel has arrived: a newer revision",
			answer: "counted: it leaves one total and joins another", after: []string{"streams-insert.json"}, shard: "b",
			created: "2099-03-16T14:20:02Z",
			records: []record{{kind: event.Modify, sequence: "4400000000012345678904", old: &picture{body: parcel},
				new: &picture{body: arrived}, outcome: counted}},
			totals: []total{parcels("m-202", "in_transit", 0, "0"), parcels("m-202", "delivered", 1, "1")}},
		{file: "streams-ttl-removal.json", about: "Time to live removes an order, whose time is over",
			answer: "subtracted where onExpire says so, kept where it says keep; archived", after: []string{"streams-insert.json"},
			shard: "c", created: "2099-06-13T21:14:40Z",
			records: []record{{kind: event.Remove, sequence: "4500000000012345678905", old: &picture{body: expiring.body()}, ttl: true,
				outcome: counted}},
			totals: []total{
				daily("m-201", sunday, 1, values{"orders": "1", "ordered": "4998", "largest": "4998"}),
				product("p-201", 1, values{"orders": "1", "units": "2"}),
				recent("c-201", 0, values{"orders": "0", "spent": "0"}),
			},
			archived: []event.Key{expiring.key()}},
		{file: "streams-person-removal.json", about: "A person deletes an order",
			answer: "a correction: subtracted everywhere; `largest` cannot be taken back, so its total is flagged; not archived",
			after:  []string{"streams-insert.json"}, shard: "d", created: "2099-03-17T08:30:00Z",
			records: []record{{kind: event.Remove, sequence: "4600000000012345678906", old: &picture{body: mistaken.body()},
				outcome: counted}},
			totals: []total{
				flagged(daily("m-203", sunday, 0, values{"orders": "0", "ordered": "0", "largest": "7500"})),
				product("p-203", 0, values{"orders": "0", "units": "0"}),
				recent("c-203", 0, values{"orders": "0", "spent": "0"}),
			}},
		{file: "streams-window.json", about: "Four changes of one shard in a window; the sequence numbers grow from 21 digits to 22",
			answer: "counted: numbers are compared, not text", shard: "e", created: "2099-03-15T10:00:00Z", records: windowRecords()[:4],
			totals: windowTotals("2", "1998", "1998", 4)},
		{file: "streams-redelivered.json", about: "The last two of them again, followed by a new one, as after a lost answer",
			answer: "the two are dropped by their mark, the new one is counted", after: []string{"streams-window.json"}, shard: "e",
			created: "2099-03-15T10:00:00Z",
			records: again(windowRecords()[2:]), totals: windowTotals("3", "2997", "1998", 5)},
		{file: "streams-final-window.json", about: "The last invocation of a window: no records", answer: `an empty list, and "state":{}`,
			shard: "e", created: "2099-03-15T10:15:00Z", final: true},
		{file: "streams-no-shard.json", about: "A batch from a mapping without a window, and therefore without a shardId",
			answer:  "marks: the whole batch fails with that explanation, nothing is written; receipts: counted",
			created: "2099-03-15T11:00:00Z", refused: []string{marks},
			records: []record{inserted("4700000000012345678907",
				picture{body: order{"m-205", "o-1", "c-205", "p-205", 1, 100, "2099-03-15T10:59:59Z"}.body()}, counted)},
			totals: sold("205")},
		{file: "streams-pipe.json", about: "A batch from EventBridge Pipes: an array of records, and no shardId",
			answer: "as streams-no-shard.json; what is not proven would fail the whole batch", created: "2099-06-13T08:00:00Z",
			refused: []string{marks}, piped: true,
			records: []record{
				inserted("4800000000012345678908", picture{body: old.body()}, counted),
				{kind: event.Remove, sequence: "4800000000012345678909", old: &picture{body: old.body()}, ttl: true,
					later: 71 * time.Minute, outcome: counted},
			},
			totals: []total{daily("m-216", sunday, 1, values{"orders": "1", "ordered": "100", "largest": "100"}),
				product("p-216", 1, values{"orders": "1", "units": "1"}), recent("c-216", 0, values{"orders": "0", "spent": "0"})},
			archived: []event.Key{{PK: "ORDER#m-216#o-1", SK: "ORDER"}}},
		{file: "streams-no-shard-empty.json", about: "A batch without records, from a mapping without a window",
			answer: "an empty list and no state"},
	}
}

// windowRecords returns two orders, a payment, a refund, and a third order that comes with the
// redelivery.
func windowRecords() []record {
	sale := func(id string) picture {
		return picture{body: order{"m-204", id, "c-204", "p-204", 1, 999, "2099-03-15T09:58:00Z"}.body()}
	}
	return []record{
		inserted("999999999999999999998", sale("o-1"), counted),
		inserted("999999999999999999999", picture{body: paid("m-204", "o-1", "pay-1", "captured", 2997, "2099-03-15T09:58:30Z")}, counted),
		inserted("1000000000000000000000", sale("o-2"), counted),
		inserted("1000000000000000000001", picture{body: refunded("m-204", "o-1", "ref-1", "c-204", 999, "2099-03-15T09:59:00Z")}, counted),
		inserted("1000000000000000000002", sale("o-3"), counted),
	}
}

// again returns the same records in a later delivery. All but the last were counted before.
func again(records []record) []record {
	for i := range records[:len(records)-1] {
		records[i].outcome = dropped
	}
	return records
}

func windowTotals(orders, ordered, revenue string, n int64) []total {
	spent := map[string]string{"1998": "999", "2997": "1998"}[ordered]
	return []total{
		daily("m-204", sunday, n, values{"orders": orders, "ordered": ordered, "largest": "999", "revenue": revenue, "refunds": "1"}),
		product("p-204", n-2, values{"orders": orders, "units": orders}),
		recent("c-204", n-1, values{"orders": orders, "spent": spent}),
	}
}

type values = map[string]string

func daily(merchant, window string, n int64, v values) total {
	return total{Aggregate: "merchant_daily", By: map[string]string{"merchant": merchant, "currency": "EUR"}, Window: window,
		N: n, Values: v}
}

func product(id string, n int64, v values) total {
	return total{Aggregate: "product_totals", By: map[string]string{"product": id}, N: n, Values: v}
}

func recent(id string, n int64, v values) total {
	return total{Aggregate: "customer_recent", By: map[string]string{"customer": customer(id), "currency": "EUR"}, N: n, Values: v}
}

func parcels(merchant, status string, n int64, count string) total {
	return total{Aggregate: "merchant_parcels", By: map[string]string{"merchant": merchant, "status": status}, N: n,
		Values: values{"parcels": count}}
}

// sold returns the totals of one order of one piece for 100 cents.
func sold(number string) []total {
	return []total{
		daily("m-"+number, sunday, 1, values{"orders": "1", "ordered": "100", "largest": "100"}),
		product("p-"+number, 1, values{"orders": "1", "units": "1"}),
		recent("c-"+number, 1, values{"orders": "1", "spent": "100"}),
	}
}

func flagged(t total) total {
	t.Flagged = true
	return t
}

func allFlagged(list []total) []total {
	for i := range list {
		list[i].Flagged = true
	}
	return list
}

// oddSamples returns records that are not a plain put, replacement or removal of an item in today's
// form.
func oddSamples() []streamSample {
	sale := func(merchant string) string {
		return order{merchant, "o-1", "c" + strings.TrimPrefix(merchant, "m"), "p" + strings.TrimPrefix(merchant, "m"), 1, 100,
			"2099-03-15T12:00:00Z"}.body()
	}
	const created = "2099-03-15T12:00:01Z"
	return []streamSample{
		{file: "streams-annotated.json", about: "A person adds an attribute to an item",
			answer: "no total is touched: old and new contribution are equal", shard: "f", created: created,
			records: []record{{kind: event.Modify, sequence: "5100000000012345678901", old: &picture{body: sale("m-206")},
				new: &picture{sale("m-206"), annotate}, outcome: unchanged}}},
		{file: "streams-touched.json", about: "Rebuild has stamped an item from before the first epoch (`SET epoch`)",
			answer: "the old image counts for nothing, the new one in full", shard: "g", created: created,
			records: []record{{kind: event.Modify, sequence: "5200000000012345678902", old: &picture{sale("m-207"), unstamp},
				new: &picture{body: sale("m-207")}, outcome: counted}}, totals: sold("207")},
		{file: "streams-behind.json", about: "A put by an older pipeline, stamped below every aggregate",
			answer: "adds nothing; the heads of its type's aggregates say building", shard: "h", created: created,
			records: []record{inserted("5300000000012345678903", picture{sale("m-208"), unstamp}, behind)}},
		{file: "streams-later-epoch.json", about: "A put by a newer pipeline than this function's",
			answer: "the whole batch fails: old code never skips what it does not know", shard: "i", created: created,
			refused: []string{marks, receipts},
			records: []record{inserted("5400000000012345678904", picture{sale("m-209"), stamp2}, refused)}},
		{file: "streams-foreign-item.json", about: "An item that is not Ingot's (no `type`) between two that are",
			answer: "ignored; the others counted", shard: "j", created: created,
			records: []record{
				inserted("5500000000012345678905", picture{body: sale("m-210")}, counted),
				inserted("5500000000012345678906", picture{sale("m-211"), foreign}, ignored),
				inserted("5500000000012345678907", picture{body: sale("m-212")}, counted),
			}, totals: append(sold("210"), sold("212")...)},
		{file: "streams-undecodable.json", about: "A record with an attribute of an unknown type between two good ones",
			answer: "quarantined, and every head flagged, which every total shows from then on; the others counted, and nothing " +
				"returned: a bad record must not block its shard", shard: "k", created: created,
			records: []record{
				inserted("5600000000012345678908", picture{body: sale("m-213")}, counted),
				inserted("5600000000012345678909", picture{sale("m-214"), unknownType}, quarantined),
				inserted("5600000000012345678910", picture{body: sale("m-215")}, counted),
			}, totals: allFlagged(append(sold("213"), sold("215")...))},
	}
}

func annotate(i image)    { i["note"] = value{"S": "checked by hand"} }
func unstamp(i image)     { delete(i, "epoch") }
func stamp2(i image)      { i["epoch"] = value{"N": "2"} }
func unknownType(i image) { i["odd"] = value{"Z": "from the future"} }

// foreign leaves what another program might keep in the table.
func foreign(i image) {
	for name := range i {
		if name != "PK" && name != "SK" {
			delete(i, name)
		}
	}
	i["PK"], i["lastLogin"] = value{"S": "USER#17"}, value{"N": "4076000000"}
}
