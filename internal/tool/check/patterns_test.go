package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
)

// TestPatternsArePriced fixes the table of the sample shop's patterns. The store's own tests
// compare such figures with what is sent.
func TestPatternsArePriced(t *testing.T) {
	in := own{}.input(t)
	in.ReadUnit = 0.125e-6
	r := run(t, in)
	var got []string
	for _, p := range r.Patterns {
		text := fmt.Sprintf("%s %d %v", p.Name, p.Requests, p.Units)
		if p.DollarsAMonth != nil {
			text += fmt.Sprintf(" $%.2f", *p.DollarsAMonth)
		}
		got = append(got, text)
	}
	want := "customer_orders 1 6.5, merchants_day 2 2, order_story 1 6.5, orders_of_day 8 12 $78.84, parcels 1 6.5, payments 1 6.5"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if hot, _ := json.Marshal(r.Hot); string(hot) != `[{"key":"order.placed GSI2","shards":8,"ceiling":8000}]` {
		t.Errorf("hot: %s", hot)
	}
	if !r.Clean() || len(r.Findings) > 0 {
		t.Errorf("findings: %v", r.Findings)
	}
}

// TestPatternsAreJudged shows an index that nothing reads, and a rate that is more than the shards
// of a day take.
func TestPatternsAreJudged(t *testing.T) {
	unread := own{pipeline: [][2]string{{"  customer_orders: {read: [order.placed, order.refunded], index: GSI1, newest: true}\n",
		""}}}.input(t)
	if got := run(t, unread).Findings; len(got) != 1 || got[0].Rule != "index-unread" || got[0].Severity != rules.Warning ||
		!strings.Contains(got[0].What, "no pattern reads GSI1") {
		t.Errorf("an index that nothing reads: %v", got)
	}
	in := own{}.input(t)
	for rate, enough := range map[float64]int{8000: 0, 8001: 9, 20_000: 20} {
		in.Rate, in.Partitions = rate, 20
		r := run(t, in)
		found := false
		for _, f := range r.Findings {
			if f.Rule == "hot-partition" {
				found = true
				if want := fmt.Sprintf("#{@id | shard:%d}", enough); !strings.Contains(f.Instead, want) {
					t.Errorf("at %v a second: %s, not %s", rate, f, want)
				}
			}
		}
		if found != (enough > 0) || r.Hot[0].EnoughShards != enough {
			t.Errorf("at %v a second: %v, %v", rate, r.Hot, r.Findings)
		}
	}
	for pk, want := range map[string]string{"DAY#{@at|day}": "1 true", "{@type}#{@at|hour}#{id|shard:4}": "4 true", "O#{id}": "0 false",
		"X":          "1 true",
		"{@at|time}": "0 false", "{@at|day}#{id}": "0 false"} {
		shards, hot := momentary(pk)
		if got := fmt.Sprint(shards, " ", hot); got != want {
			t.Errorf("%s: %s, not %s", pk, got, want)
		}
	}
}

// TestPatternsAreRefused shows the one sentence that each pattern gets that no GetItem or Query can
// answer. The pattern stands in the place of payments, and more of the file may be changed.
func TestPatternsAreRefused(t *testing.T) {
	const payments = "payments: {read: [order.paid], index: GSI3}"
	shipped := [2]string{`GSI3: {pk: "MERCHANT#{merchant_id}#STATUS#{status}", sk: "{@at | time}#{@id}"}   # moves`,
		`GSI3: {pk: "SELLER#{merchant_id}", sk: "{@at | time}#{@id}"}   # moves`}
	buyer := [2]string{`GSI1: {pk: "CUSTOMER#{customer_id | hmac}", sk: "{@at | time}#{@id}"}`,
		`GSI1: {pk: "CUSTOMER#{buyer.id | hmac}", sk: "{@at | time}#{@id}"}`}
	shards := [2]string{"shard:8", "shard:1001"}
	before, _, _ := strings.Cut(read(t, "pipeline.yaml"), payments)
	line := strings.Count(before, "\n") + 1
	for name, c := range map[string]struct {
		pattern string
		change  [][2]string
		want    string
	}{
		"no such index": {"{read: [order.paid], index: GSI7}", nil,
			`no event type is in GSI7; write GSI1, or indexes: {GSI7: {pk: "…", sk: "…"}} in the event types that it reads`},
		"a name that no index has": {"{read: [order.paid], index: by-day}", nil,
			`no event type is in by-day; write one of GSI1, GSI2, GSI3, or indexes: {GSI4: {pk: "…", sk: "…"}} in the event types that it reads`},
		"not in the index": {"{read: [order.paid, order.placed], index: GSI3}", nil,
			"events of order.placed are not in GSI3; write only the types that are, or GSI3: {pk: …, sk: …} in the indexes: of " +
				"order.placed"},
		"different pk": {"{read: [order.paid, order.shipped], index: GSI3}", [][2]string{shipped},
			"order.paid and order.shipped have different pk in GSI3: MERCHANT#{merchant_id}#STATUS#{status} and SELLER#{merchant_id}, so " +
				"no Query reads both; write one pattern for each of them, or the same pk in both"},
		"different fields": {"{read: [order.placed, order.refunded], index: GSI1}", [][2]string{buyer},
			"order.placed and order.refunded have different pk in GSI1: CUSTOMER#{customer_id|hmac} and CUSTOMER#{buyer.id|hmac}, so no " +
				"Query reads both; write as: {customer_id: [customer_id, buyer.id]} beside read:"},
		"too many partitions": {"{read: [order.placed], index: GSI2}", [][2]string{shards},
			"payments reads 1001 partitions to answer any question, and one question reads at most 1000; write a smaller N in shard:N of " +
				"the pk that it reads"},
		"a field of no key": {"{read: [order.paid], index: GSI3, as: {amount: [total_cents]}}", nil,
			"total_cents is in no key of GSI3; write {total_cents | pad:12} in a sort key to ask for a range of numbers, or " +
				"{total_cents} in a key to ask for one value"},
		"no such type":      {"{read: [order.payed], index: GSI3}", nil, "there is no event type order.payed; write order.paid"},
		"no such aggregate": {"{total: merchant_dayly}", nil, "there is no aggregate merchant_dayly; write merchant_daily"},
	} {
		r := run(t, own{pipeline: append([][2]string{{payments, "payments: " + c.pattern}}, c.change...)}.input(t))
		found := 0
		for _, f := range r.Findings {
			if f.File == "pipeline.yaml" && f.Line == line {
				if found++; !strings.HasSuffix(f.String(), ": "+c.want) {
					t.Errorf("%s:\ngot  %s\nwant %s", name, f, c.want)
				}
			}
		}
		if found != 1 || r.Clean() {
			t.Errorf("%s: %d findings, want one: %v", name, found, r.Findings)
		}
	}
}
