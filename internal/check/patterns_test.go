package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestPatternsArePriced fixes the table of the sample shop's patterns. The store's own tests compare
// such figures with what is sent.
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

// TestPatternsAreJudged shows an index that nothing reads, and a rate that is more than the shards of
// a day take.
func TestPatternsAreJudged(t *testing.T) {
	unread := own{pipeline: [][2]string{{"  customer_orders: {read: [order.placed, order.refunded], index: GSI1, newest: true}\n", ""}}}.input(t)
	if got := run(t, unread).Findings; len(got) != 1 || got[0].Rule != "index-unread" || got[0].Severity != Warning || !strings.Contains(got[0].What, "no pattern reads GSI1") {
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
	for pk, want := range map[string]string{"DAY#{@at|day}": "1 true", "{@type}#{@at|hour}#{id|shard:4}": "4 true", "O#{id}": "0 false", "X": "1 true",
		"{@at|time}": "0 false", "{@at|day}#{id}": "0 false"} {
		shards, hot := momentary(pk)
		if got := fmt.Sprint(shards, " ", hot); got != want {
			t.Errorf("%s: %s, not %s", pk, got, want)
		}
	}
}
