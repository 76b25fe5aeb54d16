package integration

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/query"
)

// TestMainPath sends orders, refunds and parcels, with every kind of trouble, through the whole
// pipeline. It compares the totals with a tally of what was sent. The tally knows nothing of the
// pipeline.
func TestMainPath(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			t.Run(counting.String(), func(t *testing.T) { mainPath(newWorld(t, b, counting)) })
		}
	})
}

// tally holds what the totals must be, by "merchant day".
type tally map[string]struct{ orders, revenue, largest float64 }

func mainPath(w *world) {
	want, sent := tally{}, []string{}
	stored := 0
	for i := range 40 {
		merchant, at, cents := fmt.Sprint("m", i%3), began.Add(time.Duration(i%2)*day), float64(100+i*37)+0.5
		body := order(merchant, fmt.Sprint("o", i), cents, at)
		sent = append(sent, body)
		if i%4 == 0 { // again, and once more with ignored fields and white space
			sent = append(sent, body, strings.Replace(body, "{", `{ "trace": "t1", `, 1))
		}
		k := merchant + " " + at.Format(time.DateOnly)
		sum := want[k]
		sum.orders, sum.revenue, sum.largest = sum.orders+1, sum.revenue+cents, max(sum.largest, cents)
		if stored++; i < 6 {
			sent = append(sent, refund(merchant, fmt.Sprint("r", i), 10.25, at))
			sum.revenue -= 10.25
			stored++
		}
		want[k] = sum
	}
	w.send(sent...)
	w.send(parcel("p1", 2, 500, began), parcel("p2", 1, 70, began))
	w.crash = true // the first batch is written and comes again
	w.consume()
	if got := w.verdicts[event.Inserted]; got != stored+2 {
		w.Errorf("%d inserted, want %d; verdicts %v", got, stored+2, w.verdicts)
	}

	letters := map[string]string{
		order("m0", "o0", 7, began): "Conflict digest-differs",
		`{"type":"order"`:           "Poison undecodable",
		`{"type":"order","id":"x","at":"2099-03-01T12:00:00Z"}`: "Poison missing-field",
		`{"type":"invoice"}`: "Poison unknown-type",
		order("m0", "old", 1, must.Time("2001-01-01T00:00:00Z")): "Expired past-expiry",
		parcel("p1", 2, 1, began):                                "Conflict digest-differs",
	}
	for body := range maps.Keys(letters) {
		w.send(body)
	}
	w.consume()
	w.send(parcel("p1", 3, 650, began), parcel("p2", 1, 70, began))
	w.consume()
	w.send(parcel("p1", 1, 400, began))
	w.consume()
	w.quarantined(letters)
	if w.verdicts[event.Updated] != 1 || w.verdicts[event.Stale] < 1 || w.verdicts[event.Retry] != 0 {
		w.Errorf("verdicts %v", w.verdicts)
	}

	report := w.drain(w.mapping(w.backend.streams), stored+3) // one parcel was updated
	if report.Items != stored+2 || len(report.Flagged) != 0 {
		w.Errorf("verify saw %d items, want %d; flagged %v", report.Items, stored+2, report.Flagged)
	}
	w.compare(want)
	w.live("live", "orders 40 revenue "+fmt.Sprint(revenue(want)+6*10.25))
	w.live("parcels", "parcels 2 grams 720")

	// The whole stream is read once more, as after a poller that lost its checkpoint.
	before := w.counted
	w.drain(w.mapping(w.backend.streams), before.Received)
	if w.counted.Received != 2*before.Received || w.counted.Dropped == 0 {
		w.Errorf("redelivered %d records after %d, dropped %d", w.counted.Received-before.Received, before.Received, w.counted.Dropped)
	}
	w.compare(want)
}

func revenue(want tally) (sum float64) {
	for _, s := range want {
		sum += s.revenue
	}
	return sum
}

// quarantined asserts what is in quarantine: each body and its attributes, unchanged, with the
// reason.
func (w *world) quarantined(want map[string]string) {
	w.Helper()
	got := w.take(w.quarantine)
	for body, why := range want {
		m, ok := got[body]
		if !ok {
			w.Errorf("not in quarantine: %s", body)
			continue
		}
		if verdict, reason := w.note(m); verdict+" "+reason != why {
			w.Errorf("%s: %s %s, want %s", body, verdict, reason, why)
		}
		if trace := aws.ToString(m.MessageAttributes["trace"].StringValue); trace != fmt.Sprint("trace of ", len(body)) ||
			len(m.MessageAttributes) != 2 {
			w.Errorf("%s: trace %q among %d attributes", body, trace, len(m.MessageAttributes))
		}
		delete(got, body)
	}
	for body := range got {
		w.Errorf("in quarantine: %s", body)
	}
	if letters := w.take(w.dead); len(letters) != 0 {
		w.Errorf("%d dead letters", len(letters))
	}
}

// compare asserts the windows of the daily totals.
func (w *world) compare(want tally) {
	w.Helper()
	for i := range 3 {
		merchant := fmt.Sprint("m", i)
		totals, err := query.Of(w.store).Total(ctx, "daily", map[string]string{"merchant": merchant}, began.Add(-day), began.Add(3*day))
		must.Succeed(w, err)
		if len(totals) != 2 {
			w.Fatalf("%d windows of %s", len(totals), merchant)
		}
		for _, total := range totals {
			sum := want[merchant+" "+total.Window.Format(time.DateOnly)]
			for name, v := range map[string]float64{"orders": sum.orders, "revenue": sum.revenue, "largest": sum.largest} {
				if got := total.Values[name].String(); got != fmt.Sprint(v) {
					w.Errorf("%s %s, %s: %s, want %v", merchant, total.Window.Format(time.DateOnly), name, got, v)
				}
			}
		}
	}
}

// live asserts a total without windows. The total is written as its values by name: "orders 40
// revenue 12.5".
func (w *world) live(name, want string) {
	w.Helper()
	totals, err := query.Of(w.store).Total(ctx, name, nil, time.Time{}, time.Time{})
	if err != nil || len(totals) != 1 {
		w.Fatalf("total %s: %d of them, %v", name, len(totals), err)
	}
	var got []string
	for _, value := range strings.Fields(want) {
		if v, ok := totals[0].Values[value]; ok {
			got = append(got, value, v.String())
		}
	}
	if strings.Join(got, " ") != want {
		w.Errorf("total %s is %v, want %s", name, totals[0].Values, want)
	}
}
